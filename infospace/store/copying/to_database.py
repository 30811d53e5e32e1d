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
        self.connection, self._space = database.connection(address, wait=wait)
        self.address = self.connection.address
        self._identity = identity
        try:
            self._lock(wait)
        except BaseException:
            self.connection.close()
            raise

    def begin(self) -> bool:
        """Make the schema, the tables and the mark, where they are not there yet."""
        with writing(self.connection):
            if database.is_unfinished(self.connection, self._space):
                return True
            if database.is_there(self.connection, self._space):
                raise occupied(self.address)
            database.make_schema(self.connection, self._space)
            for step in schema.MIGRATIONS:
                step(self.connection)
            for statement in TABLES:
                self.connection.run(statement)
            empty_tables(self.connection)
            self.connection.vector_rows.drop()
            mark_source(self.connection, self._identity, schema.VERSION)
        return False

    def load(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert rows of a table."""
        self.connection.load(table.name, table.columns, rows)

    def finish(self) -> None:
        """Fill what follows from the rows, let numbers go on after those that are there, and take the mark away."""
        with writing(self.connection):
            fulltext.fill(self.connection)
            self.connection.vector_rows.make()
            for table, column in self.connection.all(_COUNTED, (self._space,)):
                most = self.connection.value(f"SELECT max({column}) FROM {table}")
                if most is not None:
                    self.connection.value("SELECT setval(pg_get_serial_sequence(?, ?), ?)", (table, column, most))
            self.connection.run("DROP TABLE copying")
            self.connection.run("INSERT INTO state VALUES ('tables', ?)", (schema.VERSION,))

    def close(self) -> None:
        """Close the connection, and so give the lock back."""
        with suppress(InfospaceError):
            self.connection.close()

    def _lock(self, wait: float) -> None:
        end = time.monotonic() + wait
        while not self.connection.value(
            "SELECT pg_try_advisory_lock(hashtextextended('copy ' || ?, 0))", (self._space,)
        ):
            if time.monotonic() > end:
                raise Conflict(
                    f"another process copies into {self.address!r} now", hint="wait until it is done, or end it"
                )
            time.sleep(_AGAIN)
