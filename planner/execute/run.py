"""Running a plan: from its inputs, through its steps in document order, to its result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TypeAlias

from infospace.core.bounds import Room, bounded, ending
from infospace.core.clock import day_and_moment, now, today_and_now
from infospace.core.errors import BudgetExceeded, InfospaceError, NotFound, ReplayInterrupted
from infospace.core.json_types import JSON
from infospace.core.position import attempt_at, prefix_in
from infospace.core.resources import CreatedBy, Resource, is_resource
from infospace.data.result import StepResult
from infospace.journal.forks import first_of
from infospace.journal.queue_rows import Enqueue
from infospace.journal.rows import (
    CallRow,
    CloseRun,
    Entry,
    OpenRun,
    OwnerGuard,
    RunKind,
    RunRow,
    RunStatus,
    StepRow,
    settled,
)
from infospace.llm.meter import Meter
from infospace.space import Space
from infospace.store.changes import Change, MakeNote
from infospace.tools.approvals import allowed, approvals_for_run, parse_tool_names
from infospace.tools.journalled_calls import ToolCalls
from infospace.tools.scoped_space import scope_of
from planner.execute.arguments import Resolver, input_resource
from planner.execute.call import Effects, StepEffects
from planner.execute.concurrent import run_concurrently
from planner.execute.frame import Frame, Latest
from planner.execute.retry import retry_delay
from planner.execute.step import StepExecution
from planner.execute.variables import Scope
from planner.journal.commit_order import ControlDecision, FinishedStep, JournalWriter, StartedStep, SuspendRequest
from planner.journal.context_after_step import ContextAfterStep
from planner.journal.events import Emit, Event, RunFinished, RunStarted, StepFinished
from planner.journal.failures import Failure, Halted, Stopped, sentence
from planner.journal.lease import new_owner, renewing_lease, seconds_spent
from planner.journal.recorded import RecordedRun
from planner.journal.result import RunResult
from planner.journal.run_clock import START, Reading, RunClock
from planner.journal.suspension import Pending, Suspension, due_of
from planner.language.goal import filled
from planner.language.plan import Block, Map, Pages, Plan, Step, Table
from planner.language.problems import Problem
from planner.order.dependencies import DependencyAnalysis
from planner.parse.document_order import in_document_order
from planner.parse.saved_plans import offer_plans

EVENT_LOOP_YIELD_SECONDS = 0.005
"""Seconds for which steps that wait for nothing may keep the event loop to themselves."""


CANCELLED = "the run was cancelled"

MAX_CONCURRENT_CALLS = 16
"""Calls that run at once: so many an endpoint or a server usually takes."""

Steps: TypeAlias = Callable[[], Awaitable[Failure | None]]
"""Runs steps of a run; gives the failure that stops them."""


class Run:
    """One run of a plan, or of the lines of a session."""

    effects: type[Effects] = StepEffects
    """What a step does outside of its computation."""

    def __init__(
        self,
        space: Space,
        plan: Plan,
        emit: Emit,
        warnings: Sequence[Problem] = (),
        approve: Sequence[str] = (),
    ) -> None:
        self.space = space
        offer_plans(space)
        self.plan = plan
        self.plans = dict(plan.plans)
        """The saved plans that are named, directly or not, as they were when this was checked."""
        self.id = ""
        self.scope = Scope()
        self.steps: list[StepRow] = []
        budget = plan.budget
        self.bounds = bounded(budget.items, budget.characters)
        """What each of its steps may make."""
        self.meter = Meter(budget.llm_calls, budget.tokens, self.record_call)
        self.meter.answers = space.answers
        self._emit = emit
        self._warnings = warnings
        self._approve = parse_tool_names(approve)
        self._last_yield = 0.0
        self._began = time.perf_counter()
        self._spent = 0.0
        self.owner = new_owner()
        self.order = DependencyAnalysis(space.catalogue, self.plans)
        self.journal = JournalWriter(space.store, budget.steps, self.on_step_journalled)
        self.clock = RunClock()
        self.first_reading: Reading | None = None
        """What the clock showed when the run started."""
        self._started = ControlDecision(START, None)
        self.frame = self.outermost()
        self.slots = asyncio.Semaphore(MAX_CONCURRENT_CALLS)
        """Calls of what is outside, and other long ones, that run at once."""
        self.meter.tools = self.tool_calls()
        self.replayed: RecordedRun | None = None
        """The run that this one replays: times of waiting are over, and with `recorded` what was read is taken."""
        self.broken_off: tuple[RunStatus, None, str | None] = ("cancelled", None, CANCELLED)
        """How a replay ends where that one was broken off: status, result, and why."""
        self.recorded = False
        self.goal = plan.goal
        """The plan's goal; once the run is open, with its inputs filled in."""
        self.forked: str | None = None
        """The first run of which this one is a fork: it takes over the names of what that one and its forks made."""
        self.halt = SuspendRequest()
        """Set from outside, it lets the steps under way end, begins no more, and leaves the run to be resumed."""
        self.extras: dict[tuple[str, str], Mapping[str, JSON]] = {}
        """What steps that succeeded had in `extra`, by run and position: a row may be written later."""
        self.record: RecordedRun | None = None
        """What an earlier part of the run left, where it goes on."""

    def may_rename(self, name: str, position: str) -> bool:
        """Whether a name that is held is taken over, though the step does not say so.

        A replay gives the names that were given when it was run; a fork those of what the run had made.
        """
        if self.replayed is not None:
            row = self.replayed.row(position)
            return row is not None and row.status == "success"
        if self.forked is None:
            return False
        with suppress(NotFound), self.space.store.reading() as snapshot:
            holder = self.space.context().get(name).created_by.run
            return holder is not None and first_of(snapshot, holder) == self.forked
        return False

    def outermost(self) -> Frame:
        """Return the surroundings of the run's own steps."""
        return Frame(self.scope, self.journal, clock=self.clock, decisions=(self._started,))

    def start_clock(self, reading: Reading) -> None:
        """Let the run's clock show a reading as its first, which is journalled with the first step that ends."""
        self.first_reading, self._started.value = reading, list(reading)
        self.clock.set(reading)

    def recall_clock(self, record: RecordedRun, started: str) -> None:
        """Take the first reading from the record, else from when the run started; the clock shows that."""
        self.start_clock(record.first_reading or day_and_moment(started))
        self._started.written = record.first_reading is not None

    def reading(self, position: str, clock: RunClock, number: int | None = None) -> Reading:
        """Return the time that a step, or a round of a `while`, reads; a replay returns the recorded one."""
        then = None if self.replayed is None else self.replayed.reading(position, number)
        if then is not None:
            clock.set(then)
        return clock.reading

    def reading_after(self, position: str, clock: RunClock) -> Reading:
        """Read the clock after a `wait` or an `ask`: in a replay as then, or it stands where that was not made."""
        if self.replayed is None:
            return clock.advance()
        clock.set(self.replayed.reading_after(position) or clock.reading)
        return clock.reading

    def record_call(self, row: CallRow) -> None:
        """Write a call of what is outside."""
        self.journal.flush()
        self.space.store.commit([], [self.owner_guard, row])

    @property
    def owner_guard(self) -> OwnerGuard:
        """The guard of a commit: the store refuses the commit if another process owns the run by now."""
        return OwnerGuard(self.id, self.owner)

    def tool_calls(self, past: RecordedRun | None = None) -> ToolCalls:
        """Return what calls tools here; `past` is what an earlier part of the run left."""
        result = ToolCalls(
            self.plan.budget.tool_calls,
            self.record_call,
            self.meter.number,
            lambda tool, *, by_name: allowed(self.space.store, tool, self.id, by_name=by_name),
            past,
        )
        result.answers = self.space.answers
        return result

    # The run as a whole

    def open(
        self,
        kind: RunKind,
        bound: Mapping[str, Resource | Table | JSON],
        changes: Sequence[Change] = (),
        also: Sequence[Entry] = (),
    ) -> None:
        """Begin: journal the run, with changes and what else, and bind the inputs (values become transient Notes)."""
        store = self.space.store
        self.id = self.id or store.new_id("run")
        created_by = CreatedBy(self.id, None, "input")
        context = self.space.context(created_by)
        for name, value in bound.items():
            context.room = Room(self.bounds)
            self.scope.bind(name, input_resource(context, value))
        plans = {name: plan.document for name, plan in self.plans.items()}
        document, inputs = self.plan.document, dict(self.scope.own)
        reading = today_and_now()
        if self.first_reading is None:
            self.start_clock(reading)
        at = reading[1]
        scope, self.goal = scope_of(self.space), filled(self.plan.goal, bound)
        entry = OpenRun(self.id, kind, self.goal, document, inputs, at, self.owner, plans, scope=scope)
        self.journal.guards = (self.owner_guard,)
        store.commit([*context.changes, *changes], [entry, *approvals_for_run(self._approve, self.id, at), *also])
        self._emit(RunStarted(self.id, self.goal))

    def enqueue(
        self,
        bound: Mapping[str, Resource | Table | JSON],
        queue: str,
        priority: int,
        also: Callable[[str], Sequence[Entry]] = lambda _run: (),
    ) -> str:
        """Journal the run as one that waits for a worker, in one commit; return its id. Nothing of it has begun.

        `also` is given the id, and returns what else is committed.
        """
        self.id = self.space.store.new_id("run")
        at = now()
        waits: list[Entry] = [CloseRun(self.id, "suspended", at), Enqueue(self.id, at, queue, priority)]
        self.open("plan", bound, also=[*waits, *also(self.id)])
        return self.id

    async def run(self, bound: Mapping[str, Resource | Table | JSON]) -> RunResult:
        """Run the whole plan from its inputs to its result."""
        self.open("plan", bound)
        for value in bound.values():
            if isinstance(value, Table):
                value.release()
        return await self.run_to_end()

    def restore(self, row: RunRow, record: RecordedRun, calls: Sequence[CallRow], owner: str) -> None:
        """Take up a run where an earlier owner left it: its steps, what it spent, and what it asked."""
        self.id, self.owner, self.record, self.goal = row.run, owner, record, row.goal
        for name, identifier in row.inputs.items():
            self.scope.bind(name, identifier)
        self.steps = list(record.rows)
        self.journal.sequence, self.journal.guards = record.sequence, (self.owner_guard,)
        self.journal.uncounted = record.sequence - record.executions
        self.meter.remember(calls)
        self.meter.tools = self.tool_calls(record)
        self.meter.tools.count = sum(call.kind == "tool" for call in calls)
        self._spent = seconds_spent(row, self.steps)
        self.recall_clock(record, row.started)
        self.clock.advance()
        self._emit(RunStarted(self.id, self.goal))

    async def run_to_end(self, steps: Steps | None = None) -> RunResult:
        """Run the plan from where it is to its end, or until it waits for something; `steps` runs its steps.

        Raises LeaseLost where another process goes on with it meanwhile: this one writes nothing more of it.
        """
        # A replay, and one that rests at a step, is looked at step by step.
        whole = steps is None and self.replayed is None and self.halt.pausing is None
        self.journal.may_defer = whole and self.effects is StepEffects
        try:
            async with renewing_lease(self.space.store, self.id, self.owner, self._spent_so_far):
                try:
                    failure = await self.with_timeout(self.seconds_left(), steps or self.plan.steps)
                finally:
                    # Here, where what it raises breaks the run off.
                    self.journal.flush()
        except Stopped as stop:
            return self.stopped(stop)
        except Suspension as suspension:
            return self.suspended(suspension)
        except ReplayInterrupted:
            return self.close(*self.broken_off)
        except asyncio.CancelledError:
            # `close` awaits nothing, so a second cancellation cannot come before the end is journalled. The steps
            # have journalled theirs: the exception passed through each of them on its way here.
            self.close("cancelled", None, CANCELLED)
            raise
        except BaseException as error:
            with suppress(InfospaceError):
                self.close("failed", None, f"the run broke off: {type(error).__name__}: {error}")
            raise
        if failure is not None:
            return self.close("failed", None, sentence(failure))
        return self.conclude()

    def _spent_so_far(self) -> dict[str, float]:
        """Return what was spent until now, the seconds too."""
        return {**self.meter.spent, "seconds": round(self._spent + time.perf_counter() - self._began, 3)}

    def seconds_left(self) -> float | None:
        """Return what is left of the budget of seconds, None without one. Times of rest do not count."""
        limit = self.plan.budget.seconds
        return None if limit is None else max(0.0, limit - self._spent)

    def conclude(self) -> RunResult:
        """End a run whose steps ended well: find its result."""
        self.journal.flush()
        try:
            return self.close("success", self._result(), None)
        except InfospaceError as error:
            return self.close("failed", None, f"the plan's result cannot be given: {error}")

    def suspended(self, suspension: Suspension) -> RunResult:
        """Put a run to rest that waits for something: what it waits for is journalled with its steps."""
        due = now() if self.halt.now else due_of(suspension.pending)
        reason = f"interrupted; `infospace resume {self.id}` goes on" if self.halt.now else None
        if self.halt.pausing is not None and self.halt.pausing.paused is not None:
            reason = str(self.halt.pausing.paused)
        return self.close("suspended", None, reason, suspension.pending, due=due)

    def stopped(self, stop: Stopped) -> RunResult:
        """End a run that a `stop` ended on purpose, with its answer."""
        self.journal.flush()
        status: RunStatus = "stopped" if stop.status == "success" else "failed"
        result = None if stop.resource is None else self.space.context().get(stop.resource)
        return self.close(status, result, str(stop))

    def _result(self) -> Resource | None:
        if self.plan.result is None:
            last = self.frame.latest.resource
            return None if last is None else self._get_value(last)
        context = self.space.context(CreatedBy(self.id, None, "result"))
        resource = Resolver(context, self.scope, self.extras).resource(self.plan.result)
        if not is_resource(resource):
            raise NotFound(f"{self.plan.result!r} is not a resource")
        if not context.changes:
            return resource
        self.space.store.commit(context.changes)
        return self.space.context().get(resource.id)

    def close(
        self,
        status: RunStatus,
        result: Resource | None,
        reason: str | None,
        pending: Sequence[Pending] = (),
        also: Sequence[Entry] = (),
        due: str | None = None,
    ) -> RunResult:
        """Journal the end, and what else holds from then on; and say it."""
        self.journal.flush()
        resource, spent = self._result_of(result), (self._spent_so_far() if status == "suspended" else self.meter.spent)
        result_id = result.id if result else None
        entry = CloseRun(self.id, status, now(), result_id, reason, spent, due, interrupted=self.halt.now)
        self.space.store.commit([], [self.owner_guard, entry, *also])
        self.steps = settled(self.steps, status)
        outcome = RunResult(
            self.id,
            status,
            resource,
            self.bindings(),
            self._rows_in_order(),
            self._warnings,
            reason,
            pending,
        )
        self._emit(RunFinished(outcome))
        return outcome

    def _rows_in_order(self) -> list[StepRow]:
        """Return the executions in document order, which is that of their numbers unless the run had rested."""
        if self.record is None:
            return sorted(self.steps, key=lambda row: row.sequence)
        return in_document_order(self.plan, self.steps)

    def bindings(self) -> dict[str, Resource]:
        """Return what the plan's own variables are bound to; what was deleted since is left out."""
        own, results = self.scope.own, {}
        with self.space.store.reading() as snapshot:
            try:
                return dict(zip(own, snapshot.get_many(list(own.values())), strict=True))
            except NotFound:
                for name, identifier in own.items():
                    with suppress(NotFound):
                        results[name] = snapshot.get(identifier)
        return results

    def _get_value(self, identifier: str) -> Resource | None:
        """Return a value that a step gave: as it is now, or as it was where it was deleted since."""
        with suppress(NotFound):
            return self.space.context().get(identifier)
        with suppress(NotFound):
            return ContextAfterStep(self.space, self.steps, None).get(identifier)
        return None

    def _result_of(self, result: Resource | None) -> StepResult | None:
        if result is None:
            return None
        context = ContextAfterStep(self.space, self.steps, None)
        row = next((row for row in reversed(self.steps) if row.resource == result.id), None)
        return StepResult(
            status="success",
            resource_id=result.id,
            value=context.preview(result),
            data=context.content(result),
            extra=row.extra if row else {},
            started_at=row.started if row else result.created,
            duration_ms=row.duration_ms if row else 0.0,
        )

    # Steps

    async def with_timeout(self, seconds: float | None, steps: Block | Steps) -> Failure | None:
        """Run steps of the run's own scope in a number of seconds; that they ran out is a failure too."""
        try:
            async with asyncio.timeout(seconds) as limit:
                with ending(limit.when()):
                    return await (steps() if callable(steps) else self.block(steps, self.frame))
        except TimeoutError:
            if not limit.expired():
                raise
            last = self.steps[-1] if self.steps else None
            reason = f"the budget of {self.plan.budget.seconds:g} seconds ran out"
            return Failure(last.position if last else "1", last.type if last else "", reason, BudgetExceeded.kind)

    async def block(self, steps: Block, frame: Frame) -> Failure | None:
        """Run steps as if one after the other; return the failure that stops them, None when all is well."""
        for group in self.order.groups(steps):
            if group.side_by_side:
                failure = await run_concurrently(self, group, frame)
                if failure is not None:
                    return failure
                continue
            for unit in group.units:
                failure = await self.step(unit.step, frame)
                if failure is not None:
                    return failure
        return None

    async def step(self, step: Step, frame: Frame) -> Failure | None:
        """Execute a step, again while it fails and its `retry` has attempts left: `4`, `4#2`, `4#3`.

        A `map` and `pages` attempt their calls again one by one, never the whole.
        """
        if await self.halt.should_suspend(self, step, frame):
            raise Suspension(())
        position = frame.prefix + step.label
        attempts = step.retry.attempts if step.retry and not isinstance(step.form, (Map, Pages)) else 1
        for attempt in range(1, attempts + 1):
            if frame.halts:
                await self._await_turn(step, frame)
            place = attempt_at(position, attempt)
            execution = StepExecution(self, step, frame, place, last=attempt == attempts)
            try:
                failure = await execution.run()
            except (asyncio.CancelledError, ReplayInterrupted):
                execution.interrupted()
                raise
            if not execution.should_retry:
                break
            await retry_delay(step.retry, attempt, self.halt.requested, position)
            if self.halt.now:
                raise Suspension(())
        return failure

    async def _await_turn(self, step: Step, frame: Frame) -> None:
        """In a branch: begin no step when another branch has failed, and write only after the branches before."""
        if frame.halted:
            raise Halted
        if self.order.must_keep_order(step):
            await frame.writer.wait_for_turn()
            if frame.halted:
                raise Halted

    def journal_dropped(self, step: Step, position: str, frame: Frame, reason: str, cause: str | None = None) -> None:
        """Journal that a step ran ahead of what stops it, and that nothing of it stays; `cause` is a step."""
        ticket = StartedStep()
        try:
            frame.writer.begin(ticket)
        except BudgetExceeded:
            return
        extra: dict[str, JSON] = {"ahead": True} if cause is None else {"cause": cause, "ahead": True}
        row = StepRow(self.id, 0, position, step.type, "skipped", now(), 0.0, out=step.out, reason=reason, extra=extra)
        frame.writer.end(FinishedStep(ticket, row, frame.nesting))

    async def run_on_fail_steps(
        self, failure: Failure, steps: Block, frame: Frame, where: str, decision: ControlDecision | None = None
    ) -> Failure | None:
        """Run an `on_fail` list, with `$error` bound in the frame's scope while it runs."""
        self.journal.flush()
        # No other step can read this `$error`: a step with an `on_fail` list binds it as far as `order` knows, so those
        # that read or bind it do not run beside this one.
        scope = frame.scope
        error = self._error_note(failure, where)
        decided = [ControlDecision(f"{where}.error", error), *([decision] if decision else [])]
        before = scope.own.get("error")
        scope.bind("error", error)
        second = await self.block(steps, frame.inner(prefix_in(where, "on_fail"), None, *decided))
        scope.restore("error", before)
        return second

    def _error_note(self, failure: Failure, where: str) -> str:
        """Return the id of the Note that `$error` is; an earlier part of the run may have made it."""
        record = self.record
        known = None if record is None else record.decision(f"{where}.error")
        if isinstance(known, str):
            return known
        context = self.space.context(CreatedBy(self.id, f"{where}.on_fail", "on_fail"), meter=self.meter)
        error = context.note(
            {"step": failure.position, "type": failure.type, "reason": failure.reason, "kind": failure.kind}
        )
        self.space.store.commit([MakeNote(error.id, error.content, created_by=error.created_by)])
        return error.id

    async def run_saved_plan(
        self, plan: Plan, scope: Scope, position: str, frame: Frame
    ) -> tuple[Failure | None, str | None]:
        """Run the steps of a saved plan in a scope of its own; return what fails, or the id of its last value."""
        latest = Latest()
        inner = frame.inner(prefix_in(position, "plan"), scope).on(frame.writer, latest)
        failure = await self.block(plan.steps, inner)
        return failure, latest.resource

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Do something that may take long, when there is room for it; raises Suspension once the run is halted."""
        async with self.slots:
            if self.halt.now:
                raise Suspension(())
            yield

    async def yield_to_loop(self) -> None:
        """Let others run, and a cancellation be heard, when they have not for a while."""
        if time.perf_counter() - self._last_yield > EVENT_LOOP_YIELD_SECONDS:
            await asyncio.sleep(0)
            self._last_yield = time.perf_counter()

    def emit(self, event: Event) -> None:
        """Hand an event to the listener of the run, as soon as the steps before it are in the journal."""
        self.journal.once_written(partial(self._emit, event))

    def emit_within_step(self, event: Event) -> None:
        """Hand on what a step tells while it runs: at once, since it may go on for long."""
        self.journal.try_to_flush()
        self.emit(event)

    def on_step_journalled(self, row: StepRow, nesting: int) -> None:
        """Take note of a step that ended and was journalled."""
        self.steps.append(row)
        self._emit(StepFinished(row, nesting))
