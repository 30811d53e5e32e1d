"""One connection to PostgreSQL, asked as a connection to SQLite is. Every error leaves it as an error of infospace."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Final

import psycopg
from psycopg import ClientCursor, sql
from psycopg.adapt import Loader
from psycopg.pq import TransactionStatus

from infospace.core.bounds import OutOfTime, check_time, seconds_left
from infospace.core.errors import InfospaceError, Invalid, StoreError
from infospace.store.postgres.statements import BEGIN, numbered, translated
from infospace.store.sqlite.connection import BATCH, Connection, Insertion, Row, Unexpected, row_sum

ROWS_AT_ONCE: Final = 200
"""Rows of one statement that go in one round trip."""

MOST_SECONDS: Final = 600.0
"""How long a query may compute in the database where nothing else limits it."""

_LOOK: Final = 0.05
"""Seconds between two looks whether a query is still wanted."""

_MOST: Final = 2**63 - 1
_NUL: Final = "\x01\x01"
"""Stands for NUL, which PostgreSQL's texts cannot hold; a \\x01 is written \\x01\\x02, so that the order stays."""

_WRITTEN: Final = re.compile("[\0\x01]")
_READ: Final = re.compile("\x01[\x01\x02]")


class _Text(Loader):
    """Reads a text, with the NULs that it was given."""

    def load(self, data: Any) -> str:
        text = bytes(data).decode()
        return _READ.sub(lambda one: "\0" if one[0] == _NUL else "\x01", text) if "\x01" in text else text


class _Number(Loader):
    """Reads a sum or an average: a whole number as such."""

    def load(self, data: Any) -> float:
        text = bytes(data).decode()
        return float(text) if "." in text else int(text)


class PostgresConnection(Connection):
    """A connection in autocommit mode. Transactions are begun and ended by statements.

    Values are put into the statement by the client, quoted by libpq: so that they take the type of what they are
    compared with, as in SQLite. Raises StoreError for whatever PostgreSQL reports, Invalid for a value that it has no
    form for.

    What begins a transaction, and what is put off in it, goes with the first statement whose result is wanted, as
    one message (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT): the server
    stops at the first one that fails, and does no COMMIT behind it. So a commit that expects all takes one round trip.
    """

    __slots__ = (
        "_asked",
        "_cursor",
        "_cursors",
        "_has_row_security",
        "_lock_key",
        "_prepared",
        "_put_off",
        "_session",
        "vector_rows",
        "word_rows",
    )

    dialect = "postgresql"

    def __init__(self, session: psycopg.Connection[Any], address: str, lock_key: int) -> None:
        from infospace.store.postgres.vector_rows import PostgresVectorRows
        from infospace.store.postgres.word_rows import PostgresWordRows

        self.address = address
        self.is_careful = False
        self._session = session
        self._lock_key = lock_key
        self._cursor = ClientCursor(session)
        self._prepared: dict[str, str] = {}
        self._cursors = count()
        self._put_off: list[str] = []
        self._asked: list[_Asked] = []
        self._has_row_security: bool | None = None
        self.word_rows = PostgresWordRows(self)
        self.vector_rows: PostgresVectorRows = PostgresVectorRows(self)

    def fetch_one(self, sql: str, values: Sequence[object] = ()) -> Row | None:
        """Return the first row, or None."""
        return next(iter(self.all(sql, values)), None)

    def fetch_often(self, sql: str, values: Sequence[object]) -> Row | None:
        """Return the first row of a query, which the server parses and plans once for the connection."""
        self._send_put_off()
        try:
            row: Row | None = self._cursor.execute(self._executing(sql, values).encode()).fetchone()
        except _REPORTED as error:
            raise reported(error, self.address) from error
        return row

    def all(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query. Raises StoreError."""
        if not self._execute(sql, values):
            return []
        try:
            return self._cursor.fetchall()
        except psycopg.Error as error:
            raise reported(error, self.address) from error

    def all_in_time(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Return all rows of a query in a transaction. Raises OutOfTime when the time of a step is over, or it ends.

        In one that only reads, nothing that the text could hold writes: it is one statement, by the extended protocol,
        and after a query, as the time is set by, PostgreSQL makes no transaction writable
        (https://www.postgresql.org/docs/current/sql-set-transaction.html).
        """
        left = min(seconds_left(), MOST_SECONDS)
        self.define(f"SELECT set_config('statement_timeout', '{max(1, int(left * 1000))}', true)")
        done = threading.Event()
        context = copy_context()
        watch = threading.Thread(target=lambda: context.run(self._cancel_in_time, done), daemon=True)
        watch.start()
        statement, places = translated(sql)
        try:
            return list(self._cursor.stream(statement, _bound(values, places)))
        except _REPORTED as error:
            check_time()
            raise reported(error, self.address) from error
        finally:
            done.set()
            watch.join()
            if self._session.info.transaction_status == TransactionStatus.INTRANS:
                self.define("SET LOCAL statement_timeout = 0")

    def _cancel_in_time(self, done: threading.Event) -> None:
        """Have the server give a statement up when whoever wanted it wants it no more."""
        while not done.wait(_LOOK):
            try:
                check_time()
            except OutOfTime:
                with suppress(psycopg.Error):  # of a connection that broke there is nothing left to cancel
                    self._session.cancel_safe()
                return

    def batches(self, sql: str, values: Sequence[object] = ()) -> Iterator[list[Row]]:
        """Iterate over all rows, some hundreds at a time: the others wait at the server, in a cursor.

        They are those of the moment of the first one, whatever else is asked or written meanwhile.
        """
        self._send_put_off()
        statement, places = translated(sql)
        name = f"batch_{next(self._cursors)}"
        # Outside a transaction the server keeps the rows beyond the statement, which ends one.
        hold_clause = " WITH HOLD" if self._session.info.transaction_status == TransactionStatus.IDLE else ""
        fetch = f"FETCH {BATCH} FROM {name}"
        try:
            declared = f"DECLARE {name} NO SCROLL CURSOR{hold_clause} FOR {statement}; {fetch}"
            self._cursor.execute(declared, _bound(values, places))
            self._cursor.nextset()
            batch = self._cursor.fetchall()
            while len(batch) == BATCH:
                yield batch
                batch = self._cursor.execute(fetch.encode()).fetchall()
            self._cursor.execute(f"CLOSE {name}".encode())
            if batch:
                yield batch
        except GeneratorExit:
            self._abandon(name)
            raise
        except _REPORTED as error:
            raise reported(error, self.address) from error

    def run(self, sql: str, values: Sequence[object] = ()) -> int:
        """Execute a statement; return how many rows it changed."""
        return max(0, self._cursor.rowcount) if self._execute(sql, values) else 0

    def begin_to_define(self) -> None:
        """Begin a transaction to define tables in, once nobody else writes to the space.

        Which tables there are is looked at in a later message: within one, the server goes by what it knew before.
        """
        self.run(BEGIN)
        self._send_put_off()

    def define(self, definition: str) -> None:
        """Execute a definition that is written for PostgreSQL."""
        self._send_put_off()
        try:
            self._session.execute(definition.encode())
        except psycopg.Error as error:
            raise reported(error, self.address) from error

    def execute_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Execute a statement for each row of values."""
        self._send_put_off()
        statement, places = translated(sql)
        left = iter(rows)
        while batch := list(islice(left, ROWS_AT_ONCE)):
            try:
                texts = [self._cursor.mogrify(statement, _bound(row, places)) for row in batch]
                self._cursor.execute(";".join(texts))
            except _REPORTED as error:
                raise reported(error, self.address) from error

    def put_off(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Execute a statement for each row, with the next one whose result is wanted."""
        if self._may_put_off and len(rows) <= ROWS_AT_ONCE:
            self._put_off += [self._executing(sql, row) for row in rows]
        else:
            self.execute_many(sql, rows)

    def insert_expected(self, insertion: Insertion, row: Sequence[object]) -> bool:
        """Put the insertion of a row off that is expected to be new; with care, return whether it was."""
        if self.is_careful or not self._may_put_off:
            return self.run(insertion.sql, row) > 0
        self.put_off(insertion.strict, [row])
        return True

    @property
    def _may_put_off(self) -> bool:
        """Whether a statement can go with a later one: a transaction has begun, or will with what is put off."""
        return bool(self._put_off) or self._session.info.transaction_status == TransactionStatus.INTRANS

    def ask_later(self, sql: str) -> Callable[[], Any]:
        """Ask for a value with the next statement; it is asked for by itself where nobody asked anything before."""
        if not self._put_off:
            return super().ask_later(sql)
        asked = _Asked(len(self._put_off))
        self._put_off.append(self._executing(sql, ()))
        self._asked.append(asked)

        def value() -> Any:
            if not asked.is_answered:
                self._send_put_off()
            return asked.value

        return value

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Insert rows in bulk, by COPY where it is allowed. Columns are quoted already."""
        if self.has_row_security:
            values = ", ".join("?" * len(columns))
            insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})"  # noqa: S608 - names of ours alone
            self.execute_many(insert, rows)
            return
        self._send_put_off()
        try:
            with self._cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row([_written(value) for value in row])
        except _REPORTED as error:
            raise reported(error, self.address) from error

    def load_binary(self, table: str, columns: Sequence[str], parts: Iterable[bytes]) -> None:
        """Insert rows in bulk that are written as COPY's binary form has them. Columns are quoted already."""
        self._send_put_off()
        try:
            with self._cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)".encode()) as copy:
                copy.write(b"".join(parts))
        except _REPORTED as error:
            raise reported(error, self.address) from error

    @property
    def has_row_security(self) -> bool:
        """Whether rows are looked at one by one for who is connected, a member of the space: COPY does not do so."""
        if self._has_row_security is None:
            self._has_row_security = self.value("SELECT row_security_active(to_regclass('resources'))")
        return self._has_row_security is True

    def listen(self) -> None:
        """Hear of what comes into the queues of the space."""
        channel = self.value("SELECT 'infospace_' || md5(current_schema())")
        self.define(f"LISTEN {channel}")

    def wait_for_notification(self, seconds: float) -> None:
        """Wait until something is heard, at most so long."""
        try:
            for _ in self._session.notifies(timeout=seconds, stop_after=1):
                return
        except psycopg.Error as error:
            raise reported(error, self.address) from error

    def rollback(self) -> None:
        """End the transaction without effect, if there is one."""
        self._forget_put_off()
        if self._session.info.transaction_status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN):
            self.run("ROLLBACK")

    @property
    def is_usable(self) -> bool:
        """Whether the server still answers, as far as is known."""
        return not self._session.closed and not self._session.broken

    def copy_to(self, other: sqlite3.Connection) -> None:
        """Copy the space as it is seen here into an empty SQLite database."""
        from infospace.store.postgres.private_copy import copy_tables

        other.isolation_level = None
        other.create_function("row_sum", -1, row_sum, deterministic=True)
        copy_tables(self, Connection(other, self.address))

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def _abandon(self, name: str) -> None:
        """Let a cursor go that was not read to its end; what ended its transaction did so already."""
        if self._session.info.transaction_status in (TransactionStatus.IDLE, TransactionStatus.INTRANS):
            with suppress(psycopg.Error):  # of a connection that broke there is nothing left to let go
                if self._cursor.execute("SELECT 1 FROM pg_cursors WHERE name = %s", (name,)).fetchone() is not None:
                    self._cursor.execute(f"CLOSE {name}".encode())

    def _execute(self, sql: str, values: Sequence[object]) -> bool:
        """Execute a statement; return whether there was anything to do."""
        statement, places = translated(sql)
        if sql == BEGIN:
            # All who write wait here, one after the other: what they read from here on is what they change.
            self._put_off += ["BEGIN", f"SELECT pg_advisory_xact_lock({self._lock_key})"]
        elif statement and self._put_off:
            self._put_off.append(self._quoted(statement, _bound(values, places)))
            self._send_put_off()
        elif statement:
            try:
                self._cursor.execute(statement, _bound(values, places))
            except _REPORTED as error:
                raise reported(error, self.address) from error
        return bool(statement)

    def _quoted(self, statement: str, values: list[object]) -> str:
        try:
            return self._cursor.mogrify(statement, values)
        except _REPORTED as error:
            raise reported(error, self.address) from error

    def _executing(self, sql: str, values: Sequence[object]) -> str:
        """Return a statement that executes another one, which the server has parsed once for this connection."""
        name = self._prepared.get(sql)
        if name is None:
            name = f"prepared_{len(self._prepared)}"
            try:
                self._cursor.execute(f"PREPARE {name} AS {numbered(sql)}".encode())
            except psycopg.Error as error:
                raise reported(error, self.address) from error
            self._prepared[sql] = name
        return self._quoted(
            f"EXECUTE {name} ({', '.join(['%s'] * len(values))})" if values else f"EXECUTE {name}",
            [_written(value) for value in values],
        )

    def _send_put_off(self) -> None:
        """Send what was put off, and take its results: the cursor is at the last one.

        Raises Unexpected where a row was there that was taken for new.
        """
        if not self._put_off:
            return
        text, asked = ";".join(self._put_off), {one.place: one for one in self._asked}
        self._forget_put_off()
        try:
            self._cursor.execute(text.encode())
            place = 0
            while True:
                if (one := asked.get(place)) is not None:
                    row = self._cursor.fetchone()
                    one.value, one.is_answered = None if row is None else row[0], True
                if not self._cursor.nextset():
                    break
                place += 1
        except psycopg.errors.IntegrityError as error:
            if self.is_careful:
                raise reported(error, self.address) from error
            raise Unexpected(f"the database {self.address!r} refused a row: {error}") from error
        except _REPORTED as error:
            raise reported(error, self.address) from error

    def _forget_put_off(self) -> None:
        self._put_off, self._asked = [], []


@dataclass(slots=True)
class _Asked:
    """A value that was asked for with others: the place of its statement among them, from 0 on."""

    place: int
    value: Any = None
    is_answered: bool = False


_REPORTED = (psycopg.Error, OverflowError, UnicodeError)


def _bound(values: Sequence[object], places: Sequence[int]) -> list[object]:
    given = [_written(value) for value in values]
    return [given[at] for at in places]


def _written(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and not -_MOST - 1 <= value <= _MOST:
        raise OverflowError
    if isinstance(value, str) and _WRITTEN.search(value):
        value.encode()
        return _WRITTEN.sub(lambda one: _NUL if one[0] == "\0" else "\x01\x02", value)
    return value


def connect(
    target: str, address: str, schema: str, lock_key: int, *, wait: float, starting: float | None = None
) -> PostgresConnection:
    """Connect to a database, in whose schema the tables of a space are. Raises StoreError.

    `wait`: seconds to wait for a server that does not answer. `starting`: for one that says that it is starting, as
    long by default.
    """
    session: psycopg.Connection[Any] | None = None
    try:
        session = _session(target, wait, wait if starting is None else starting)
        session.adapters.register_loader("text", _Text)
        session.adapters.register_loader("numeric", _Number)
        path = sql.SQL("SET search_path TO {}, pg_catalog").format(sql.Identifier(schema))
        ClientCursor(session).execute(path)
        session.execute("SET client_encoding TO 'UTF8'")
    except psycopg.Error as error:
        if session is not None:
            session.close()
        elif isinstance(error, psycopg.ProgrammingError):
            raise StoreError(
                f"the address {address!r} is none: {str(error).strip()}",
                hint="postgresql://USER@HOST/DATABASE?space=NAME, with what psql takes",
            ) from error
        raise reported(error, address) from error
    return PostgresConnection(session, address, lock_key)


def _session(target: str, wait: float, starting: float) -> psycopg.Connection[Any]:
    """Connect once the server lets in whom it will: after a crash it recovers first, and says so meanwhile."""
    end = time.monotonic() + starting
    while True:
        try:
            return psycopg.connect(target, autocommit=True, connect_timeout=max(2, int(wait)))
        except psycopg.OperationalError as error:
            told = str(error)
            # Of several hosts each says why: one that refuses for good is not asked for a password again and again.
            if _STARTING.search(told) is None or _code_of_refusal(told) or time.monotonic() > end:
                raise
        time.sleep(STARTING_S)


STARTING_S: Final = 0.1
"""Seconds until a server that starts is asked again."""

_STARTING: Final = re.compile(
    r"FATAL: +the database system is (starting up|in recovery mode|not (yet )?accepting connections)"
)
"""What PostgreSQL says with the code 57P03, `cannot_connect_now`; the driver tells no code of who was not let in."""

_SENTENCES: Final = {
    "53100": ("has no room left on its disk: nothing of this change was stored", "free some space, then do it again"),
    "53200": ("needs more memory than there is", "close something, then do it again"),
    "54000": ("holds nothing of this size: nothing of this change was stored", "make the longest word or name shorter"),
    "53300": ("has as many connections as it takes", "wait until others are done, or allow more of them"),
    "57014": ("gave the question up, since it took too long", "ask less at a time"),
    "42501": ("does not allow you this", "`infospace members` lists who may what; an admin of the space changes it"),
    "25006": ("can be read and not written", "name the address that takes writes"),
    "28P01": ("does not know this user and password", "look at the address, or at ~/.pgpass"),
    "3D000": ("does not exist", "make it with `createdb`, or name another database"),
}

REFUSAL: Final = "a member with the role run changes nothing that is kept"
"""What a trigger of a space with members says to who tries."""

_REFUSALS: Final = (
    (re.compile(r'FATAL: +database ".*" does not exist'), "3D000"),
    (re.compile(r"FATAL: .*No space left on device"), "53100"),
    (re.compile(r'FATAL: +(password authentication failed|role ".*" does not exist)|no password supplied'), "28P01"),
)


def reported(error: Exception, address: str) -> InfospaceError:
    """Say what PostgreSQL reported in one sentence."""
    if isinstance(error, UnicodeEncodeError):
        lone = error.object[error.start]
        return Invalid(
            f"a text holds {lone!r}, which has no UTF-8 form", hint="texts are Unicode without lone surrogates"
        )
    if isinstance(error, OverflowError):
        return Invalid("a whole number is too large to be stored", hint="at most 2^63 - 1")
    code = getattr(error, "sqlstate", None) or _code_of_refusal(str(error))
    if code in _SENTENCES:
        sentence, hint = _SENTENCES[code]
        if code == "42501" and REFUSAL in str(error):
            sentence = f"{sentence}: {REFUSAL}"
        return StoreError(f"the database {address!r} {sentence}", hint=hint)
    first = str(error).strip().partition("\n")[0] or type(error).__name__
    if isinstance(error, psycopg.OperationalError) and not code.startswith(("22", "42")):
        return StoreError(
            f"the database {address!r} cannot be reached: {first}",
            hint="look whether it runs; what was committed before is safe",
        )
    return StoreError(f"the database {address!r} refused a statement: {first}", hint="this is a fault of infospace")


def _code_of_refusal(message: str) -> str:
    """Return the code of why a server let nobody in, which the driver tells by the sentence alone; "" for others."""
    return next((code for pattern, code in _REFUSALS if pattern.search(message)), "")


def public(address: str) -> str:
    """Return an address without its password."""
    without = re.sub(r"(://[^:/@]*):[^@/]*@", r"\1:…@", address)
    return re.sub(r"([?&](?:ssl)?password=)[^&]*", r"\1…", without)
