"""Running a plan: from its inputs, through its steps in document order, to its result."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

from infospace.answer import Answer
from infospace.clock import now
from infospace.errors import InfospaceError, NotFound
from infospace.jsonvalue import JSON
from infospace.llm.meter import Meter
from infospace.resources import Made, Resource, is_resource
from infospace.runs.journal import CloseRun, OpenRun, RunKind, RunStatus, StepRow
from infospace.space import Space
from planner.events import Emit, Event, RunFinished, RunStarted, StepFinished
from planner.execute_forms import FormExecution
from planner.failure import Exhausted, Failure, Stopped, sentence
from planner.outcome import RunResult
from planner.plan import Block, Plan, Step
from planner.problems import Problem
from planner.resolve import Resolver
from planner.retrying import pause
from planner.scope import Scope

BREATH = 0.005
"""Seconds for which steps that wait for nothing may keep the event loop to themselves."""


class Run:
    """One run of a plan, or of the lines of a session."""

    def __init__(
        self,
        space: Space,
        plan: Plan,
        emit: Emit,
        warnings: Sequence[Problem] = (),
    ) -> None:
        self.space = space
        self.plan = plan
        self.plans = dict(plan.plans)
        """The saved plans that are named, directly or not, as they were when this was checked."""
        self.id = ""
        self.scope = Scope()
        self.steps: list[StepRow] = []
        budget = plan.budget
        self.meter = Meter(budget.llm_calls, budget.tokens, lambda row: space.store.commit([], [row]))
        self._emit = emit
        self._warnings = warnings
        self._sequence = 0
        self._breath = 0.0
        self._last: str | None = None

    # The run as a whole

    def open(self, kind: RunKind, bound: Mapping[str, Resource | JSON]) -> None:
        """Begin: journal the run, and bind the inputs (values become transient Notes)."""
        store = self.space.store
        self.id = store.new_id("run")
        made = Made(self.id, None, "input")
        view = self.space.view(made)
        for name, value in bound.items():
            self.scope.bind(name, value.id if is_resource(value) else view.note(cast("JSON", value)).id)
        plans = {name: plan.document for name, plan in self.plans.items()}
        owner = f"{socket.gethostname()}:{os.getpid()}"
        entry = OpenRun(self.id, kind, self.plan.goal, self.plan.document, dict(self.scope.own), now(), owner, plans)
        store.commit(view.changes, [entry])
        self._emit(RunStarted(self.id, self.plan.goal))

    async def all(self, bound: Mapping[str, Resource | JSON]) -> RunResult:
        """Run the whole plan from its inputs to its result."""
        self.open("plan", bound)
        try:
            failure = await self.within(self.plan.budget.seconds, self.plan.steps)
        except Stopped as stop:
            return self.stopped(stop)
        except asyncio.CancelledError:
            self.close("cancelled", None, "the run was cancelled")
            raise
        except BaseException as error:
            with suppress(InfospaceError):
                self.close("failed", None, f"the run broke off: {type(error).__name__}: {error}")
            raise
        if failure is not None:
            return self.close("failed", None, sentence(failure))
        return self.conclude()

    def conclude(self) -> RunResult:
        """End a run whose steps ended well: find its result."""
        try:
            return self.close("success", self._result(), None)
        except InfospaceError as error:
            return self.close("failed", None, f"the plan's result cannot be given: {error}")

    def stopped(self, stop: Stopped) -> RunResult:
        """End a run that a `stop` ended on purpose, with its answer."""
        status: RunStatus = "stopped" if stop.status == "success" else "failed"
        result = None if stop.resource is None else self.space.view().get(stop.resource)
        return self.close(status, result, str(stop))

    def _result(self) -> Resource | None:
        if self.plan.result is None:
            with suppress(NotFound):
                return None if self._last is None else self.space.view().get(self._last)
            return None
        view = self.space.view(Made(self.id, None, "result"))
        found = Resolver(view, self.scope).resource(self.plan.result)
        if not is_resource(found):
            raise NotFound(f"{self.plan.result!r} is not a resource")
        if view.changes:
            self.space.store.commit(view.changes)
        return found

    def close(self, status: RunStatus, result: Resource | None, reason: str | None) -> RunResult:
        """Journal the end, and say it."""
        entry = CloseRun(self.id, status, now(), result.id if result else None, reason, self.meter.spent)
        self.space.store.commit([], [entry])
        outcome = RunResult(
            self.id,
            status,
            self._answer(result),
            self.bindings(),
            sorted(self.steps, key=lambda r: r.sequence),
            self._warnings,
            reason,
        )
        self._emit(RunFinished(outcome))
        return outcome

    def bindings(self) -> dict[str, Resource]:
        """Return what the plan's own variables are bound to; what was deleted since is left out."""
        view = self.space.view()
        found = {}
        for name, identifier in self.scope.own.items():
            try:
                found[name] = view.get(identifier)
            except NotFound:
                continue
        return found

    def _answer(self, result: Resource | None) -> Answer | None:
        if result is None:
            return None
        view = self.space.view()
        row = next((row for row in reversed(self.steps) if row.resource == result.id), None)
        return Answer(
            status="success",
            resource_id=result.id,
            value=view.preview(result),
            data=view.content(result),
            extra=row.extra if row else {},
            started_at=row.started if row else result.created,
            duration_ms=row.duration_ms if row else 0.0,
        )

    # Steps

    async def within(self, seconds: float | None, steps: Block) -> Failure | None:
        """Run steps of the run's own scope in a number of seconds; that they ran out is a failure too."""
        try:
            async with asyncio.timeout(seconds):
                return await self.block(steps)
        except TimeoutError:
            last = self.steps[-1] if self.steps else None
            reason = f"the budget of {self.plan.budget.seconds:g} seconds ran out"
            return Failure(last.position if last else "1", last.type if last else "", reason, Exhausted.kind)

    async def block(
        self, steps: Block, scope: Scope | None = None, prefix: str = "", nesting: int = 0
    ) -> Failure | None:
        """Run steps in document order; return the failure that stops them, None when all is well."""
        for step in steps:
            failure = await self._step(step, scope or self.scope, prefix + step.label, nesting)
            if failure is not None:
                return failure
        return None

    async def _step(self, step: Step, scope: Scope, position: str, nesting: int) -> Failure | None:
        """Execute a step, again while it fails and its `retry` has attempts left: `4`, `4#2`, `4#3`."""
        attempts = step.retry.attempts if step.retry else 1
        for attempt in range(1, attempts + 1):
            place = position if attempt == 1 else f"{position}#{attempt}"
            execution = FormExecution(self, step, scope, place, nesting, last=attempt == attempts)
            try:
                failure = await execution.run()
            except asyncio.CancelledError:
                execution.interrupted()
                raise
            if not execution.again:
                break
            await pause(step.retry, attempt)
        return failure

    async def called(self, plan: Plan, scope: Scope, position: str, nesting: int) -> tuple[Failure | None, str | None]:
        """Run the steps of a saved plan in a scope of its own; return what fails, or the id of its last value."""
        before, self._last = self._last, None
        try:
            failure = await self.block(plan.steps, scope, f"{position}/", nesting)
            return failure, self._last
        finally:
            self._last = before

    def next_sequence(self) -> int:
        """Count one more execution of a step; raises Exhausted when the budget has no more."""
        if self._sequence >= self.plan.budget.steps:
            raise Exhausted(f"the budget of {self.plan.budget.steps:,} steps ran out")
        self._sequence += 1
        return self._sequence

    async def breathe(self) -> None:
        """Let others run, and a cancellation be heard, when they have not for a while."""
        if time.perf_counter() - self._breath > BREATH:
            await asyncio.sleep(0)
            self._breath = time.perf_counter()

    def emit(self, event: Event) -> None:
        """Tell whoever listens."""
        self._emit(event)

    def ended(self, row: StepRow, nesting: int) -> None:
        """Take note of a step that ended and was journalled."""
        self.steps.append(row)
        if row.status == "success" and row.resource is not None:
            self._last = row.resource
        self._emit(StepFinished(row, nesting))
