"""A schema of a PostgreSQL database as the place that a space is copied into."""

# ruff: noqa: S608 - names of tables and columns are those of our own definitions

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from infospace.core.errors import Conflict, InfospaceError
from infospace.store.copying.destination import TABLES, empty_tables, mark_source, writing
from infospace.store.copying.rows import Table
from infospace.store.copying.to_file import occupied
from infospace.store.postgres import store as database
from infospace.store.sqlite import schema
from infospace.store.sqlite.connection import Row
from infospace.store.sqlite.read import fulltext

_COUNTED: Final = """SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = ? AND is_identity = 'YES'"""

_AGAIN: Final = 0.1
"""Seconds between two looks whether the lock is free. A server notices within moments that a process was killed."""


class DatabaseDestination:
    """Implements `Destination`. An advisory lock keeps two processes from copying into one schema."""

    def __init__(self, address: str, identity: str, *, wait: float) -> None:
        self.engine, self._space = database.connection(address, wait=wait)
        self.address = self.engine.address
        self._identity = identity
        try:
            self._lock(wait)
        except BaseException:
            self.engine.close()
            raise

    def begin(self) -> bool:
        """Make the schema, the tables and the mark, where they are not there yet."""
        with writing(self.engine):
            if database.is_unfinished(self.engine, self._space):
                return True
            if database.is_there(self.engine, self._space):
                raise occupied(self.address)
            database.make_schema(self.engine, self._space)
            for step in schema.MIGRATIONS:
                step(self.engine)
            for statement in TABLES:
                self.engine.run(statement)
            empty_tables(self.engine)
            self.engine.vector_rows.drop()
            mark_source(self.engine, self._identity, schema.VERSION)
        return False

    def load(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert rows of a table."""
        self.engine.load(table.name, table.columns, rows)

    def finish(self) -> None:
        """Fill what follows from the rows, let numbers go on after those that are there, and take the mark away."""
        with writing(self.engine):
            self.engine.run("DELETE FROM postings")
            self.engine.run("DELETE FROM words")
            fulltext.fill(self.engine)
            self.engine.vector_rows.make()
            for table, column in self.engine.all(_COUNTED, (self._space,)):
                most = self.engine.value(f"SELECT max({column}) FROM {table}")
                if most is not None:
                    self.engine.value("SELECT setval(pg_get_serial_sequence(?, ?), ?)", (table, column, most))
            self.engine.run("DROP TABLE copying")
            self.engine.run("INSERT INTO state VALUES ('tables', ?)", (schema.VERSION,))

    def close(self) -> None:
        """Close the connection, and so give the lock back."""
        with suppress(InfospaceError):
            self.engine.close()

    def _lock(self, wait: float) -> None:
        end = time.monotonic() + wait
        while not self.engine.value("SELECT pg_try_advisory_lock(hashtextextended('copy ' || ?, 0))", (self._space,)):
            if time.monotonic() > end:
                raise Conflict(
                    f"another process copies into {self.address!r} now", hint="wait until it is done, or end it"
                )
            time.sleep(_AGAIN)
