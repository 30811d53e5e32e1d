"""The run of a named session: opened once, at rest between the calls, and taken up again from the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from infospace.clock import now
from infospace.errors import InfospaceError
from infospace.memory.changes import Change
from infospace.resources import Resource
from infospace.runs.journal import CallRow, CloseRun, OpenRun, RunRow, StepRow, TakeRun
from infospace.space import Space
from planner.events import Emit, RunFinished, RunStarted
from planner.failure import Stopped, sentence
from planner.frame import Frame
from planner.lanes import Journal
from planner.lease import kept
from planner.order import Order
from planner.outcome import RunResult
from planner.plan import Block, Plan
from planner.run import Run
from planner.serve.rebinding import bindings_of, last_number
from planner.suspending import Suspension

AT_ONCE = 10_000
"""Executions of steps that one call may have, however many the session had before."""


class SessionRun(Run):
    """An open run whose steps come call by call. A failing step ends the call, and not the session."""

    def __init__(self, space: Space, name: str) -> None:
        super().__init__(space, Plan((), goal=f"session {name}"), lambda _event: None)
        self.count = 0
        """The number of the latest step."""

    def begin(self, changes: Sequence[Change]) -> None:
        """Open the run, with changes that are committed together with it."""
        self.space.store.commit(
            changes, [OpenRun(self.id, "session", self.plan.goal, self.plan.document, {}, now(), self.owner)]
        )

    def take(self, row: RunRow) -> None:
        """Own the run and let it go on; a Conflict where somebody else was quicker."""
        self.space.store.commit([], [TakeRun(row.run, self.owner, row.owner, now())])

    def recall(self, row: RunRow, steps: Sequence[StepRow], calls: Sequence[CallRow], owner: str) -> None:
        """Become what the journal has of the run, which has this owner now."""
        self.id, self.owner = row.run, owner
        self.steps = list(steps)
        self.scope.own = bindings_of(row.inputs, steps)
        self.count = last_number(steps)
        self.journal.sequence = max((step.sequence for step in steps), default=0)
        self.meter.remember(calls)

    async def play(self, block: Block, plans: Mapping[str, Plan], emit: Emit) -> RunResult:
        """Run the steps of one call, and rest. A `stop` ends the session."""
        self._emit = emit
        self.plans |= plans
        self.count += len(block)
        before = self.journal.sequence
        self.journal = Journal(self.space.store, before + AT_ONCE, self.ended)
        self.journal.sequence = before
        self.frame = Frame(self.scope, self.journal)
        self.order = Order(self.space.catalogue, self.plans)
        emit(RunStarted(self.id, self.plan.goal))
        try:
            async with kept(self.space.store, self.id, self.owner):
                failure = await self.within(None, block)
        except Stopped as stop:
            return self._only(self.stopped(stop), before)
        except Suspension as suspension:
            asked = "; ".join(f"step {one.step} asks {one.question!r}" for one in suspension.pending)
            return self._only(self.rest(None, f"{asked}, and a session cannot wait for an answer"), before)
        except BaseException as error:
            with suppress(InfospaceError):
                self.rest(None, f"the steps broke off: {type(error).__name__}")
            raise
        if failure is not None:
            return self._only(self.rest(None, sentence(failure)), before)
        return self._only(self.rest(self._result(), None), before)

    def rest(self, result: Resource | None, reason: str | None) -> RunResult:
        """Let the session wait for its next steps; `reason` says why the last ones did not end well."""
        entry = CloseRun(self.id, "suspended", now(), result.id if result else None, reason, self.meter.spent)
        self.space.store.commit([], [entry])
        outcome = RunResult(
            self.id,
            "success" if reason is None else "failed",
            self._answer(result),
            self.bindings(),
            sorted(self.steps, key=lambda row: row.sequence),
            reason=reason,
        )
        self._emit(RunFinished(outcome))
        return outcome

    def _only(self, outcome: RunResult, before: int) -> RunResult:
        return replace(outcome, steps=[row for row in outcome.steps if row.sequence > before])
