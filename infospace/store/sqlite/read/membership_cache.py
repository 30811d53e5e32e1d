"""The members of Collections, kept from one snapshot to the next: those of a version never change."""

from __future__ import annotations

import threading
from collections import OrderedDict

from infospace.core.resources import Member
from infospace.store.sqlite.codec import id_of, read
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read.search_results import MEMBERS

MOST = 200_000
"""How many members are kept, of the Collections that were read last: 25 MB."""


class Membership:
    """What the Collections of one store hold. Any thread may use it."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, int], tuple[Member, ...]] = OrderedDict()
        self._count = 0
        self._lock = threading.Lock()

    def of(self, engine: Connection, key: int, version: int) -> tuple[Member, ...]:
        """Return the members of a Collection at a version that the engine sees."""
        place = (key, version)
        with self._lock:
            known = self._known.get(place)
            if known is not None:
                self._known.move_to_end(place)
                return known
        rows = engine.all(MEMBERS, (key, version, version))
        address = engine.address
        found = tuple(Member(id_of(item), None if info is None else read(info, address)) for item, info in rows)
        if len(found) <= MOST and all(info is None for _, info in rows):
            self._keep(place, found)
        return found

    def _keep(self, place: tuple[int, int], found: tuple[Member, ...]) -> None:
        """Keep members; only such as nobody can change, and so none that records something."""
        with self._lock:
            if place in self._known:
                return
            self._known[place] = found
            self._count += len(found)
            while self._count > MOST:
                _, oldest = self._known.popitem(last=False)
                self._count -= len(oldest)
