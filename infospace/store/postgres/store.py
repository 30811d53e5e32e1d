"""Opening a space in a PostgreSQL database.

An address is what libpq takes (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING), with
`space=NAME` among its parameters for the schema of the space; `infospace` by default. So one database holds many.
"""

from __future__ import annotations

import logging
import re
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from infospace.core.errors import Invalid, StoreError
from infospace.store.postgres.connection import PostgresConnection, connect, public
from infospace.store.postgres.functions import DEFINITIONS
from infospace.store.postgres.pool import PostgresPool
from infospace.store.postgres.row_security import protect
from infospace.store.postgres.word_rows import TABLES
from infospace.store.sqlite import schema
from infospace.store.sqlite.store import WAIT, SqliteStore
from infospace.store.sqlite.store import open_store as open_sqlite

_log = logging.getLogger(__name__)

DEFAULT: Final = "infospace"
"""The schema of a space whose address names none."""

OLDEST: Final = 160000
"""The oldest server that is spoken to, by its number: PostgreSQL 16 takes what the statements say."""

AGAIN_S: Final = 3.0
"""Seconds that a server which starts again is waited for where a space is open: its event loop may be held up so long,
and so may whoever is told to stop."""

_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")

_VERSION: Final = "SELECT value FROM state WHERE key = 'tables'"


def open_store(address: str | Path, *, create: bool, wait: float = WAIT) -> SqliteStore:
    """Open the space of an address; a missing schema is made with `create`, and stands for an empty space without.

    `wait`: seconds to wait for the server. Raises StoreError: no server, no database, no right, a space of a later
    version; Invalid for a name that is none.
    """
    name = str(address)

    def another() -> PostgresConnection:
        return connection(name, wait=wait, starting=min(wait, AGAIN_S))[0]

    first, space = connection(name, wait=wait)
    try:
        there = is_there(first, space)
        if not there and not create:
            return open_sqlite(":memory:", create=True)
        migrate(first, space)
        writable = first.value("SELECT has_table_privilege('resources', 'INSERT')") is True
    finally:
        first.close()
    # Who may only read reserves no numbers either, as with a file that is not to be written.
    return SqliteStore(public(name), PostgresPool(another, public(name)), durable=writable, writable=writable)


def connection(address: str, *, wait: float, starting: float | None = None) -> tuple[PostgresConnection, str]:
    """Connect to the database of an address as `connect`; return also the schema of the space.

    Raises as `open_store`.
    """
    target, space = parsed(address)
    lock = int.from_bytes(sha256(space.encode()).digest()[:8], "big", signed=True)
    return connect(target, public(address), space, lock, wait=wait, starting=starting), space


def parsed(address: str) -> tuple[str, str]:
    """Return what libpq is given, and the schema. Raises Invalid for a name that cannot be one."""
    parts = urlsplit(address)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    space = dict(pairs).get("space", DEFAULT)
    if not _NAME.fullmatch(space):
        raise Invalid(
            f"{space!r} cannot be the name of a space in a database",
            hint="small letters, digits and _, a letter first, as in postgresql:///notes?space=team",
        )
    query = urlencode([pair for pair in pairs if pair[0] != "space"])
    # Where an address names no host, nothing stands between the slashes, which are to stay.
    rest = urlunsplit(("", "", parts.path, query, parts.fragment))
    return f"postgresql://{parts.netloc}{rest}", space


def is_there(connection: PostgresConnection, space: str) -> bool:
    """Whether a space is in a schema. Raises StoreError: the server is too old, or a copy is not whole."""
    row = connection.fetch_one(
        "SELECT current_setting('server_version_num')::int, to_regnamespace(?) IS NULL", (space,)
    )
    version, missing = row or (0, True)
    if version < OLDEST:
        raise StoreError(
            f"the server of {connection.address!r} is PostgreSQL {version // 10000}",
            hint="infospace needs PostgreSQL 16 or later",
        )
    if missing:
        return False
    if not connection.value("SELECT has_schema_privilege(?, 'USAGE')", (space,)):
        raise StoreError(
            f"you are no member of the space {space!r} of {connection.address!r}",
            hint="an admin of it says `infospace members add NAME --role ROLE`",
        )
    if is_unfinished(connection, space):
        raise schema.unfinished(connection.address)
    return connection.value("SELECT to_regclass(?) IS NOT NULL", (f"{space}.state",)) is True


def is_unfinished(connection: PostgresConnection, space: str) -> bool:
    """Whether a schema holds a copy of a space that is not whole yet."""
    return connection.value("SELECT to_regclass(?) IS NOT NULL", (f"{space}.copying",)) is True


def migrate(connection: PostgresConnection, space: str) -> None:
    """Bring a space to this version, in one transaction: where two processes open it at once, one makes the tables.

    Raises StoreError for a space of a later version, Invalid where the schema holds something else.
    """
    if is_there(connection, space) and _version(connection) == schema.VERSION:
        return
    connection.begin_to_define()
    try:
        there = is_there(connection, space)
        version = _version(connection) if there else 0
        if not there:
            make_schema(connection, space)
        if there:
            _log.info("the space is brought from version %d to %d of its tables", version, schema.VERSION)
        for step in schema.MIGRATIONS[version:]:
            step(connection)
        connection.run("DELETE FROM state WHERE key = 'tables'")
        connection.run("INSERT INTO state VALUES ('tables', ?)", (schema.VERSION,))
        protect(connection, space)
        connection.run("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _version(connection: PostgresConnection) -> int:
    value = connection.value(_VERSION)
    version = int(value or 0)
    if version > schema.VERSION:
        raise schema.newer(connection.address, version)
    return version


def make_schema(connection: PostgresConnection, space: str) -> None:
    """Make a schema with what the statements need in it. Raises Invalid where it holds something else."""
    connection.run(f'CREATE SCHEMA IF NOT EXISTS "{space}"')
    others = connection.value("SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace(?)", (space,))
    if others:
        raise Invalid(
            f"the schema {space!r} of {connection.address!r} holds tables that infospace did not make",
            hint="name another one, as in postgresql:///notes?space=team",
        )
    for definition in DEFINITIONS:
        connection.define(definition)
    for definition in TABLES:
        connection.define(definition)
