"""Running ahead of a plan that a model is still writing, in the session that waits for it.

Leading steps that make and read at most start as soon as they are complete. Nothing of them is journalled before the
plan is given to the session; where that is another plan, all of it is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.journal.rows import StepRow
from infospace.space import Space
from infospace.store.changes import Change
from planner.execute.concurrent import ConcurrentSteps
from planner.execute.frame import Latest
from planner.execute.run import Steps
from planner.journal.commit_order import BufferedBranch, FinishedStep, StartedStep
from planner.journal.events import Emit, StepFinished, StepRanAhead
from planner.journal.failures import Failure
from planner.language.plan import Block, SavedPlanCall, Step, every_step
from planner.language.problems import Problems
from planner.order.dependencies import DependencyTracker
from planner.parse.incremental_json import IncrementalDocument
from planner.parse.steps import parse_step
from planner.sessions.lines import lines_of_plan, number_steps
from planner.sessions.session_run import SessionRun
from planner.streaming.preface import Preface
from planner.streaming.prefix_check import Prefix

MAX_AHEAD = 100
"""Steps that run ahead: a plan that goes on and on may never be one."""
DROPPED = "no plan that begins so is run; what this step had done ahead is dropped"
"""Why a step that ran ahead counts as skipped."""


class SpeculativeSession:
    """What runs ahead in one session while its `write-plan` is under way.

    `feed` takes the pieces of the answer; `course` hands what ran over to the call that runs the plan, or `drop` drops
    it.
    """

    def __init__(self, space: Space, inputs: Mapping[str, JSON], emit: Emit) -> None:
        self._space = space
        self._emit = emit
        self._prefix = Prefix(space, lambda declared: _declared_inputs(inputs, declared))
        self._arrived = IncrementalDocument()
        self._preface: Preface | None = Preface()
        """What reads the answer until its plan begins."""
        self._ahead: _Ahead | None = None

    def feed(self, text: str, run: SessionRun) -> None:
        """Take a piece of the model's answer, and start the steps that are complete by now."""
        if self._preface is not None:
            begun = self._preface.feed(text)
            if begun is None:
                return
            self._preface, text = None, begun
        self._arrived.feed(text.encode("utf-8", "surrogatepass"))
        steps = self._prefix.next_steps(self._arrived, run.id)
        if steps and self._prefix.plan is not None:
            if self._ahead is None:
                lines = lines_of_plan(replace(self._prefix.plan, result=None), self._prefix.bound, [])
                self._ahead = _Ahead(run, self._emit)
                self._ahead.add(lines)
            first = len(self._prefix.steps) - len(steps)
            self._ahead.add(self._prefix.steps[first:])

    async def settle(self) -> None:
        """Wait until what was begun has ended: a person who is asked then sees it."""
        if self._ahead is not None:
            await self._ahead.settle()

    async def course(self, run: SessionRun, lines: Sequence[JSON], block: Block) -> Steps | None:
        """Return what runs the lines of a call, of which some ran ahead; None where none did, or others."""
        if self._ahead is None:
            return None
        if not self._ahead.is_valid(run, lines):
            await self.drop()
            return None
        ahead = self._ahead
        return lambda: ahead.run_all(block)

    async def drop(self) -> None:
        """Drop what ran ahead."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            await ahead.drop()


class _Ahead:
    """The steps of a session that run before they are its lines."""

    def __init__(self, run: SessionRun, emit: Emit) -> None:
        self.lines: list[JSON] = []
        self._run = run
        self._emit = emit
        self._first = len(run.lines)
        self._labels = set(run.labels)
        self._bound = dict(run.scope.own)
        self._told: list[tuple[StepRow, int]] = []
        self._held = BufferedBranch(_SessionJournal(run), run.plan.budget.steps, self._emit_ahead)
        self._frame = run.frame.on(self._held, Latest())
        self._parts = ConcurrentSteps(run, self._frame)
        self._needs = DependencyTracker()
        self._closed = False
        self._task = asyncio.create_task(self._parts.wait_all())

    def _emit_ahead(self, row: StepRow, nesting: int) -> None:
        self._told.append((row, nesting))
        self._emit(StepRanAhead(row, nesting))

    def add(self, lines: Sequence[JSON]) -> None:
        """Start lines, each as soon as those that it needs have ended; none from a saved plan on."""
        for line in lines:
            number = self._first + len(self.lines) + 1
            step = parse_step(line, "", str(number), Problems())
            if step is None or self._closed or len(self.lines) >= MAX_AHEAD or _is_saved_plan(step):
                self._closed = True
                return
            (step,) = number_steps((step,), self._labels, number)
            self._labels.add(step.label)
            self.lines.append(line)
            self._start(step)

    def _start(self, step: Step) -> None:
        unit = self._run.order.unit(step)
        self._parts.add(unit, self._needs.of(unit))

    def is_valid(self, run: SessionRun, lines: Sequence[JSON]) -> bool:
        """Whether it is what the lines of a call would have done: they begin as it does, and the budget allows it."""
        count = self._held.begun_ahead + self._parts.executions
        return (
            run is self._run
            and len(run.lines) - len(lines) == self._first
            and same(list(lines[: len(self.lines)]), self.lines)
            and count <= run.plan.budget.steps
        )

    async def settle(self) -> None:
        """Wait until all that was begun has ended."""
        await self._parts.settle()

    async def run_all(self, block: Block) -> Failure | None:
        """Let what ran ahead count, and run the other steps of a call."""
        run, parts, frame = self._run, self._parts, self._frame
        steps = block[len(self.lines) :]
        beside = 0
        while not parts.idle and beside < len(steps) and not run.order.unit(steps[beside]).alone:
            beside += 1
        for step in steps[:beside]:
            self._start(step)
        parts.close()
        self._told.clear()
        self._held.open()
        await asyncio.sleep(0)  # the time that the budget allows may be over
        try:
            failure = await self._task
        finally:
            self._task.cancel()
        run.frame.latest.resource = frame.latest.resource
        return failure or await run.block(steps[beside:], run.frame)

    async def drop(self) -> None:
        """Break it off, bind variables to what they were, and tell that what was shown is dropped."""
        self._held.drop()
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(self._task, return_exceptions=True)
        self._held.drop()
        for unit in self._parts.units:
            for name in unit.binds:
                self._run.scope.restore(name, self._bound.get(name))
        for row, nesting in self._told:
            skipped = replace(row, status="skipped", reason=DROPPED, resource=None, extra={"ahead": True})
            self._emit(StepFinished(skipped, nesting))


class _SessionJournal:
    """The journal of whichever call of a session is under way: each has a writer of its own."""

    def __init__(self, run: SessionRun) -> None:
        self._run = run

    def begin(self, ticket: StartedStep) -> None:
        """Number an execution that begins."""
        self._run.journal.begin(ticket)

    def end(self, commit: FinishedStep) -> None:
        """Write the end of an execution."""
        self._run.journal.end(commit)

    def make(self, changes: Sequence[Change]) -> None:
        """Store what an execution made."""
        self._run.journal.make(changes)

    async def wait_for_turn(self) -> None:
        """Return at once: what reaches the journal is in order."""


def _is_saved_plan(step: Step) -> bool:
    return any(isinstance(one.form, SavedPlanCall) for one in every_step((step,)))


def _declared_inputs(inputs: Mapping[str, JSON], declared: JSON) -> Mapping[str, JSON]:
    """Return the inputs that a plan declares of those that there are."""
    return {name: value for name, value in inputs.items() if isinstance(declared, Mapping) and name in declared}
