"""Copying a space: chunk by chunk, each compared by its hash, usable only once all of it was read again and fits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from infospace.core.errors import Invalid, NotFound, StoreError
from infospace.core.listener import Listener, NullListener
from infospace.store.copying.destination import Destination, check_source, clear, record, recorded, writing
from infospace.store.copying.rows import Table, chunks, count, digest, tables, together
from infospace.store.copying.to_file import FileDestination
from infospace.store.open import open_store
from infospace.store.sqlite import open_file, schema
from infospace.store.sqlite.store import MEMORY, SqliteStore

if TYPE_CHECKING:
    from infospace.store.sqlite.connection import Connection

WAIT: Final = 10.0
"""Seconds that the destination is waited for, where another process has it."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied: rows by table, one SHA-256 of all, and how many rows an earlier attempt had brought."""

    rows: dict[str, int]
    sha256: str
    resumed_rows: int


def copy_space(source: str, destination: str, listener: Listener | None = None) -> Copied:
    """Copy the space of one address as it is now to another, where nothing is, or an unfinished copy of it.

    Whoever reads or writes the source goes on meanwhile. Raises NotFound: no space to copy; Conflict: the destination
    holds something; StoreError: one of both cannot be read or written, or what was read again there differs.
    """
    listener = listener or NullListener()
    store = _opened(source)
    try:
        identity = store.identity
        place = _place(destination, identity)
        try:
            if place.begin():
                check_source(place.connection, place.address, identity, schema.VERSION)
            with store.rows() as connection:
                resumed = _fill(connection, place, listener)
            result = _verified(place, listener)
            place.finish()
        finally:
            place.close()
    finally:
        store.close()
    rows, sha = result
    return Copied(rows, sha, resumed)


def _opened(source: str) -> SqliteStore:
    if "://" not in source and (source == MEMORY or not open_file.is_database(Path(source), source)):
        raise NotFound(f"there is no space {source!r}", hint="name the file of a space, or postgresql://…?space=NAME")
    store = open_store(source, create=False)
    if not isinstance(store, SqliteStore):
        store.close()
        raise Invalid(f"a space of this kind cannot be copied: {source!r}", hint="a file, or postgresql://…")
    if store.address == MEMORY:
        store.close()
        raise NotFound(f"there is no space at {_shown(source)!r}", hint="`space=NAME` in the address names its schema")
    return store


def _shown(address: str) -> str:
    from infospace.store.postgres.connection import public

    return public(address)


def _place(address: str, identity: str) -> Destination:
    scheme, is_one, _ = address.partition("://")
    if not is_one:
        if address == MEMORY:
            raise Invalid("a copy in memory is gone when the command ends", hint="name a file, or postgresql://…")
        return FileDestination(address, identity, wait=WAIT)
    if scheme not in ("postgresql", "postgres"):
        raise Invalid(f"nothing can be copied to {scheme}:// addresses", hint="name a file, or postgresql://…")
    from infospace.store.copying.to_database import DatabaseDestination

    return DatabaseDestination(address, identity, wait=WAIT)


def _fill(source: Connection, place: Destination, listener: Listener) -> int:
    """Bring what is not there yet; return how many rows were."""
    total = sum(count(source, table) for table in tables())
    done = there = 0
    listener.progress(0, total, "copying")
    for table in tables():
        known = recorded(place.connection, table)
        if known and not _fits(source, table, known):
            # The source has changed since: this table is copied anew.
            with writing(place.connection):
                clear(place.connection, table)
            known = []
        for number, rows in enumerate(chunks(source, table)):
            if number >= len(known):
                with writing(place.connection):
                    place.load(table, rows)
                    record(place.connection, table, number, len(rows), digest(rows))
            else:
                there += len(rows)
            done += len(rows)
            listener.progress(done, max(done, total), "copying")
    return there


def _fits(source: Connection, table: Table, known: list[tuple[int, bytes]]) -> bool:
    """Whether all chunks that are there are chunks of the source, at their place."""
    left = iter(known)
    for rows in chunks(source, table):
        expected = next(left, None)
        if expected is None:
            return True
        if expected != (len(rows), digest(rows)):
            return False
    return next(left, None) is None


def _verified(place: Destination, listener: Listener) -> tuple[dict[str, int], str]:
    """Read all that was copied again, and compare it. Raises StoreError where it differs."""
    rows: dict[str, int] = {}
    digests: list[bytes] = []
    with writing(place.connection):
        total = sum(count(place.connection, table) for table in tables())
        for table in tables():
            results = [(len(chunk), digest(chunk)) for chunk in chunks(place.connection, table)]
            if results != recorded(place.connection, table):
                raise StoreError(
                    f"what was copied to {place.address!r} is not what was read there again (table `{table.name}`)",
                    hint="look at its disk; remove the copy, and start again",
                )
            rows[table.name] = sum(size for size, _ in results)
            digests += [one for _, one in results]
            listener.progress(sum(rows.values()), total, "verifying")
    return rows, together(digests)
