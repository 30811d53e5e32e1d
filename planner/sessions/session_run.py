"""The run that a session is: it takes its lines call by call, rests between them, and is taken up from the journal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from infospace.core.bounds import bounded
from infospace.core.clock import now
from infospace.core.errors import InfospaceError
from infospace.core.json_types import JSON
from infospace.core.position import Position, first_attempt, top_label
from infospace.core.resources import Resource
from infospace.journal.rows import (
    BROKEN_OFF,
    CANCELLED,
    AddLines,
    CallRow,
    ClaimRun,
    CloseRun,
    Entry,
    RunRow,
    RunStatus,
    StepRow,
    StepStatus,
    broken_off,
)
from infospace.space import Space
from infospace.tools.scoped_space import scope_of
from planner.execute.run import MAX_CONCURRENT_CALLS as RUN_AT_ONCE
from planner.execute.run import Run, Steps
from planner.journal.commit_order import JournalWriter, SuspendRequest
from planner.journal.events import Emit, RunFinished, RunStarted
from planner.journal.failures import Stopped, sentence
from planner.journal.lease import renewing_lease, seconds_spent
from planner.journal.recorded import RecordedRun
from planner.journal.result import RunResult
from planner.journal.suspension import Pending, Suspension
from planner.language.plan import Block, Plan
from planner.language.problems import Problem
from planner.order.dependencies import DependencyAnalysis
from planner.parse.document_order import in_document_order
from planner.sessions.bindings import bindings_of
from planner.sessions.lines import ANSWER, INPUT, PLAN, plan_of_session

MAX_EXECUTIONS_PER_CALL = 10_000
"""Executions of steps that one call may have, where the session's own budget does not say how many there may be."""
SETTLED = "lines"
"""What is spent of a session besides its budget: how many of its lines belong to calls that are over."""


def is_between_calls(row: RunRow) -> bool:
    """Whether a run that is suspended is a session between two calls: it waits for nothing but more steps."""
    lines = row.document.get("steps", ()) if isinstance(row.document, dict) else ()
    return row.kind == "session" and len(lines) == row.spent.get(SETTLED, 0)


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a call ended: well, failed, or suspended; or with the whole session, which a `stop` ends."""

    status: RunStatus
    result: Resource | None = None
    reason: str | None = None
    pending: Sequence[Pending] = ()
    over: bool = False


class SessionRun(Run):
    """An open run. A failing step ends the call, and not the session."""

    def __init__(self, space: Space, plan: Plan, approve: Sequence[str] = ()) -> None:
        super().__init__(space, plan, lambda _event: None, approve=approve)
        self.lines: Block = ()
        """All of its lines."""
        self.labels: set[str] = set()
        self.previous: str | None = self.owner
        """Who owned the run last, as far as is known here."""
        self.settled = 0
        """How many of them belong to calls that are over; the others are open."""
        self._block: Block = ()
        """The lines of the last call."""
        self._call: list[StepRow] = []
        self._waiting: dict[int, StepRow] = {}
        self._value: str | None = None
        """The id of the last value that its lines gave."""

    def set_listener(self, emit: Emit) -> None:
        """Tell from now on. Each call may come from another event loop, which what waits here belongs to."""
        self._emit = emit
        self.slots = asyncio.Semaphore(RUN_AT_ONCE)

    @property
    def waits(self) -> bool:
        """Whether something is to be answered, or to come, before more lines are taken."""
        return any("pending" in row.extra for row in self._waiting.values())

    @property
    def open_lines(self) -> Block:
        """The lines that were begun, and whose call is not over."""
        return self.lines[self.settled :]

    @property
    def call_rows(self) -> list[StepRow]:
        """The executions of the last call, in document order."""
        if self.record is None:
            return sorted(self._call, key=lambda row: row.sequence)
        return in_document_order(replace(self.plan, steps=self.lines), self._call)

    def on_step_journalled(self, row: StepRow, nesting: int) -> None:
        """Take note of a step that ended."""
        self._call.append(row)
        self._waiting.pop(row.sequence, None)
        if row.status == "suspended":
            self._waiting[row.sequence] = row
        super().on_step_journalled(row, nesting)

    # The journal

    def claim(self, entries: Sequence[Entry] = ()) -> None:
        """Own the run and let it go on; a Conflict, and nothing, where somebody else has owned it since."""
        self.space.store.commit([], [ClaimRun(self.id, self.owner, self.previous, now()), *entries])
        self.previous = self.owner

    def add(self, block: Block, lines: Sequence[JSON], plans: Mapping[str, Plan], before: Sequence[Entry] = ()) -> None:
        """Journal the lines of a call that is to be run, after what comes before. A Conflict where `take` is one."""
        documents = {name: plan.document for name, plan in plans.items()}
        self.claim([*before, AddLines(self.id, lines, documents, scope_of(self.space))])
        self.plans |= plans
        self.labels.update(step.label for step in block)
        self.lines, self.record = self.lines + block, None
        self._ask_before_repeating()

    def recall(
        self,
        row: RunRow,
        steps: Sequence[StepRow],
        calls: Sequence[CallRow],
        answers: Mapping[str, JSON],
        before: Sequence[CallRow] = (),
    ) -> None:
        """Become what the journal has of the run; the calls `before` it, of runs that it was forked from, count too."""
        plan = plan_of_session(row)
        self.id, self.plan, self.plans, self.goal = row.run, plan, dict(plan.plans), row.goal
        self.previous = row.owner
        self.lines, self.settled = plan.steps, int(row.spent.get(SETTLED, 0))
        self.labels = {step.label for step in self.lines}
        over = {step.label for step in self.lines[: self.settled]}
        self.record = RecordedRun(steps, calls, answers, before)
        self.steps = list(self.record.rows)
        self.scope.own = bindings_of(row.inputs, (one for one in self.steps if top_label(one.position) in over))
        self._waiting = {one.sequence: one for one in steps if one.status == "suspended"}
        self._value = _latest(self.lines[: self.settled], self.steps)
        self.recall_clock(self.record, row.started)
        self.journal.sequence = self.record.sequence
        self.bounds = bounded(plan.budget.items, plan.budget.characters)
        self.meter.remember([*before, *calls])
        self.meter.tools = self.tool_calls(self.record)
        self.meter.limit(plan.budget.llm_calls, plan.budget.tokens, plan.budget.tool_calls)
        self.meter.tools.count = sum(call.kind == "tool" for call in (*before, *calls))
        self._ask_before_repeating()
        self._spent = seconds_spent(row, self.steps)

    def _ask_before_repeating(self) -> None:
        """Where a model writes the lines, ask before a call that was made already and is not idempotent."""
        if self.meter.tools is not None:
            self.meter.tools.asks_again = any(step.expect == PLAN for step in self.lines)

    def left_open(self, calls: Sequence[CallRow]) -> tuple[list[StepRow], str]:
        """Settle the open lines, which were broken off: what is to be journalled of them, and how that is said."""
        places = [*(row.position for row in self.steps), *(call.position for call in calls)]
        begun = {top_label(place) for place in (*places, *(row.position for row in self._waiting.values()))}
        ended = {first_attempt(one.position) for one in self.steps}
        message: list[str] = []
        rows = self._abandoned_rows()
        for step in self.open_lines:
            if step.label in ended:
                continue
            cut = not message or step.label in begun
            message.append(f"step {step.label} ({step.type}) was {'broken off' if cut else 'not begun'}")
            if step.label in {row.position for row in rows}:
                continue
            self.journal.sequence += 1
            reason = BROKEN_OFF if cut else "the call was broken off before it was begun"
            status: StepStatus = "failed" if cut else "skipped"
            row = StepRow(self.id, self.journal.sequence, step.label, step.type, status, now(), 0.0, out=step.out)
            rows.append(replace(row, reason=reason, error=CANCELLED))
        open_labels = {step.label for step in self.open_lines}
        message += (
            f"{call.target} was being called by step {call.position}, and may have had its effect"
            for call in calls
            if call.kind == "tool" and call.status == "started" and top_label(call.position) in open_labels
        )
        self.steps += rows
        self.settled = len(self.lines)
        self.scope.own |= bindings_of({}, self.steps)
        return rows, "; ".join(message)

    def _abandoned_rows(self) -> list[StepRow]:
        """Return the rows of steps that wait, as those of steps that wait no more."""
        waiting, self._waiting = list(self._waiting.values()), {}
        return [broken_off(row) for row in waiting]

    # A call

    async def play(
        self, block: Block, emit: Emit, halt: SuspendRequest | None = None, steps: Steps | None = None
    ) -> CallEnd:
        """Run the open lines, which are these, until they end or wait, and journal that; `steps` may run them."""
        self.set_listener(emit)
        self.halt, self._block = halt or SuspendRequest(), block
        self._began = time.perf_counter()
        labels = {step.label for step in block}
        self._call = [row for row in self.steps if top_label(row.position) in labels] if self.record else []
        before = self.journal.sequence
        self.journal = JournalWriter(self.space.store, self._most(before), self.on_step_journalled)
        self.journal.sequence, self.journal.guards = before, (self.owner_guard,)
        self.journal.uncounted = 0 if self.record is None else before - self.record.executions
        self.clock.advance()
        self.frame = self.outermost()
        self.order = DependencyAnalysis(self.space.catalogue, self.plans)
        emit(RunStarted(self.id, self.goal))
        try:
            async with renewing_lease(self.space.store, self.id, self.owner, self._spent_so_far):
                failure = await self.with_timeout(self.seconds_left(), steps or block)
        except Stopped as stop:
            return self._stop(stop)
        except Suspension as suspension:
            return self._wait(suspension.pending)
        except asyncio.CancelledError:
            with suppress(InfospaceError):
                self._end_call(CallEnd("failed", reason="the call was cancelled"))
            raise
        except BaseException as error:
            with suppress(InfospaceError):
                self._end_call(CallEnd("failed", reason=f"the call broke off: {type(error).__name__}: {error}"))
            raise
        reason = self._unanswered(block) if failure is None else sentence(failure)
        return self._end_call(CallEnd("success", self._last()) if reason is None else CallEnd("failed", reason=reason))

    def _most(self, before: int) -> int:
        value = self.plan.document.get("budget", {}) if isinstance(self.plan.document, dict) else {}
        return self.plan.budget.steps if "steps" in value else before + MAX_EXECUTIONS_PER_CALL

    def _unanswered(self, block: Block) -> str | None:
        """Say that the last line, which names the call's answer, was skipped."""
        last = block[-1] if block else None
        if last is None or last.expect != ANSWER:
            return None
        row = next((row for row in reversed(self._call) if row.position == last.label), None)
        skipped = row is not None and row.status == "skipped"
        return f"the plan's result cannot be given: {row.reason}" if row is not None and skipped else None

    def _last(self) -> Resource | None:
        last = self._latest()
        return None if last is None else self._get_value(last)

    def _latest(self) -> str | None:
        """Return the id of the last value that the call gave, other than those of a plan's inputs."""
        inputs = {step.label for step in self._block if step.expect == INPUT}
        has_result = any(row.status == "success" and row.resource for row in self._call if row.position not in inputs)
        return self.frame.latest.resource if has_result else None

    def _stop(self, stop: Stopped) -> CallEnd:
        self.settled = len(self.lines)
        result = None if stop.resource is None else self.space.context().get(stop.resource)
        call_end = CallEnd("stopped" if stop.status == "success" else "failed", result, str(stop), over=True)
        self._write(call_end.status, call_end)
        return call_end

    def _wait(self, pending: Sequence[Pending]) -> CallEnd:
        """Suspend the call: its lines stay open."""
        reason = f"interrupted; `infospace resume {self.id}` goes on" if self.halt.now else None
        call_end = CallEnd("suspended", None, reason, pending)
        self._write("suspended", call_end)
        return call_end

    def suspend(self) -> None:
        """Let the session, which was just opened, wait for its first call."""
        self._write("suspended", CallEnd("success"))

    def _end_call(self, call_end: CallEnd) -> CallEnd:
        """End the call, and let the session wait for the next one."""
        self.settled, self.record = len(self.lines), None
        self._value = self._latest() or self._value
        self._write("suspended", call_end, self._abandoned_rows())
        return call_end

    def conclude(self) -> RunResult:
        """End the session well: its answer is what its head says, else the last value that its lines gave."""
        self.frame.latest.resource = self._value
        return super().conclude()

    def _write(self, status: RunStatus, call_end: CallEnd, rows: Sequence[StepRow] = ()) -> None:
        """Journal how a call ended. Raises LeaseLost, and writes nothing, where the run has another owner by now."""
        at = now()
        spent = self._spent_so_far()
        self._spent = spent["seconds"]
        result = None if call_end.result is None else call_end.result.id
        entry = CloseRun(self.id, status, at, result, call_end.reason, spent)
        self.space.store.commit([], [self.owner_guard, *rows, entry])

    def _spent_so_far(self) -> dict[str, float]:
        """Return what was spent until now, and how many lines are settled."""
        return {**super()._spent_so_far(), SETTLED: self.settled}

    def outcome(self, call_end: CallEnd, problems: Sequence[Problem] = (), *, whole: bool = False) -> RunResult:
        """Return a call, or the `whole` session, as an outcome, and tell that it ended."""
        rows = sorted(self.steps, key=lambda row: row.sequence) if whole else self.call_rows
        result = RunResult(
            self.id,
            call_end.status,
            self._result_of(call_end.result),
            self.bindings(),
            rows,
            problems,
            call_end.reason,
            call_end.pending,
        )
        self._emit(RunFinished(result))
        return result


def _latest(block: Block, rows: Sequence[StepRow]) -> str | None:
    """Return the id of the last value that lines gave, in document order; a step gives its own after all in it."""
    given = {row.position: row.resource for row in rows if row.status == "success" and row.resource}
    whole = {first_attempt(position): resource for position, resource in given.items()}
    last = {
        top_label(row.position): row.position
        for row in sorted(rows, key=lambda row: row.sequence)
        if row.position in given
    }
    for step in reversed([step for step in block if step.expect != INPUT]):
        if step.label in whole:
            return whole[step.label]
        if step.label in last:
            return [given[position] for position in _outwards(last[step.label]) if position in given][-1]
    return None


def _outwards(position: str) -> Iterator[str]:
    """Give a position, and then those that it stands in."""
    place: Position | None = Position.parse(position)
    while place is not None:
        yield place.text
        place = place.parent if place.item is None else place.whole
