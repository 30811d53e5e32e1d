"""The branches of a `parallel`: calls of what is outside may overlap, writes keep the order of the branches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from infospace.core.errors import BudgetExceeded
from infospace.core.position import prefix_in
from planner.execute.frame import Frame, Latest
from planner.execute.variables import Scope
from planner.journal.commit_order import SuspendRequest, ordered_branches
from planner.journal.failures import Failure, Halted
from planner.journal.suspension import Pending, Suspension
from planner.language.plan import Block

if TYPE_CHECKING:
    from planner.execute.run import Run


async def branches(
    run: Run, blocks: Sequence[Block], scopes: Sequence[Scope], frame: Frame, position: str
) -> Failure | None:
    """Run branches side by side, each in a scope of its own; return the first failure in their order.

    Once one has failed no other begins a step. What a branch has done is written, whatever became of the others.
    Raises Suspension when what is left waits, or waits for a branch that does.
    """
    return await _Branches(run, blocks, scopes, frame, position).all()


class _Branches:
    def __init__(self, run: Run, blocks: Sequence[Block], scopes: Sequence[Scope], frame: Frame, position: str) -> None:
        self._run = run
        self._blocks = blocks
        self._scopes = scopes
        self._frame = frame
        self._position = position
        self._branch_failed = SuspendRequest()
        self._ordered_branches = ordered_branches(frame.writer, len(blocks), run.plan.budget.steps)
        self._latest = [Latest() for _ in blocks]
        self._clocks = [frame.clock.branch() for _ in blocks]
        self._pending: list[Pending] = []
        self._waits = False

    async def all(self) -> Failure | None:
        tasks = [asyncio.create_task(self._one(index)) for index in range(len(self._blocks))]
        failures: list[Failure] = []
        try:
            for index, task in enumerate(tasks):
                self._ordered_branches[index].open()
                failure = await task
                if failure is not None:
                    failures.append(failure)
                if self._latest[index].resource is not None:
                    self._frame.latest.resource = self._latest[index].resource
        finally:
            for task in tasks:
                task.cancel()
            # All branches have ended before any is flushed, so nothing is added behind what is written here, and a
            # later branch never writes before an earlier one.
            await asyncio.gather(*tasks, return_exceptions=True)
            self._flush_branches()
            self._frame.clock.join(self._clocks)
        if failures:
            return failures[0]
        if self._waits:
            raise Suspension(self._pending)
        return None

    def _flush_branches(self) -> None:
        """Write what branches did that had not got their turn when they were broken off, as far as the budget goes."""
        with suppress(BudgetExceeded):
            for branch in self._ordered_branches:
                branch.open()

    async def _one(self, index: int) -> Failure | None:
        frame = self._frame.inner(prefix_in(self._position, "branches", index + 1), self._scopes[index])
        frame = frame.on(self._ordered_branches[index], self._latest[index], self._branch_failed, self._clocks[index])
        try:
            failure = await self._run.block(self._blocks[index], frame)
        except Halted:
            return None
        except Suspension as suspension:
            self._pending += suspension.pending
            self._waits = True
            self._hold_later(index)
            return None
        if failure is not None:
            self._stop()
        return failure

    def _stop(self) -> None:
        """Let no branch begin another step."""
        # It is never taken back, so a branch that is woken without its turn sees it before it begins a step.
        self._branch_failed.now = True
        for branch in self._ordered_branches:
            branch.wake()

    def _hold_later(self, index: int) -> None:
        """Let no later branch write before this one goes on: what waits for its turn there waits with it."""
        for branch in self._ordered_branches[index + 1 :]:
            branch.hold()
