"""Where resources came from, and what came of them."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from infospace.core.resources import CreatedBy, Note
from infospace.data.json_text import dump
from infospace.data.titles import title_of
from infospace.journal.origin import Origin, Product, Reading, Since, Source
from infospace.journal.rows import Use
from infospace.store.sqlite.codec import (
    COLLECTION,
    EVIDENCE,
    NOTE,
    PLAIN,
    RELATION,
    id_of,
    key_of,
    keys_json,
    location_of,
    place_sql,
    run_number,
    run_of,
)
from infospace.store.sqlite.connection import Connection, Row
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.read.search_results import MEMBERS, stored_reference
from infospace.store.sqlite.transaction import whom

TITLE = 240
"""Characters of a content that may become a title."""

_WANTED = "WITH wanted AS (SELECT value ->> 0 AS key, value ->> 1 AS version FROM json_each(?1))"

_TITLE = f"""CASE WHEN json_type(v.metadata, '$.title') IN ('text', 'integer', 'real')
    THEN v.metadata ->> '$.title' END,
    CASE WHEN v.form = {EVIDENCE} THEN NULL
    WHEN json_type(v.content) = 'text' THEN substr(v.content ->> '$', 1, {TITLE})
    WHEN json_type(v.content, '$.title') = 'text' THEN v.content ->> '$.title'
    ELSE substr(v.content, 1, {TITLE}) END, CASE WHEN v.form <> {EVIDENCE} THEN {place_sql("v")} END"""

# `like`: the latest earlier version with the same content.
_COLUMNS = f"""v.key, v.version, v.form, v.updated, v.run, v.step, v.made_by, r.version, r.run, r.step, r.made_by,
    r.name, r.kept, r.deleted, r.deleted_run, r.deleted_step, r.deleted_by, v.hash IS r.hash, v.metadata IS r.metadata,
    (SELECT max(e.version) FROM history e WHERE e.key = v.key AND e.version < v.version AND e.hash IS v.hash),
    {_TITLE}, CASE WHEN v.form = {EVIDENCE} THEN v.content END"""

_ORIGINS = f"""{_WANTED} SELECT {_COLUMNS} FROM wanted JOIN resources v USING (key, version)
        JOIN resources r ON r.key = v.key
    UNION ALL SELECT {_COLUMNS} FROM wanted JOIN history v USING (key, version) JOIN resources r ON r.key = v.key"""

_ENDS = "SELECT key, source, target, relation FROM relations WHERE key IN (SELECT value FROM json_each(?))"

_FILES = """SELECT note * 4, root, path, part FROM files WHERE note * 4 IN (SELECT value FROM json_each(?))
    ORDER BY root DESC, path DESC, part DESC"""

_READINGS = """SELECT resource, version, run, sequence FROM uses
    WHERE resource IN (SELECT value FROM json_each(?)) ORDER BY run, sequence, resource, version"""

_CITING = f"""SELECT key, version FROM resources WHERE form = {EVIDENCE}
    AND content ->> 0 IN (SELECT value FROM json_each(?)) ORDER BY key"""

_PRODUCTS = """SELECT key, version, run, step, made_by FROM resources WHERE run IN (SELECT value FROM json_each(?1))
    UNION ALL SELECT key, version, run, step, made_by FROM history WHERE run IN (SELECT value FROM json_each(?1))
    ORDER BY 1, 2"""

_BY_STEPS = f"""SELECT key, version FROM resources
    WHERE kept = 1 AND deleted IS NULL AND form = {PLAIN} AND (step IS NOT NULL OR version > 1) ORDER BY key & 3, key"""


def origins(connection: Connection, versions: Sequence[Use]) -> list[Origin]:
    """Return where versions of resources came from, in the given order."""
    expected = json.dumps([[key_of(use.id), use.version] for use in versions])
    rows = connection.all(_ORIGINS, (expected,))
    keys = keys_json(row[0] for row in rows)
    ends = {row[0]: row[1:] for row in connection.all(_ENDS, (keys,))}
    files = {row[0]: row[1:] for row in connection.all(_FILES, (keys,))}
    results = {}
    for row in rows:
        origin = _origin(connection, row, ends.get(row[0]), files.get(row[0]))
        results[origin.of] = origin
    others = [key_of(use.id) for use in versions if use not in results and use.version == 1]
    of_batches = batches.notes(connection, [key >> 2 for key in others if key & 3 == NOTE])
    results |= {Use(note.id, 1): _of_batch(note) for note in of_batches.values()}
    return [results.get(use) or Origin(use, there=False) for use in versions]


def _of_batch(note: Note) -> Origin:
    content = note.content
    title = content.get("title") if isinstance(content, dict) else None
    begins = content if isinstance(content, str) else title if isinstance(title, str) else dump(content)[:TITLE]
    return Origin(
        of=Use(note.id, 1),
        created_by=note.created_by,
        at=note.created,
        latest=1,
        latest_made=note.created_by,
        title=title_of({"title": None}, None, begins if isinstance(title, str) else begins[:TITLE], None),
    )


def readings(connection: Connection, identifiers: Iterable[str]) -> list[Reading]:
    """Return the steps that read any version of resources."""
    keys = list(map(key_of, identifiers))
    rows = connection.all(_READINGS, (keys_json(keys),))
    together = batches.readings(connection, [key >> 2 for key in keys if key & 3 == NOTE])
    if together:
        rows = sorted(
            {*rows, *((number * 4, 1, run, at) for number, run, at in together)}, key=lambda row: (*row[2:], *row)
        )
    return [Reading(Use(id_of(key), version), f"run_{run}", sequence) for key, version, run, sequence in rows]


def citing(connection: Connection, identifiers: Iterable[str]) -> list[Use]:
    """Return the search results that refer to any version of resources, deleted ones too."""
    rows = connection.all(_CITING, (keys_json(map(key_of, identifiers)),))
    return [Use(id_of(key), version) for key, version in rows]


def products(connection: Connection, runs: Iterable[str]) -> list[Product]:
    """Return the versions that runs made."""
    numbers = keys_json(map(run_number, runs))
    rows = connection.all(_PRODUCTS, (numbers,))
    result = batches.of_runs(connection, numbers)
    if result:
        rows += [(at * 4, 1, one.run, one.step, one.by) for one in result for at in range(one.first, one.end)]
        rows.sort(key=lambda row: row[:2])
    return [Product(Use(id_of(key), version), CreatedBy(run_of(run), step, by)) for key, version, run, step, by in rows]


def created_by_steps(connection: Connection) -> list[Use]:
    """Return the kept resources that a step made or anybody changed, search results apart."""
    return [Use(id_of(key), version) for key, version in connection.all(_BY_STEPS)]


def _origin(connection: Connection, row: Row, ends: Row | None, file: Row | None) -> Origin:
    key, version, form, at, run, step, by, latest, latest_run, latest_step, latest_by = row[:11]
    (
        name,
        stored,
        deleted,
        deleted_run,
        deleted_step,
        deleted_by,
        same,
        same_metadata,
        like,
        title,
        begins,
        place,
        cited,
    ) = row[11:]
    source = None
    if cited is not None:
        results = stored_reference(cited, connection.address)
        source = Source(Use(id_of(results.source), results.version), results.score, results.start, results.end)
    imported = file if by in ("add", "export") else None
    last = (latest_run, latest_step, latest_by) if deleted is None else (deleted_run, deleted_step, deleted_by)
    return Origin(
        of=Use(id_of(key), version),
        created_by=CreatedBy(run_of(run), step, by),
        at=at,
        latest=latest,
        latest_made=CreatedBy(run_of(last[0]), *last[1:]),
        name=name,
        title=title_of({"title": title}, name, begins, location_of(place)),
        kept=stored == 1,
        gone=None if deleted is None else f"at {deleted}{whom(deleted_run, deleted_step, deleted_by)}",
        since=_since(connection, key, version, latest, deleted is not None, same == 1, same_metadata == 1),
        carried=_carried(connection, key, version, by, like),
        evidence=form != PLAIN,
        source=source,
        file=None if imported is None else f"{imported[0].rstrip('/')}/{imported[1]}" + _part(imported[2]),
        ends=None if ends is None else (id_of(ends[0]), ends[2], id_of(ends[1])),
    )


def _part(number: int) -> str:
    return f"#{number}" if number else ""


def _since(
    connection: Connection, key: int, version: int, latest: int, deleted: bool, same: bool, same_metadata: bool
) -> Since | None:
    if deleted:
        return "deleted"
    if version == latest:
        return None
    if key & 3 == NOTE and not same:
        return "content"
    if key & 3 == COLLECTION and _members(connection, key, version) != _members(connection, key, latest):
        return "members"
    return None if same_metadata else "metadata"


def _carried(connection: Connection, key: int, version: int, by: str | None, like: int | None) -> int | None:
    """A Relation's ends stay; a Collection's members are those before with few changes, or after undoing again."""
    if version == 1:
        return None
    if key & 3 == NOTE:
        return like
    if key & 3 == RELATION or by != "undo":
        return None if key & 3 == COLLECTION and _replaced(connection, key, version) else version - 1
    members = _members(connection, key, version)
    return next((at for at in range(version - 1, 0, -1) if _members(connection, key, at) == members), version - 1)


def _replaced(connection: Connection, key: int, version: int) -> bool:
    """Whether a version of a Collection has none of the memberships of the one before, in the place of all of them."""
    sql = """SELECT count(*) FILTER (WHERE since < ?2 AND (until IS NULL OR until > ?2)),
        count(*) FILTER (WHERE since = ?2), count(*) FILTER (WHERE until = ?2) FROM members WHERE collection = ?1"""
    stayed, came, went = connection.fetch_one(sql, (key, version)) or (0, 0, 0)
    return bool(stayed == 0 and came > 0 and went > 0)


def _members(connection: Connection, key: int, version: int) -> list[Row]:
    return connection.all(MEMBERS, (key, version, version)) or batches.member_rows(connection, key)
