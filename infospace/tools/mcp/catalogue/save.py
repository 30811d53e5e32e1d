"""Keeping what servers list: of two lists of a server the one that was asked for later, whichever comes first."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from infospace.core.clock import later, now
from infospace.core.tool import ToolKind
from infospace.store.tool_records import DropTools, SaveServer, SaveTools, StoredServer

if TYPE_CHECKING:
    from infospace.store.protocol import Store
    from infospace.tools.mcp.catalogue.listing import Listing
    from infospace.tools.mcp.config import Entry
    from infospace.tools.mcp.errors import ServerFailed


MOST_TOLD = 20
"""Refused tools of a server that are told, at most."""


class ListingStore:
    """Writes down what servers list, and that they failed. Any thread may ask.

    A server that tells of a change is listed beside a sync: what that read before is not kept then.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._asked: dict[str, int] = {}
        """When the list of each server was asked for that is kept."""

    def keep(self, entry: Entry, listing: Listing) -> None:
        """Keep what a server lists now, in the place of what it listed before. Raises StoreError."""
        with self._lock:
            if listing.asked > self._asked.get(entry.name, 0):
                self._keep(entry, listing)
                self._asked[entry.name] = listing.asked

    def follow(self, entry: Entry, listing: Listing) -> None:
        """Keep what a server lists now, where that is something else than what is kept. Raises StoreError."""
        after = {(tool.kind, tool.name): tool.digest for tool in listing.tools}
        with self._store.reading() as snapshot:
            stored = next((server for server in snapshot.servers() if server.name == entry.name), None)
        as_before = (
            stored is not None and stored.state == "listed" and stored.entry == entry.digest(self._store.identity)
        )
        if not as_before or after != saved_digests(self._store, entry.name):
            self.keep(entry, listing)

    def _keep(self, entry: Entry, listing: Listing) -> None:
        before = saved_digests(self._store, entry.name)
        after = {(tool.kind, tool.name): tool for tool in listing.tools}
        fresh = [tool for key, tool in after.items() if before.get(key) != tool.digest]
        gone = [key for key in before if key not in after]
        at = now()
        server = StoredServer(
            entry.name,
            "listed",
            entry.digest(self._store.identity),
            listing.title,
            listing.version,
            listing.instructions,
            listed=at,
            expires=later(listing.ttl_s),
            tried=at,
            error="\n".join(refused.message for refused in listing.refused[:MOST_TOLD]) or None,
        )
        self._store.commit([SaveTools(entry.name, fresh), DropTools(entry.name, gone), SaveServer(server)])

    def fail(self, entry: Entry, error: ServerFailed) -> None:
        """Keep that a server failed; what it listed before stays. Raises StoreError."""
        with self._lock:
            with self._store.reading() as snapshot:
                before = next((server for server in snapshot.servers() if server.name == entry.name), None)
            failed = replace(
                before or StoredServer(entry.name, "failed", b""),
                state="failed",
                entry=entry.digest(self._store.identity),
                tried=now(),
                error=str(error),
                stderr=error.stderr,
            )
            self._store.commit([SaveServer(failed)])


def saved_digests(store: Store, server: str) -> dict[tuple[ToolKind, str], bytes]:
    """Return what is kept of what a server lists, each with its digest."""
    with store.reading() as snapshot:
        return {(tool.listed.kind, tool.listed.name): tool.listed.digest for tool in snapshot.tools(server)}
