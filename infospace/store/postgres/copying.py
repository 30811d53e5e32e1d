"""Copying the tables of a space from one engine to another."""

# ruff: noqa: S608 - names of tables and columns are those of our own definitions

from __future__ import annotations

from typing import Final

from infospace.store.sqlite import schema
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read import fulltext

_DERIVED: Final = frozenset({"sums"})
"""Tables that are made anew."""


def tables_of(engine: Connection) -> dict[str, list[str]]:
    """Return the tables of an SQLite file that are copied, each with its columns."""
    rows = engine.all(
        """SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_xinfo(m.name) p
        WHERE m.type = 'table' AND m.name NOT LIKE 'words%' AND m.name NOT LIKE 'sqlite_%' AND p.hidden = 0
        ORDER BY m.name, p.cid"""
    )
    found: dict[str, list[str]] = {}
    for table, column in rows:
        if table not in _DERIVED:
            found.setdefault(table, []).append(f'"{column}"')
    return found


def copy_tables(source: Connection, target: Connection) -> None:
    """Copy a space that is read from a snapshot into an empty SQLite database."""
    schema.migrate(target)
    target.run("BEGIN")
    numbers = {*_numbers(source)}
    for table, columns in tables_of(target).items():
        target.run(f"DELETE FROM {table}")
        insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        for batch in source.batches(f"SELECT {', '.join(columns)} FROM {table}"):
            rows = [(row[0], int(row[1])) if table == "state" and row[0] in numbers else row for row in batch]
            target.many(insert, rows)
    target.run("DELETE FROM state WHERE key = 'tables'")
    fulltext.fill(target)
    target.run("COMMIT")


def _numbers(source: Connection) -> tuple[str, ...]:
    from infospace.store.postgres.statements import NUMBERS_OF_STATE

    return NUMBERS_OF_STATE if source.dialect == "postgresql" else ()
