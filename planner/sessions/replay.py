"""Replaying a session: the lines that it came to, one after the other, whether or not they fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from infospace.core.errors import ReplayInterrupted
from infospace.core.json_types import JSON
from infospace.core.position import top_label
from infospace.core.resources import Resource
from infospace.journal.rows import FINISHED, RunRow, StepRow
from planner.execute.run import Run
from planner.journal.commit_order import FinishedStep, StartedStep
from planner.journal.failures import Failure, Stopped, sentence
from planner.journal.lease import renewing_lease
from planner.journal.recorded import RecordedRun
from planner.journal.result import RunResult
from planner.journal.suspension import Suspension
from planner.language.plan import Plan, Table
from planner.sessions.lines import plan_of_session

MORE = 10_000
"""Executions of steps that a replay may have beyond those of its session."""


def session_as_plan(row: RunRow, past: RecordedRun) -> Plan:
    """Return what a session was given, as one plan."""
    plan = plan_of_session(row)
    steps = max(plan.budget.steps, past.sequence + MORE)
    return replace(plan, document=row.document, budget=replace(plan.budget, steps=steps))


async def replay_lines(
    run: Run, row: RunRow, past: RecordedRun, bound: Mapping[str, Resource | Table | JSON]
) -> RunResult:
    """Run the lines of a session that it came to, one after the other, and end as it did, or rest."""
    run.open("plan", bound)
    reached = {top_label(position) for position in past.positions}
    within = {top_label(position) for position in past.positions if position != top_label(position)}
    failure: Failure | None = None
    try:
        async with renewing_lease(run.space.store, run.id, run.owner):
            for step in run.plan.steps:
                recorded = past.row(step.label)
                cut = recorded is not None and (recorded.error == "cancelled" or bool(recorded.extra.get("ahead")))
                if recorded is not None and cut and step.label not in within:
                    _journal_unfinished(run, recorded)
                elif step.label in reached:
                    failure = await run.block((step,), run.frame)
    except Stopped as stop:
        return run.stopped(stop)
    except Suspension as suspension:
        return run.suspended(suspension)
    except ReplayInterrupted:
        return run.close(*run.broken_off)
    reason = None if failure is None else sentence(failure)
    if row.status in FINISHED:
        return run.conclude() if reason is None else run.close("failed", None, _reason_then(reason, row))
    last = run.frame.latest.resource
    result = None if row.result is None or last is None else run.space.context().get(last)
    return run.close("suspended", result, reason)


def _reason_then(reason: str, row: RunRow) -> str:
    """Return why it failed, with what was said after that then: that a fork goes on, for example."""
    return row.reason if row.reason is not None and row.reason.startswith(reason) else reason


def _journal_unfinished(run: Run, recorded: StepRow) -> None:
    """Journal a line as it was that the session did not come to the end of."""
    ticket = StartedStep()
    run.frame.writer.begin(ticket)
    run.frame.writer.end(FinishedStep(ticket, replace(recorded, run=run.id, uses=(), frames={}), 0))
