"""Who reads and who writes: one connection to write with, and others that each hold a snapshot."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Protocol

from infospace.core.errors import StoreError
from infospace.store.sqlite import sums
from infospace.store.sqlite.connection import Connection, connect
from infospace.store.sqlite.place import FilePlace

IDLE = 4
"""How many connections wait to be read with again; more are closed after use."""


class Pool(Protocol):
    """The connections of a store."""

    busy: threading.Lock
    """Owned by whoever writes."""

    def acquire(self) -> Connection:
        """Return a connection whose reads all see what the first one saw, until it is given back."""

    def acquire_for_statement(self) -> Connection:
        """Return a connection for a single statement, which sees what is committed then, until it is given back."""

    def release(self, connection: Connection) -> None:
        """Take a connection back."""

    def writing(self) -> Connection:
        """Return the connection to write with; `busy` is held."""

    def wait_for_queue(self, seconds: float) -> None:
        """Return when something may have come into a queue, at the latest after so many seconds."""

    def check_place(self) -> None:
        """Raise StoreError where what is written would be found by nobody."""

    def close(self) -> None:
        """Close all connections; those that are being read with, when they are given back."""


class FilePool:
    """Connections to a file: a snapshot is a read transaction. Without a writer the file is only read."""

    def __init__(
        self, writer: Connection | None, another: Callable[[], Connection], address: str, place: FilePlace
    ) -> None:
        self._writer = writer
        self._watched = False
        self._another = another
        self._address = address
        self._place = place
        self.busy = threading.Lock()
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._closed = False

    def acquire(self) -> Connection:
        """Begin a read transaction on a connection that nobody else reads with; its first query fixes what it sees."""
        connection = self.acquire_for_statement()
        try:
            connection.run("BEGIN")
        except BaseException:
            connection.close()
            raise
        return connection

    def acquire_for_statement(self) -> Connection:
        """Return a connection that nobody else reads with, without a transaction."""
        with self._lock:
            if self._closed:
                raise closed(self._address)
            connection = self._idle.pop() if self._idle else None
        try:
            # Looked at again after opening: a file that was put in this place between the two is another space.
            self._place.check()
            if connection is None:
                connection = self._another()
                self._place.check()
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        return connection

    def release(self, connection: Connection) -> None:
        """End the read transaction, if there is one."""
        try:
            connection.rollback()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if keep := not self._closed and len(self._idle) < IDLE:
                self._idle.append(connection)
        if not keep:
            connection.close()

    def writing(self) -> Connection:
        """Return the one connection to write with; StoreError when there is none.

        It keeps the checksums of what is written from the first write on: a space that is only read does without.
        """
        if self._closed:
            raise closed(self._address)
        if self._writer is None:
            raise StoreError(
                f"the space {self._address!r} can be read and not written",
                hint="give yourself the right to write to it and to its folder, or copy it",
            )
        if not self._watched:
            sums.watch(self._writer)
            self._watched = True
        return self._writer

    def wait_for_queue(self, seconds: float) -> None:
        """Wait so long: nothing tells a process of what another one writes to a file."""
        time.sleep(seconds)

    def check_place(self) -> None:
        """Look whether the path leads to the file that is open, with the log that is written to."""
        self._place.check(log=True)

    def close(self) -> None:
        """Close the readers first: the last connection takes the write-ahead log away."""
        with self._lock:
            self._closed = True
            engines, self._idle = self._idle, []
        for connection in engines:
            connection.close()
        if self._writer is not None:
            self._writer.close()


class MemoryPool:
    """A database in memory, with one connection. A write while it is being read goes on with a copy.

    So a snapshot stays as it was, and neither waits for the other for longer than one write takes.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._current = connect("file::memory:", address, wait=0)
        self._readers: dict[Connection, int] = {}
        self._lock = threading.Lock()
        self.busy = threading.Lock()
        self._closed = False

    def acquire(self) -> Connection:
        """Return the current connection, between two writes."""
        # `busy` is held for a whole write, so nobody begins to read in the midst of one; `_lock` guards which
        # connection is current and who reads it; it is always taken after `busy`, so the two never wait for each other.
        with self.busy, self._lock:
            if self._closed:
                raise closed(self._address)
            self._readers[self._current] = self._readers.get(self._current, 0) + 1
            return self._current

    def acquire_for_statement(self) -> Connection:
        """Return the current connection, between two writes."""
        return self.acquire()

    def release(self, connection: Connection) -> None:
        """Take a connection back; the last reader of an earlier one closes it."""
        with self._lock:
            left = self._readers.pop(connection) - 1
            if left:
                self._readers[connection] = left
            elif connection is not self._current or self._closed:
                connection.close()

    def writing(self) -> Connection:
        """Return the current connection, or a copy of it when somebody reads it."""
        with self._lock:
            if self._closed:
                raise closed(self._address)
            if self._current in self._readers:
                copy = connect("file::memory:", self._address, wait=0)
                _copy(self._current.connection, copy.connection)
                self._current = copy
            return self._current

    def wait_for_queue(self, seconds: float) -> None:
        """Wait so long: nothing tells a process of what another one writes to a file."""
        time.sleep(seconds)

    def check_place(self) -> None:
        """It is nowhere but here."""

    def close(self) -> None:
        """Close the connection that nobody reads."""
        with self._lock:
            if not self._closed and self._current not in self._readers:
                self._current.close()
            self._closed = True


class FrozenPool(MemoryPool):
    """A copy of a database, which is read and not written: `why` says so to whoever tries."""

    def __init__(self, source: Connection, address: str, why: StoreError) -> None:
        super().__init__(address)
        source.copy_to(self._current.connection)
        self._why = why

    def writing(self) -> Connection:
        """Raise the StoreError that says why nothing can be written."""
        raise self._why


def _copy(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    source.backup(target)


def closed(address: str) -> StoreError:
    """Say that a space was closed."""
    return StoreError(f"the space {address!r} is closed", hint="open it again")
