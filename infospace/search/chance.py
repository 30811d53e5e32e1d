"""The base of `threshold: "auto"`: the cosine of the best Note with a request that no Note answers.

A fixed cosine gives one hit in one space and three hundred in another. The *chance* of a space is the median, over
`EVERYDAY`, of the best cosine that a request has there. The threshold `auto` (`query.Cut`) is

    chance + AUTO_THRESHOLD_FRACTION * (best - chance)

`best` being the highest cosine of the query at hand. Where that is below chance, nothing is a hit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infospace.store.protocol import Snapshot

    Seen: TypeAlias = Callable[[Snapshot, NDArray[np.int64]], NDArray[np.int64]]
    Rows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float32]]
    """Owners, ascending, and vectors, row for row."""

SAMPLE: Final = 2_000
"""Notes by which the chance of a larger space is told.

Told by a fifth to a half of their Notes, that of Seal-Tools (4,076), of Cranfield (1,400) and of three collections
together (5,675) is off by .006 to .023 either way; the chance among the sample alone is .013 to .075 too low.
"""

SAMPLE_BATCH: Final = 250
"""Notes of the sample that are read at a time."""

PASSAGES: Final = 6_000
"""Passages from which on no more Notes are read, so that long Notes cost no more time than short ones."""

STRATA: Final = 4
"""Parts of the sample, which tell how fast chance grows with the number of Notes."""


def sampled(numbers: NDArray[np.int64], count: int = SAMPLE) -> NDArray[np.int64]:
    """Return at most `count` of the numbers: those whose hashes are lowest, in the order of these.

    Which they are depends on nothing but the numbers, and a number that comes or goes changes one of them at most.
    """
    hashes = _hashes(numbers)
    lowest = np.argpartition(hashes, count)[:count] if count < len(numbers) else np.arange(len(numbers))
    return numbers[lowest[np.argsort(hashes[lowest])]]


def _hashes(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers, one to one, so that no two are equal: the finalizer of SplitMix64."""
    results = numbers.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        results = (results ^ (results >> np.uint64(shift))) * np.uint64(factor)
    return results ^ (results >> np.uint64(31))


def chance_among(
    notes: NDArray[np.int64], read: Callable[[NDArray[np.int64]], Rows], everyday: NDArray[np.float32]
) -> float | None:
    """Return the chance among Notes by their numbers; None where none of those that are sampled is embedded.

    `read` gives the rows of some, `everyday` are the vectors of the requests, (n, d). What the maximum of many like
    numbers does, chance grows with the root of the logarithm of how many Notes there are; how fast, the quarters of the
    sample tell.
    """
    chosen = sampled(notes)
    best = np.full((0, len(everyday)), -np.inf)
    passages = taken = 0
    while taken < len(chosen) and passages < PASSAGES:
        some = chosen[taken : taken + SAMPLE_BATCH]
        owners, vectors = read(np.sort(some))
        best = np.concatenate([best, _best_of_each(owners, vectors, some, everyday)])
        passages, taken = passages + len(owners), taken + len(some)
    result = _median(best)
    parts = [_median(best[at::STRATA]) for at in range(STRATA)]
    if not math.isfinite(result):
        return None
    if taken < len(notes) and np.isfinite(parts).all():
        slope = max(result - float(np.mean(parts)), 0.0) / (_max_of_n_growth(taken) - _max_of_n_growth(taken / STRATA))
        result += slope * (_max_of_n_growth(len(notes)) - _max_of_n_growth(taken))
    return round(min(result, 1.0), 6)


def _median(best: NDArray[np.float64]) -> float:
    return float(np.median(best.max(axis=0, initial=-np.inf)))


def _best_of_each(
    owners: NDArray[np.int64], vectors: NDArray[np.float32], notes: NDArray[np.int64], everyday: NDArray[np.float32]
) -> NDArray[np.float64]:
    """The best cosine of each of some Notes for each request, (notes, n); -inf of one that is not embedded."""
    results = np.full((len(notes), len(everyday)), -np.inf)
    if len(owners):
        first = np.flatnonzero(np.diff(owners, prepend=-1))
        order = np.argsort(notes)
        places = order[np.searchsorted(notes, owners[first], sorter=order)]
        wide = vectors.astype(np.float64)
        for at, request in enumerate(everyday.astype(np.float64)):
            results[places, at] = np.maximum.reduceat(np.vecdot(wide, request), first)
    return results


def _max_of_n_growth(count: float) -> float:
    return math.sqrt(math.log(max(count, 1.0)))


def chance_of_rows(
    owners: NDArray[np.int64], vectors: NDArray[np.float32], everyday: NDArray[np.float32]
) -> float | None:
    """Return the chance among what owns the rows of a matrix, in any order; None where there is none."""
    order = np.argsort(owners, kind="stable")
    owners, vectors = owners[order], vectors[order]

    def read(some: NDArray[np.int64]) -> Rows:
        which = np.isin(owners, some)
        return owners[which], vectors[which]

    return chance_among(np.unique(owners), read, everyday)


class Chances:
    """The chance of a space at the generation last asked for, for each set of Notes that somebody may know of."""

    def __init__(self) -> None:
        self._at: tuple[str, int] | None = None
        self._found: dict[bytes, float | None] = {}

    def of(self, snapshot: Snapshot, model: str, seen: Seen | None, everyday: NDArray[np.float32]) -> float | None:
        """Return the chance among the Notes that `seen` leaves, None for all; None where none of them is embedded."""
        at = (model, snapshot.generation)
        if self._at != at:
            self._at, self._found = at, {}
        notes = None if seen is None else seen(snapshot, snapshot.discoverable())
        known = b"" if notes is None else sha256(notes.tobytes()).digest()
        if known not in self._found:
            notes = snapshot.discoverable() if notes is None else notes

            def read(some: NDArray[np.int64]) -> Rows:
                rows = snapshot.rows(model, some.tolist())
                return rows.owners, rows.vectors

            self._found[known] = chance_among(notes, read, everyday)
        return self._found[known]
