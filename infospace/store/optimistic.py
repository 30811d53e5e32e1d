"""Reading, and committing what follows from it, while others change the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from infospace.core.errors import Conflict, NotFound

TRIES = 50
"""How often something is read anew: each time somebody else was faster, so that all together get on."""

Read = TypeVar("Read")
Done = TypeVar("Done")


def retry_on_conflict(read: Callable[[], Read], commit: Callable[[Read], Done]) -> Done:
    """Read and commit; read anew when what was read had changed before it was committed.

    Raises what `read` does, and the last Conflict or NotFound of `commit` when others were faster every time.
    """
    for _ in range(TRIES - 1):
        result = read()
        try:
            return commit(result)
        except (Conflict, NotFound):
            continue
    return commit(read())
