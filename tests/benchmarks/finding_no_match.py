"""How often it is said that no tool fits: rightly, where none does, and wrongly; and how well confidence tells it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from collected import RESAMPLES, auroc
from numpy.typing import NDArray

from infospace.tools.scope import NO_FILTERS
from infospace.tools.search.results import ToolResults

if TYPE_CHECKING:
    from finding import Finding

FAR = 0.4
"""Cosine to each tool of a catalogue below which a tool is far from all of them."""

TALK = Path(__file__).with_name("small_talk.json")
"""Small talk in ten languages, none of it among the everyday requests that confidence is read beside."""


def no_match(findings: Sequence[Finding]) -> None:
    """Print of each collection what is said where a tool fits, and where none does, by what was asked.

    `wrongly`: of requests that a tool fits. The others are requests that none fits, with the share of which it is
    rightly said, the AUROC of confidence against those that a tool fits with its 95 % interval, and the same against
    those of them of which a right tool is the first: where another one is, there is no evidence that could tell.
    `right out`: the right tools were taken out. `alike out`: so were those that look like them. `far`: requests of
    another collection whose right tools are far from all tools. `in vain`: requests that none of the tools does.
    `small talk`: in ten languages.
    """
    print("\nno match is said: share of the requests that count; AUROC of confidence")
    for finding in findings:
        collection, alike = finding.collection, finding.lookalikes()
        places = collection.counting
        whole = [finding.found(collection.requests[at].text, filters=NO_FILTERS) for at in places]
        right = np.array(
            [finding.first(one) in collection.requests[at].right for one, at in zip(whole, places, strict=True)]
        )
        fitting = _confidences(whole)
        first = f"a right tool is first in {right.mean():.3f}"
        print(f"\n{collection.name}: wrongly {_share(whole)} of {len(whole):,}; {first}")
        print(f"{'':<28}{'requests':>9}{'rightly':>9}{'AUROC':>8}{'':>18}{'a right one first':>20}")
        for name, texts in _asked_in_vain(finding, findings).items():
            _row(name, [finding.found(text, filters=NO_FILTERS) for text in texts], fitting, right)
        _row("right out", [finding.without(at) for at in places], fitting, right)
        _row("alike out", [finding.without(at, alike) for at in places], fitting, right)


def _asked_in_vain(finding: Finding, findings: Sequence[Finding]) -> dict[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {}
    for other in findings:
        if other is not finding and other.collection.chosen_on:
            near = other.nearest_to(finding).max(axis=1)
            texts = [
                request.text
                for request in (other.collection.requests[at] for at in other.collection.counting)
                if near[list(request.right)].max() < FAR
            ]
            if texts:
                found[f"far, {other.collection.name}"] = texts
    if finding.collection.vain:
        found["in vain"] = finding.collection.vain
    found["small talk"] = json.loads(TALK.read_text(encoding="utf-8"))
    return found


def _row(name: str, found: Sequence[ToolResults], fitting: NDArray[np.float64], right: NDArray[np.bool_]) -> None:
    others = _confidences(found)
    rng = np.random.default_rng(1)
    drawn = [auroc(rng.choice(fitting, len(fitting)), rng.choice(others, len(others))) for _ in range(RESAMPLES // 10)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    told = f"{len(found):>9,}{_share(found):>9}{auroc(fitting, others):>8.3f}  ({low:.3f} to {high:.3f})"
    print(f"{name:<28}{told}{auroc(fitting[right], others):>18.3f}")


def _confidences(found: Sequence[ToolResults]) -> NDArray[np.float64]:
    """The highest confidence of each answer."""
    best = [[*one.hits, *([] if one.guess is None else [one.guess])] for one in found]
    return np.array([max((hit.confidence for hit in hits), default=0.0) for hits in best])


def _share(found: Sequence[ToolResults]) -> str:
    return f"{np.mean([one.no_match for one in found]):.3f}"
