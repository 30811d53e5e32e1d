"""Ending for good what nobody runs: a run that waits, or one that its process left."""

from __future__ import annotations

from infospace.core.clock import now
from infospace.core.errors import Conflict
from infospace.journal.rows import FINISHED, ClaimRun, CloseRun
from infospace.space import Space
from planner.journal.lease import is_live, new_owner


def cancel(space: Space, run: str) -> None:
    """End a run as cancelled. What it did stays, until it is undone.

    Raises NotFound where there is none, Conflict for one that has ended, or that somebody is running.
    """
    with space.store.reading() as snapshot:
        row = snapshot.run(run)
    if row.status in FINISHED:
        raise Conflict(f"{run} has ended already, with {row.status}", hint="undo takes back what it did")
    if is_live(row):
        raise Conflict(f"{run} is being run by {row.owner}", hint="cancel it there")
    at, owner = now(), new_owner()
    # One transaction: where somebody took the run since it was read, ClaimRun refuses, and it is not ended either.
    ended = CloseRun(run, "cancelled", at, None, "the run was cancelled", row.spent)
    space.store.commit([], [ClaimRun(run, owner, row.owner, at), ended])
