"""Removing runs for good: their rows of the journal, and what they made that nobody kept.

What a run made stays while something that stays needs it for its content: a search result its source, a Collection
(at any version) its members, a Relation its ends; and while an unfinished run uses it. `effects` stay, so that
undoing an earlier run still sees that something was done to what it wrote.
"""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Sequence

from infospace.core.errors import Conflict, NotFound
from infospace.data.json_text import dump
from infospace.journal.rows import FINISHED
from infospace.store.records import DeletedRuns
from infospace.store.sqlite import sums
from infospace.store.sqlite.codec import EVIDENCE, id_of, keys_json, run_number
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.journal import successful_calls
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.read.batches import Batch
from infospace.store.sqlite.write.batch_rows import give_rows

_ROWS = ("steps", "uses", "packed_uses", "calls", "answers", "approvals", "lines", "worked")
"""Tables with rows of a run, beside `runs`."""

_MARK = (
    "CREATE TEMP TABLE leaving (run INTEGER PRIMARY KEY)",
    "INSERT INTO leaving SELECT value FROM json_each(?)",
    "CREATE TEMP TABLE doomed (key INTEGER PRIMARY KEY)",
    # Only what nobody but these runs made or changed.
    """INSERT INTO doomed SELECT key FROM resources r WHERE kept = 0 AND name IS NULL
        AND run IN (SELECT run FROM leaving)
        AND NOT EXISTS (SELECT 1 FROM history h WHERE h.key = r.key
            AND (h.run IS NULL OR h.run NOT IN (SELECT run FROM leaving)))""",
)

_HELD = (
    """DELETE FROM doomed WHERE key IN (
        SELECT resource FROM uses JOIN runs ON number = uses.run WHERE status IN ('running', 'suspended')
        UNION SELECT resource FROM steps JOIN runs ON number = steps.run
            WHERE runs.status IN ('running', 'suspended') AND resource IS NOT NULL)""",
    "DELETE FROM doomed WHERE key IN (SELECT note * 4 FROM files)",
)

_SPARE = (
    f"""DELETE FROM doomed WHERE key IN (
        SELECT content ->> 0 FROM resources WHERE form = {EVIDENCE} AND key NOT IN (SELECT key FROM doomed)
        UNION SELECT content ->> 0 FROM history WHERE form = {EVIDENCE} AND key NOT IN (SELECT key FROM doomed))""",
    """DELETE FROM doomed WHERE key IN (
        SELECT item FROM members WHERE collection NOT IN (SELECT key FROM doomed))""",
    """DELETE FROM doomed WHERE key IN (
        SELECT item FROM packed_items WHERE collection NOT IN (SELECT key FROM doomed))""",
    """DELETE FROM doomed WHERE key IN (
        SELECT source FROM relations WHERE key NOT IN (SELECT key FROM doomed)
        UNION SELECT target FROM relations WHERE key NOT IN (SELECT key FROM doomed))""",
)

_INPUTS = "SELECT inputs FROM runs WHERE status IN ('running', 'suspended')"

_GONE = "(SELECT key FROM doomed)"

_REMOVE = (
    f"DELETE FROM history WHERE key IN {_GONE}",
    f"DELETE FROM members WHERE collection IN {_GONE}",
    f"DELETE FROM packed_members WHERE collection IN {_GONE}",
    f"DELETE FROM relations WHERE key IN {_GONE}",
    f"DELETE FROM links WHERE note * 4 IN {_GONE}",
    f"DELETE FROM effects WHERE key IN {_GONE}",
    # Whoever stands before this generation reads all again, since a row that is gone says nothing of its own.
    f"""UPDATE state SET value = value + 1 WHERE key = 'generation' AND EXISTS (
        SELECT 1 FROM resources WHERE generation IS NOT NULL AND key IN {_GONE})""",
    f"""UPDATE state SET value = (SELECT value FROM state WHERE key = 'generation') WHERE key = 'forgotten' AND EXISTS (
        SELECT 1 FROM resources WHERE generation IS NOT NULL AND key IN {_GONE})""",
    f"DELETE FROM resources WHERE key IN {_GONE}",
    *(f"DELETE FROM {table} WHERE run IN (SELECT run FROM leaving)" for table in _ROWS),
    "DELETE FROM runs WHERE number IN (SELECT run FROM leaving)",
    sums.FORGET,
    successful_calls.MOVED,
)

_SIZES = (
    ("runs", "number", "length(document) + length(plans) + length(inputs)"),
    ("steps", "run", "length(value) + coalesce(length(extra), 0) + coalesce(length(reason), 0)"),
    ("calls", "run", "coalesce(length(answer), 0)"),
)


def forget(connection: Connection, runs: Sequence[str], *, really: bool) -> DeletedRuns:
    """Remove runs, or count what would be removed, inside a transaction that the caller holds.

    Raises NotFound for an unknown run, Conflict for one that has not ended.
    """
    numbers = sorted({run_number(run) for run in runs})
    _must_have_ended(connection, numbers)
    for statement in _MARK:
        connection.run(statement, (keys_json(numbers),) if "?" in statement else ())
    result = batches.of_runs(connection, keys_json(numbers))
    _mark_batches(connection, result)
    for statement in _HELD:
        connection.run(statement)
    inputs = connection.all(f"SELECT DISTINCT i.value FROM ({_INPUTS}) u, json_each(u.inputs) i")
    given = {one for (one,) in inputs}
    connection.execute_many(
        "DELETE FROM doomed WHERE key = ?",
        [(key,) for (key,) in connection.all("SELECT key FROM doomed") if id_of(key) in given],
    )
    while sum(connection.run(statement) for statement in _SPARE):
        pass
    deleted = _counted(connection, len(numbers), result)
    if really:
        _remove_batches(connection, result)
        for statement in _REMOVE:
            connection.run(statement)
    for table in ("leaving", "doomed", "packed_items"):
        connection.run(f"DROP TABLE {table}")
    return deleted


def _mark_batches(connection: Connection, made: Sequence[Batch]) -> None:
    """Mark the Notes of batches like those with rows, and list what is in Collections whose members are packed."""
    connection.run("CREATE TEMP TABLE packed_items (item INTEGER NOT NULL, collection INTEGER NOT NULL)")
    connection.run("CREATE INDEX temp.packed_items_of ON packed_items (collection)")
    connection.execute_many(
        "INSERT INTO doomed VALUES (?)", ((at * 4,) for one in made for at in range(one.first, one.end))
    )
    connection.execute_many(
        "DELETE FROM doomed WHERE key = ?", ((number * 4,) for number in batches.in_use(connection))
    )
    for (collection,) in connection.all("SELECT DISTINCT collection FROM packed_members"):
        items = batches.members(connection, collection) or ()
        connection.execute_many(
            "INSERT INTO packed_items VALUES (?, ?)", ((number * 4, collection) for number in items)
        )


def _doomed_of(connection: Connection, batch: Batch) -> list[int]:
    """The numbers of the Notes of a batch that go."""
    sql = "SELECT key >> 2 FROM doomed WHERE key BETWEEN ? AND ? AND (key & 3) = 0"
    return [number for (number,) in connection.all(sql, (batch.first * 4, batch.end * 4 - 1))]


def _remove_batches(connection: Connection, made: Sequence[Batch]) -> None:
    """Remove the batches of which all goes; those of which a part stays get rows, which go like others."""
    for batch in made:
        going = _doomed_of(connection, batch)
        if len(going) == batch.size:
            connection.run("DELETE FROM batches WHERE first = ?", (batch.first,))
        else:
            give_rows(connection, going)


def _must_have_ended(connection: Connection, numbers: Sequence[int]) -> None:
    statuses = "SELECT number, status FROM runs WHERE number IN (SELECT value FROM json_each(?))"
    known: dict[int, str] = dict(connection.all(statuses, (keys_json(numbers),)))
    for number in numbers:
        if number not in known:
            raise NotFound(f"there is no run_{number}", hint="`infospace runs` lists the runs of a space")
        if known[number] not in FINISHED:
            raise Conflict(
                f"run_{number} has not ended: it is {known[number]}", hint="a run is removed when it has ended"
            )


def _counted(connection: Connection, runs: int, made: Sequence[Batch]) -> DeletedRuns:
    mine = "IN (SELECT run FROM leaving)"
    steps, calls = (connection.value(f"SELECT count(*) FROM {table} WHERE run {mine}") for table in ("steps", "calls"))
    size = sum(
        connection.value(f"SELECT coalesce(sum({sizes}), 0) FROM {table} WHERE {column} {mine}")
        for table, column, sizes in _SIZES
    )
    rows, bytes_ = connection.fetch_one(
        f"""SELECT count(*), coalesce(sum(coalesce(length(content), 0) + coalesce(length(metadata), 0)), 0)
        FROM resources WHERE key IN {_GONE}"""
    ) or (0, 0)
    left = connection.value(
        f"""SELECT count(*) FROM resources WHERE kept = 0 AND deleted IS NULL AND run {mine} AND key NOT IN {_GONE}"""
    )
    for batch in made:
        going = _doomed_of(connection, batch)
        contents = batches.notes(connection, going).values()
        rows, left = rows + len(going), left + batch.size - len(going)
        bytes_ += sum(len(dump(note.content)) for note in contents)
    return DeletedRuns(runs, steps, calls, rows, left, size + bytes_)
