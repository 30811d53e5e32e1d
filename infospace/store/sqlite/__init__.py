"""The embedded store: a space in one SQLite file, or in memory."""

from infospace.store.sqlite.store import open_store

__all__ = ["open_store"]
