"""Running ahead of a document that is still arriving.

Steps run as any that may run side by side. Nothing of them is journalled before the whole document has passed the
check; where it does not, all of it is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from infospace.core.errors import BudgetExceeded
from infospace.core.resources import is_resource
from infospace.data.json_text import same
from planner.execute.concurrent import ConcurrentSteps
from planner.execute.start import Prepared
from planner.journal.commit_order import BufferedBranch
from planner.journal.events import StepRanAhead
from planner.journal.failures import Failure
from planner.journal.lease import renewing_lease
from planner.journal.result import RunResult
from planner.language.plan import Plan, Step, Table
from planner.language.problems import Problem
from planner.order.dependencies import DependencyTracker
from planner.streaming.deferred_run import DeferredRun
from planner.streaming.prefix_check import Prefix


class SpeculativeRun:
    """A run that is open, with those of its steps that run before its document is there."""

    def __init__(self, run: DeferredRun, prefix: Prefix) -> None:
        self._run = run
        self._prefix = prefix
        run.plans, run.order = prefix.plans, prefix.order
        most = run.plan.budget.steps
        self._held = BufferedBranch(run.journal, most, lambda row, nesting: run.emit(StepRanAhead(row, nesting)))
        self._parts = ConcurrentSteps(run, run.frame.on(self._held))
        self._needs = DependencyTracker()
        self._lease = AsyncExitStack()
        self._counts = False
        """Whether what ran ahead is a part of the run."""

    @property
    def id(self) -> str:
        """The run's id, which is known before its document has arrived."""
        return self._run.id

    async def open(self) -> None:
        """Open the run with the inputs that are known, take its lease, and begin to run what is added."""
        run = self._run
        run.begin(self._prefix.bound)
        await self._lease.enter_async_context(renewing_lease(run.space.store, run.id, run.owner))
        self._task = asyncio.create_task(self._parts.wait_all())

    def add(self, steps: Sequence[Step]) -> None:
        """Start steps, each as soon as those that it needs have ended."""
        for step in steps:
            unit = self._run.order.unit(step)
            self._parts.add(unit, self._needs.of(unit))

    # The whole is there

    async def set_plan(self, prepared: Prepared) -> None:
        """Take the whole plan, which has passed the check; drop what ran ahead where that does not stand."""
        await self._lease.aclose()
        self._counts = self._is_valid(prepared)
        if not self._counts:
            await self._drop()
            self._run.discard()
        self._run.set_plan(prepared.plan, prepared.bound, prepared.warnings, self._parts.busy.seconds)

    async def run_to_end(self) -> RunResult:
        """Run the plan that was settled to its end."""
        return await self._run.run_to_end(self._run_remaining if self._counts else None)

    def _is_valid(self, prepared: Prepared) -> bool:
        """Whether what ran ahead is what the whole plan would have done.

        It is not where inputs that were declared after the steps are read by them, where what it was checked
        against has changed meanwhile, or where the budget does not reach so far.
        """
        plan, prefix = prepared.plan, self._prefix
        late = prepared.bound.keys() - prefix.bound.keys()
        document: Any = plan.document
        steps = document if isinstance(document, list) else document[plan.pointer[1:]]
        failure = self._parts.failure
        return (
            same(steps[: len(prefix.steps)], prefix.steps)
            and all(_same(value, prepared.bound.get(name)) for name, value in prefix.bound.items())
            and not any(late & (unit.reads | unit.binds) for unit in self._parts.units)
            and all(_same_plan(inner, plan.plans.get(name)) for name, inner in prefix.plans.items())
            and self._held.begun_ahead + self._parts.executions <= plan.budget.steps
            and (failure is None or failure.kind != BudgetExceeded.kind)
        )

    async def _run_remaining(self) -> Failure | None:
        """Let what ran ahead count, and run the other steps."""
        run, parts = self._run, self._parts
        steps = run.plan.steps[len(self._prefix.steps) :]
        beside = 0
        while not parts.idle and beside < len(steps) and not run.order.unit(steps[beside]).alone:
            beside += 1
        parts.allow(run.plan.budget.steps)
        self.add(steps[:beside])
        parts.close()
        self._held.open()
        await asyncio.sleep(0)  # the time that the budget allows may be over
        return await self._task or await run.block(steps[beside:], run.frame)

    # It is not

    async def refuse(self, problems: Sequence[Problem]) -> RunResult:
        """Drop what ran ahead of a document that is refused, and end the run."""
        await self._discard("the document was refused; what it had done ahead is dropped")
        return self._run.refuse(problems)

    async def cancel(self, reason: str) -> RunResult:
        """Drop what ran ahead of a document that will never be whole, and end the run."""
        await self._discard("the document never arrived whole; what it had done ahead is dropped")
        return self._run.close("cancelled", None, reason)

    async def _discard(self, reason: str) -> None:
        await self._lease.aclose()
        await self._drop()
        for unit in self._parts.begun:
            self._run.journal_dropped(unit.step, unit.step.label, self._run.frame, reason)
        self._run.discard()

    async def _drop(self) -> None:
        self._held.drop()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._held.drop()


def _same(one: Any, other: Any) -> bool:
    """Whether an input is bound to the same resource, or the same value."""
    if is_resource(one) or is_resource(other):
        return is_resource(one) and is_resource(other) and one.id == other.id
    if isinstance(one, Table) or isinstance(other, Table):
        return isinstance(one, Table) and isinstance(other, Table) and same(one.rows, other.rows)
    return same(one, other)


def _same_plan(one: Plan, other: Plan | None) -> bool:
    return other is not None and same(one.document, other.document)
