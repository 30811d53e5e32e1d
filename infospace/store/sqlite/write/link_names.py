"""By what links can call Notes: a row for each name, so that what a link leads to is found without reading all Notes.

The names of an imported file are those of its path, its title and its aliases; of another Note its name, its title or
the heading that it begins with, and its aliases. A name stands as `link_name` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from infospace.data.titles import aliases_of
from infospace.store.link_targets import LinkPlace, names_of
from infospace.store.sqlite.codec import id_of, keys_json, read
from infospace.store.sqlite.connection import Connection

TABLES: Final = (
    "CREATE TABLE link_names (note INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (note, name)) WITHOUT ROWID",
    "CREATE INDEX link_names_name ON link_names (name)",
)

_FILES: Final = """SELECT f.root, f.path, f.part, f.note, f.title, f.aliases FROM files f
    WHERE f.note IN (SELECT value FROM json_each(?)) AND EXISTS (SELECT 1 FROM outlines o WHERE o.note = f.note)
    AND (f.part = 0 OR NOT EXISTS (
        SELECT 1 FROM files g WHERE g.root = f.root AND g.path = f.path AND g.part < f.part))"""
"""Whole files, and of a file whose rows are Notes the first."""

_OTHERS: Final = """SELECT o.note, r.name, coalesce(o.title, o.said, i.text), r.metadata
    FROM outlines o JOIN resources r ON r.key = o.note * 4
    LEFT JOIN items i ON i.note = o.note AND i.sequence = 0 AND i.kind = 'heading' AND i.text = o.begins
    WHERE o.note IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM files f WHERE f.note = o.note)"""

_BATCH: Final = 500


class Renamed(NamedTuple):
    """The names by which links can call Notes now and could not before, and the numbers of Notes that lost some."""

    gained: set[str]
    lost: set[int]


def places(connection: Connection, numbers: Collection[int]) -> Iterator[LinkPlace]:
    """Give by what links may call the Notes of these numbers, as far as they are found."""
    listed = keys_json(numbers)
    for root, path, part, note, title, aliases in connection.all(_FILES, (listed,)):
        yield LinkPlace(root, path, part, id_of(note * 4), title, () if aliases is None else (*json.loads(aliases),))
    for note, name, title, metadata in connection.all(_OTHERS, (listed,)):
        has_aliases = metadata is not None and '"alias' in metadata
        aliases = aliases_of(read(metadata, connection.address)) if has_aliases else ()
        yield LinkPlace("", name or "", 0, id_of(note * 4), title, aliases)


def index(connection: Connection, numbers: Collection[int]) -> Renamed:
    """Bring the names of Notes in line with what these are now."""
    listed = keys_json(numbers)
    before = set(
        connection.all("SELECT note, name FROM link_names WHERE note IN (SELECT value FROM json_each(?))", (listed,))
    )
    now = {(int(place.note[5:]), name) for place in places(connection, numbers) for name in names_of(place)}
    lost, gained = before - now, now - before
    connection.execute_many("DELETE FROM link_names WHERE note = ? AND name = ?", sorted(lost))
    connection.execute_many("INSERT INTO link_names (note, name) VALUES (?, ?)", sorted(gained))
    return Renamed({name for _, name in gained}, {note for note, _ in lost})


def fill(connection: Connection) -> None:
    """Write the names of all Notes."""
    numbers = [number for (number,) in connection.all("SELECT note FROM outlines ORDER BY note")]
    for start in range(0, len(numbers), _BATCH):
        index(connection, numbers[start : start + _BATCH])
