"""Making the HNSW index of a space's vectors in its database, while others read and write the space.

The index is of half precision: it takes half the memory, and what it finds is compared anew with the vectors.
"""

# ruff: noqa: S608 - statements are put together from numbers and quoted names alone

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from infospace.core.errors import Conflict, InfospaceError, Invalid, NotFound
from infospace.core.listener import Listener, NullListener
from infospace.store.postgres import store as database
from infospace.store.postgres.row_security import protect
from infospace.store.postgres.vector_rows import index_name

if TYPE_CHECKING:
    from infospace.store.postgres.connection import PostgresConnection

LINKS: Final = 16
"""Neighbours of a vector in each layer (pgvector's `m`)."""

EF_CONSTRUCTION: Final = 100
"""Candidates that are looked at for the neighbours of each vector."""

BYTES_OF_LINKS: Final = 500
"""What a vector's place in the graph takes while it is built, besides its numbers."""

MOST_MEMORY: Final = 2 * 2**30
"""Bytes that the server is asked for, at most, to build the graph in; a larger one is finished on the disk, slowly."""

WIDEST: Final = 4_000
"""Dimensions that pgvector indexes in half precision."""

_POLL: Final = 0.5
"""Seconds between two looks at how far it is."""

_PROGRESS: Final = "SELECT tuples_done FROM pg_stat_progress_create_index WHERE pid = ?"


@dataclass(frozen=True, slots=True)
class Indexed:
    """An index: of how many passages, how large it is in bytes, and how many seconds it took; 0 if it was there."""

    passages: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Comparing:
    """Whether a database compares the vectors of a space, of how many passages, and whether these are indexed."""

    compares: bool
    passages: int = 0
    is_indexed: bool = False


def comparing(address: str, *, wait: float = 10.0) -> Comparing:
    """Return how a database compares the vectors of a space that is in it. Raises StoreError."""
    connection, _ = database.connection(address, wait=wait)
    try:
        if connection.vector_rows.where is None:
            return Comparing(compares=False)
        model = connection.vector_rows.present_model()
        passages: int = connection.value("SELECT count(*) FROM passage_vectors WHERE vector IS NOT NULL")
        return Comparing(True, passages, model is not None and connection.vector_rows.is_indexed(model))
    finally:
        connection.close()


def build_index(address: str, listener: Listener | None = None, *, wait: float = 10.0) -> Indexed:
    """Make the index of the vectors that a space in a database has now; it follows every later change by itself.

    Raises NotFound: no space, or none embedded; Invalid: no pgvector, or vectors too wide; Conflict: another process
    is at it; StoreError for whatever the server reports. Broken off, it leaves nothing.
    """
    listener = listener or NullListener()
    connection, space = database.connection(address, wait=wait)
    try:
        if not database.is_there(connection, space):
            raise NotFound(f"there is no space at {connection.address!r}", hint="`space=NAME` in the address names it")
        database.migrate(connection, space)
        where = _place(connection, space)
        model = connection.vector_rows.present_model()
        if model is None or not (wide := _dimension(connection, where, model)):
            raise NotFound(
                f"nothing in {connection.address!r} is embedded yet",
                hint="`infospace add` or a search embeds its notes",
            )
        if wide > WIDEST:
            raise Invalid(
                f"vectors of {wide} dimensions have no index in PostgreSQL, {WIDEST} at most",
                hint="searches stay exact; `infospace model use` takes another model",
            )
        if not connection.value("SELECT pg_try_advisory_lock(hashtextextended('index ' || ?, 0))", (space,)):
            raise Conflict(f"another process indexes {connection.address!r} now", hint="wait until it is done")
        passages: int = connection.value("SELECT count(*) FROM passage_vectors WHERE model = ?", (model,))
        seconds = 0.0
        if not connection.vector_rows.is_indexed(model):
            started = time.monotonic()
            _forget_others(connection, model)
            _build(connection, address, _definition(where, model, wide), passages, wide, listener)
            seconds = time.monotonic() - started
        size: int = connection.value("SELECT pg_relation_size(to_regclass(?))", (index_name(model),))
        return Indexed(passages, size, seconds)
    finally:
        connection.close()


def _place(connection: PostgresConnection, space: str) -> str:
    """Return the schema of pgvector, with the table of vectors made where the server got pgvector only lately."""
    if connection.vector_rows.where is None:
        connection.begin_to_define()
        try:
            connection.vector_rows.make()
            protect(connection, space)
            connection.run("COMMIT")
        except BaseException:
            connection.rollback()
            raise
    where = connection.vector_rows.where
    if where is None:
        raise Invalid(
            f"the server of {connection.address!r} has no pgvector, or you may not add it to the database",
            hint="install pgvector on the server, and have its owner say `CREATE EXTENSION vector`",
        )
    return where


def _dimension(connection: PostgresConnection, where: str, model: int) -> int:
    sql = f"SELECT {where}.vector_dims(vector) FROM passage_vectors WHERE model = ? LIMIT 1"
    return connection.value(sql, (model,)) or 0


def _definition(where: str, model: int, wide: int) -> str:
    return (
        f"CREATE INDEX CONCURRENTLY {index_name(model)} ON passage_vectors"
        f" USING hnsw ((vector::{where}.halfvec({wide})) {where}.halfvec_ip_ops)"
        f" WITH (m = {LINKS}, ef_construction = {EF_CONSTRUCTION}) WHERE model = {model}"
    )


def _forget_others(connection: PostgresConnection, model: int) -> None:
    """Remove the indexes of earlier models, which are empty, and what a build left that was broken off."""
    rows = connection.all(
        """SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = to_regclass('passage_vectors') AND starts_with(c.relname, ?)""",
        (index_name(model).rstrip("0123456789"),),
    )
    for (name,) in rows:
        connection.define(f"DROP INDEX {name}")


def _build(
    connection: PostgresConnection, address: str, definition: str, passages: int, wide: int, listener: Listener
) -> None:
    """Have the server build, and tell how far it is from another connection."""
    memory = min(passages * (2 * wide + BYTES_OF_LINKS) * 3 // 2, MOST_MEMORY) // 1024
    connection.define(
        "SELECT set_config('maintenance_work_mem', greatest(setting::int, "
        f"{memory})::text, false) FROM pg_settings WHERE name = 'maintenance_work_mem'"
    )
    failed: list[InfospaceError] = []

    def build() -> None:
        try:
            connection.define(definition)
        except InfospaceError as error:
            failed.append(error)

    pid = connection.value("SELECT pg_backend_pid()")
    watcher, _ = database.connection(address, wait=10.0)
    thread = threading.Thread(target=build, name="index", daemon=True)
    listener.progress(0, passages, "indexing")
    thread.start()
    try:
        while thread.is_alive():
            row = watcher.fetch_one(_PROGRESS, (pid,))
            done = (row[0] if row else None) or 0  # without the right to see it, nothing is told
            listener.progress(min(done, passages), passages, "indexing")
            thread.join(_POLL)
    except BaseException:
        while thread.is_alive():  # it may not have begun yet when it is told to end
            watcher.value("SELECT pg_cancel_backend(?)", (pid,))
            thread.join(_POLL)
        name = definition.split()[3]
        connection.define(f"DROP INDEX IF EXISTS {name}")
        raise
    finally:
        watcher.close()
    if failed:
        raise failed[0]
    listener.progress(passages, passages, "indexing")
