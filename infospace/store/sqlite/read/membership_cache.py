"""The members of Collections, kept from one snapshot to the next: those of a version never change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from infospace.core.batch_notes import NoteMembers
from infospace.core.resources import Member
from infospace.store.sqlite.codec import NOTE, id_of, read
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.read.search_results import MEMBERS

MAX_CACHED_MEMBERS = 200_000
"""How many members are kept, of the Collections that were read last: 25 MB."""


class Membership:
    """What the Collections of one store hold. Any thread may use it."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, int], Sequence[Member]] = OrderedDict()
        self._versions: dict[int, int] = {}
        """The version of each of these Collections that was kept last."""
        self._count = 0
        self._lock = threading.Lock()

    def of(self, connection: Connection, key: int, version: int) -> Sequence[Member]:
        """Return the members of a Collection at a version that the engine sees."""
        known = self.known(key, version)
        if known is not None:
            return known
        place = (key, version)
        rows = connection.all(MEMBERS, (key, version, version))
        packed = None if rows else batches.members(connection, key)
        if packed is not None:
            members: Sequence[Member] = NoteMembers(packed)
        elif any(info is not None for _, info in rows):
            address = connection.address
            return tuple(Member(id_of(item), None if info is None else read(info, address)) for item, info in rows)
        elif any(item & 3 != NOTE for item, _ in rows):
            members = tuple(Member(id_of(item)) for item, _ in rows)
        else:
            members = NoteMembers([item >> 2 for item, _ in rows])
        # Only such as nobody can change are kept, and so none that records something.
        if len(members) <= MAX_CACHED_MEMBERS:
            self._keep(place, members)
        return members

    def kept(self, key: int) -> bool:
        """Whether the members of a Collection are kept, at some version."""
        return key in self._versions

    def known(self, key: int, version: int) -> Sequence[Member] | None:
        """Return the members of a Collection at a version, where they are kept."""
        place = (key, version)
        with self._lock:
            known = self._known.get(place)
            if known is not None:
                self._known.move_to_end(place)
        return known

    def _keep(self, place: tuple[int, int], members: Sequence[Member]) -> None:
        with self._lock:
            if place in self._known:
                return
            self._known[place] = members
            self._versions[place[0]] = place[1]
            self._count += len(members)
            while self._count > MAX_CACHED_MEMBERS:
                (key, version), oldest = self._known.popitem(last=False)
                if self._versions.get(key) == version:
                    del self._versions[key]
                self._count -= len(oldest)
