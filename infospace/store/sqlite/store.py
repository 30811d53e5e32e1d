"""The embedded store: a space in one SQLite file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast, get_args

from infospace.core.errors import Invalid, StoreError
from infospace.core.ids import Kind
from infospace.core.resources import Resource
from infospace.journal.rows import Entry
from infospace.store.changes import Change
from infospace.store.protocol import Chosen, DeletedRuns, PurgeStats
from infospace.store.sqlite import open_file as opening
from infospace.store.sqlite import schema
from infospace.store.sqlite.codec import COLLECTION, NOTE, key_of, run_number
from infospace.store.sqlite.connection import Connection, Unexpected, is_full
from infospace.store.sqlite.connection_pool import FilePool, FrozenPool, MemoryPool, Pool
from infospace.store.sqlite.id_ranges import Counted, IdRanges
from infospace.store.sqlite.journal import runs as journal
from infospace.store.sqlite.open_file import Settings, Synchronous
from infospace.store.sqlite.place import FilePlace
from infospace.store.sqlite.read.membership_cache import Membership
from infospace.store.sqlite.read.property_cache import PropertyCache
from infospace.store.sqlite.read.snapshot import SqliteSnapshot, read_alone
from infospace.store.sqlite.transaction import Transaction
from infospace.store.sqlite.write import delete_runs as forgetting
from infospace.store.sqlite.write import embeddings as discovery
from infospace.store.sqlite.write import purge as purging
from infospace.store.sqlite.write.apply import apply
from infospace.store.sqlite.write.settle_links import settle_links

MEMORY = ":memory:"
"""The address of a space that lives as long as its store, and that nobody else sees."""

WAIT = 30.0
"""Seconds that a process waits for the transactions of others. SQLite looks ten times a second and keeps no queue: a
process that commits without a pause has the lock at most of these looks."""

LONG_WAIT = 0.1
"""Seconds of waiting for a lock from which on it is logged."""


class SqliteStore:
    """Implements `Store`. Any thread may use it; writes of one process queue, and so do those of several."""

    def __init__(self, address: str, pool: Pool, *, durable: bool, writable: bool, path: Path | None = None) -> None:
        self._address = address
        self._path = path
        self._pool = pool
        self._membership = Membership()
        self._properties = PropertyCache()
        self._writable = writable
        self._durable = durable
        self._counted = {} if durable else self._counters()
        self._numbers = IdRanges(self._reserve_durably if durable else self._reserve_here)

    @property
    def address(self) -> str:
        """What the space was opened by."""
        return self._address

    @property
    def identity(self) -> str:
        """Tells this space from every other."""
        with self.reading() as snapshot:
            return snapshot.identity()

    @property
    def derived(self) -> Path | None:
        """`NAME.derived`, beside the file NAME."""
        return None if self._path is None else self._path.with_name(f"{self._path.name}.derived")

    @property
    def writable(self) -> bool:
        """Whether a commit will be kept; in memory, for as long as the store is open."""
        return self._writable

    @contextmanager
    def reading(self) -> Iterator[SqliteSnapshot]:
        """Open a read transaction. In memory, a commit while it is open copies the space first."""
        connection = self._pool.acquire()
        try:
            snapshot = SqliteSnapshot(connection, self._membership, self._properties)
            try:
                yield snapshot
            finally:
                snapshot.end()
        finally:
            self._pool.release(connection)

    @contextmanager
    def overlay(self) -> Iterator[SqliteStore]:
        """Open a copy of the space as it is now; what is written to it is thrown away."""
        from infospace.store.sqlite.private_copy import private_copy

        connection = self._pool.acquire_for_statement()
        try:
            with private_copy(connection) as copy:
                yield copy
        finally:
            self._pool.release(connection)

    @contextmanager
    def rows(self) -> Iterator[Connection]:
        """Open a read transaction on the tables themselves, for who copies them."""
        connection = self._pool.acquire()
        try:
            yield connection
        finally:
            self._pool.release(connection)

    def get(self, identifier: str) -> Resource:
        """Return a resource.

        A Note with content of its own, and a Collection whose members are known, are read by one statement, without a
        transaction around it.
        """
        key = key_of(identifier)
        if key & 3 in (NOTE, COLLECTION):
            connection = self._pool.acquire_for_statement()
            try:
                resource = read_alone(connection, key, self._membership)
            finally:
                self._pool.release(connection)
            if resource is not None:
                return resource
        with self.reading() as snapshot:
            return snapshot.get(identifier)

    def new_id(self, kind: Counted) -> str:
        """Return a new id; most are given out of a range that was reserved before."""
        return self._numbers.new(kind)

    def new_numbers(self, kind: Kind, count: int) -> int:
        """Return the first of so many numbers of new ids, which follow each other."""
        return self._numbers.block(kind, count)

    def commit(self, changes: Sequence[Change], entries: Sequence[Entry] = ()) -> int:
        """Apply changes and entries as one transaction; return the generation."""
        try:
            return self._commit(changes, entries, carefully=False)
        except Unexpected:
            return self._commit(changes, entries, carefully=True)

    def _commit(self, changes: Sequence[Change], entries: Sequence[Entry], *, carefully: bool) -> int:
        with self._writing() as connection:
            connection.is_careful = carefully
            work = Transaction(connection, self._numbers, self._limit, self._reserve, _run_of(changes, entries))
            apply(work, changes)
            journal.record(work, entries)
            settle_links(work)
            generation = work.finish()
        return generation()

    def use_model(self, model: str, chosen: Chosen | None = None) -> None:
        """Make a model's vectors the ones discovery needs, if it still is the space's choice."""
        with self._writing() as connection:
            work = Transaction(connection, self._numbers, self._limit, self._reserve)
            if discovery.chosen(connection) == chosen:
                discovery.use_model(work, model)
            work.finish()

    def choose_model(self, model: str, chosen: Chosen | None) -> None:
        """Keep the choice of a model, and make its vectors the ones discovery needs."""
        with self._writing() as connection:
            work = Transaction(connection, self._numbers, self._limit, self._reserve)
            discovery.choose(connection, chosen)
            discovery.use_model(work, model)
            work.finish()

    def purge(self, *, really: bool) -> PurgeStats:
        """Remove tombstones and earlier versions for good, and give the file's room back; or only count them."""
        with self._writing() as connection:
            freed = purging.purge(connection, really=really)
        if really:
            with self._pool.busy:
                self._pool.writing().run("VACUUM")
        return freed

    def forget(self, runs: Sequence[str], *, really: bool, compact: bool = True) -> DeletedRuns:
        """Remove runs from the journal, with what they made and nobody kept; or only count it.

        Without `compact` their room stays in the file, for what comes: else the whole file is written anew.
        """
        with self._writing() as connection:
            forgotten = forgetting.forget(connection, runs, really=really)
        if really and compact:
            with self._pool.busy:
                self._pool.writing().run("VACUUM")
        return forgotten

    def wait_for_queue(self, seconds: float) -> None:
        """Wait so long; in a database, until somebody says that something has come into a queue."""
        self._pool.wait_for_queue(seconds)

    def check(self) -> list[str]:
        """Return what is inconsistent, a sentence each."""
        from infospace.store.sqlite.integrity import problems

        connection = self._pool.acquire()
        try:
            return problems(connection, counters=self._durable)
        finally:
            self._pool.release(connection)

    def close(self) -> None:
        """Close all connections and give ids back. A snapshot that is still open stays good until it ends."""
        # A range is given back only where it is still the last one that anybody reserved; no id is given out twice.
        rest = self._numbers.remaining()
        if rest and self._durable:
            with suppress(StoreError), self._writing() as connection:
                connection.execute_many("UPDATE counters SET next = ?2 WHERE kind = ?1 AND next = ?3", rest)
        with self._pool.busy:
            self._pool.close()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction to write in: committed at the end, or rolled back whatever went wrong.

        IMMEDIATE takes SQLite's lock for writing before anything is read, so what a change is compared with (a
        version, an owner, a name) stays true until the commit. Of the threads of this process one writes at a time,
        on one connection; those of other processes wait at BEGIN.
        """
        clock = time.monotonic()
        with self._pool.busy:
            connection = self._pool.writing()
            try:
                connection.run("BEGIN IMMEDIATE")
                waited = time.monotonic() - clock
                if waited >= LONG_WAIT:
                    import logging

                    log = logging.getLogger(__name__)
                    log.info("waited %.2f s for the lock to write to the space", waited)
                yield connection
                # After the last change: a file that was moved away or replaced meanwhile would take the commit with it.
                self._pool.check_place()
                connection.run("COMMIT")
            except BaseException:
                connection.rollback()
                raise

    def _reserve_durably(self, kind: str, size: int) -> int:
        with self._writing() as connection:
            return self._reserve(connection, kind, size)

    def _reserve(self, connection: Connection, kind: str, size: int) -> int:
        """Reserve numbers within a transaction that has begun."""
        if not self._durable:
            return self._reserve_here(kind, size)
        start: int = connection.value("SELECT next FROM counters WHERE kind = ?", (kind,))
        connection.put_off("UPDATE counters SET next = ? WHERE kind = ?", [(start + size, kind)])
        return start

    def _reserve_here(self, kind: str, size: int) -> int:
        start = self._counted[kind]
        self._counted[kind] = start + size
        return start

    def _limit(self, connection: Connection, kind: Counted) -> int:
        if not self._durable:
            return self._counted[kind]
        limit: int = connection.value("SELECT next FROM counters WHERE kind = ?", (kind,))
        return limit

    def _counters(self) -> dict[str, int]:
        connection = self._pool.acquire()
        try:
            return dict(cast("list[tuple[str, int]]", connection.all("SELECT kind, next FROM counters")))
        finally:
            self._pool.release(connection)


def open_store(
    address: str | Path,
    *,
    create: bool,
    synchronous: Synchronous | None = None,
    wait: float = WAIT,
    page_limit: int | None = None,
) -> SqliteStore:
    """Open the space in an SQLite file.

    A missing or empty file becomes a space with `create`, and stands for an empty space in memory without;
    `:memory:` is a space in memory. `synchronous`: `FULL` makes a commit wait until it is on the disk,
    `NORMAL` may lose the last ones to a power cut, never to a crash of the process; by default what
    INFOSPACE_SYNCHRONOUS says, else `NORMAL`. `wait`: seconds for another process's lock. `page_limit`:
    the most pages of 4,096 bytes that the file may grow to; past it a commit fails as on a full disk.

    Raises StoreError: a folder or no file at all, no rights, not a database, another program's, of a later
    version, damaged, locked for too long.
    """
    name = str(address)
    if name == MEMORY:
        return _in_memory(name, writable=True)
    settings = Settings(wait, _synchronous(synchronous), page_limit)
    path = opening.real(name)
    there = opening.is_database(path, name)
    if not there and not create:
        return _in_memory(name, writable=False)
    if there and not opening.may_write(path):
        return _to_read(path, name, settings)
    if not there:
        opening.make_folder(path, name)
    try:
        writer = opening.open_to_write(path, name, settings, create=create)
    except StoreError as error:
        if not there or not is_full(error):
            raise
        return _of_a_full_disk(path, name, settings, error)
    pool = FilePool(writer, lambda: opening.open_another(path, name, settings), name, FilePlace(path, name))
    return SqliteStore(name, pool, durable=True, writable=True, path=path)


def _run_of(changes: Sequence[Change], entries: Sequence[Entry]) -> int | None:
    """Return the number of the run whose work a commit is, since one commit is the work of one run."""
    for entry in entries:
        run: str | None = getattr(entry, "run", None)
        if run is not None:
            return run_number(run)
    for change in changes:
        result = getattr(change, "created_by", None)
        if result is not None and result.run is not None:
            return run_number(result.run)
    return None


def _in_memory(address: str, *, writable: bool) -> SqliteStore:
    pool = MemoryPool(address)
    with pool.busy:
        schema.migrate(pool.writing())
    return SqliteStore(address, pool, durable=False, writable=writable)


def _to_read(path: Path, address: str, settings: Settings) -> SqliteStore:
    first = opening.open_to_read(path, address, settings)
    first.close()
    place = FilePlace(path, address)
    pool = FilePool(None, lambda: opening.open_to_read(path, address, settings), address, place)
    return SqliteStore(address, pool, durable=False, writable=False, path=path)


def _of_a_full_disk(path: Path, address: str, settings: Settings, full: StoreError) -> SqliteStore:
    """Open a copy in memory of a file whose disk has no room for the two files that SQLite keeps beside it."""
    connection = opening.open_without_room(path, address, settings)
    try:
        pool = FrozenPool(connection, address, full)
    finally:
        connection.close()
    return SqliteStore(address, pool, durable=False, writable=False, path=path)


def _synchronous(asked: Synchronous | None) -> Synchronous:
    result = asked or os.environ.get("INFOSPACE_SYNCHRONOUS") or "NORMAL"
    if result not in get_args(Synchronous):
        raise Invalid(f"INFOSPACE_SYNCHRONOUS is {result!r}", hint="NORMAL or FULL")
    return cast("Synchronous", result)
