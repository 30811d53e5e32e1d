"""Running parts of a plan side by side, so that the outcome is that of one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from planner.failure import Exhausted, Failure
from planner.frame import Frame, Latest
from planner.lanes import lanes
from planner.order import Group, Unit

if TYPE_CHECKING:
    from planner.run import Run

T = TypeVar("T")


async def abreast(run: Run, group: Group, frame: Frame) -> Failure | None:
    """Run the steps of a group as their variables allow; return the first failure in document order.

    What ran ahead of it is dropped: nothing of it is written but that it was skipped, and its variables are bound
    to what they were.
    """
    return await _Abreast(run, group, frame).all()


class _Abreast:
    def __init__(self, run: Run, group: Group, frame: Frame) -> None:
        self._run = run
        self._group = group
        self._frame = frame
        self._lanes = lanes(frame.track, len(group.units), run.plan.budget.steps)
        self._ended = [asyncio.Event() for _ in group.units]
        self._latest = [Latest() for _ in group.units]
        self._before: dict[int, dict[str, str | None]] = {}
        self._tasks: list[asyncio.Task[Failure | None]] = []

    async def all(self) -> Failure | None:
        self._tasks = [asyncio.create_task(self._one(index)) for index in range(len(self._group.units))]
        try:
            for index, task in enumerate(self._tasks):
                failure = self._opened(index) or await task
                if failure is not None:
                    await self._stop(index + 1)
                    self._drop(index, failure)
                    return failure
                if self._latest[index].resource is not None:
                    self._frame.latest.resource = self._latest[index].resource
        except BaseException:
            await self._stop(0)
            raise
        return None

    def _opened(self, index: int) -> Failure | None:
        """Let a part write; it fails where the budget does not reach to what it has run."""
        try:
            self._lanes[index].open()
        except Exhausted as error:
            unit = self._group.units[index]
            self._tasks[index].cancel()
            return Failure(self._position(unit), unit.step.type, str(error), error.kind)
        return None

    async def _one(self, index: int) -> Failure | None:
        for need in sorted(self._group.needs[index]):
            await self._ended[need].wait()
        unit = self._group.units[index]
        own = self._frame.scope.own
        self._before[index] = {name: own.get(name) for name in unit.binds}
        frame = self._frame.on(self._lanes[index], self._latest[index])
        failure = await self._run.step(unit.step, frame)
        if failure is None:
            self._ended[index].set()
        else:
            for task in self._tasks[index + 1 :]:
                task.cancel()
        return failure

    async def _stop(self, first: int) -> None:
        """Break off the parts from one on, and wait until they have ended."""
        for task in self._tasks[first:]:
            task.cancel()
        await asyncio.gather(*self._tasks[first:], return_exceptions=True)

    def _drop(self, index: int, failure: Failure) -> None:
        for later in range(len(self._group.units) - 1, index, -1):
            for name, identifier in self._before.get(later, {}).items():
                self._frame.scope.restore(name, identifier)
        for later in range(index + 1, len(self._group.units)):
            if self._lanes[later].begun:
                self._lanes[later].drop()
                unit = self._group.units[later]
                self._run.skipped_ahead(unit.step, self._position(unit), self._frame, failure)

    def _position(self, unit: Unit) -> str:
        return self._frame.prefix + unit.step.label


async def in_order(
    run: Run,
    count: int,
    frame: Frame,
    part: Callable[[int, Frame], Awaitable[T]],
    taken: Callable[[int, T], Awaitable[bool]],
    width: int,
) -> None:
    """Run parts side by side, at most `width` at once, and take what each gave in order, until `taken` says no.

    What later parts have done by then is dropped.
    """
    tracks = lanes(frame.track, count, run.plan.budget.steps)
    latest = [Latest() for _ in range(count)]
    room = asyncio.Semaphore(width)

    async def one(index: int) -> T:
        async with room:
            return await part(index, frame.on(tracks[index], latest[index]))

    tasks = [asyncio.create_task(one(index)) for index in range(count)]
    try:
        for index, task in enumerate(tasks):
            tracks[index].open()
            going = await taken(index, await task)
            if latest[index].resource is not None:
                frame.latest.resource = latest[index].resource
            if not going:
                return
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for track in tracks:
            track.drop()
