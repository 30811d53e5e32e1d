"""Rows of a file, against those it had when it was last read."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


def align(old: Sequence[bytes], new: Sequence[bytes]) -> list[int | None]:
    """Return for each new row, by digest, the index of the old row that it is, None for one that came.

    Rows of one digest are the same, in their order. What is left counts as changed where it follows, or stands
    before, the row that an unmatched old one did. No old row is given twice.
    """
    places: dict[bytes, deque[int]] = {}
    for index, digest in enumerate(old):
        places.setdefault(digest, deque()).append(index)
    results: list[int | None] = []
    for digest in new:
        same = places.get(digest)
        results.append(same.popleft() if same else None)
    free = {index for rest in places.values() for index in rest}
    _fill(results, range(len(results)), free, -1, 1)
    _fill(results, range(len(results) - 1, -1, -1), free, len(old), -1)
    return results


def _fill(results: list[int | None], order: range, free: set[int], start: int, step: int) -> None:
    """Give to rows that have none the free one that comes next after their neighbour's."""
    neighbour: int | None = start
    for at in order:
        own = results[at]
        if own is None and neighbour is not None and neighbour + step in free:
            own = neighbour + step
            free.discard(own)
            results[at] = own
        neighbour = own
