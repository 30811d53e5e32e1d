"""The properties of a store's Notes, kept from one snapshot to the next."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from infospace.core.json_types import JSON
from infospace.data.properties import Property, PropertyCounts, survey
from infospace.store.sqlite.codec import keys_json
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read.note_heads import decode_many
from infospace.store.sqlite.read.vectors import moved

MAX_CACHED_CHARACTERS: Final = 32_000_000
"""Characters of metadata that are remembered, so that a change costs what it changes; of more, all is read again."""
_AMONG: Final = " AND key IN (SELECT value * 4 FROM json_each(?))"


class PropertyCache:
    """The properties as one store has them. Any thread may use it.

    The lock is held while Notes are read, so that no two snapshots count the same change.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation = -1
        self._counts = PropertyCounts()
        self._notes: dict[int, str] | None = None
        """The metadata that was counted, as it is stored, by the number of the Note; None where it is too much."""
        self._known: Mapping[str, Property] = {}
        self._discoverable = (-1, 0)
        """How many Notes discovery searches, at which generation."""

    def discoverable_count(self, connection: Connection, generation: int) -> int:
        """Count the Notes that discovery searches, as the engine sees them; once for each generation."""
        known, count = self._discoverable
        if known != generation:
            count = connection.value("SELECT count(*) FROM resources WHERE found = 1")
            self._discoverable = generation, count
        return count

    def of(self, connection: Connection, generation: int) -> Mapping[str, Property]:
        """Return the properties as the engine sees them, which is at a generation."""
        with self._lock:
            if generation < self._generation:  # a snapshot that was opened before
                return survey(metadata for _, _, metadata in _notes(connection))
            if generation != self._generation:
                self._follow(connection, generation)
                self._known, self._generation = self._counts.properties(), generation
            return self._known

    def _follow(self, connection: Connection, generation: int) -> None:
        notes, self._notes = self._notes, None  # what breaks off before all is counted is read anew
        changed = None if notes is None else moved(connection, self._generation, generation)
        if notes is None or changed is None or not changed.complete:
            self._read_all(connection)
            return
        gone = [text for number in changed.touched if (text := notes.pop(number, None)) is not None]
        for metadata in decode_many(gone, "{}", connection.address):
            self._counts.remove(metadata)
        for number, text, metadata in _notes(connection, changed.touched) if changed.touched else ():
            self._counts.add(metadata)
            notes[number] = text
        if self._counts.are_exact:
            self._notes = notes
        else:
            self._read_all(connection)

    def _read_all(self, connection: Connection) -> None:
        counts, size = PropertyCounts(), 0
        notes: dict[int, str] | None = {}
        for number, text, metadata in _notes(connection):
            counts.add(metadata)
            size += len(text)
            if size > MAX_CACHED_CHARACTERS:
                notes = None
            if notes is not None:
                notes[number] = text
        self._counts, self._notes = counts, notes


def _notes(connection: Connection, among: Iterable[int] | None = None) -> Iterator[tuple[int, str, dict[str, JSON]]]:
    """Iterate over the discoverable Notes that have metadata: number, metadata as stored, metadata."""
    limit, values = ("", ()) if among is None else (_AMONG, (keys_json(among),))
    sql = f"SELECT key >> 2, metadata FROM resources WHERE found = 1 AND metadata IS NOT NULL{limit}"
    for batch in connection.batches(sql, values):
        numbers, texts = zip(*batch, strict=True)
        yield from zip(numbers, texts, decode_many(texts, "{}", connection.address), strict=True)
