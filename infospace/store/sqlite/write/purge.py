"""Removing for good what nothing refers to any more: tombstones, earlier versions, vectors of gone texts."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from infospace.store.protocol import PurgeStats
from infospace.store.sqlite.codec import COLLECTION, EVIDENCE
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read import batches

_MARK = (
    # Versions that something refers to: search results, imported files, unfinished runs.
    "CREATE TEMP TABLE held (key INTEGER, version INTEGER, PRIMARY KEY (key, version)) WITHOUT ROWID",
    f"""INSERT OR IGNORE INTO held SELECT content ->> 0, content ->> 1 FROM resources
        WHERE form = {EVIDENCE} AND deleted IS NULL""",
    "INSERT OR IGNORE INTO held SELECT note * 4, version FROM files",
    """INSERT OR IGNORE INTO held SELECT resource, uses.version FROM uses JOIN runs ON number = uses.run
        WHERE runs.status IN ('running', 'suspended')""",
    """INSERT OR IGNORE INTO held SELECT resource, steps.version FROM steps JOIN runs ON number = steps.run
        WHERE runs.status IN ('running', 'suspended') AND steps.resource IS NOT NULL AND steps.version IS NOT NULL""",
    # Tombstones that nothing refers to. A search result that is a tombstone refers to nothing.
    "CREATE TEMP TABLE doomed (key INTEGER PRIMARY KEY)",
    """INSERT INTO doomed SELECT key FROM resources
        WHERE deleted IS NOT NULL AND key NOT IN (SELECT key FROM held)""",
    # Earlier versions of what stays; a Collection's earlier versions hold their members.
    "CREATE TEMP TABLE old (key INTEGER, version INTEGER, PRIMARY KEY (key, version)) WITHOUT ROWID",
    "INSERT INTO old SELECT key, version FROM history EXCEPT SELECT key, version FROM held",
)

# What a version that stays has as a member stays; so do the ends of Relations that stay.
_SPARE = (
    f"""DELETE FROM doomed WHERE key IN (
        WITH v AS MATERIALIZED (
            SELECT key, version FROM resources WHERE (key & 3) = {COLLECTION} AND key NOT IN (SELECT key FROM doomed)
            UNION ALL SELECT key, version FROM history
                WHERE (key & 3) = {COLLECTION} AND (key, version) NOT IN (SELECT key, version FROM old))
        SELECT item FROM members JOIN v ON collection = v.key AND since <= v.version
            AND (until IS NULL OR until > v.version) WHERE item IN (SELECT key FROM doomed))""",
    """DELETE FROM doomed WHERE key IN (
        SELECT source FROM relations WHERE key NOT IN (SELECT key FROM doomed)
        UNION SELECT target FROM relations WHERE key NOT IN (SELECT key FROM doomed))""",
)

_GONE = "(SELECT key FROM doomed)"

_REMOVE = (
    "DELETE FROM history WHERE (key, version) IN (SELECT key, version FROM old)",
    """UPDATE resources SET purged = purged + (SELECT count(*) FROM old WHERE old.key = resources.key)
        WHERE key IN (SELECT key FROM old)""",
    f"DELETE FROM history WHERE key IN {_GONE}",
    f"""DELETE FROM members WHERE collection IN {_GONE} OR (
        NOT EXISTS (SELECT 1 FROM resources v
            WHERE v.key = collection AND since <= v.version AND (until IS NULL OR until > v.version))
        AND NOT EXISTS (SELECT 1 FROM history v
            WHERE v.key = collection AND since <= v.version AND (until IS NULL OR until > v.version)))""",
    f"DELETE FROM relations WHERE key IN {_GONE}",
    f"DELETE FROM links WHERE note * 4 IN {_GONE}",
    f"UPDATE links SET leads = NULL, relation = NULL WHERE leads IN {_GONE} OR relation IN {_GONE}",
    f"DELETE FROM effects WHERE key IN {_GONE}",
    f"DELETE FROM resources WHERE key IN {_GONE}",
    "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM unused)",
)

# What was purged has left no trace of its generation: whoever stands before this one reads all again.
_FORGET = (
    "UPDATE state SET value = value + 1 WHERE key = 'generation'",
    "UPDATE state SET value = (SELECT value FROM state WHERE key = 'generation') WHERE key = 'forgotten'",
)

_COUNT = """SELECT (SELECT count(*) FROM doomed), (SELECT count(*) FROM old),
    (SELECT count(*) FROM unused),
    (SELECT coalesce(sum(coalesce(length(content), 0) + coalesce(length(metadata), 0)), 0) FROM history
        WHERE (key, version) IN (SELECT key, version FROM old))
    + (SELECT coalesce(sum(coalesce(length(content), 0) + coalesce(length(metadata), 0)), 0) FROM resources
        WHERE key IN (SELECT key FROM doomed))
    + (SELECT coalesce(sum(length(vector)), 0) FROM vectors WHERE rowid IN (SELECT rowid FROM unused))"""

# While Notes wait to be embedded, a vector without a passage may be theirs.
_UNUSED = """CREATE TEMP TABLE unused AS SELECT v.rowid FROM vectors v JOIN models USING (model)
    WHERE name = (SELECT value FROM state WHERE key = 'model') AND digest NOT IN (
        SELECT digest FROM passages UNION ALL SELECT digest FROM descriptions WHERE digest IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM pending)"""

_TABLES = ("held", "doomed", "old", "unused")


def purge(connection: Connection, *, really: bool) -> PurgeStats:
    """Remove, or count what would be removed, inside a transaction that the caller holds."""
    held, *others = _MARK
    connection.run(held)
    connection.execute_many(
        "INSERT OR IGNORE INTO held VALUES (?, 1)", ((number * 4,) for number in batches.in_use(connection))
    )
    for statement in others:
        connection.run(statement)
    while sum(connection.run(statement) for statement in _SPARE):
        pass
    connection.run(_UNUSED)
    row = connection.fetch_one(_COUNT) or (0, 0, 0, 0)
    for statement in _REMOVE if really else ():
        connection.run(statement)
    if really and row[0]:
        for statement in _FORGET:
            connection.run(statement)
    for table in _TABLES:
        connection.run(f"DROP TABLE {table}")
    return PurgeStats(*row)
