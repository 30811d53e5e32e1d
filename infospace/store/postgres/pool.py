"""The connections of a store: one to write with, and others that each hold a snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from infospace.core.errors import InfospaceError
from infospace.store.postgres.connection import PostgresConnection
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.connection_pool import IDLE, closed


class PostgresPool:
    """Implements `Pool`. A connection that the server ended is dropped, and another takes its place."""

    def __init__(self, another: Callable[[], PostgresConnection], address: str) -> None:
        self._another = another
        self._address = address
        self.busy = threading.Lock()
        self._writer: PostgresConnection | None = None
        self._idle: list[PostgresConnection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._listener: PostgresConnection | None = None
        self._listening = threading.Lock()

    def acquire(self) -> Connection:
        """Begin a read transaction on a connection that nobody else reads with.

        It sees what is committed when its first question comes, whoever writes meanwhile: REPEATABLE READ is snapshot
        isolation in PostgreSQL (https://www.postgresql.org/docs/current/transaction-iso.html).
        """
        connection = self.acquire_for_statement()
        try:
            connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        except InfospaceError:
            # The server may have ended a connection that waited here: a new one is tried once.
            connection.close()
            connection = self._another()
            connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return connection

    def acquire_for_statement(self) -> Connection:
        """Return a connection that nobody else reads with, without a transaction."""
        with self._lock:
            if self._closed:
                raise closed(self._address)
            while self._idle:
                connection = self._idle.pop()
                if connection.is_usable:
                    return connection
                connection.close()
        return self._another()

    def release(self, connection: Connection) -> None:
        """End the read transaction, if there is one."""
        assert isinstance(connection, PostgresConnection)  # noqa: S101 - it is one of this pool
        try:
            connection.rollback()
        except InfospaceError:
            connection.close()
            return
        with self._lock:
            if keep := connection.is_usable and not self._closed and len(self._idle) < IDLE:
                self._idle.append(connection)
        if not keep:
            connection.close()

    def writing(self) -> Connection:
        """Return the one connection to write with; a new one where the server ended it."""
        if self._closed:
            raise closed(self._address)
        if self._writer is not None and not self._writer.is_usable:
            self._writer.close()
            self._writer = None
        if self._writer is None:
            self._writer = self._another()
        return self._writer

    def wait_for_queue(self, seconds: float) -> None:
        """Wait until another process notifies of its queue, on a connection that listens from the first wait on."""
        with self._listening:
            connection = self._listener
            if connection is None or not connection.is_usable:
                connection = self._listener = self._another()
                connection.listen()
                return  # what came before it listened is looked for now
            connection.wait_for_notification(seconds)

    def check_place(self) -> None:
        """Nothing can be put in the place of a database that is open."""

    def close(self) -> None:
        """Close all connections; those that are being read with, when they are given back."""
        with self._lock:
            self._closed = True
            engines, self._idle = self._idle, []
        for connection in (*engines, *filter(None, (self._writer, self._listener))):
            with suppress(InfospaceError):
                connection.close()
