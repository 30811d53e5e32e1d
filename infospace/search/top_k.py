"""Which of the Notes of a matrix are the best for a query: single precision narrows, double precision decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.search.index.vector_matrix import Matrix

MARGIN = 1e-5
"""More than single precision can be wrong about a cosine of unit vectors of 384 dimensions (about 1e-6)."""

MANY, SAMPLED = 5_000, 1_000
"""Notes from which on about so many of them tell which cosines may be among the highest."""


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The best Notes, in order: cosines (rounded to six decimals), `fused` with the bonus, rows of the matrix.

    `matched` counts all that match, `near` those of them at or above the threshold; `max_below` is the highest
    cosine of those that do not match. `highest` are the best cosines of all, descending, as many as were asked for.
    """

    cosines: NDArray[np.float64]
    fused: NDArray[np.float64]
    rows: NDArray[np.int64]
    matched: int
    near: int
    max_below: float | None
    highest: NDArray[np.float64]


def select(
    matrix: Matrix,
    vector: NDArray[np.float32],
    chosen: NDArray[np.int64],
    threshold: float,
    limit: int | None,
    bonus: NDArray[np.float64] | None = None,
    highest: int = 0,
) -> Selection:
    """Select among the `chosen` Notes those with a cosine from `threshold` on, or with a bonus.

    `bonus`, by position in `matrix.numbers`, is added to the cosine; ties go by number.
    """
    best = matrix.best(vector)
    if len(chosen) != len(matrix.notes):
        best = np.where(np.isin(matrix.numbers, chosen, assume_unique=True), best, np.float32(-np.inf))
    special = np.zeros(len(best), bool) if bonus is None else (bonus > 0) & np.isfinite(best)
    above_margin = (best >= threshold + MARGIN) | special
    in_margin = np.flatnonzero((best >= threshold - MARGIN) & ~above_margin)
    certain = np.flatnonzero(above_margin)
    values = best if bonus is None else best + bonus
    expected = top_candidates(certain, values[certain], limit)
    which = np.concatenate([expected, in_margin])
    cosines, rows = exact_cosines(matrix, vector, which)
    keep = (cosines >= threshold) | special[which]
    matched = len(certain) + int(keep[len(expected) :].sum())
    near = matched if bonus is None else _count_near(matrix, vector, best, threshold)
    max_below = _max_below(matrix, vector, np.where(special, np.float32(-np.inf), best), threshold)
    cosines, rows, which = cosines[keep], rows[keep], which[keep]
    fused = cosines if bonus is None else np.round(cosines + bonus[which], 6)
    order = np.lexsort((matrix.owners[rows], -fused))[:limit]
    most = _highest(matrix, vector, best, highest) if highest else np.empty(0, np.float64)
    return Selection(cosines[order], fused[order], rows[order], matched, near, max_below, most)


def _highest(matrix: Matrix, query: NDArray[np.float32], best: NDArray[np.float32], count: int) -> NDArray[np.float64]:
    """The `count` highest cosines, descending, in double precision, whatever the threshold."""
    which = highest_places(best, count)
    cosines, _ = exact_cosines(matrix, query, which[np.isfinite(best[which])])
    return np.sort(cosines)[::-1]


def highest_places(values: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the places of the `count` highest values, of all where there are no more, in any order.

    Of many those are looked at that reach the third of a sample: it is right whatever the sample
    is, since where fewer than `count` do, all are looked at.
    """
    which = np.arange(len(values))
    if len(values) > MANY:
        likely = np.flatnonzero(values >= np.partition(values[:: len(values) // SAMPLED], -3)[-3])
        which = likely if len(likely) >= count else which
    if len(which) > count:
        which = which[np.argpartition(values[which], -count)[-count:]]
    return which


def top_candidates(which: NDArray[np.int64], values: NDArray[np.floating], limit: int | None) -> NDArray[np.int64]:
    """Return those of `which` that may be among the `limit` highest, their values being near the mark."""
    if limit is None or len(which) <= limit:
        return which
    floor = np.partition(values, len(which) - limit)[len(which) - limit]
    kept: NDArray[np.int64] = which[values >= floor - 2 * MARGIN]
    return kept


def exact_cosines(
    matrix: Matrix, query: NDArray[np.float32], which: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return cosine and row of the best passage of Notes, by position; none of none."""
    if not len(which):
        return np.empty(0, np.float64), np.empty(0, np.int64)
    return matrix.exactly(query, which)


def best_cosine(matrix: Matrix, query: NDArray[np.float32], chosen: NDArray[np.int64]) -> float | None:
    """Return the highest cosine among the `chosen` Notes, rounded to six decimals; None where none is embedded."""
    results = select(matrix, query, chosen, -1.0, 1).cosines
    return float(results[0]) if len(results) else None


def _count_near(matrix: Matrix, query: NDArray[np.float32], best: NDArray[np.float32], threshold: float) -> int:
    above_margin = best >= threshold + MARGIN
    in_margin = np.flatnonzero((best >= threshold - MARGIN) & ~above_margin)
    return int(above_margin.sum()) + int((exact_cosines(matrix, query, in_margin)[0] >= threshold).sum())


def _max_below(matrix: Matrix, query: NDArray[np.float32], best: NDArray[np.float32], threshold: float) -> float | None:
    """The highest rounded cosine below the threshold: how near the next Note came."""
    below = best[(best < threshold + MARGIN) & np.isfinite(best)]
    while len(below):
        top = below.max()
        which = np.flatnonzero((best >= top - 2 * MARGIN) & (best <= top))
        scores, _ = matrix.exactly(query, which)
        under = scores[scores < threshold]
        if len(under):
            return float(under.max())
        below = below[below < top - 2 * MARGIN]
    return None
