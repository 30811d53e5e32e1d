"""Schedules: which there are, and each of their times settled once.

Writers of a space take turns, so a time that was compared within a transaction is still true at its commit.
"""

from __future__ import annotations

from infospace.core.errors import Conflict, NotFound
from infospace.data.json_text import dump
from infospace.journal.schedule_rows import DropSchedule, PassDue, SaveSchedule, Schedule, SetDue
from infospace.store.sqlite.codec import read, run_number, run_of
from infospace.store.sqlite.connection import Connection, Row
from infospace.store.sqlite.transaction import Transaction

TABLES = (
    """CREATE TABLE schedules (
        name TEXT PRIMARY KEY, plan TEXT NOT NULL, cron TEXT NOT NULL, zone TEXT NOT NULL, inputs TEXT NOT NULL,
        missed TEXT NOT NULL, queue TEXT NOT NULL, priority INTEGER NOT NULL, approve TEXT NOT NULL, due TEXT,
        last TEXT, run INTEGER, reason TEXT) WITHOUT ROWID""",
    "CREATE INDEX schedules_due ON schedules (due)",
)

_COLUMNS = "name, plan, cron, zone, inputs, missed, queue, priority, approve, due, last, run, reason"


def keep(work: Transaction, entry: SaveSchedule) -> None:
    """Keep a schedule. Raises Conflict where another has its name."""
    one, connection = entry.schedule, work.connection
    before = connection.fetch_one("SELECT last, run FROM schedules WHERE name = ?", (one.name,))
    if before is not None and not entry.replace:
        raise Conflict(f"there is a schedule {one.name!r} already", hint="`--replace` puts this one in its place")
    connection.run("DELETE FROM schedules WHERE name = ?", (one.name,))
    row = (one.name, one.plan, one.cron, one.zone, dump(dict(one.inputs)), one.missed, one.queue, one.priority)
    connection.run(
        f"INSERT INTO schedules ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",  # noqa: S608
        (*row, dump(list(one.approve)), one.due, *(before or (None, None))),
    )


def drop(work: Transaction, entry: DropSchedule) -> None:
    """Remove a schedule. Raises NotFound."""
    if not work.connection.run("DELETE FROM schedules WHERE name = ?", (entry.name,)):
        raise _none(entry.name)


def set_due(work: Transaction, entry: SetDue) -> None:
    """Set the next time of a schedule. Raises NotFound."""
    if not work.connection.run("UPDATE schedules SET due = ?, reason = NULL WHERE name = ?", (entry.due, entry.name)):
        raise _none(entry.name)


def pass_due(work: Transaction, entry: PassDue) -> None:
    """Settle a time. Raises Conflict where another has done so, or the latest run has not ended."""
    connection = work.connection
    row = connection.fetch_one("SELECT due, run FROM schedules WHERE name = ?", (entry.name,))
    if row is None or row[0] != entry.due:
        raise Conflict(f"the schedule {entry.name!r} is not due at {entry.due} any more", hint="somebody was earlier")
    if entry.run is None:
        connection.run(
            "UPDATE schedules SET due = ?, reason = ? WHERE name = ?", (entry.next, entry.reason, entry.name)
        )
        return
    status = connection.value("SELECT status FROM runs WHERE number = ?", (row[1],)) if row[1] is not None else None
    if status in ("running", "suspended"):
        raise Conflict(f"{run_of(row[1])} of the schedule {entry.name!r} has not ended", hint="it is one at a time")
    connection.run(
        "UPDATE schedules SET due = ?, last = ?, run = ?, reason = NULL WHERE name = ?",
        (entry.next, entry.at, run_number(entry.run), entry.name),
    )


def schedules(connection: Connection, due: str | None) -> list[Schedule]:
    """Return the schedules by name; or those that are due at a time, the earliest first."""
    columns = f"SELECT {_COLUMNS} FROM schedules"  # noqa: S608 - a constant
    if due is None:
        rows = connection.all(f"{columns} ORDER BY name")
    else:
        rows = connection.all(f"{columns} WHERE due <= ? ORDER BY due, name", (due,))
    return [_read(row, connection.address) for row in rows]


def _read(row: Row, address: str) -> Schedule:
    name, plan, cron, zone, inputs, missed, queue, priority, approve, due, last, run, reason = row
    return Schedule(
        *(name, plan, cron, zone, read(inputs, address), missed, queue, priority),
        *(tuple(read(approve, address)), due, last, run_of(run), reason),
    )


def _none(name: str) -> NotFound:
    return NotFound(f"there is no schedule {name!r}", hint="`infospace schedule` lists them")
