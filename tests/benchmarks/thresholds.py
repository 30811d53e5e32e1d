"""Where hits end: what a search finds of what is right, by a fixed threshold and by `auto`, on judged collections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from infospace import Space
from infospace.core.ids import number_of
from infospace.core.listener import NullListener
from infospace.search.query import AUTO, SearchQuery, Threshold

if TYPE_CHECKING:
    from quality import Collection

FIXED = tuple(round(0.2 + 0.05 * step, 2) for step in range(9))
"""Among these the best fixed threshold of a collection is chosen, on its odd questions."""

Find: TypeAlias = Callable[[str, Threshold, "Sequence[int] | None"], set[int]]


@dataclass(frozen=True)
class Judgement:
    """F1 of each question; whether nothing was found though something is right; and whether nothing without that."""

    f1: list[float]
    wrongly_nothing: list[bool]
    rightly_nothing: list[bool]


def judge(collection: Collection, space: Space, threshold: Threshold, places: Sequence[int]) -> Judgement:
    """Judge the questions at some places. A right document is one that has any grade."""
    find = _find(space)
    judged = Judgement([], [], [])
    for at in places:
        question = collection.questions[at]
        right = set(collection.grades[question["_id"]])
        found = find(question["text"], threshold, None)
        others = [place for place in range(len(collection.documents)) if place not in right]
        judged.f1.append(2 * len(found & right) / (len(found) + len(right)))
        judged.wrongly_nothing.append(not found)
        judged.rightly_nothing.append(not find(question["text"], threshold, others))
    return judged


def _find(space: Space) -> Find:
    def found(query: str, threshold: Threshold, among: Sequence[int] | None) -> set[int]:
        within = None if among is None else np.array(among, np.int64) + 1
        wanted = SearchQuery(query, None, threshold, within=within)
        return {number_of(hit.source) - 1 for hit in space.search.find(wanted, NullListener()).hits}

    return found


def thresholds(collection: Collection, space: Space) -> dict[str, Judgement]:
    """Return what `auto`, the model's own threshold, and the best fixed one find of the even questions."""
    odd, even = (range(first, len(collection.questions), 2) for first in (0, 1))
    own = space.embedding.info.threshold
    best = max(FIXED, key=lambda one: float(np.mean(judge(collection, space, one, odd).f1)))
    return {
        "auto": judge(collection, space, AUTO, even),
        f"the model's own, {own}": judge(collection, space, own, even),
        "the best fixed one of the odd questions": judge(collection, space, best, even),
    }
