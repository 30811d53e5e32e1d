"""A private copy of a space: what is written to it goes with it."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from infospace.store.sqlite.codec import COLLECTION, NOTE, RELATION
from infospace.store.sqlite.connection import Connection

if TYPE_CHECKING:
    from infospace.store.sqlite.store import SqliteStore


@contextmanager
def private_copy(connection: Connection) -> Iterator[SqliteStore]:
    """Open a copy of the space as it is now, in a file that is deleted afterwards."""
    from infospace.store.sqlite import open_store

    with tempfile.TemporaryDirectory(prefix="infospace-") as folder:
        path = Path(folder) / "overlay.db"
        with closing(sqlite3.connect(path)) as copy, copy:
            copy.execute("PRAGMA synchronous = OFF")  # what is thrown away need not wait for a disk
            connection.copy_to(copy)
            _count_on(copy)
        store = open_store(path, create=False)
        try:
            yield store
        finally:
            store.close()


def _count_on(copy: sqlite3.Connection) -> None:
    """Let ids go on after all that are there: a space in memory counts them outside of its tables."""
    for kind, bits in (("Note", NOTE), ("Collection", COLLECTION), ("Relation", RELATION)):
        copy.execute(
            """UPDATE counters SET next = max(next, 1 + coalesce(
                (SELECT max(key) / 4 FROM resources WHERE key & 3 = ?), 0)) WHERE kind = ?""",
            (bits, kind),
        )
    copy.execute(
        """UPDATE counters SET next = max(next, coalesce((SELECT max(first + count) FROM batches), 0))
        WHERE kind = 'Note'"""
    )
    copy.execute(
        "UPDATE counters SET next = max(next, 1 + coalesce((SELECT max(number) FROM runs), 0)) WHERE kind = 'run'"
    )
