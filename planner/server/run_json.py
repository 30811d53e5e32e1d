"""A run as the journal has it, in the shape of `run --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infospace.core.errors import NotFound
from infospace.core.ids import is_run_id
from infospace.data.result import StepResult
from infospace.journal.rows import FINISHED, RunRow, StepRow
from infospace.space import Space
from planner.journal.context_after_step import ContextAfterStep
from planner.journal.lease import is_live
from planner.journal.result import binding, step_json
from planner.journal.suspension import Pending
from planner.lifecycle.resume import pending_of, plan_of
from planner.parse.document_order import in_document_order
from planner.sessions.bindings import bindings_of, living_bindings
from planner.sessions.lines import plan_of_session
from planner.sessions.session_run import is_between_calls

BROKEN_OFF = "the process that ran it is no more; `infospace resume`, or answer_run, goes on with it"


def find_run(space: Space, run: str) -> tuple[RunRow, list[StepRow]]:
    """Return a run with its steps; NotFound where there is none."""
    if not is_run_id(run):
        raise NotFound(
            f"{run!r} is not the id of a run", hint="such as run_7, which run_plan and run_steps answer with"
        )
    with space.store.reading() as snapshot:
        return snapshot.run(run), snapshot.steps(run)


def recorded_run_json(space: Space, row: RunRow, steps: list[StepRow], *, live: bool) -> dict[str, Any]:
    """Return a run as the documented object; `live` says that it goes on in this process."""
    status, reason = row.status, row.reason
    if status == "suspended" and live:
        # Whoever goes on with it is there already, and has not written so yet.
        status, reason = "running", None
    elif status == "suspended" and is_between_calls(row):
        status = "success" if reason is None else "failed"
    elif status == "running" and not live and not is_live(row):
        status, reason = "suspended", BROKEN_OFF
    bound = bindings_of(row.inputs, steps)
    if row.document is not None:
        steps = in_document_order(plan_of_session(row) if row.kind == "session" else plan_of(row), steps)
    # While a session runs its next steps, what it has as its result is that of those before.
    over = row.result is not None and status != "running"
    result = _answer(space, row, str(row.result), steps) if over else None
    return {
        "run": row.run,
        "status": status,
        "result": None if result is None else result.to_json(),
        "bindings": {name: binding(resource) for name, resource in living_bindings(space, bound).items()},
        "steps": [step_json(step) for step in steps],
        "pending": _pending(steps, reason) if status == "suspended" else [],
        "problems": [],
        "reason": reason,
    }


def _pending(steps: Sequence[StepRow], reason: str | None) -> list[dict[str, Any]]:
    """What a run waits for: of one whose process is gone that somebody goes on with it, at the step it had come to."""
    if reason == BROKEN_OFF:
        ended = [row.position for row in steps if row.status != "suspended"]
        return [Pending(ended[-1] if ended else "1", "wait", "that somebody goes on with it").to_json()]
    return [pending.to_json() for pending in pending_of(list(steps))]


def _answer(space: Space, run: RunRow, identifier: str, steps: Sequence[StepRow]) -> StepResult | None:
    """The answer as it was when the run ended; None where it was removed for good."""
    context = ContextAfterStep(space, steps, None, run.ended)
    try:
        resource = context.get(identifier)
        data = context.content(resource)
    except NotFound:
        return None
    row = next((row for row in reversed(steps) if row.resource == identifier), None)
    return StepResult(
        status="success",
        resource_id=identifier,
        value=context.preview(resource),
        data=data,
        extra=row.extra if row else {},
        started_at=row.started if row else resource.created,
        duration_ms=row.duration_ms if row else 0.0,
    )


def is_over(row: RunRow) -> bool:
    """Whether a run has ended for good."""
    return row.status in FINISHED
