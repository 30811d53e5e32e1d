"""What is offered at a place, and which of it fits what is written there already."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

MAX_OFFERS = 200
"""Offers that are given at once."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that may stand here.

    `insert` is what is put into the text, with the cursor `back` characters before its end; `again` says that what
    may stand there is then to be asked again. `detail` is a word or two, `about` a sentence. One that does not fit
    here is possible all the same, and comes last.
    """

    label: str
    insert: str
    detail: str = ""
    about: str = ""
    back: int = 0
    again: bool = False
    fits: bool = True


@dataclass(frozen=True, slots=True)
class Completion:
    """Offers for the stretch of the text from `start` to `end`, the best first; `written` is what stands there."""

    start: int
    end: int
    written: str
    offers: Sequence[Offer] = ()


def fitting(offers: Iterable[Offer], text: str) -> list[Offer]:
    """Return the offers that what is written may become, those that begin with it first."""
    expected = text.casefold()
    ranked = []
    for place, offer in enumerate(offers):
        rank = _rank(offer.label.casefold(), expected)
        if rank is not None:
            ranked.append((not offer.fits, rank, place, offer))
    ranked.sort(key=lambda entry: entry[:3])
    return [offer for *_, offer in ranked[:MAX_OFFERS]]


def _rank(label: str, expected: str) -> int | None:
    if label == expected:
        return 0
    if label.startswith(expected):
        return 1
    at = label.find(expected)
    if at > 0:
        return 2 if not label[at - 1].isalnum() else 3
    label, expected = label.lstrip("$.@"), expected.lstrip("$.@")
    letters = iter(label)
    begins = len(expected) > 1 and label[:1] == expected[0]
    return 4 if begins and all(letter in letters for letter in expected) else None


def text(label: str, detail: str = "", about: str = "", *, fits: bool = True) -> Offer:
    """Offer a JSON string."""
    return Offer(label, json.dumps(label, ensure_ascii=False), detail, about, fits=fits)


def quoted(word: str) -> Offer:
    """Offer a word that stands here without quotes as text."""
    return Offer(f'"{word}"', f'"{word}"', "as text")


def value(actual: Any, detail: str = "") -> Offer:
    """Offer a JSON value."""
    text = json.dumps(actual, ensure_ascii=False, default=str)
    return Offer(actual if isinstance(actual, str) else text, text, detail)


_BEGUN, _ENDED = '{\n  "goal": "",\n  "steps": [\n    {"type": "', '"}\n  ]\n}\n'
PLAN = Offer("a plan", _BEGUN + _ENDED, about="a new plan, with its first step", back=len(_ENDED), again=True)
STEP = Offer("a step", '{"type": ""}', about="a new step", back=2, again=True)
CONDITION = Offer("a condition", '{"type": ""}', about="a new condition", back=2, again=True)

SCAFFOLDS = {
    "text": ('""', 1),
    "reference": ('"$"', 1),
    "object": ("{}", 1),
    "list": ("[]", 1),
    "texts": ('[""]', 2),
    "steps": ('[{"type": ""}]', 3),
    "branches": ('[[{"type": ""}]]', 4),
    "condition": ('{"type": ""}', 2),
    "value": ("", 0),
}
"""What is put after a key, by what stands under it, and how far before its end one goes on to write."""


def key(name: str, under: str, detail: str = "", about: str = "", *, fits: bool = True) -> Offer:
    """Offer a key with what stands under it, one of `SCAFFOLDS`."""
    scaffold, back = SCAFFOLDS[under]
    return Offer(name, f"{json.dumps(name, ensure_ascii=False)}: {scaffold}", detail, about, back, True, fits)


def bare_key(offer: Offer) -> Offer:
    """Return the offer of a key without what stands under it, which is there already."""
    return replace(offer, insert=json.dumps(offer.label, ensure_ascii=False), back=0, again=False)
