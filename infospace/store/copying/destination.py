"""A place that a space is copied into: a file or a schema that no process opens until the copy is whole.

In an unfinished copy, `copying` has a row for each chunk that is there, written in the transaction of its rows.
"""

# ruff: noqa: S608 - names of tables and columns are those of our own definitions

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from infospace.core.errors import Conflict
from infospace.store.copying.rows import TOGETHER, Table, tables
from infospace.store.sqlite.connection import Connection, Row

TABLES: Final = (
    """CREATE TABLE copying (
        part TEXT NOT NULL, chunk INTEGER NOT NULL, count INTEGER NOT NULL, digest BLOB NOT NULL,
        PRIMARY KEY (part, chunk))""",
)


class Destination(Protocol):
    """What the two engines do each in its own way."""

    address: str

    @property
    def connection(self) -> Connection:
        """The connection to the place."""

    def begin(self) -> bool:
        """Make the tables of an empty place and mark it as unfinished; return whether a copy was begun here before.

        Raises Conflict where something else is in it.
        """

    def load(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert rows of a table."""

    def finish(self) -> None:
        """Make what follows from the rows, and take the mark away, in one transaction."""

    def close(self) -> None:
        """Let the place go."""


@contextmanager
def writing(connection: Connection) -> Iterator[None]:
    """A transaction that is committed at the end, or rolled back."""
    connection.begin_to_define()
    try:
        yield
        connection.run("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def mark_source(connection: Connection, identity: str, version: int) -> None:
    """Keep of which space this is to be a copy."""
    row = ("", 0, version, identity.encode())
    connection.run("INSERT INTO copying (part, chunk, count, digest) VALUES (?, ?, ?, ?)", row)


def check_source(connection: Connection, address: str, identity: str, version: int) -> None:
    """Raise Conflict where the copy that was begun is of another space, or of another version of the tables."""
    row = connection.fetch_one("SELECT count, digest FROM copying WHERE part = ''")
    if row is not None and row[0] == version and bytes(row[1]) == identity.encode():
        return
    what = "another space" if row is not None and row[0] == version else "another version of infospace"
    raise Conflict(
        f"{address!r} holds an unfinished copy of {what}"
        if what == "another space"
        else f"the unfinished copy in {address!r} was begun by {what}",
        hint="remove it, or name another place",
    )


def recorded(connection: Connection, table: Table) -> list[tuple[int, bytes]]:
    """Return how many rows each chunk has that is there, and its hash."""
    rows = connection.all("SELECT count, digest FROM copying WHERE part = ? ORDER BY chunk", (table.name,))
    return [(count, bytes(digest)) for count, digest in rows]


def record(connection: Connection, table: Table, chunk: int, count: int, digest: bytes) -> None:
    """Note down that a chunk is there."""
    connection.run(
        "INSERT INTO copying (part, chunk, count, digest) VALUES (?, ?, ?, ?)", (table.name, chunk, count, digest)
    )


def clear(connection: Connection, table: Table) -> None:
    """Remove the rows of a table, and of those that its deletions concern."""
    names = TOGETHER if table.name == TOGETHER[0] else (table.name,)
    for name in reversed(names):
        connection.run(f"DELETE FROM {name}")
        connection.run("DELETE FROM copying WHERE part = ?", (name,))


def empty_tables(connection: Connection) -> None:
    """Remove what the definitions of the tables put into them."""
    for table in tables():
        connection.run(f"DELETE FROM {table.name}")
