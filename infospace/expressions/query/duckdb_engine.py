"""Runs a query in a DuckDB that it has alone: in memory, without files, network, extensions or settings, within limits.

Imports duckdb; import it late.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np

from infospace.core.bounds import MOST_ITEMS, OutOfTime, Stop, check_time
from infospace.core.clock import today_and_now
from infospace.core.errors import BudgetExceeded, Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.expressions.mismatch import Clock, ItemMismatches, Mismatch
from infospace.expressions.query.builder import Builder, Typed
from infospace.expressions.query.columns import EXACT, Column, Rows, Type
from infospace.expressions.query.functions import MISMATCH
from infospace.expressions.query.mismatches import count_mismatches
from infospace.expressions.query.parse import ParsedQuery
from infospace.expressions.query.relations import Compiled, Tables, physical
from infospace.expressions.query.select import Writer
from infospace.expressions.query.tree import Query

MEMORY: Final = "2GB"
"""What one query may take, of which nothing goes to a disk."""
THREADS: Final = 2
_IDLE: Final = 2
"""Idle databases that are kept; threads that finish at the same moment may each add one."""
_LARGE: Final = 10_000
"""A database whose query read more rows than this is closed, not kept."""
_GROWN: Final = 64 * 2**20
"""If the process grew by more than this with the queries of a database, that one is closed, not kept."""
_TICK: Final = 0.02
"""Seconds between two looks at the clock while the engine computes."""
_PARAMETER: Final = re.compile(r"\$(p[0-9]+)")
_ALL: Final = 2**62
_CHUNK: Final = 4_096
"""Rows that are taken at once."""
_SETTINGS: Final[Mapping[str, Any]] = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "python_scan_all_frames": "false",
    "temp_directory": "",
    "memory_limit": MEMORY,
    "threads": str(THREADS),
}


def run_query(
    parsed: ParsedQuery,
    tables: Tables,
    parameters: Mapping[str, JSON | PathNotFound],
    clock: Clock | None = None,
    most: int = MOST_ITEMS,
    tallies: list[ItemMismatches] | None = None,
    absent: list[str] | None = None,
) -> Iterator[dict[str, JSON]]:
    """Run a query; iterate over its rows, of which at most `most` + 1 come.

    `tallies` gets, after the last row, what had no result in its conditions; `absent` the paths that it reads and that
    no item of its tables has.

    Raises Invalid for what the tables make senseless, Mismatch where an operation has no result, BudgetExceeded where
    the engine's memory does not do, and OutOfTime.
    """
    present = (clock or today_and_now)()
    builder = Builder(parameters, lambda: present)
    yield from _run(parsed.query, tables, builder, most)
    if absent is not None:
        absent += builder.absent
    if tallies is not None and builder.doubtful:

        def run(query: Query) -> Iterator[dict[str, JSON]]:
            return _run(query, tables, Builder(parameters, builder.clock), _ALL)

        tallies += count_mismatches(parsed.query, builder.doubtful, run, parameters, builder.clock)


def _run(query: Query, tables: Tables, builder: Builder, most: int) -> Iterator[dict[str, JSON]]:
    compiled = Writer(builder, tables).write(query, most + 1)
    large = sum(len(rows) for rows in builder.tables.values()) > _LARGE
    with _DATABASES.connection(keep=not large) as connection:
        process = os.getpid()
        try:
            try:
                _prepare(connection, builder)
            except duckdb.Error as error:
                raise _error_of(error) from None
            yield from _decoded(_rows(connection, compiled, builder), compiled)
        finally:
            if process == os.getpid():
                for name in builder.functions:
                    _forget(connection, name)


def _prepare(connection: Any, builder: Builder) -> None:
    """Make the tables and functions that the query reads."""
    for name, rows in builder.tables.items():
        check_time()
        _load(connection, name, rows)
    for name, udf in builder.functions.items():
        connection.create_function(
            name,
            udf.call,
            list(udf.takes),
            udf.gives,
            type="native",
            null_handling="special",
            side_effects=not udf.folded,
        )


@dataclass(eq=False, slots=True)
class _Database:
    """A database in memory, with the process that made it and the bytes that this one grew by with its queries."""

    connection: Any
    process: int = field(default_factory=os.getpid)
    cursor: Any = None
    grown: int = 0

    def is_light(self, before: int | None, after: int | None) -> bool:
        """Whether it may be kept after a query, at whose beginning and end the process had so much memory."""
        if before is None or after is None:
            return False
        self.grown += max(0, after - before)
        return self.grown <= _GROWN


class _Databases:
    """Databases in memory that no query uses now: making one takes longer than most queries do.

    A query has a database alone, so that limits and functions are its own. Its tables are temporary: they go with its
    connection, so that the next query finds the database empty. After a query that failed or was broken off the
    database is closed, since nobody has looked at what that left behind.

    A database works only in the process that made it: after a fork its threads are missing in the child, where closing
    it, or finalizing it, crashes or hangs. Idle ones are closed before a fork. Those that are in use then, or come back
    just before it, stay as they are in the child, which never closes them; its queries make databases of their own. A
    query that is half read at the fork can be left or closed in the child.

    No lock is held: another thread may fork at any moment, and garbage collection may finish an abandoned query while
    this thread is in the pool's code. Both ends of a deque are safe without one, and so is a set.
    """

    def __init__(self) -> None:
        self._idle: deque[_Database] = deque()
        self._open: set[_Database] = set()

    @contextmanager
    def connection(self, *, keep: bool) -> Iterator[Any]:
        """Give a connection to a database that nobody else uses, and that is closed afterwards unless it is kept."""
        try:
            database = self._idle.pop()
        except IndexError:
            database = _Database(duckdb.connect(":memory:", config=dict(_SETTINGS)))
            database.connection.execute("SET lock_configuration = true")
            self._open.add(database)
        before = _resident()
        try:
            database.cursor = database.connection.cursor()
            try:
                yield database.cursor
            finally:
                if database.process == os.getpid():
                    database.cursor.close()
        except BaseException:
            self._close(database)
            raise
        # The number of rows does not say what a query took, so the memory of the process is compared. A database that
        # is used again may keep a little more each time, so what its queries took is added up.
        light = database.is_light(before, _resident())
        if keep and light and len(self._idle) < _IDLE and database.process == os.getpid():
            self._idle.append(database)
        else:
            self._close(database)

    def _close(self, database: _Database) -> None:
        if database.process == os.getpid():
            self._open.discard(database)
            database.connection.close()

    def close(self) -> None:
        """Close the idle databases; called before a fork, since a child has none of their threads, and at exit."""
        with suppress(IndexError):
            while True:
                self._close(self._idle.pop())

    def abandon(self) -> None:
        """Keep what the parent made from being used or finalized here; called in the child after a fork."""
        inherited, self._open, self._idle = self._open, set(), deque()
        for database in inherited:
            for connection in (database.connection, database.cursor):
                # The interpreter lets go of everything at its end, so a reference in a variable is not enough.
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _resident() -> int | None:
    """Return the bytes of memory that the process has, None where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_bytes().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


_DATABASES: Final = _Databases()
os.register_at_fork(before=_DATABASES.close, after_in_child=_DATABASES.abandon)
atexit.register(_DATABASES.close)


def _forget(connection: Any, name: str) -> None:
    try:
        connection.remove_function(name)
    except duckdb.Error:  # it was never made
        return


def _load(connection: Any, name: str, rows: Rows) -> None:
    """Make the table of rows: `rn` from 1, `pn` of the row that an element comes from, and the columns by place."""
    count = len(rows)
    arrays: dict[str, Any] = {"rn": np.arange(1, count + 1, dtype=np.int64)}
    selected = ["rn"]
    if rows.parents is not None:
        arrays["pn"] = np.asarray(rows.parents, dtype=np.int64) + 1
        selected.append("pn")
    for place, column in enumerate(rows.columns.values()):
        if column.type is Type.NULL:
            selected.append(f"NULL AS {physical(place)}")
            continue
        arrays |= {f"a{place}{suffix}": array for suffix, array in column.arrays.items()}
        selected.append(f"{_read(column, f'a{place}')} AS {physical(place)}")
        if "w" in column.arrays:
            selected.append(f"a{place}w AS {physical(place)}w")
    connection.register("given", arrays)
    connection.execute(f"CREATE TEMPORARY TABLE {name} AS SELECT {', '.join(selected)} FROM given")
    connection.unregister("given")


def _read(column: Column, array: str) -> str:
    match column.type:
        case Type.INT:
            return array if column.whole else f"{array}::HUGEINT"
        case Type.TEXT:
            return f"{array}::VARCHAR"
        case Type.FLOAT | Type.NUM:
            return f"{array}::DOUBLE"
        case Type.ANY:
            rest = f"{array}r::HUGEINT" if "r" in column.arrays else "0::HUGEINT"
            key = f"{{'k': {array}k::UTINYINT, 'd': {array}d + 0.0::DOUBLE, 'r': {rest}, 's': {array}s::VARCHAR}}"
            return f"CASE WHEN {array}k IS NULL THEN NULL ELSE {{'v': {key}, 'o': {array}o::VARCHAR}} END"
    return array


def _rows(connection: Any, compiled: Compiled, builder: Builder) -> Iterator[tuple[Any, ...]]:
    """Run it, and iterate over the rows; whoever wants it ended interrupts the engine within a moment."""
    values = builder.values
    with _Watch(connection, builder.stop) as watch:
        try:
            outputs = [_written(typed) for _, typed in compiled.outputs]
            wholes = [str(typed.whole) for _, typed in compiled.outputs if typed.tells_whole]
            sql = f"SELECT {', '.join([*outputs, *wholes])} FROM ({compiled.sql})"
            used = {name: values[name] for name in dict.fromkeys(_PARAMETER.findall(sql))}
            value = connection.execute(sql, used or None)
            while chunk := value.fetchmany(_CHUNK):
                check_time()
                yield from chunk
        except duckdb.Error as error:
            watch.raise_if_ended()
            raise _error_of(error) from None


def _written(typed: Typed) -> str:
    return f"({typed.sql}).o" if typed.type is Type.ANY else typed.sql


class _Watch:
    """Looks at the clock in a thread of its own, and interrupts the engine when the time is over."""

    def __init__(self, connection: Any, stop: Stop) -> None:
        self._connection = connection
        self._done = threading.Event()
        self._stop = stop
        context = copy_context()
        self._thread = threading.Thread(target=lambda: context.run(self._watch_time), daemon=True, name="query-watch")

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._thread.is_alive():  # in a child after a fork it is not, and may have left the event locked
            self._done.set()
            self._thread.join()

    def _watch_time(self) -> None:
        while not self._done.wait(_TICK):
            try:
                check_time()
            except OutOfTime:
                self._stop.now = True
                self._connection.interrupt()

    def raise_if_ended(self) -> None:
        """Raise OutOfTime where that is why the engine stopped."""
        if self._stop.now:
            raise OutOfTime


def _error_of(error: duckdb.Error) -> Exception:
    """Say in our words what the engine could not do."""
    text = str(error)
    if MISMATCH in text:
        message = text.split(MISMATCH)[1]
        return Mismatch(message, hint=_hint(message))
    if isinstance(error, duckdb.OutOfMemoryException):
        message = f"the query needs more memory than {MEMORY}, the most that one query may take"
        return BudgetExceeded(message, hint="join on a condition, or take fewer rows first")
    if isinstance(error, (duckdb.OutOfRangeException, duckdb.ConversionException)):
        return Mismatch("a whole number of the query has more than 38 digits", hint="CAST(… AS number)")
    if "More than one row returned by a subquery" in text:
        return Invalid("a subselect that is used as one value gives several", hint="LIMIT 1, or an aggregate")
    return Invalid(f"the query cannot be run: {text.splitlines()[0][:300]}")


def _hint(message: str) -> str | None:
    if "divides by zero" in message:
        return "CASE WHEN … THEN … END decides before"
    if "cast" in message:
        return "TRY_CAST gives null for what cannot be cast"
    return None


def _decoded(rows: Iterator[tuple[Any, ...]], compiled: Compiled) -> Iterator[dict[str, JSON]]:
    names = [name for name, _ in compiled.outputs]
    readers = [_reader(typed, name) for name, typed in compiled.outputs]
    whole_places = [place for place, (_, typed) in enumerate(compiled.outputs) if typed.tells_whole]
    for row in rows:
        result: dict[str, JSON] = {
            name: None if value is None else value if read is None else read(value)
            for name, read, value in zip(names, readers, row, strict=False)
        }
        for place, whole in zip(whole_places, row[len(names) :], strict=True):
            if whole is False:
                result[names[place]] = row[place]
        yield result


def _reader(typed: Typed, name: str) -> Callable[[Any], JSON] | None:
    """Return what makes JSON of a value of the engine; None where it is that."""
    match typed.type:
        case Type.ANY:
            return json.loads
        case Type.NUM:
            return lambda value: _number(value, name, whole=True)
        case Type.FLOAT:
            return lambda value: _number(value, name, whole=False)
        case Type.LIST:
            inner = _reader(Typed("", typed.element or Type.TEXT), name)
            return list if inner is None else lambda value: [inner(one) for one in value]
    return None


def _number(value: float, name: str, *, whole: bool) -> JSON:
    if value - value != 0:
        raise Mismatch(f"`{name}` is beyond what a number holds", hint="numbers go to about 1.8e308")
    if whole and abs(value) <= EXACT and value.is_integer():
        return int(value)
    return value
