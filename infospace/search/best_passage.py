"""Which passage of a Note's text a search by words points at: the one that has most of what was looked for."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from infospace.core.ids import number_of
from infospace.core.resources import text_of
from infospace.data.json_text import ESCAPE
from infospace.search.embedding.passages import split
from infospace.store.note_fields import field_at

if TYPE_CHECKING:
    from infospace.core.json_types import JSON
    from infospace.search.query import Hit
    from infospace.store.protocol import Snapshot

PAGE = 500
"""Notes whose texts are held at a time."""

WINDOW = 256
"""Tokens of a passage of a text that waits to be embedded: as many as the model sees, about."""

_TOKEN = re.compile(r"\w{1,4}|[^\w\s]")
"""About what a model's tokenizer makes of a text, told without a model."""

Bounds: TypeAlias = tuple[int, int]


def with_best_passage(
    snapshot: Snapshot, hits: Sequence[Hit], words: Sequence[str], among: Collection[int] | None = None
) -> list[Hit]:
    """Return hits at current versions with the bounds of the passage that fits the words best, of equals the first.

    Passages are those that are embedded; a text that waits is cut without the model into about as many. Where no
    passage has a word, as when only the title has one, the bounds are None. A hit's do not depend on the others.
    """
    results: list[Hit] = []
    for at in range(0, len(hits), PAGE):
        page = hits[at : at + PAGE]
        places = _best(snapshot, [hit.source for hit in page], words, among)
        results += [replace(hit, start=start, end=end) for hit, (start, end) in zip(page, places, strict=True)]
    return results


def _best(
    snapshot: Snapshot, sources: Sequence[str], words: Sequence[str], among: Collection[int] | None
) -> list[Bounds | tuple[None, None]]:
    numbers = [number_of(source) for source in sources]
    embedded: dict[int, list[Bounds]] = {}
    for number, start, end, _ in snapshot.digests(numbers):
        if field_at(start) is None:
            embedded.setdefault(number, []).append((start, end))
    contents = [note.content for note in snapshot.get_many(sources)]
    texts = [text_of(content) for content in contents]
    cut = [embedded.get(number) or _cut(text) for number, text in zip(numbers, texts, strict=True)]
    texts = list(map(blank_json_escapes, contents, texts))
    stretches = [text[start:end] for text, own in zip(texts, cut, strict=True) for start, end in own]
    scores = snapshot.fitting(words, stretches, among)
    results: list[Bounds | tuple[None, None]] = []
    at = 0
    for own in cut:
        mine = scores[at : at + len(own)]
        at += len(own)
        results.append(own[int(np.argmax(mine))] if len(own) and mine.max() > 0 else (None, None))
    return results


def blank_json_escapes(content: JSON, text: str) -> str:
    """Return a text of the same length in which the escapes of JSON are blanks, as full text has them."""
    return text if isinstance(content, str) else ESCAPE.sub(lambda found: " " * len(found[0]), text)


def _cut(text: str) -> list[Bounds]:
    """Passages of a text as they may be when it is embedded."""
    passages = split(text, lambda piece: [token.span() for token in _TOKEN.finditer(piece)], WINDOW)
    return [(passage.start, passage.end) for passage in passages]
