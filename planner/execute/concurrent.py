"""Running parts of a plan side by side, so that the outcome is that of one after the other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from infospace.core.errors import BudgetExceeded
from planner.execute.frame import Frame, Latest
from planner.journal.commit_order import OrderedBranch, ordered_branches
from planner.journal.failures import Failure
from planner.order.dependencies import Group, StepNode

if TYPE_CHECKING:
    from planner.execute.run import Run

T = TypeVar("T")


class BusyClock:
    """Counts the seconds in which anything is under way, however much there is at once."""

    def __init__(self) -> None:
        self._count = 0
        self._since = 0.0
        self._busy_seconds = 0.0

    def __enter__(self) -> None:
        if not self._count:
            self._since = time.perf_counter()
        self._count += 1

    def __exit__(self, *_: object) -> None:
        self._count -= 1
        if not self._count:
            self._busy_seconds += time.perf_counter() - self._since

    @property
    def seconds(self) -> float:
        """Seconds up to now."""
        return self._busy_seconds + (time.perf_counter() - self._since if self._count else 0.0)


async def run_concurrently(run: Run, group: Group, frame: Frame) -> Failure | None:
    """Run the steps of a group as their variables allow; return the first failure in document order."""
    parts = ConcurrentSteps(run, frame)
    for unit, needs in zip(group.units, group.needs, strict=True):
        parts.add(unit, needs)
    parts.close()
    return await parts.wait_all()


class ConcurrentSteps:
    """Steps of one block that run side by side, as their variables allow; more may be added until it is closed.

    What ran ahead of a failure is dropped: nothing of it is written but that it was skipped, and its variables are
    bound to what they were.

    A step needs earlier steps alone, so the first that has not ended can always go on: they never wait for one
    another in a circle. The branch of a step is opened when all steps before it have ended, in document order, so the
    journal is that of a serial run.
    """

    def __init__(self, run: Run, frame: Frame) -> None:
        self.busy = BusyClock()
        """For how long anything ran."""
        self.failure: Failure | None = None
        """A failure, as soon as there is one; others may come before it in document order."""
        self.units: list[StepNode] = []
        self._needs: list[frozenset[int]] = []
        self._run = run
        self._frame = frame
        self._most = run.plan.budget.steps
        self._branches: list[OrderedBranch] = []
        self._ended: list[asyncio.Event] = []
        self._latest: list[Latest] = []
        self._bindings_before: dict[int, dict[str, str | None]] = {}
        self._tasks: list[asyncio.Task[Failure | None]] = []
        self._closed = False
        self._cancelled = False
        self._step_added = asyncio.Event()

    def add(self, unit: StepNode, needs: frozenset[int]) -> None:
        """Begin a step as soon as those that it needs have ended; after a failure none is begun any more."""
        if self.failure is not None or self._cancelled:
            return
        self.units.append(unit)
        self._needs.append(needs)
        self._branches.append(OrderedBranch(self._frame.writer, self._most))
        self._ended.append(asyncio.Event())
        self._latest.append(Latest())
        self._tasks.append(asyncio.create_task(self._run_step(len(self._tasks))))
        self._step_added.set()

    def close(self) -> None:
        """Let it end with the steps that it has."""
        self._closed = True
        self._step_added.set()

    def allow(self, most: int) -> None:
        """Let so many executions begin in each step while others are before it."""
        self._most = most
        for branch in self._branches:
            branch.most = most

    @property
    def idle(self) -> bool:
        """Whether all steps that were added have ended."""
        return all(task.done() for task in self._tasks)

    async def settle(self) -> None:
        """Wait until all steps that were added have ended; more may be added afterwards."""
        if not self.idle:
            await asyncio.wait(self._tasks)

    @property
    def begun(self) -> list[StepNode]:
        """The steps that were begun, in document order."""
        return [self.units[index] for index in sorted(self._bindings_before)]

    @property
    def executions(self) -> int:
        """Executions that were begun, and wait for their turn to be counted."""
        return sum(branch.waiting for branch in self._branches)

    async def wait_all(self) -> Failure | None:
        """Wait until all have ended, and no more come; return the first failure in document order."""
        index = 0
        try:
            while await self._wait_for_step(index):
                unwritten = self._open_branch(index)
                failure = unwritten or await self._tasks[index]
                if failure is not None:
                    first = index if unwritten else index + 1
                    await self._cancel_from(first)
                    self._drop_after(index, failure, first)
                    return failure
                if self._latest[index].resource is not None:
                    self._frame.latest.resource = self._latest[index].resource
                index += 1
        except BaseException:
            self._cancelled = True
            await self._cancel_from(0)
            raise
        return None

    async def _wait_for_step(self, index: int) -> bool:
        """Wait for a step to be added; return whether there is one."""
        while index >= len(self._tasks) and not self._closed:
            self._step_added.clear()
            await self._step_added.wait()
        return index < len(self._tasks)

    def _open_branch(self, index: int) -> Failure | None:
        """Let a part write; it fails where the budget does not reach to what it has run."""
        try:
            self._branches[index].open()
        except BudgetExceeded as error:
            unit = self.units[index]
            self.failure = Failure(self._position(unit), unit.step.type, str(error), error.kind)
            return self.failure
        return None

    async def _run_step(self, index: int) -> Failure | None:
        for need in sorted(self._needs[index]):
            await self._ended[need].wait()
        unit = self.units[index]
        own = self._frame.scope.own
        # Steps that bind the same name need one another, so nobody binds these names until this step has ended: what
        # is read here is what a serial run would have had before it.
        self._bindings_before[index] = {name: own.get(name) for name in unit.binds}
        frame = self._frame.on(self._branches[index], self._latest[index])
        with self.busy:
            failure = await self._run.step(unit.step, frame)
        if failure is None:
            self._ended[index].set()
        else:
            # Its event stays unset, so what needs it never begins. Earlier steps go on: one of them may fail yet, and
            # the first failure in document order is the one that counts.
            self.failure = failure
            for task in self._tasks[index + 1 :]:
                task.cancel()
        return failure

    async def _cancel_from(self, first: int) -> None:
        """Break off the parts from one on, and wait until they have ended."""
        for task in self._tasks[first:]:
            task.cancel()
        await asyncio.gather(*self._tasks[first:], return_exceptions=True)

    def _drop_after(self, index: int, failure: Failure, first: int) -> None:
        """Drop what ran after a failure; of parts from `first` on variables are bound to what they were."""
        # From the last to the first: of several that bind a name the first knows what it was before all of them.
        for later in range(len(self.units) - 1, first - 1, -1):
            for name, identifier in self._bindings_before.get(later, {}).items():
                self._frame.scope.restore(name, identifier)
        for later in range(index + 1, len(self.units)):
            if self._branches[later].begun:
                unit = self.units[later]
                message = f"step {failure.position} failed before it; what this step had done ahead is dropped"
                self._run.journal_dropped(unit.step, self._position(unit), self._frame, message, failure.position)

    def _position(self, unit: StepNode) -> str:
        return self._frame.prefix + unit.step.label


async def map_ordered(
    run: Run,
    count: int,
    frame: Frame,
    part: Callable[[int, Frame], Awaitable[T]],
    collect: Callable[[int, T], Awaitable[bool]],
    width: int,
) -> None:
    """Run parts side by side, at most `width` at once, and take what each gave in order, until `collect` says no.

    What later parts have done by then is dropped.
    """
    tracks = ordered_branches(frame.writer, count, run.plan.budget.steps)
    latest = [Latest() for _ in range(count)]
    room = asyncio.Semaphore(width)

    async def one(index: int) -> T:
        async with room:
            return await part(index, frame.on(tracks[index], latest[index]))

    tasks = [asyncio.create_task(one(index)) for index in range(count)]
    try:
        for index, task in enumerate(tasks):
            tracks[index].open()
            goes_on = await collect(index, await task)
            if latest[index].resource is not None:
                frame.latest.resource = latest[index].resource
            if not goes_on:
                return
    finally:
        for task in tasks:
            task.cancel()
        # A part that is cancelled still journals that it was: in a branch that is never opened, as all that is dropped.
        await asyncio.gather(*tasks, return_exceptions=True)
