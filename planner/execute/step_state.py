"""What the parts of one execution of a step share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infospace.context.context import Context
from infospace.core.bounds import Room
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy
from infospace.journal.rows import StepRow
from planner.execute.arguments import Resolver
from planner.execute.frame import Frame
from planner.execute.listener import StepListener
from planner.journal.commit_order import ControlDecision
from planner.journal.recorded import at_read
from planner.journal.run_clock import Reading, at_begin, decision_of
from planner.language.plan import Step

if TYPE_CHECKING:
    from planner.execute.run import Run


class StepState:
    """One execution of a step: where it stands, what it reads and makes, and what it decided so far.

    Each attempt has a state of its own, so nothing that a failed attempt made or read is in the row of the next.
    """

    __slots__ = (
        *("run", "step", "frame", "scope", "position", "listener", "context", "resolver"),
        *("recorded_row", "decided", "remaining", "reading", "clock_decisions"),
    )

    def __init__(self, run: Run, step: Step, frame: Frame, position: str) -> None:
        self.run = run
        self.step = step
        self.frame = frame
        self.scope = frame.scope
        self.position = position
        self.listener = StepListener(run.emit_within_step, position)
        self.context = run.space.context(CreatedBy(run.id, position, step.type), self.listener, meter=run.meter)
        self.context.timeout_s = step.timeout_s
        self.context.unwritten = run.journal.unwritten
        self.context.room = Room(run.bounds)
        self.reading = run.reading(position, frame.clock)
        """What it takes for the present."""
        self.clock_decisions = self._reading_decisions(at_begin(position))
        self.set_clock(self.reading)
        self.resolver = Resolver(self.context, self.scope, run.extras)
        self.recorded_row: StepRow | None = None
        """The step's row, if it ended before the run was resumed: it is walked through to bind its variables."""
        self.decided: tuple[ControlDecision, ...] = ()
        """What the step itself decided, where it is left before its end."""
        self.remaining: str | None = None
        """What is left of it then."""

    def set_clock(self, reading: Reading) -> None:
        """Let what it evaluates take a reading for the present."""
        self.reading = reading
        self.context.clock = lambda: reading

    def _reading_decisions(self, key: str) -> tuple[ControlDecision, ...]:
        """Return what is journalled of its reading: nothing where that is the run's first, or was told before.

        A form that an earlier part of the run began has decided under the reading of that time.
        """
        record, position = self.run.record, self.position
        begun = record is not None and (record.branch(position) or record.decision(position) is not None)
        return () if begun else self.decisions_of_reading(key)

    def reads_decision(self, context: Context, number: int | None = None) -> ControlDecision:
        """Return what is journalled of what a view has read for what was decided, or for a round of this number."""
        read: list[JSON] = [[identifier, version] for identifier, version in context.uses.items()]
        return ControlDecision(at_read(self.position, number), read)

    def recall_read(self, number: int | None = None) -> None:
        """Take what an earlier part of the run read: the step has used it, though nothing is read again."""
        for identifier, version in () if self.run.record is None else self.run.record.read(self.position, number):
            self.context.uses.add(identifier, version)

    def decisions_of_reading(self, key: str) -> tuple[ControlDecision, ...]:
        """Return what is journalled under a key of its reading: nothing where that is the run's first."""
        return () if self.reading == self.run.first_reading else (decision_of(key, self.reading),)
