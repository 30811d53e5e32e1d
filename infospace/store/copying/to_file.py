"""An SQLite file as the place that a space is copied into."""

# ruff: noqa: S608 - names of tables and columns are those of our own definitions

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from infospace.core.errors import Conflict
from infospace.store.copying.destination import TABLES, empty_tables, mark_source, writing
from infospace.store.copying.rows import Table
from infospace.store.sqlite import open_file, schema, sums
from infospace.store.sqlite.codec import NUMBERS_OF_STATE
from infospace.store.sqlite.connection import Connection, Row, connect
from infospace.store.sqlite.read import fulltext


class FileDestination:
    """Implements `Destination`. The file is locked for all others while it is copied into."""

    def __init__(self, address: str, identity: str, *, wait: float) -> None:
        self.address = address
        self._identity = identity
        path = open_file.real(address)
        there = os.path.exists(path)  # noqa: PTH110 - Path.exists raises for a name that no file can have
        if there and not _may_be_copied_into(path, address):
            raise occupied(address)
        open_file.make_folder(path, address)
        self.connection: Connection = connect(f"{path.as_uri()}?mode=rwc", address, wait=wait)
        try:
            self.connection.run("PRAGMA locking_mode = EXCLUSIVE")
            self.connection.run("PRAGMA synchronous = FULL")
        except BaseException:
            self.connection.close()
            raise

    def begin(self) -> bool:
        """Make the tables and the mark, where they are not there yet."""
        with writing(self.connection):
            application, version, things = schema.marks(self.connection)
            if application == schema.COPYING_ID:
                return True
            if application or version or things:
                raise occupied(self.address)
            for step in schema.MIGRATIONS:
                step(self.connection)
            for statement in TABLES:
                self.connection.run(statement)
            empty_tables(self.connection)
            mark_source(self.connection, self._identity, schema.VERSION)
            self.connection.run(f"PRAGMA application_id = {schema.COPYING_ID}")
        return False

    def load(self, table: Table, rows: Sequence[Row]) -> None:
        """Insert rows of a table."""
        if table.name == "state":
            rows = [
                (key, int(value) if key in NUMBERS_OF_STATE and value is not None else value) for key, value in rows
            ]
        marks = ", ".join("?" * len(table.columns))
        self.connection.execute_many(f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({marks})", rows)

    def finish(self) -> None:
        """Fill the full text and the sums, and take the mark away."""
        with writing(self.connection):
            self.connection.run("DELETE FROM words")
            fulltext.fill(self.connection)
            sums.fill(self.connection)
            self.connection.run("DROP TABLE copying")
            self.connection.run(f"PRAGMA application_id = {schema.APPLICATION_ID}")
            self.connection.run(f"PRAGMA user_version = {schema.VERSION}")

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def _may_be_copied_into(path: Path, address: str) -> bool:
    """Whether a file is empty, or holds an unfinished copy. Raises StoreError for what is no file or not ours."""
    return open_file.is_unfinished(path) or not open_file.is_database(path, address)


def occupied(address: str) -> Conflict:
    """Say that a place holds something."""
    return Conflict(
        f"{address!r} holds something already, and a copy goes into an empty place",
        hint="name a place where nothing is",
    )
