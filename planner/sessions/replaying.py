"""Replaying a session: the lines that it came to, one after the other, whether or not they fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from infospace.errors import BrokenOff
from infospace.jsonvalue import JSON
from infospace.position import top_label
from infospace.resources import Resource
from infospace.runs.journal import FINISHED, RunRow, StepRow
from planner.failure import Failure, Stopped, sentence
from planner.lanes import Commit, Ticket
from planner.lease import kept
from planner.outcome import RunResult
from planner.plan import Plan, Step
from planner.record import Record
from planner.run import Run
from planner.sessions.lines import plan_of_session
from planner.suspending import Suspension

MORE = 10_000
"""Executions of steps that a replay may have beyond those of its session."""


def session_as_plan(row: RunRow, past: Record) -> Plan:
    """Return what a session was given, as one plan."""
    plan = plan_of_session(row)
    steps = max(plan.budget.steps, past.sequence + MORE)
    return replace(plan, document=row.document, budget=replace(plan.budget, steps=steps))


async def replay_lines(run: Run, row: RunRow, past: Record, bound: Mapping[str, Resource | JSON]) -> RunResult:
    """Run the lines of a session that it came to, one after the other, and end as it did, or rest."""
    run.open("plan", bound)
    reached = {top_label(position) for position in past.positions}
    within = {top_label(position) for position in past.positions if position != top_label(position)}
    failure: Failure | None = None
    try:
        async with kept(run.space.store, run.id, run.owner):
            for step in run.plan.steps:
                known = past.row(step.label)
                cut = known is not None and (known.error == "cancelled" or bool(known.extra.get("ahead")))
                if known is not None and cut and step.label not in within:
                    _passed_over(run, step, known)
                elif step.label in reached:
                    failure = await run.block((step,), run.frame)
    except Stopped as stop:
        return run.stopped(stop)
    except Suspension as suspension:
        return run.suspended(suspension)
    except BrokenOff:
        return run.close(*run.broken_off)
    reason = None if failure is None else sentence(failure)
    if row.status in FINISHED:
        return run.conclude() if reason is None else run.close("failed", None, reason)
    last = run.frame.latest.resource
    result = None if row.result is None or last is None else run.space.view().get(last)
    return run.close("suspended", result, reason)


def _passed_over(run: Run, step: Step, known: StepRow) -> None:
    """Journal a line as it was that the session did not come to the end of."""
    ticket = Ticket(step.label, step.type)
    run.frame.track.begin(ticket)
    run.frame.track.end(Commit(ticket, replace(known, run=run.id, uses=(), frames={}), 0))
