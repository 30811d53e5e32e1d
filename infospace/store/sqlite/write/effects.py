"""What runs did that no version shows, and what stands in the way of undoing it."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Sequence

from infospace.core.errors import Conflict
from infospace.core.json_types import JSON
from infospace.data.json_text import dump_plain
from infospace.store.changes import SETTLED_BY
from infospace.store.protocol import Effect, Lineage
from infospace.store.sqlite.codec import NOTE, RELATION, id_of, key_of, keys_json, run_number, run_of
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.transaction import Transaction, whom

_LOG = "INSERT INTO effects (run, key, what, before, after) VALUES (?, ?, ?, ?, ?)"

_TOUCHED = """SELECT key FROM resources WHERE run = ?1 UNION SELECT key FROM history WHERE run = ?1
    UNION SELECT key FROM effects WHERE run = ?1"""

_VERSIONS = """SELECT key, version, run FROM history WHERE key IN (SELECT value FROM json_each(?1))
    UNION ALL SELECT key, version, run FROM resources WHERE key IN (SELECT value FROM json_each(?1))
    ORDER BY key, version"""

_STANDING = """SELECT key, name, kept, deleted, deleted_run, deleted_step, deleted_by FROM resources
    WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key & 3, key"""

_LATER = """WITH mine AS (SELECT key, min(sequence) AS first FROM effects WHERE run = ?2 GROUP BY key)
    SELECT DISTINCT e.key, e.run, e.what FROM effects e LEFT JOIN mine USING (key)
    WHERE e.key IN (SELECT value FROM json_each(?1)) AND e.run <> ?2 AND (e.run > ?2 OR e.sequence > mine.first)
    ORDER BY e.key, e.run, e.what"""

_HOLDERS = """SELECT source, key FROM relations JOIN resources USING (key)
        WHERE deleted IS NULL AND source IN (SELECT value FROM json_each(?1))
    UNION SELECT target, key FROM relations JOIN resources USING (key)
        WHERE deleted IS NULL AND target IN (SELECT value FROM json_each(?1))
    UNION SELECT item, collection FROM members JOIN resources ON key = collection
        WHERE deleted IS NULL AND until IS NULL AND item IN (SELECT value FROM json_each(?1))
    ORDER BY 1, 2"""


_HOLDS = f"(kept = 1 AND coalesce(made_by, '') <> '{SETTLED_BY}')"
"""What makes a row one that holds others: the Relations of links follow what they are at."""


def log(work: Transaction, effects: Iterable[tuple[int, str, JSON, JSON]]) -> None:
    """Remember effects (key, what, before, after) of the run whose work this is, if it is any run's."""
    if work.run is not None:
        rows = [(work.run, key, what, dump_plain(before), dump_plain(after)) for key, what, before, after in effects]
        work.connection.execute_many(_LOG, rows)


def effects(connection: Connection, run: str) -> list[Effect]:
    """Return what a run did besides making versions, in its order."""
    rows = connection.all(
        "SELECT key, what, before, after FROM effects WHERE run = ? ORDER BY sequence", (run_number(run),)
    )
    return [Effect(id_of(key), what, json.loads(before), json.loads(after)) for key, what, before, after in rows]


def lineages(connection: Connection, run: str) -> list[Lineage]:
    """Return the resources that a run made, changed or affected, by kind and number."""
    keys = keys_json(key for (key,) in connection.all(_TOUCHED, (run_number(run),)))
    later: dict[int, list[tuple[str, str]]] = {}
    for key, number, what in connection.all(_LATER, (keys, run_number(run))):
        later.setdefault(key, []).append((f"run_{number}", what))
    versions: dict[int, list[tuple[int, str | None]]] = {}
    for key, version, number in connection.all(_VERSIONS, (keys,)):
        versions.setdefault(key, []).append((version, run_of(number)))
    results = []
    for key, name, stored, deleted, *by in connection.all(_STANDING, (keys,)):
        gone = None if deleted is None else f"at {deleted}{whom(*by)}"
        results.append(Lineage(id_of(key), versions[key], name, stored == 1, gone, later.get(key, ())))
    return results


def holders(connection: Connection, identifiers: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of a resource and of the living Collection that has it, or the living Relation at it."""
    keys = [key_of(identifier) for identifier in identifiers]
    rows = connection.all(_HOLDERS, (keys_json(keys),))
    packed = batches.holders(connection, [key >> 2 for key in keys if key & 3 == NOTE])
    if packed:
        rows = sorted({*rows, *((number * 4, holder) for number, holder in packed)})
    return [(id_of(thing), id_of(holder)) for thing, holder in rows]


def is_held(connection: Connection, identifier: str) -> bool:
    """Whether a kept Collection or Relation that lives has a resource, or it came from a file."""
    key = key_of(identifier)
    if key & 3 == NOTE and connection.value("SELECT 1 FROM files WHERE note = ?", (key >> 2,)):
        return True
    if key & 3 == RELATION and connection.value("SELECT 1 FROM links WHERE relation = ?", (key,)):
        return True
    above = [holder for _, holder in holders(connection, [identifier])]
    still_held_sql = f"SELECT 1 FROM resources WHERE {_HOLDS} AND key IN (SELECT value FROM json_each(?)) LIMIT 1"  # noqa: S608
    return connection.value(still_held_sql, (keys_json(map(key_of, above)),)) is not None


def held(connection: Connection, identifier: str, besides: Container[str]) -> None:
    """Raise Conflict when a living Collection that is kept has a resource, or such a Relation ends there."""
    for _, holder in holders(connection, [identifier]):
        stored = connection.value(f"SELECT {_HOLDS} FROM resources WHERE key = ?", (key_of(holder),)) == 1  # noqa: S608
        if stored and holder not in besides:
            raise Conflict(f"{holder} holds {identifier} now", hint="take it out of there first")
