"""What is open on the screen: a run with all that the journal has of it, or a plan that was not run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.journal.rows import FINISHED, CallRow, RunRow, StepRow
from planner.inspect.tree import RunTree, outline
from planner.journal.events import Event, RunFinished, Spoke, StepFinished, StepStarted
from planner.journal.suspension import Pending
from planner.language.plan import Plan
from planner.language.problems import Problem
from planner.lifecycle.resume import pending_of, plan_of

if TYPE_CHECKING:
    from infospace.space import Space
    from infospace.store.protocol import Snapshot


@dataclass(eq=False)
class RunModel:
    """A run, its steps by sequence and its calls; or, without `run`, a plan and what the check says of it."""

    outline: RunTree
    run: RunRow | None = None
    by_sequence: dict[int, StepRow] = field(default_factory=dict)
    calls: Sequence[CallRow] = ()
    problems: Sequence[Problem] = ()
    document: JSON = None
    spoken: list[tuple[str, str]] = field(default_factory=list)
    """What was said while it was watched: position and text."""
    here: bool = False
    """Whether it goes on in this process."""
    changes: int = 0
    """Counts what has come since it was opened."""

    @property
    def name(self) -> str:
        """The run's id; of a plan that was not run, that."""
        return "a plan, not run" if self.run is None else self.run.run

    @property
    def plan(self) -> Plan:
        return self.outline.plan

    @property
    def ended(self) -> bool:
        """Whether nothing more can come."""
        return self.run is None or (self.run.status in FINISHED and not self.here)

    @property
    def rows(self) -> list[StepRow]:
        """Its executions by sequence."""
        return [self.by_sequence[number] for number in sorted(self.by_sequence)]

    @property
    def pending(self) -> list[Pending]:
        """What it waits for."""
        return pending_of(self.rows) if self.run is not None and self.run.status == "suspended" else []

    def row(self, position: str | None) -> StepRow | None:
        """Return the execution at a position."""
        return None if position is None else self.outline.rows.get(position)

    def apply_events(self, events: Sequence[Event]) -> bool:
        """Take what happened here; return whether the journal is to be read again."""
        for event in events:
            match event:
                case StepStarted(position):
                    self.outline.began(position, time.time())
                case StepFinished(row):
                    self.outline.ended(row)
                    self.by_sequence[row.sequence] = row
                case Spoke("say", position, text):
                    self.spoken.append((position, text))
        self.changes += 1
        return any(isinstance(event, RunFinished) for event in events)


def read_run(snapshot: Snapshot, run: str) -> RunModel:
    """Return a run as the journal has it. Raises NotFound, also for one whose document is no plan."""
    row, rows, calls = snapshot.run(run), snapshot.steps(run), snapshot.calls(run)
    if row.document is None:
        raise NotFound(f"{run} is of the kind {row.kind}, and has no steps to show", hint="open the run of a plan")
    by_sequence = {one.sequence: one for one in rows}
    return RunModel(outline(plan_of(row), rows), row, by_sequence, calls, document=row.document)


def read_plan(space: Space, document: JSON) -> RunModel:
    """Return a plan that was not run, checked."""
    from planner.execute.start import check_plan

    plan, problems = check_plan(space, document)
    return RunModel(outline(plan, (), problems.found), problems=tuple(problems.found), document=document)


def stamp(snapshot: Snapshot, run: str) -> tuple[object, ...]:
    """Return what changes whenever something comes to a run."""
    return (snapshot.run_stats([run]).get(run), snapshot.run(run).status)
