"""Runs and steps: writing journal entries, and reading them."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from infospace.core import batch_notes
from infospace.core.errors import Conflict, LeaseLost, NotFound
from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.journal.audit import AuditRow
from infospace.journal.queue_rows import ClaimQueued, Enqueue, LimitQueue
from infospace.journal.rows import (
    BROKEN_OFF,
    CANCELLED,
    FINISHED,
    MISSING,
    AddLines,
    AnswerRow,
    Approve,
    CallRow,
    ClaimRun,
    CloseRun,
    Disapprove,
    Entry,
    Heartbeat,
    OpenRun,
    OwnerGuard,
    RunRow,
    SetDocument,
    StepRow,
    Use,
)
from infospace.journal.schedule_rows import DropSchedule, PassDue, SaveSchedule, SetDue
from infospace.journal.uses import Uses, of_notes
from infospace.store.sqlite import sums
from infospace.store.sqlite.codec import id_of, key_of, object_column, read, run_number, run_of
from infospace.store.sqlite.connection import Connection, Insertion, Row
from infospace.store.sqlite.journal import approvals, audit, external_calls, queue, schedules
from infospace.store.sqlite.read import batches
from infospace.store.sqlite.transaction import Transaction
from infospace.store.sqlite.write.batch_rows import pack_uses

_STEP = (
    "run, sequence, position, attempt, type, out, status, resource, version, started, duration_ms, error, digest,"
    " value, reason, expect, extra, trace, frames"
)

# A step of a run that was never opened, or that belongs to somebody else, inserts nothing.
_INSERT_STEP = f"""INSERT OR IGNORE INTO steps ({_STEP}) SELECT {", ".join("?" * 19)}
    WHERE EXISTS (SELECT 1 FROM runs WHERE number = ?1 AND (?20 IS NULL OR owner = ?20))"""

_PLACED = _STEP.replace("run, sequence, ", "")

# What replaces a beginning or a suspension as well; the table refuses a row without a run or a position.
_PUT_STEP = f"""WITH one AS (DELETE FROM uses WHERE run = ?1 AND sequence = ?2),
    two AS (DELETE FROM packed_uses WHERE run = ?1 AND sequence = ?2)
    INSERT INTO steps ({_STEP}) VALUES (
        CASE WHEN EXISTS (SELECT 1 FROM runs WHERE number = ?1 AND (owner = ?20 OR ?20 IS NULL)) THEN ?1 END,
        {", ".join(f"?{place}" for place in range(2, 20))})
    ON CONFLICT (run, sequence) DO UPDATE SET ({_PLACED}) = ROW (
        CASE WHEN steps.status IN ('started', 'suspended') THEN EXCLUDED.position END,
        {", ".join(f"EXCLUDED.{column}" for column in _PLACED.split(", ")[1:])})"""

_RUN = """SELECT number, kind, goal, status, started, ended, (SELECT count(*) FROM steps WHERE run = number),
    document, inputs, result, reason, owner, heartbeat, spent, plans, forked, scope
    FROM runs"""


_OPEN_RUN = """INSERT OR IGNORE INTO runs (number, kind, status, started, owner, heartbeat, goal, inputs, document,
    plans, forked, scope) VALUES (?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def record(work: Transaction, entries: Sequence[Entry]) -> None:
    """Write entries in their order. Raises NotFound for an unknown run, Conflict for what has happened already."""
    for entry in entries:
        _WRITERS[type(entry)](work, entry)


def _open(work: Transaction, entry: OpenRun) -> None:
    number = run_number(entry.run)
    work.require_reserved("run", number)
    result = work.connection.insert_expected(
        Insertion(_OPEN_RUN, _OPEN_RUN.replace("OR IGNORE ", "")),
        (
            number,
            entry.kind,
            entry.started,
            entry.owner,
            entry.started,
            entry.goal,
            dump(entry.inputs),
            dump(entry.document),
            dump(dict(entry.plans)),
            None if entry.forked is None else run_number(entry.forked),
            None if entry.scope is None else dump(entry.scope),
        ),
    )
    if not result:
        raise work.exists_already(entry.run)


def _step(work: Transaction, entry: StepRow) -> None:
    connection = work.connection
    run = run_number(entry.run)
    row = _step_row(run, entry, work.owner)
    if not connection.insert_expected(Insertion(_INSERT_STEP, _PUT_STEP), row):
        work.still_owns(entry.run, run)
        _replace_step(connection, entry, run, row)
    single, together = parted(entry.uses)
    if single:
        connection.put_off(
            "INSERT OR IGNORE INTO uses (run, sequence, resource, version) VALUES (?, ?, ?, ?)",
            [(run, entry.sequence, key_of(use.id), use.version) for use in single],
        )
    if together:
        pack_uses(connection, run, entry.sequence, together)


def parted(uses: Sequence[Use]) -> tuple[Sequence[Use], Sequence[int]]:
    """Part what a step read: what has a row each, and the numbers of Notes that are stored together."""
    if not isinstance(uses, Uses):
        return uses, ()
    if len(uses.numbers) < batch_notes.MANY:
        return list(uses), ()
    return uses.single, uses.numbers


def _step_row(run: int, entry: StepRow, owner: str | None) -> tuple[object, ...]:
    return (
        run,
        entry.sequence,
        entry.position,
        entry.attempt,
        entry.type,
        entry.out,
        entry.status,
        None if entry.resource is None else key_of(entry.resource),
        entry.version,
        entry.started,
        entry.duration_ms,
        entry.error,
        entry.digest,
        entry.value,
        entry.reason,
        entry.expect,
        object_column(entry.extra),
        entry.trace,
        object_column(entry.frames),
        owner,
    )


def _replace_step(connection: Connection, entry: StepRow, run: int, row: tuple[object, ...]) -> None:
    """Put the end of a step in the place of its beginning, or of its suspension."""
    status = connection.value("SELECT status FROM steps WHERE run = ? AND sequence = ?", (run, entry.sequence))
    if status is None:
        raise _no_run(connection, entry.run)
    if status not in ("started", "suspended"):
        raise Conflict(
            f"step execution {entry.sequence} of {entry.run} has ended already, with {status}",
            hint="another process may have taken the run over",
        )
    connection.run("DELETE FROM steps WHERE run = ? AND sequence = ?", (run, entry.sequence))
    for table in ("uses", "packed_uses"):
        connection.run(f"DELETE FROM {table} WHERE run = ? AND sequence = ?", (run, entry.sequence))
    connection.run(_INSERT_STEP, row)


def _close(work: Transaction, entry: CloseRun) -> None:
    number = run_number(entry.run)
    work.still_owns(entry.run, number)
    _unfinished(work.connection, entry.run, number)
    work.connection.put_off(
        "UPDATE runs SET status = ?, ended = ?, result = ?, reason = ?, spent = ? WHERE number = ?",
        [(entry.status, entry.ended, entry.result, entry.reason, object_column(entry.spent), number)],
    )
    queue.closed(work.connection, number, entry)
    if entry.status in FINISHED:
        work.connection.put_off(
            """UPDATE steps SET status = 'failed', value = '', reason = ?, error = ?,
                extra = json_remove(extra, '$.pending')
            WHERE run = ? AND status IN ('started', 'suspended')""",
            [(BROKEN_OFF, CANCELLED, number)],
        )
        sums.seal(work.connection, number)


def _beat(work: Transaction, entry: Heartbeat) -> None:
    number = run_number(entry.run)
    _unfinished(work.connection, entry.run, number, entry.owner)
    spent = None if entry.spent is None else object_column(entry.spent)
    work.connection.put_off(
        "UPDATE runs SET heartbeat = ?, spent = coalesce(?, spent) WHERE number = ?", [(entry.at, spent, number)]
    )


def _claim_run(work: Transaction, entry: ClaimRun) -> None:
    number = run_number(entry.run)
    owner = _unfinished(work.connection, entry.run, number)
    if owner != entry.previous:
        raise Conflict(f"{entry.run} belongs to {owner!r} now, not to {entry.previous!r}", hint="somebody took it over")
    work.connection.put_off(
        "UPDATE runs SET status = 'running', ended = NULL, owner = ?, heartbeat = ? WHERE number = ?",
        [(entry.owner, entry.at, number)],
    )


def _held(work: Transaction, entry: OwnerGuard) -> None:
    work.owner = entry.owner


def _unfinished(connection: Connection, run: str, number: int, owner: str | None = None) -> str | None:
    """Return the owner of a run that goes on, or waits; Conflict when it has ended.

    Raises LeaseLost where it has another one than `owner`, also when that one has ended it.
    """
    row = connection.fetch_one("SELECT status, owner FROM runs WHERE number = ?", (number,))
    if row is None:
        raise _no_run(connection, run)
    if owner is not None and row[1] != owner:
        raise LeaseLost(run, row[1], owner)
    if row[0] in FINISHED:
        raise Conflict(f"{run} has ended already, with {row[0]}", hint="a new run can take up where it ended")
    found: str | None = row[1]
    return found


def _answer(work: Transaction, entry: AnswerRow) -> None:
    number = run_number(entry.run)
    if work.connection.fetch_one("SELECT 1 FROM runs WHERE number = ?", (number,)) is None:
        raise _no_run(work.connection, entry.run)
    value = work.connection.run(
        "INSERT OR IGNORE INTO answers (run, position, value, at) VALUES (?, ?, ?, ?)",
        (number, entry.position, dump(entry.value), entry.at),
    )
    if not value:
        step = entry.position.partition("?")[0]
        raise Conflict(f"step {step} of {entry.run} was answered already", hint="the first answer stands")
    queue.answered(work.connection, number, entry.at)


def answers(connection: Connection, identifier: str) -> dict[str, JSON]:
    """Return what was answered to the steps of a run, by position."""
    number = run_number(identifier)
    rows = connection.all("SELECT position, value FROM answers WHERE run = ? ORDER BY at, position", (number,))
    if not rows and connection.fetch_one("SELECT 1 FROM runs WHERE number = ?", (number,)) is None:
        raise _no_run(connection, identifier)
    return {position: read(value, connection.address) for position, value in rows}


def _lines(work: Transaction, entry: AddLines) -> None:
    connection, number = work.connection, run_number(entry.run)
    _unfinished(connection, entry.run, number)
    last = connection.value("SELECT coalesce(max(number), 0) FROM lines WHERE run = ?", (number,))
    connection.execute_many(
        "INSERT INTO lines (run, number, document) VALUES (?, ?, ?)",
        [(number, last + place, dump(line)) for place, line in enumerate(entry.lines, 1)],
    )
    scope = None if entry.scope is None else dump(entry.scope)
    connection.run("UPDATE runs SET scope = ? WHERE number = ?", (scope, number))
    if entry.plans:
        plans = read(connection.value("SELECT plans FROM runs WHERE number = ?", (number,)), connection.address)
        both = dump({**plans, **entry.plans})
        connection.run("UPDATE runs SET plans = ? WHERE number = ?", (both, number))


def _document(work: Transaction, entry: SetDocument) -> None:
    number = run_number(entry.run)
    _unfinished(work.connection, entry.run, number)
    work.connection.run(
        "UPDATE runs SET goal = ?, document = ?, inputs = ?, plans = ? WHERE number = ?",
        (entry.goal, dump(entry.document), dump(entry.inputs), dump(dict(entry.plans)), number),
    )


_WRITERS: dict[type[Entry], Callable[[Transaction, Any], None]] = {
    OpenRun: _open,
    StepRow: _step,
    CallRow: external_calls.write,
    CloseRun: _close,
    OwnerGuard: _held,
    Heartbeat: _beat,
    ClaimRun: _claim_run,
    AnswerRow: _answer,
    Approve: approvals.approve,
    AuditRow: audit.add,
    Disapprove: approvals.disapprove,
    DropSchedule: schedules.drop,
    Enqueue: queue.enqueue,
    SaveSchedule: schedules.keep,
    LimitQueue: queue.limit,
    PassDue: schedules.pass_due,
    SetDue: schedules.set_due,
    ClaimQueued: queue.take,
    AddLines: _lines,
    SetDocument: _document,
}


def run(connection: Connection, identifier: str) -> RunRow:
    """Return the row of a run. Raises NotFound."""
    row = connection.fetch_one(f"{_RUN} WHERE number = ?", (run_number(identifier),))
    if row is None:
        raise _no_run(connection, identifier)
    return _run_rows(connection, [row])[0]


def runs(connection: Connection, limit: int | None, before: int | None) -> list[RunRow]:
    """Return runs, latest first."""
    rows = connection.all(
        f"{_RUN} WHERE ?1 IS NULL OR number < ?1 ORDER BY number DESC LIMIT ?2",
        (before, -1 if limit is None else limit),
    )
    return _run_rows(connection, rows)


def _run_rows(connection: Connection, rows: Sequence[Row]) -> list[RunRow]:
    """Return runs; the document of a session has all its lines."""
    lines: dict[int, list[JSON]] = {}
    sessions = dump([row[0] for row in rows if row[1] == "session"])
    for number, line in connection.all(
        "SELECT run, document FROM lines WHERE run IN (SELECT value FROM json_each(?)) ORDER BY run, number",
        (sessions,),
    ):
        lines.setdefault(number, []).append(read(line, connection.address))
    return [_run_row(row, lines.get(row[0]), connection.address) for row in rows]


def _run_row(row: Row, lines: list[JSON] | None, address: str) -> RunRow:
    number, kind, goal, status, started, ended, steps, document, inputs, result, reason, owner, heartbeat = row[:13]
    spent, plans, forked, scope = row[13:]
    return RunRow(
        f"run_{number}",
        kind,
        goal,
        status,
        started,
        ended,
        steps,
        read(document, address) if lines is None else {**read(document, address), "steps": lines},
        read(inputs, address),
        result,
        reason,
        owner,
        heartbeat,
        read(spent, address),
        read(plans, address),
        run_of(forked),
        None if scope is None else read(scope, address),
    )


def step_extra(connection: Connection, run: str, step: str) -> dict[str, Any] | None:
    """Return the `extra` of the latest execution of a step that succeeded, None where the journal has none."""
    sql = """SELECT extra FROM steps WHERE run = ? AND position = ? AND status = 'success'
        ORDER BY sequence DESC LIMIT 1"""
    row = connection.fetch_one(sql, (run_number(run), step))
    return None if row is None else read(row[0], connection.address) if row[0] is not None else {}


def steps(connection: Connection, identifier: str) -> list[StepRow]:
    """Return a run's steps by sequence."""
    number = run_number(identifier)
    rows = connection.all(f"SELECT {_STEP} FROM steps WHERE run = ? ORDER BY sequence", (number,))
    if not rows and connection.fetch_one("SELECT 1 FROM runs WHERE number = ?", (number,)) is None:
        raise _no_run(connection, identifier)
    uses: dict[int, list[Use]] = {}
    for sequence, resource, version in connection.all(
        "SELECT sequence, resource, version FROM uses WHERE run = ? ORDER BY sequence, resource", (number,)
    ):
        uses.setdefault(sequence, []).append(Use(id_of(resource), version))
    together = batches.uses(connection, number)
    return [
        _read_step(row, of_notes(uses.get(row[1], ()), together.get(row[1], ())), connection.address) for row in rows
    ]


def _read_step(row: Row, uses: Sequence[Use], address: str) -> StepRow:
    (run, sequence, position, attempt, type_, out, status, resource, version, started, duration, error, digest) = row[
        :13
    ]
    value, reason, expect, extra, trace, frames = row[13:]
    return StepRow(
        run=run_of(run) or "",
        sequence=sequence,
        position=position,
        type=type_,
        status=status,
        started=started,
        duration_ms=duration,
        attempt=attempt,
        out=out,
        resource=None if resource is None else id_of(resource),
        version=version,
        value=value,
        reason=reason,
        error=error,
        extra=read(extra, address),
        expect=expect,
        uses=uses,
        digest=digest,
        trace=trace,
        frames=read(frames, address),
    )


def _no_run(connection: Connection, identifier: str) -> NotFound:
    """Say that a run is not there, and why, where its number was given out."""
    value = connection.value("SELECT next FROM counters WHERE kind = 'run'")
    why = f", {MISSING}" if run_number(identifier) < value else ""
    return NotFound(f"there is no {identifier}{why}", hint="`infospace runs` lists the runs of a space")
