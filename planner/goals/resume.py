"""Going on with any run, also with that of a goal: after what is left of its steps the model writes more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infospace.core.errors import Conflict
from infospace.journal.rows import RunRow
from infospace.space import Space
from planner.goals.guards import Limits
from planner.goals.session import Agree, is_of_goal, reads_only, resume_goal
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit
from planner.journal.result import RunResult
from planner.lifecycle import resume as lifecycle
from planner.sessions.session import ignore_event


async def resume(
    space: Space,
    run: str,
    emit: Emit = ignore_event,
    halt: SuspendRequest | None = None,
    approve: Sequence[str] = (),
    agree: Agree | None = None,
) -> RunResult:
    """Go on with a run from where it is, as `planner.lifecycle.resume` does.

    That of a goal goes on to its end. `agree` is asked before a plan of it is run that was written and not agreed to:
    without it one that writes or calls raises ApprovalUnavailable, and stays as it is.
    """
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(run), snapshot.steps(run)
        going_on = next((one.run for one in snapshot.runs() if one.forked == run), None)
    if going_on is not None and row.status == "failed" and is_of_goal(row.document):
        raise Conflict(f"{run} has ended already: failed", hint=f"{going_on} is the fork that goes on with its goal")
    if _is_unwritten(row):
        raise Conflict(
            f"{run} was cut off before anything was written for its goal: there is nothing to go on with",
            hint=f"give the goal again; `infospace cancel {run}` ends the run",
        )
    if not is_of_goal(row.document):
        return await lifecycle.resume(space, run, emit, halt, approve)
    space, _ = lifecycle.must_be_resumable(space, row, rows)
    return await resume_goal(space, run, agree or reads_only, approve=approve, emit=emit, halt=halt)


def _is_unwritten(row: RunRow) -> bool:
    """Whether a process was killed between the opening of a goal's run and its first line: it has nothing of either.

    Else it would be taken for a session without lines, which ends well.
    """
    document: Any = row.document
    return (
        row.kind == "session"
        and row.status == "running"
        and bool(row.goal)
        and isinstance(document, dict)
        and not document.get("steps")
        and set(document.get("budget", ())) == set(Limits().budget())
    )
