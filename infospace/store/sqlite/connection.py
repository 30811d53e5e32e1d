"""One connection to SQLite. Every error of SQLite leaves it as an error of infospace."""

from __future__ import annotations

import marshal
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias
from urllib.parse import unquote, urlsplit
from zlib import crc32

from infospace.core.errors import InfospaceError, Invalid, StoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from infospace.store.records import NearestNotes

Row: TypeAlias = "tuple[Any, ...]"

STATEMENTS = 256
"""How many compiled statements a connection keeps; every statement's text is constant, and there are fewer."""

BATCH = 500
"""Rows that `batches` gives at a time."""


class Unexpected(StoreError):
    """A row that was taken for new is not, and nothing of the transaction was done: done with care it says why."""


class Insertion(NamedTuple):
    """The insertion of a row: as a statement that does nothing where it is not new, and as one that fails there."""

    sql: str
    strict: str


class WordRows(Protocol):
    """Full text as rows: which words each Note has, and how often. `listed` is a JSON list of Notes; None for all."""

    def index(self, listed: str, entries: Iterable[tuple[int, str, str, str]]) -> None:
        """Put the words of Notes in the place of those of the keys in a JSON list."""

    def fill(self, batches: Iterable[Iterable[tuple[int, str, str, str]]]) -> None:
        """Put the words of all Notes in the place of what is there, in a transaction to define in."""

    def count(self, term: str, *, prefix: bool, listed: str | None) -> int:
        """Count the Notes that have a word, or one that begins so."""

    def matches(
        self, term: str, *, prefix: bool, listed: str | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the Notes that have a word by number, how often it is in each by weight, and how long each is."""

    def mean_length(self, listed: str | None) -> float:
        """Return how many words a Note has on the average."""

    def differences(
        self, notes: Iterator[list[Row]], progress: Callable[[int, int], None]
    ) -> Iterator[tuple[int | None, str]]:
        """Give Notes whose words here are not those of their texts, and what is wrong with each."""


class VectorRows(Protocol):
    """The vectors of passages, where the engine compares them itself; without pgvector a database does not."""

    def make(self) -> bool:
        """Make what it needs, where the engine can; return whether it compares."""

    def put(self, notes: Sequence[int]) -> None:
        """Take over the passages that Notes have now."""

    def nearest(self, model: str, query: NDArray[np.float32], limit: int) -> NearestNotes | None:
        """Do what `Snapshot.nearest` says."""

    def above(
        self,
        model: str,
        query: NDArray[np.float32],
        threshold: float,
        *,
        limit: int | None,
        numbers: Iterable[int] | None,
        excluding: Iterable[int],
    ) -> NearestNotes | None:
        """Do what `Snapshot.above` says."""

    def differences(self, progress: Callable[[int, int], None]) -> Iterator[tuple[int, str]]:
        """Give Notes that are compared by other vectors than they have, and what is wrong with each."""


class Connection:
    """A connection in autocommit mode. Transactions are begun and ended by statements.

    Raises StoreError for whatever SQLite reports, Invalid for a value that it has no form for.
    """

    __slots__ = ("_file", "address", "connection", "is_careful")

    dialect: Literal["sqlite", "postgresql"] = "sqlite"
    """What the engine speaks: only SQLite has a file that is looked through, checksums of rows, and FTS5."""

    word_rows: WordRows | None = None
    """The full text, where it is not FTS5."""

    vector_rows: VectorRows | None = None
    """What compares vectors, where the engine can."""

    def __init__(self, connection: sqlite3.Connection, address: str, file: str | None = None) -> None:
        self.connection = connection
        self.address = address
        self._file = file
        self.is_careful = False

    def fetch_one(self, sql: str, values: Sequence[object] = ()) -> Row | None:
        """Return the first row, or None."""
        try:
            row: Row | None = self.connection.execute(sql, values).fetchone()
        except _REPORTED as error:
            raise translated(error, self.address) from error
        return row

    def fetch_often(self, sql: str, values: Sequence[object]) -> Row | None:
        """Return the first row of a query that is asked again and again; a database plans it once."""
        return self.fetch_one(sql, values)

    def all(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query. Raises StoreError."""
        try:
            return self.connection.execute(sql, values).fetchall()
        except _REPORTED as error:
            raise translated(error, self.address) from error

    def all_in_time(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query that may take long; a database ends it where the time of a step is over."""
        return self.all(sql, values)

    def batches(self, sql: str, values: Sequence[object] = ()) -> Iterator[list[Row]]:
        """Iterate over all rows, some hundreds at a time, for results that are too large to be held twice."""
        try:
            cursor = self.connection.execute(sql, values)
            while rows := cursor.fetchmany(BATCH):
                yield rows
        except _REPORTED as error:
            raise translated(error, self.address) from error

    def value(self, sql: str, values: Sequence[object] = ()) -> Any:
        """Return the first column of the first row, or None."""
        row = self.fetch_one(sql, values)
        return None if row is None else row[0]

    def run(self, sql: str, values: Sequence[object] = ()) -> int:
        """Execute a statement; return how many rows it changed."""
        try:
            return self.connection.execute(sql, values).rowcount
        except _REPORTED as error:
            raise translated(error, self.address) from error

    def begin_to_define(self) -> None:
        """Begin a transaction to define tables in."""
        self.run("BEGIN IMMEDIATE")

    def execute_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Execute a statement for each row of values."""
        try:
            self.connection.executemany(sql, rows)
        except _REPORTED as error:
            raise translated(error, self.address) from error

    def put_off(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Execute a statement for each row, at the latest when the transaction ends: a database gets all at once."""
        self.execute_many(sql, rows)

    def insert_expected(self, insertion: Insertion, row: Sequence[object]) -> bool:
        """Insert a row that is expected to be new; return False where it is not.

        A database puts it off, unless `is_careful`: True says nothing then, and the transaction raises Unexpected
        later, so that it is begun again with care.
        """
        return self.run(insertion.sql, row) > 0

    def ask_later(self, sql: str) -> Callable[[], Any]:
        """Ask for a value of the transaction; what is returned gives it, after the transaction as well."""
        value = self.value(sql)
        return lambda: value

    def rollback(self) -> None:
        """End the transaction without effect, if SQLite has not done so by itself."""
        if self.connection.in_transaction:
            self.run("ROLLBACK")

    def copy_to(self, other: sqlite3.Connection) -> None:
        """Copy the database as it is now into another one."""
        try:
            self.connection.backup(other)
        except _REPORTED as error:
            raise translated(error, self.address) from error

    def close(self) -> None:
        """Close the connection to the file."""
        try:
            self.connection.close()
        except _REPORTED as error:
            raise translated(error, self.address) from error
        if self._file is not None:
            OPEN_FILES.remove(self._file)
            self._file = None


_REPORTED = (sqlite3.Error, OverflowError, UnicodeError)

_CLOSED = sqlite3.connect(":memory:", check_same_thread=False)
_CLOSED.close()


class OpenFiles:
    """The files that SQLite has open in this process, by their real paths.

    Whoever closes a descriptor of a file takes all POSIX locks on it from the process, those of SQLite too
    (https://www.sqlite.org/howtocorrupt.html, 2.2): another process then takes the write-ahead log away. So nobody
    else opens such a file.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, path: str) -> None:
        """SQLite is about to open a file."""
        with self._lock:
            self._counts[path] += 1

    def remove(self, path: str) -> None:
        """One of the connections to a file is closed."""
        with self._lock:
            self._counts[path] -= 1
            if not self._counts[path]:
                del self._counts[path]

    def read_head(self, path: Path, size: int) -> bytes | None:
        """Return the first bytes of a file; None where SQLite has it open. Raises OSError and ValueError."""
        with self._lock:
            if os.path.realpath(path) in self._counts:
                return None
            with path.open("rb") as file:
                return file.read(size)


OPEN_FILES: Final = OpenFiles()


def connect(target: str, address: str, *, wait: float) -> Connection:
    """Connect to `target`, a URI, waiting at most `wait` seconds for a lock of another process."""
    file = os.path.realpath(unquote(urlsplit(target).path)) if target.startswith("file:///") else None
    if file is not None:
        OPEN_FILES.add(file)
    try:
        connection = sqlite3.connect(
            target,
            uri=True,
            timeout=wait,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=STATEMENTS,
        )
        connection.create_function("row_sum", -1, row_sum, deterministic=True)
    except sqlite3.Error as error:
        if file is not None:
            OPEN_FILES.remove(file)
        raise translated(error, address) from error
    return Connection(connection, address, file)


def row_sum(*values: str | float | bytes | None) -> int:
    """Return the CRC of a row's values, over a form of `marshal` that is the same in every Python."""
    return crc32(marshal.dumps(values, 2))


def ended(address: str) -> Connection:
    """Return an engine that answers everything with a StoreError."""
    return Connection(_CLOSED, address)


def is_busy(error: StoreError) -> bool:
    """Whether an error says that another process held a lock for too long."""
    return _code(error.__cause__) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_unopenable(error: StoreError) -> bool:
    """Whether an error says that SQLite could not open the file or one that belongs to it."""
    return _code(error.__cause__) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def is_full(error: StoreError) -> bool:
    """Whether an error says that a disk has no room."""
    cause = error.__cause__
    return _code(cause) == sqlite3.SQLITE_FULL or _has_no_room(cause)


def _has_no_room(error: BaseException | None) -> bool:
    """Whether SQLite could not make the index of its log as long as it has to be."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code == sqlite3.SQLITE_IOERR_SHMSIZE


def _code(error: BaseException | None) -> int:
    """SQLite's primary result code, 0 where there is none (https://sqlite.org/rescode.html)."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


_SENTENCES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: ("is locked by another process", "close the other program, or try again when it is done"),
    sqlite3.SQLITE_LOCKED: ("is locked by another process", "close the other program, or try again when it is done"),
    sqlite3.SQLITE_FULL: (
        "has no room left on its disk: nothing of this change was stored",
        "free some space, then do it again; what was stored before is safe",
    ),
    sqlite3.SQLITE_READONLY: (
        "can be read and not written",
        "give yourself the right to write to it and to its folder",
    ),
    sqlite3.SQLITE_PERM: ("may not be opened by you", "give yourself the right to read and write it"),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened",
        "its folder must exist, and you need the right to write to it, since SQLite keeps two more files there",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged",
        "restore a copy of it; what can still be read, `sqlite3 FILE .recover` brings out",
    ),
    sqlite3.SQLITE_NOTADB: (
        "is not an SQLite database, or its beginning is damaged",
        "name another file, or restore a copy",
    ),
    sqlite3.SQLITE_TOOBIG: ("cannot take a text of this size", "at most a thousand million bytes at a time"),
    sqlite3.SQLITE_NOMEM: ("needs more memory than there is", "close something, then do it again"),
}


def translated(error: Exception, address: str) -> InfospaceError:
    """Say what SQLite reported in one sentence."""
    if isinstance(error, UnicodeEncodeError):
        lone = error.object[error.start]
        return Invalid(
            f"a text holds {lone!r}, which has no UTF-8 form", hint="texts are Unicode without lone surrogates"
        )
    if isinstance(error, OverflowError):
        return Invalid("a whole number is too large to be stored", hint="at most 2^63 - 1")
    code = sqlite3.SQLITE_CORRUPT if isinstance(error, UnicodeDecodeError) else _code(error)
    code = sqlite3.SQLITE_FULL if _has_no_room(error) else code
    if sentence := _SENTENCES.get(code):
        return StoreError(f"the space {address!r} {sentence[0]}", hint=sentence[1])
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return StoreError(f"the space {address!r} is closed, or this view of it has ended", hint="open it again")
    return StoreError(f"the space {address!r} cannot be read or written: {error}", hint="look at the disk and the file")
