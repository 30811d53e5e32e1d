"""Ending a run that rests: one that waits, or whose owner is gone."""

from __future__ import annotations

from infospace.clock import now
from infospace.errors import Conflict
from infospace.runs.journal import FINISHED, CloseRun, TakeRun
from infospace.space import Space
from planner.lease import is_live, new_owner


def cancel(space: Space, run: str) -> None:
    """End a run as cancelled; what it did stays. Raises NotFound, and Conflict for one that is live or has ended."""
    with space.store.reading() as snapshot:
        row = snapshot.run(run)
    if row.status in FINISHED:
        raise Conflict(f"{run} has ended already: {row.status}")
    if is_live(row):
        raise Conflict(f"{run} is being run by {row.owner}", hint="it can be stopped where it runs")
    at = now()
    taken = TakeRun(run, new_owner(), row.owner, at)
    space.store.commit([], [taken, CloseRun(run, "cancelled", at, None, "the run was cancelled", row.spent)])
