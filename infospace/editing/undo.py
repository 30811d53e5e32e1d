"""Undoing a run: what it made goes, what it changed or deleted is as it was. Nothing that came later is lost.

Undoing is a run itself, and can be undone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from infospace.core.clock import now
from infospace.core.errors import Conflict, Invalid
from infospace.core.ids import Kind
from infospace.core.resources import CreatedBy
from infospace.editing.undo_plan import UndoPlan
from infospace.journal.rows import FINISHED, CloseRun, OpenRun
from infospace.store.changes import Change
from infospace.store.optimistic import retry_on_conflict
from infospace.store.protocol import Store


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What undoing did: its own run, and the ids that it deleted, restored, and brought back to how they were."""

    run: str
    deleted: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    reverted: list[str] = field(default_factory=list)


def undo(store: Store, run: str) -> UndoResult:
    """Undo a run that has ended.

    Raises NotFound for an unknown run, Conflict when it goes on, was undone already, or when something that it
    wrote was changed since, be it while it is being undone; Invalid when it wrote nothing.
    """

    def planned() -> tuple[UndoResult, list[Change]]:
        with store.reading() as snapshot:
            row = snapshot.run(run)
            if row.status not in FINISHED:
                hint = f"`infospace resume {run}` goes on with it, `infospace cancel {run}` ends it"
                raise Conflict(f"{run} has not ended: it is {row.status}", hint=hint)
            reverting = UndoPlan(snapshot, run)
            undone = reverting.plan()
            if not any(undone):
                raise Invalid(f"{run} wrote nothing that could be undone", hint="`infospace runs` lists the runs")
            own = store.new_id("run")
            created_by, new_id = CreatedBy(own, None, "undo"), partial(store.new_id, Kind.RELATION)
            return UndoResult(own, *undone), list(reverting.changes(created_by, new_id))

    def committed(plan: tuple[UndoResult, list[Change]]) -> UndoResult:
        undone, changes = plan
        opened = OpenRun(undone.run, "edit", f"undo {run}", {"undo": run}, {}, now(), "")
        store.commit(changes, [opened, CloseRun(undone.run, "success", now())])
        return undone

    return retry_on_conflict(planned, committed)


def describe(undone: UndoResult) -> Iterable[str]:
    """Say in a few words what was done."""
    for word in ("deleted", "restored", "reverted"):
        count = len(getattr(undone, word))
        if count:
            yield f"{count:,} {word}"
