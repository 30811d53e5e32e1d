"""Opening a file: what lies at a path, whether it is ours, and how it can be opened."""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from infospace.core.errors import StoreError
from infospace.store.sqlite import schema
from infospace.store.sqlite.connection import OPEN_FILES, Connection, connect, is_busy, is_unopenable

Synchronous: TypeAlias = Literal["NORMAL", "FULL"]

_MAGIC = b"SQLite format 3\0"
_HEADER = 100
"""Bytes of the header (https://sqlite.org/fileformat.html): at 60 the user version, at 68 the application id."""

_CHECKPOINT = 4_000
"""Pages of the write-ahead log after which they go into the file: fewer waits for the disk than by default (1,000)."""

_WAL_BYTES = 64 * 2**20
"""What the write-ahead log is cut back to, once its pages are in the file."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a file is opened: seconds to wait for locks, what a commit waits for, the most pages it may have."""

    wait: float
    synchronous: Synchronous
    page_limit: int | None = None


def real(address: str) -> Path:
    """Return the path of an address, links followed, since SQLite keeps its other files beside the real one."""
    try:
        return Path(os.path.realpath(address))
    except (OSError, ValueError) as error:
        raise _out_of_reach(address, error) from error


def is_database(path: Path, address: str) -> bool:
    """Whether there is a space, or an SQLite database that might be one, at a path. Touches nothing.

    False where nothing is, or an empty file. Raises StoreError for a folder, for what is no file, and for
    files that are not ours.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise StoreError(f"{address!r} is a folder", hint="name a file in it, such as notes.infospace")
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(f"{address!r} is not a file that a space could be kept in", hint="name a file")
        application = _application(path, address)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        raise _out_of_reach(address, error) from error
    if application is None:
        return False
    if application == schema.COPYING_ID:
        raise schema.unfinished(address)
    if application not in (0, schema.APPLICATION_ID):
        raise schema.foreign(address)
    return application == schema.APPLICATION_ID or not _is_empty(path, address)


def is_unfinished(path: Path) -> bool:
    """Whether a file holds a copy of a space that is not whole yet."""
    try:
        return _application(path, str(path)) == schema.COPYING_ID
    except (OSError, StoreError):
        return False  # who opens it says why


def _application(path: Path, address: str) -> int | None:
    """Return the application id of an SQLite database, None of an empty file. Raises StoreError and OSError."""
    head = OPEN_FILES.read_head(path, _HEADER)
    if head is None:
        connection = connect(f"{real(str(path)).as_uri()}?mode=ro", address, wait=1)
        try:
            return schema.marks(connection)[0]
        finally:
            connection.close()
    if not head:
        return None
    if not head.startswith(_MAGIC) or len(head) < _HEADER:
        raise StoreError(f"{address!r} is not an SQLite database", hint="name another file, or restore a copy of it")
    return int.from_bytes(head[68:72], "big")


def _is_empty(path: Path, address: str) -> bool:
    """Whether an unmarked database is empty; StoreError when it is another program's. Leaves no trace.

    `immutable` keeps SQLite from making files beside it; where such files are, others are at work and a
    reader changes nothing.
    """
    alone = not any(path.with_name(path.name + suffix).exists() for suffix in ("-wal", "-journal"))
    connection = connect(f"{path.as_uri()}?mode=ro" + ("&immutable=1" if alone else ""), address, wait=1)
    try:
        return schema.is_empty(connection)
    except StoreError as error:
        raise schema.foreign(address) if is_unopenable(error) else error from None
    finally:
        connection.close()


def make_folder(path: Path, address: str) -> None:
    """Make the folders that a new file needs."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _out_of_reach(address, error) from error


def open_to_write(path: Path, address: str, settings: Settings, *, create: bool) -> Connection:
    """Open a file to read and write, as a space of this version. `create` makes one of a missing or empty file."""
    connection = connect(f"{path.as_uri()}?mode=rw{'c' if create else ''}", address, wait=settings.wait)
    try:
        _set(connection, settings)
        schema.migrate(connection)
        _use_wal(connection, settings.wait)
        schema.marks(connection)  # whoever has read holds the log: no other process that closes the file takes it away
        if settings.page_limit is not None:
            connection.run(f"PRAGMA max_page_count = {settings.page_limit:d}")
    except BaseException:
        connection.close()
        raise
    return connection


def open_another(path: Path, address: str, settings: Settings) -> Connection:
    """Open a space that is open already once more, to read it."""
    connection = connect(f"{path.as_uri()}?mode=rw", address, wait=settings.wait)
    _set(connection, settings)
    return connection


def open_to_read(path: Path, address: str, settings: Settings) -> Connection:
    """Open a space that this process may not write.

    Without the right to make SQLite's two other files, a space that nobody has open is read as a file
    that does not change.
    """
    uri = f"{path.as_uri()}?mode=ro"
    try:
        return _checked(connect(uri, address, wait=settings.wait))
    except StoreError as error:
        if not is_unopenable(error) or path.with_name(path.name + "-wal").exists():
            raise
    return _checked(connect(f"{uri}&immutable=1", address, wait=settings.wait))


def open_without_room(path: Path, address: str, settings: Settings) -> Connection:
    """Open a space to copy it where there is no room for SQLite's two other files, or for more of one.

    What a log has in it is read by whoever is alone with the file, and needs no index beside it.
    """
    log = path.with_name(path.name + "-wal")
    if not log.exists() or not log.stat().st_size:
        return _checked(connect(f"{path.as_uri()}?mode=ro&immutable=1", address, wait=settings.wait))
    connection = connect(f"{path.as_uri()}?mode=rw", address, wait=settings.wait)
    try:
        connection.run("PRAGMA locking_mode = EXCLUSIVE")
    except BaseException:
        connection.close()
        raise
    return _checked(connection)


def _checked(connection: Connection) -> Connection:
    try:
        if old := schema.is_empty(connection) or schema.marks(connection)[1] < schema.VERSION:
            connection.close()
    except BaseException:
        connection.close()
        raise
    if old:
        raise StoreError(
            f"the space {connection.address!r} is of an earlier version, and may not be written to bring it up to date",
            hint="copy it to a place where you may write",
        )
    return connection


def may_write(path: Path) -> bool:
    """Whether this process may write to a file, and make SQLite's two other files beside it."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in (path, path.parent))


def _use_wal(connection: Connection, wait: float) -> None:
    """Switch a file to a write-ahead log. SQLite does not wait by itself for others who do the same."""
    end = time.monotonic() + wait
    while connection.value("PRAGMA journal_mode") != "wal":
        try:
            connection.run("PRAGMA journal_mode = WAL")
        except StoreError as error:
            if not is_busy(error) or time.monotonic() > end:
                raise
            time.sleep(0.002)


def _set(connection: Connection, settings: Settings) -> None:
    connection.run(f"PRAGMA synchronous = {settings.synchronous}")
    connection.run(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT}")
    connection.run(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
    connection.run("PRAGMA foreign_keys = OFF")


def _out_of_reach(address: str, error: OSError | ValueError) -> StoreError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return StoreError(f"{address!r} cannot be opened: {why}", hint="check the path, and your rights on its folder")
