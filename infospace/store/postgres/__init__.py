"""The shared store: a space in one schema of a PostgreSQL database, with the tables and statements of a file."""

from infospace.store.postgres.store import open_store

__all__ = ["open_store"]
