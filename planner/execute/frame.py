"""Where a step stands while a plan runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.execute.variables import Scope
from planner.journal.commit_order import ControlDecision, StepSink, SuspendRequest
from planner.journal.run_clock import RunClock


@dataclass(slots=True)
class Latest:
    """The id of the last value that a part of a plan gave, in document order."""

    resource: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """The surroundings of a block: its scope, what positions in it begin with, and where executions are written."""

    scope: Scope
    writer: StepSink
    prefix: str = ""
    nesting: int = 0
    latest: Latest = field(default_factory=Latest)
    decisions: tuple[ControlDecision, ...] = ()
    """What the forms around it decided, outermost first."""
    halts: tuple[SuspendRequest, ...] = ()
    clock: RunClock = field(default_factory=RunClock)
    """What its steps take for the present."""

    def inner(self, prefix: str, scope: Scope | None = None, *decisions: ControlDecision) -> Frame:
        """Return the surroundings of a block in a form here, which has decided something."""
        return Frame(
            self.scope if scope is None else scope,
            self.writer,
            prefix,
            self.nesting + 1,
            self.latest,
            (*self.decisions, *decisions),
            self.halts,
            self.clock,
        )

    def on(
        self,
        writer: StepSink,
        latest: Latest | None = None,
        halt: SuspendRequest | None = None,
        clock: RunClock | None = None,
    ) -> Frame:
        """Return the same surroundings, written on another track."""
        return Frame(
            self.scope,
            writer,
            self.prefix,
            self.nesting,
            self.latest if latest is None else latest,
            self.decisions,
            self.halts if halt is None else (*self.halts, halt),
            self.clock if clock is None else clock,
        )

    @property
    def halted(self) -> bool:
        """Whether no more steps are to begin here."""
        return any(halt.now for halt in self.halts)
