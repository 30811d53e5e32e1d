"""Noticing that files changed, by looking."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from infospace.core.errors import NotFound
from infospace.files.walk import FileToImport, walk

SHORTEST = 1.0
"""Seconds between two looks; ten times as long as a look takes, where that is longer."""

Look = dict[Path, tuple[int, int]]
"""Modification time in nanoseconds and size in bytes of each file there is."""


def scan(paths: Sequence[Path]) -> Look:
    """Return how the files under some paths stand. Nothing stands at a path that is not there."""
    seen: Look = {}
    for path in paths:
        with suppress(NotFound):
            for one in walk(path):
                if isinstance(one, FileToImport):
                    with suppress(OSError):  # it went since it was listed, or nobody may look at it any more
                        status = one.path.stat()
                        seen[one.path] = (status.st_mtime_ns, status.st_size)
    return seen


def changes(paths: Sequence[Path], settled: Look, wait: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Give a turn each time that something changed and then stood still for one look. Never ends by itself.

    `settled` is a look taken before the files were read the first time.
    """
    seen = settled
    while True:
        started = time.monotonic()
        latest = scan(paths)
        if latest == seen and latest != settled:
            settled = latest
            yield
        seen = latest
        wait(max(SHORTEST, 10 * (time.monotonic() - started)))
