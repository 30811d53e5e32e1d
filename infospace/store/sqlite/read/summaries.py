"""Resources at a glance: what a list of many shows, without reading their contents whole."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from infospace.core.resources import Note
from infospace.data.json_text import dump
from infospace.data.titles import title_of
from infospace.store.protocol import ResourceSummary
from infospace.store.sqlite.codec import (
    COLLECTION,
    EVIDENCE,
    NOTE,
    PLAIN,
    RELATION,
    gone,
    id_of,
    key_of,
    keys_json,
    location_of,
    place_sql,
    read,
)
from infospace.store.sqlite.connection import Connection, Row
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.read.search_results import arrow, stored_reference

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BEGINNING = 300
"""Characters of a content, as it is stored, that are read of each."""

_BRIEFS = f"""SELECT key, version, form, name, kept, created, updated, metadata, deleted IS NULL,
    CASE WHEN form = {EVIDENCE} THEN content ELSE substr(content, 1, {BEGINNING}) END,
    CASE WHEN (key & 3) = {COLLECTION} THEN
        (SELECT count(*) FROM members WHERE collection = resources.key AND until IS NULL)
        + (SELECT coalesce(sum(count), 0) FROM packed_members WHERE collection = resources.key)
        ELSE length(content) END,
    CASE WHEN (key & 3) = {NOTE} AND substr(content, 1, 1) = '{{' THEN content ->> '$.title' END,
    {place_sql("resources")}
    FROM resources WHERE key IN (SELECT value FROM json_each(?))"""


def numbers(connection: Connection, sql: str, kind: int, besides: Iterable[int] = ()) -> NDArray[np.int64]:
    """Return the numbers that a statement gives for a kind, and others besides, in order."""
    import numpy as np

    results = connection.all(sql, (kind, 0))
    rows = np.fromiter((number for (number,) in results), np.int64, len(results))
    more = np.fromiter(besides, np.int64)
    return np.sort(np.concatenate((rows, more))) if len(more) else rows


def briefs(connection: Connection, identifiers: Sequence[str]) -> list[ResourceSummary]:
    """Return what a list shows of resources, in the given order."""
    keys = {identifier: key_of(identifier) for identifier in identifiers}
    results = {row[0]: row for row in connection.all(_BRIEFS, (keys_json(keys.values()),))}
    others = [key >> 2 for key in keys.values() if key & 3 == NOTE and key not in results]
    results |= {number * 4: _row(note) for number, note in batches.notes(connection, others).items()}
    for identifier, key in keys.items():
        if key not in results:
            raise gone(identifier)
    read_once = {key: _brief(connection, row) for key, row in results.items()}
    return [read_once[keys[identifier]] for identifier in identifiers]


def _row(note: Note) -> Row:
    """A Note of a batch as a row of `_BRIEFS`."""
    key, content = key_of(note.id), note.content
    text = dump(content)
    answer = content.get("title") if isinstance(content, dict) else None
    title = dump(answer) if isinstance(answer, (dict, list)) else answer
    return (key, 1, PLAIN, None, 0, note.created, note.updated, None, 1, text[:BEGINNING], len(text), title, None)


def _brief(connection: Connection, row: Row) -> ResourceSummary:
    key, version, form, name, stored, created, updated, metadata, alive, content, size, title, place = row
    more: dict[str, Any] = {"size": size or 0}
    if form == EVIDENCE:
        reference = stored_reference(content, connection.address)
        more = {"source": (id_of(reference.source), reference.version), "score": reference.score}
    elif key & 3 == RELATION:
        ends = arrow(connection, key)
        more = {"ends": (ends["source"], ends["relation"], ends["target"])}
    elif content is not None:
        more["begins"] = beginning(content)
    fields, location = read(metadata, connection.address), location_of(place)
    if form == PLAIN:
        more["title"] = title_of(fields, name, {"title": title}, location)
    return ResourceSummary(
        id_of(key),
        version,
        name,
        stored == 1,
        created,
        updated,
        fields,
        alive == 1,
        form not in (None, PLAIN),
        location=location,
        **more,
    )


def beginning(stored: str) -> str:
    """Return how a text begins of whose JSON the beginning is stored; what is no text, as it is stored."""
    if not stored.startswith('"'):
        return stored
    for cut in range(min(13, len(stored))):
        piece = stored[: len(stored) - cut]
        for whole in (piece, f'{piece}"'):
            try:
                value = json.loads(whole)
            except ValueError:
                continue
            if isinstance(value, str):
                return value
    return stored
