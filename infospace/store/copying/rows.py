"""The rows of a space in a fixed order, some hundred at a time, with a hash of each such chunk.

A value is the same in both engines, but for those of `state`, which PostgreSQL keeps as texts.
"""

# ruff: noqa: S608 - names of tables and columns are those of our own definitions

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Final

from infospace.store.sqlite import schema
from infospace.store.sqlite.connection import BATCH, Connection, Row, connect

MADE_ANEW: Final = frozenset({"sums"})
"""Tables that are not copied, besides the full text: they follow from the others."""

MARKS: Final = ("tables",)
"""Keys of `state` that tell of the place, and not of the space."""

TOGETHER: Final = ("resources", "described_by", "descriptions")
"""A deletion from the first of these deletes from the others."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: all of its columns that are stored, and those that order its rows."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def select(self) -> str:
        """A query for all rows in their order."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} ORDER BY {', '.join(self.key)}"


@cache
def tables() -> tuple[Table, ...]:
    """Return the tables of this version that are copied, in the order in which they are."""
    connection = connect("file::memory:", ":memory:", wait=0)
    try:
        schema.migrate(connection)
        rows = connection.all(
            """SELECT m.name, p.name, p.pk FROM sqlite_master m JOIN pragma_table_xinfo(m.name) p
            WHERE m.type = 'table' AND m.name NOT LIKE 'words%' AND m.name NOT LIKE 'sqlite_%' AND p.hidden = 0
            ORDER BY m.name, p.cid"""
        )
    finally:
        connection.close()
    columns: dict[str, list[str]] = {}
    keys: dict[str, list[tuple[int, str]]] = {}
    for table, column, place in rows:
        columns.setdefault(table, []).append(f'"{column}"')
        if place:
            keys.setdefault(table, []).append((place, f'"{column}"'))
    names = [*TOGETHER, *(name for name in columns if name not in TOGETHER and name not in MADE_ANEW)]
    return tuple(Table(name, tuple(columns[name]), tuple(column for _, column in sorted(keys[name]))) for name in names)


def chunks(connection: Connection, table: Table) -> Iterator[list[Row]]:
    """Iterate over the rows of a table in its order, `BATCH` at a time. A transaction is open."""
    if table.name == "state":
        kept = sorted((key, _text(value)) for key, value in connection.all(table.select) if key not in MARKS)
        yield from [kept]
        return
    if connection.dialect == "sqlite":
        yield from connection.batches(table.select)
        return
    connection.run(f"DECLARE copied NO SCROLL CURSOR FOR {table.select}")
    while rows := connection.all(f"FETCH {BATCH} FROM copied"):
        yield rows
    connection.run("CLOSE copied")


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def digest(rows: Sequence[Row]) -> bytes:
    """Return the SHA-256 of rows, over a form of `marshal` that is the same in every Python."""
    return sha256(marshal.dumps([tuple(row) for row in rows], 2)).digest()


def together(digests: Iterable[bytes]) -> str:
    """Return one SHA-256 of several, in hexadecimal digits."""
    return sha256(b"".join(digests)).hexdigest()


def count(connection: Connection, table: Table) -> int:
    """Return how many rows a table has."""
    result: int = connection.value(f"SELECT count(*) FROM {table.name}")
    return result
