"""Runs that wait for a worker: which there are, and how many of a queue may go on at once.

All who write to a space do so one after the other, so what a claim is compared with stays true until its commit.
"""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

import sys
from collections.abc import Sequence

from infospace.core.errors import Conflict, Invalid
from infospace.journal.queue_rows import DEFAULT_QUEUE, ClaimQueued, Enqueue, LimitQueue, QueuedRun
from infospace.journal.rows import FINISHED, CloseRun
from infospace.store.sqlite.codec import run_number
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.transaction import Transaction

TABLES = (
    """CREATE TABLE queue (
        run INTEGER PRIMARY KEY, name TEXT NOT NULL, priority INTEGER NOT NULL, due TEXT)""",
    "CREATE INDEX queue_due ON queue (due)",
    "CREATE TABLE queue_limits (name TEXT PRIMARY KEY, most INTEGER NOT NULL) WITHOUT ROWID",
)

# How many owners were lost one after the other, and the last execution of the run that had ended at the latest claim.
COUNTED = (
    "ALTER TABLE queue ADD COLUMN losses INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE queue ADD COLUMN reached INTEGER NOT NULL DEFAULT 0",
)

_REACHED = """coalesce((SELECT sequence FROM steps WHERE steps.run = queue.run
    AND steps.status NOT IN ('started', 'suspended') ORDER BY sequence DESC LIMIT 1), 0)"""

_QUEUED = f"""SELECT run, name, priority, due, status, owner, heartbeat, started,
    CASE WHEN status <> 'running' THEN 0 WHEN reached = {_REACHED} THEN losses + 1 ELSE 1 END
    FROM queue JOIN runs ON number = run"""

_ORDER = "ORDER BY priority DESC, due, run"


def enqueue(work: Transaction, entry: Enqueue) -> None:
    """Put a run into a queue, or into another one. Raises Conflict for one that goes on or has ended."""
    number = run_number(entry.run)
    status = work.connection.value("SELECT status FROM runs WHERE number = ?", (number,))
    if status != "suspended":
        what = f"is {status}" if status else "is not there"
        raise Conflict(f"{entry.run} {what}, and cannot wait for a worker", hint="one that is suspended can")
    work.connection.run("DELETE FROM queue WHERE run = ?", (number,))
    row = (number, entry.queue, entry.priority, entry.at)
    work.connection.run("INSERT INTO queue (run, name, priority, due) VALUES (?, ?, ?, ?)", row)
    _wake(work.connection)


def take(work: Transaction, entry: ClaimQueued) -> None:
    """Raise Conflict unless a run is in a queue that has room for it; keep how often its owner was lost."""
    number = run_number(entry.run)
    name = work.connection.value("SELECT name FROM queue WHERE run = ?", (number,))
    if name is None:
        raise Conflict(f"{entry.run} is not in a queue", hint="`infospace resume` continues it")
    work.connection.run(f"UPDATE queue SET losses = ?, reached = {_REACHED} WHERE run = ?", (entry.losses, number))
    most = work.connection.value("SELECT most FROM queue_limits WHERE name = ?", (name,))
    if most is None:
        return
    busy = work.connection.value(
        """SELECT count(*) FROM queue JOIN runs ON number = run
        WHERE name = ? AND status = 'running' AND heartbeat > ? AND run <> ?""",
        (name, entry.lost, number),
    )
    if busy >= most:
        raise Conflict(
            f"the queue {name!r} is full: {most} at once may run", hint="`infospace work --limit` sets how many may"
        )


def limit(work: Transaction, entry: LimitQueue) -> None:
    """Keep how many runs of a queue may go on at once. Raises Invalid for a number below 1."""
    if entry.most is not None and not 1 <= entry.most < 2**31:
        raise Invalid(f"{entry.most} is not a number of runs at once", hint="1 or more")
    work.connection.run("DELETE FROM queue_limits WHERE name = ?", (entry.queue,))
    if entry.most is not None:
        work.connection.run("INSERT INTO queue_limits VALUES (?, ?)", (entry.queue, entry.most))
    _wake(work.connection)


def closed(connection: Connection, number: int, entry: CloseRun) -> None:
    """Take a run that has ended out of its queue; one that rests is due again when it says.

    One that waits for a time comes into the queue by itself, unless somebody put it to rest.
    """
    if entry.status in FINISHED:
        connection.put_off("DELETE FROM queue WHERE run = ?", [(number,)])
        _wake(connection)  # there may be room for another one of its queue
        return
    there = connection.run("UPDATE queue SET due = ?, losses = 0 WHERE run = ?", (entry.due, number))
    if not there and entry.due is not None and not entry.interrupted:
        row = (number, DEFAULT_QUEUE, entry.due)
        connection.run("INSERT INTO queue (run, name, priority, due) VALUES (?, ?, 0, ?)", row)
        there = 1
    if there:
        _wake(connection)


def answered(connection: Connection, number: int, at: str) -> None:
    """Let a run that was answered be due."""
    if connection.run("UPDATE queue SET due = ? WHERE run = ?", (at, number)):
        _wake(connection)


def queued(
    connection: Connection, due: str | None, count: int | None, names: Sequence[str] = (), skip: int = 0
) -> list[QueuedRun]:
    """Return the runs in queues, or in those named: all, or those that were due at a time and those that go on."""
    where: list[str] = []
    values: list[str] = []
    if due is not None:
        where.append("((status = 'suspended' AND due <= ?) OR status = 'running')")
        values.append(due)
    if names:
        where.append(f"name IN ({', '.join('?' * len(names))})")
        values += names
    only = f"WHERE {' AND '.join(where)}" if where else ""
    most = sys.maxsize if count is None else count
    rows = connection.all(f"{_QUEUED} {only} {_ORDER} LIMIT ? OFFSET ?", (*values, most, skip))
    return [QueuedRun(f"run_{row[0]}", *row[1:]) for row in rows]


def limits(connection: Connection) -> dict[str, int]:
    """Return how many runs of a queue may go on at once, by its name."""
    return dict(connection.all("SELECT name, most FROM queue_limits ORDER BY name"))


def _wake(connection: Connection) -> None:
    """Let workers on other machines hear of it when this is committed; those of a file look by themselves."""
    if connection.dialect == "postgresql":
        connection.put_off("SELECT pg_notify('infospace_' || md5(current_schema()), '')", [()])
