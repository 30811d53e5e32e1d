"""Checksums of rows that nothing can be made from again: what changes them past infospace is noticed.

For each thing (a resource, a run) and table, `sums` has the sum of the CRCs of its rows. Of resources, triggers of the
connection that writes keep it, in the transaction of the change. They are temporary: whoever else writes leaves the
sum as it was, and so does a bit that flips on the disk. A run is summed up when it ends, since it does not change
from then on. What discovery derives is left out, as it can be made anew, and so is what changes without a version:
heartbeats, generations. The text of a Note counts by its hash, which is compared apart.
"""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from infospace.journal.rows import FINISHED
from infospace.store.sqlite.codec import id_of
from infospace.store.sqlite.connection import Connection

TABLE = """CREATE TABLE IF NOT EXISTS sums (
    part INTEGER NOT NULL, owner INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (part, owner)) WITHOUT ROWID"""


@dataclass(frozen=True, slots=True)
class Part:
    """A table that is summed up: by which thing, over which columns, and whether its rows are ever updated."""

    number: int
    table: str
    owner: str
    columns: str
    updated: bool = False
    of_runs: bool = False


_TEXT = "iif(hash IS NULL, content, NULL)"
_MADE = "updated, run, step, made_by, hash, metadata"
_GONE = "deleted, deleted_run, deleted_step, deleted_by"
_RUN = "number, kind, status, started, ended, result, reason, spent, goal, inputs, document, plans, forked, scope"
_STEP = (
    "run, sequence, position, attempt, type, out, status, resource, version, started, duration_ms, error, digest,"
    " value, reason, expect, extra, trace, frames"
)

PARTS = (
    Part(0, "resources", "key", f"key, version, form, kept, name, created, {_GONE}, {_MADE}, {_TEXT}", updated=True),
    Part(1, "history", "key", f"key, version, form, {_MADE}, {_TEXT}"),
    Part(2, "members", "collection", "collection, position, item, since, until, info", updated=True),
    Part(3, "relations", "key", "key, source, target, relation"),
    Part(4, "files", "note * 4", "root, path, part, note, version, digest, title"),
    Part(5, "links", "note * 4", "note, target, wiki, leads, relation", updated=True),
    Part(6, "effects", "key", "sequence, run, key, what, before, after"),
)
# Of a batch the first Note owns the sum; the contents count themselves, as they have no hash.
BATCHES = (
    Part(12, "batches", "first * 4", "first, count, run, step, made_by, created, contents"),
    Part(13, "packed_members", "collection", "collection, position, count, least, most, numbers"),
)
_RUNS = Part(8, "runs", "number", _RUN, of_runs=True)
OF_RUNS = (
    _RUNS,
    Part(9, "steps", "run", _STEP, of_runs=True),
    Part(10, "uses", "run", "run, sequence, resource, version", of_runs=True),
    Part(11, "lines", "run", "run, number, document", of_runs=True),
    Part(14, "packed_uses", "run", "run, sequence, position, count, least, most, numbers", of_runs=True),
)

FORGET = f"""DELETE FROM sums WHERE part IN ({", ".join(str(part.number) for part in OF_RUNS)})
    AND owner NOT IN (SELECT number FROM runs)"""
"""Removes the sums of runs that were removed."""


def watch(connection: Connection) -> None:
    """Keep the sums of resources in line with all that is written through a connection.

    In one transaction, since each by itself would have SQLite read and write its schema anew. Where it was done before
    nothing is done: whoever wrote first may have been interrupted when it was. Raises StoreError.
    """
    if not _table_exists(connection):
        return
    connection.run("PRAGMA recursive_triggers = ON")
    connection.run("BEGIN")
    try:
        for part in _existing_parts(connection, (*PARTS, *BATCHES)):
            for statement in _triggers(part):
                connection.run(statement)
        connection.run("COMMIT")
    except BaseException:
        connection.rollback()
        raise


@cache
def _triggers(part: Part) -> tuple[str, ...]:
    """The statements that make what keeps the sum of a part: every space that is opened needs the same ones."""
    added, taken = _count(part, "NEW", ""), _count(part, "OLD", "-")
    results = [_trigger(part, "INSERT", added), _trigger(part, "DELETE", taken)]
    if part.updated:
        results.append(_trigger(part, f"UPDATE OF {', '.join(_named(part))}", taken + added))
    return tuple(results)


def _trigger(part: Part, event: str, body: str) -> str:
    name = f"sums_{part.table}_{event.partition(' ')[0].lower()}"
    return f"CREATE TEMP TRIGGER IF NOT EXISTS {name} AFTER {event} ON main.{part.table} BEGIN {body} END"


def fill(connection: Connection) -> None:
    """Sum up all that is there."""
    if connection.dialect != "sqlite":
        return  # a database has checksums of its own
    connection.run("DELETE FROM sums")
    ended = ", ".join(f"'{status}'" for status in sorted(FINISHED))
    for part in _existing_parts(connection, (*PARTS, *BATCHES, *OF_RUNS)):
        which = f"{part.owner} IN (SELECT number FROM runs WHERE status IN ({ended}))" if part.of_runs else "1"
        connection.run(f"INSERT INTO sums {_summed(part, which)}")


def seal(connection: Connection, run: int) -> None:
    """Sum up what is kept of a run that ends, by its number."""
    if connection.dialect != "sqlite":
        return
    for part in OF_RUNS:
        connection.run(f"INSERT OR REPLACE INTO sums {_summed(part, f'{part.owner} = ?')}", (run,))


def changed(connection: Connection) -> Iterator[str]:
    """Say of which things rows are not as they were written."""
    if not _table_exists(connection):
        return
    for part in _existing_parts(connection, (*PARTS, *BATCHES, *OF_RUNS)):
        which = f"owner IN (SELECT owner FROM sums WHERE part = {_RUNS.number})" if part.of_runs else "1"
        sql = f"""WITH now AS ({_summed(part)}), kept AS (SELECT owner, sum FROM sums WHERE part = {part.number})
            SELECT owner FROM now LEFT JOIN kept USING (owner) WHERE now.sum <> coalesce(kept.sum, 0) AND {which}
            UNION SELECT owner FROM kept LEFT JOIN now USING (owner) WHERE now.owner IS NULL AND kept.sum <> 0"""
        for (owner,) in connection.all(sql):
            called = f"run_{owner}" if part.of_runs else id_of(owner)
            yield f"{called} is not as infospace has written it (table `{part.table}`)"


def _table_exists(connection: Connection) -> bool:
    return connection.fetch_one("SELECT 1 FROM sqlite_master WHERE name = 'sums'") is not None


def _existing_parts(connection: Connection, parts: Iterable[Part]) -> list[Part]:
    """The parts whose tables a file has: one that is being migrated has not all of them yet."""
    tables = {name for (name,) in connection.all("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return [part for part in parts if part.table in tables]


def _named(part: Part) -> list[str]:
    """The columns that count."""
    return [column.strip() for column in part.columns.replace(_TEXT, "content").split(",")]


def _summed(part: Part, which: str = "1") -> str:
    return (
        f"SELECT {part.number} AS part, {part.owner} AS owner, sum(row_sum({part.columns})) AS sum"
        f" FROM {part.table} WHERE {which} GROUP BY 2"
    )


def _count(part: Part, row: str, sign: str) -> str:
    """A statement that adds a row's CRC, or takes it off."""
    values = ", ".join(
        f"iif({row}.hash IS NULL, {row}.content, NULL)" if column == "content" else f"{row}.{column}"
        for column in _named(part)
    )
    return (
        f"INSERT INTO sums VALUES ({part.number}, {row}.{part.owner}, {sign}row_sum({values}))"
        " ON CONFLICT (part, owner) DO UPDATE SET sum = sum + excluded.sum;"
    )
