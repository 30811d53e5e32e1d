"""Copying the tables of a space in a database into an SQLite database in memory or beside."""

# ruff: noqa: S608 - names of tables and columns are those of our own definitions

from __future__ import annotations

from infospace.store.copying.rows import tables
from infospace.store.sqlite import schema
from infospace.store.sqlite.codec import NUMBERS_OF_STATE
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read import fulltext


def copy_tables(source: Connection, target: Connection) -> None:
    """Copy a space that is read from a snapshot into an empty SQLite database."""
    schema.migrate(target)
    target.run("BEGIN")
    for table in tables():
        target.run(f"DELETE FROM {table.name}")
        columns = ", ".join(table.columns)
        insert = f"INSERT INTO {table.name} ({columns}) VALUES ({', '.join('?' * len(table.columns))})"
        for batch in source.batches(f"SELECT {columns} FROM {table.name}"):
            rows = [
                (row[0], int(row[1])) if table.name == "state" and row[0] in NUMBERS_OF_STATE else row for row in batch
            ]
            target.execute_many(insert, rows)
    target.run("DELETE FROM state WHERE key = 'tables'")
    fulltext.fill(target)
    target.run("COMMIT")
