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
    found = [places[digest].popleft() if places.get(digest) else None for digest in new]
    free = {index for rest in places.values() for index in rest}
    before = -1
    for at, index in enumerate(found):
        if index is None and before is not None and before + 1 in free:
            free.discard(before + 1)
            found[at] = before + 1
        before = found[at] if found[at] is not None else None  # type: ignore[assignment]
    after: int | None = len(old)
    for at in range(len(found) - 1, -1, -1):
        if found[at] is None and after is not None and after - 1 in free:
            free.discard(after - 1)
            found[at] = after - 1
        after = found[at]
    return found
