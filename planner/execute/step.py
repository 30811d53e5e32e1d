"""Executing one step. Its changes and its journal row are committed together, or not at all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from infospace.context.invoke import Outcome
from infospace.core.bounds import OutOfTime, check_time, ending
from infospace.core.clock import now
from infospace.core.errors import (
    BudgetExceeded,
    InfospaceError,
    InputRequired,
    NotFound,
    ReplayInterrupted,
    Unsupported,
)
from infospace.core.ids import Kind, kind_of
from infospace.core.json_types import JSON
from infospace.core.resources import Note
from infospace.data.result import truncate
from infospace.journal.rows import BROKEN_OFF, CANCELLED, StepRow
from infospace.store.changes import Change, GiveName
from planner.execute.arguments import digest
from planner.execute.control_flow import ControlFlow
from planner.execute.frame import Frame
from planner.execute.retry import FINAL, is_retryable
from planner.execute.step_state import StepState
from planner.execute.variables import Unbound, UnboundReason
from planner.journal.commit_order import ControlDecision, FinishedStep, StartedStep
from planner.journal.events import StepStarted
from planner.journal.failures import TIMEOUT, Failure, Stopped
from planner.journal.run_clock import at_end, decision_of
from planner.journal.suspension import Pending, Suspension
from planner.language.plan import Ask, Call, ForEach, If, Map, Parallel, Step, Stop, UnparsedStep, Wait, While, outs

if TYPE_CHECKING:
    from infospace.contract.decorator import Primitive
    from planner.execute.run import Run


CANCEL_GRACE_SECONDS = 60.0
"""Seconds in which the loop surely cancels what is to be cancelled."""


class StepExecution:
    """One execution of one step: from its begin in the journal, through its outcome, to what `on_fail` makes of it."""

    def __init__(self, run: Run, step: Step, frame: Frame, position: str, *, last: bool = True) -> None:
        self.should_retry = False
        """Whether it failed and is to be attempted once more."""
        self._last = last
        self._run = run
        self._step = step
        self._frame = frame
        self._scope = frame.scope
        self._position = position
        self._state = StepState(run, step, frame, position)
        self._context, self._resolver = self._state.context, self._state.resolver
        self._effects = run.effects(self._state)
        self._digest: bytes | None = None
        self._started = now()
        self._clock = time.perf_counter()
        self._duration = 0.0
        self._started_step: StartedStep | None = None
        self._handled_failure: Outcome | None = None
        """How the step failed, while its `on_fail` list runs."""
        self._only_computes = False
        """Whether it takes and makes Notes of its run alone, and nothing else happens."""

    async def run(self) -> Failure | None:
        """Execute, journal, bind, and handle a failure as the step says."""
        step, record = self._step, self._run.record
        if record is not None:
            self._state.recorded_row = record.row(self._position)
            reenters = isinstance(step.form, (If, While, Parallel)) or (
                # What stopped the run in a loop stops it again, as long as the run has not ended.
                isinstance(step.form, (ForEach, Map)) and record.stopped_inside(self._position)
            )
            if self._state.recorded_row is not None and not reenters:
                return await self._apply_recorded(self._state.recorded_row)
        self._only_computes = self._run.journal.may_defer and self._computes_notes()
        if not self._only_computes:
            self._run.journal.flush()
        try:
            self._begin()
        except BudgetExceeded as error:
            return Failure(self._position, step.type, str(error), error.kind)
        await self._run.yield_to_loop()
        recorded_failure = None
        if record is not None and not isinstance(step.form, (If, While, Parallel)):
            recorded_failure = record.decision(f"{self._position}!")
        try:
            outcome = (
                await self._run_within_timeout()
                if recorded_failure is None
                else self._failure_from_json(recorded_failure)
            )
        except Stopped as stop:
            self._journal(Outcome("success", value=str(stop)))
            raise
        except InputRequired as waiting:
            suspension = Suspension([Pending.to(waiting)])
            self._journal_suspension(suspension)
            raise suspension from waiting
        except Suspension as suspension:
            self._journal_suspension(suspension)
            raise
        return await self._finish(outcome)

    def _computes_notes(self) -> bool:
        """Whether the step only computes, from Notes, in the run's own order; what takes a Collection may take long."""
        run, step = self._run, self._step
        if self._frame.writer is not run.journal or step.name is not None or not run.order.only_computes(step):
            return False
        bound = (self._scope.bound(name) for name in run.order.unit(step).reads)
        return all(identifier is None or kind_of(identifier) is Kind.NOTE for identifier in bound)

    def _begin(self) -> None:
        """Count the execution, and tell that it begins; one that is gone through once more was counted before."""
        if self._state.recorded_row is not None:
            return
        step, record = self._step, self._run.record
        waiting = None if record is None else record.suspended(self._position)
        if waiting is None:
            ticket = StartedStep()
            self._frame.writer.begin(ticket)
        else:
            ticket = StartedStep(waiting.sequence, waiting.frames)
        self._started_step = ticket
        self._run.emit(StepStarted(self._position, step.type, step.out, self._frame.nesting))

    async def _finish(self, outcome: Outcome) -> Failure | None:
        step = self._step
        match outcome.status:
            case "success":
                if outcome.resource is not None:
                    self._bind_result(outcome.resource.id)
                if isinstance(step.form, Stop):
                    resource_id = None if outcome.resource is None else outcome.resource.id
                    raise Stopped(self._position, step.form.status, resource_id)
                return None
            case "skipped":
                self._journal(outcome)
                return None
        return await self._handle_failure(outcome)

    def _bind_result(self, identifier: str) -> None:
        """Bind what the step gave; it is the latest value of what it stands in."""
        if self._step.out is not None:
            self._scope.bind(self._step.out, identifier)
        self._frame.latest.resource = identifier

    async def _apply_recorded(self, row: StepRow) -> Failure | None:
        """Bind, lose and hand on what the execution did, as the journal has it."""
        step = self._step
        if row.status == "success":
            if row.resource is not None:
                self._bind_result(row.resource)
            if isinstance(step.form, Stop):
                raise Stopped(self._position, step.form.status, row.resource)
            return None
        if row.status == "skipped":
            blamed = str(row.extra.get("cause", self._position))
            self._mark_unbound(UnboundReason.of_skipped(self._position, blamed, row.reason or ""))
            return None
        if row.extra.get("retried"):
            self.should_retry = True
            return None
        return await self._handle_failure(Outcome("failed", reason=row.reason, error=row.error))

    async def _handle_failure(self, outcome: Outcome) -> Failure | None:
        """Do what `on_fail` says about the failure of the whole step; return the failure that remains."""
        step, on_fail = self._step, self._step.on_fail
        failure = Failure(self._position, step.type, outcome.reason or "", outcome.error or "failed")
        if not self._last and is_retryable(outcome, self._context):
            self.should_retry = True
            self._context.extra["retried"] = True
            self._journal(outcome, handled=True)
            return None
        if on_fail == "stop" or isinstance(step.form, (ForEach, Map)) or outcome.error in FINAL:
            self._journal(outcome)
            return failure
        if on_fail == "continue":
            self._journal(outcome, handled=True)
            self._mark_unbound(UnboundReason(self._position, f"step {self._position} failed and was passed over"))
            return None
        self._handled_failure = outcome
        self._duration = self._elapsed_ms()
        self._mark_unbound(
            UnboundReason(self._position, f"step {self._position} failed, and its `on_fail` does not bind it")
        )
        decision = ControlDecision(f"{self._position}!", self._failure_to_json(outcome))
        try:
            handler_failure = await self._run.run_on_fail_steps(failure, on_fail, self._frame, self._position, decision)
        except Stopped:
            self._journal(outcome, handled=True)
            raise
        self._journal(outcome, handled=handler_failure is None)
        return handler_failure

    def _failure_to_json(self, outcome: Outcome) -> JSON:
        """Return how the step failed, for whoever goes on with the run while its `on_fail` list is run."""
        read: list[JSON] = [[identifier, version] for identifier, version in self._context.uses.items()]
        failure_json: dict[str, JSON] = {"reason": outcome.reason, "error": outcome.error, "read": read}
        return {
            **failure_json,
            "extra": dict(self._context.extra),
            "digest": None if self._digest is None else self._digest.hex(),
        }

    def _failure_from_json(self, decision: Mapping[str, Any]) -> Outcome:
        """Fail as the step did whose `on_fail` list an earlier part of the run began."""
        for identifier, version in decision.get("read", ()):
            self._context.uses.add(str(identifier), int(version))
        self._context.extra |= decision.get("extra", {})
        self._digest = bytes.fromhex(decision["digest"]) if decision.get("digest") else None
        return Outcome("failed", reason=decision["reason"], error=decision["error"])

    def interrupted(self) -> None:
        """Journal that the step was cancelled."""
        if self._started_step is not None:
            self._journal(self._handled_failure or Outcome("failed", reason=BROKEN_OFF, error=CANCELLED))

    def _journal_suspension(self, suspension: Suspension) -> None:
        """Journal what the step itself waits for, or leaves; one that has a waiting step in it has nothing to say."""
        position, item_prefix = self._position, f"{self._position}["
        own = [
            pending
            for pending in suspension.pending
            if pending.step == position or pending.step.startswith(item_prefix)
        ]
        own = own if not isinstance(self._step.form, (If, While, Parallel, ForEach)) else []
        if own:
            self._context.extra["pending"] = own[0].to_json()
        if own or self._state.remaining is not None:
            self._journal(Outcome("suspended", value=own[0].question if own else self._state.remaining or ""))

    def _mark_unbound(self, cause: UnboundReason) -> None:
        for name in outs((self._step,)):
            self._scope.mark_unbound(name, cause)

    async def _run_within_timeout(self) -> Outcome:
        """Come to an outcome, committed, within the step's own time; that it ran out is a failure, without changes."""
        seconds = self._step.timeout_s
        if seconds is None:
            return await self._run_and_commit()
        try:
            async with asyncio.timeout(seconds) as limit:
                with ending(limit.when()):
                    return await self._run_and_commit()
        except TimeoutError:
            if not limit.expired():
                raise
        except ReplayInterrupted:
            row = None if self._run.replayed is None else self._run.replayed.row(self._position)
            if row is None or row.error != TIMEOUT:
                raise
        outcome = Outcome("failed", reason=f"it took longer than its `timeout_s` of {seconds:g} s", error=TIMEOUT)
        self._read_clock(outcome)
        return outcome

    def _read_clock(self, outcome: Outcome) -> None:
        """After a `wait` or an `ask` the clock is read, and that is journalled with it."""
        if isinstance(self._step.form, (Wait, Ask)) and outcome.status != "skipped":
            reading = self._run.reading_after(self._position, self._frame.clock)
            self._state.decided = (decision_of(at_end(self._position), reading),)

    async def _run_and_commit(self) -> Outcome:
        """Come to an outcome, and commit it where it is a success."""
        try:
            outcome = self._assign_name(await self._execute_form())
            self._read_clock(outcome)
            # Of a success nothing more is awaited until it is committed and bound. A cancellation comes at an await
            # alone: a step that is committed is never cancelled, and its time cannot run out after its commit.
            check_time()
            return self._commit(outcome)
        except OutOfTime:
            # What computes hears no cancellation. The timeout that ended, of the step or of the run, cancels this task
            # at its next await, which is this sleep.
            self._context.changes.clear()
            await asyncio.sleep(CANCEL_GRACE_SECONDS)
            raise

    async def _execute_form(self) -> Outcome:
        try:
            match self._step.form:
                case Call(arguments):
                    return await self._call(arguments)
                case UnparsedStep():
                    raise Unsupported(f"step {self._position} ({self._step.type}) cannot be run")
                case _:
                    return await ControlFlow(self._state, self._effects).execute(self._step.form)
        except Unbound as error:
            return self._skip(error)
        except InputRequired as missing:
            return self._effects.input_required(missing)
        except InfospaceError as error:
            return Outcome("failed", reason=str(error), error=error.kind)

    def _skip(self, error: Unbound) -> Outcome:
        cause = error.passed_on(self._position)
        self._mark_unbound(cause)
        self._context.extra["cause"] = cause.step
        return Outcome("skipped", reason=str(error), error=error.kind)

    def _assign_name(self, outcome: Outcome) -> Outcome:
        """Give the result of a success the step's name; a name that cannot be given fails the step."""
        if outcome.status != "success":
            return outcome
        try:
            if self._step.name is not None and outcome.resource is not None:
                name = self._resolver.value(self._step.name)
                if not isinstance(name, str):
                    return Outcome("failed", reason=f"unchecked: `name` is text, not {name!r:.60}", error="invalid")
                outcome = replace(
                    outcome, resource=self._context.name(outcome.resource, name, replace=self._step.replace)
                )
        except Unbound as error:
            return self._skip(error)
        except InputRequired as missing:
            return self._effects.input_required(missing)
        except InfospaceError as error:
            return Outcome("failed", reason=str(error), error=error.kind)
        return self._effects.succeeded(outcome)

    def _commit(self, outcome: Outcome) -> Outcome:
        """Commit a success with its changes. What the store refuses makes the step fail, without changes."""
        if outcome.status != "success":
            return outcome
        try:
            self._journal(outcome, changes=[self._claim_name(change) for change in self._context.changes])
        except InfospaceError as error:
            if not self._context.changes or isinstance(error, BudgetExceeded):
                raise
            return Outcome("failed", reason=str(error), error=error.kind)
        return outcome

    def _claim_name(self, change: Change) -> Change:
        over = isinstance(change, GiveName) and self._run.may_rename(change.name, self._position)
        return replace(change, replace=True) if over and isinstance(change, GiveName) else change

    def _journal(self, outcome: Outcome, changes: Sequence[Change] = (), *, handled: bool = False) -> None:
        """Commit the step's row, and with it its changes: all or nothing."""
        if self._state.recorded_row is not None or self._started_step is None:
            return
        row, frame = self._row(outcome, handled), self._frame
        decided = frame.decisions + self._state.clock_decisions + self._state.decided
        computed = None
        if self._only_computes and outcome.status == "success" and isinstance(outcome.resource, Note):
            computed = outcome.resource
        frame.writer.end(FinishedStep(self._started_step, row, frame.nesting, tuple(changes), decided, computed))

    def _elapsed_ms(self) -> float:
        return round((time.perf_counter() - self._clock) * 1000, 3)

    def _row(self, outcome: Outcome, handled: bool) -> StepRow:
        resource = outcome.resource
        extra = dict(self._context.extra)
        if handled:
            extra["handled"] = True
        # What only computes may be read before the journal has its row, also where it told nothing.
        if (extra or self._only_computes) and outcome.status == "success":
            self._run.extras[self._run.id, self._position] = extra
        return StepRow(
            run=self._run.id,
            sequence=0,  # whoever writes the row has that of the execution
            position=self._position,
            type=self._step.type,
            status=outcome.status,
            started=self._started,
            duration_ms=self._duration or self._elapsed_ms(),
            out=self._step.out,
            resource=None if resource is None else resource.id,
            version=None if resource is None else resource.version,
            value=outcome.value or truncate("\n".join(self._state.listener.spoken)),
            reason=outcome.reason,
            error=outcome.error,
            extra=extra,
            expect=self._step.expect,
            uses=self._context.uses.rows(),
            digest=self._digest,
            trace=outcome.trace,
        )

    async def _call(self, raw: Mapping[str, JSON]) -> Outcome:
        entry = self._run.space.catalogue.get(self._step.type)
        then = self._read_then(entry)
        try:
            arguments = self._resolver.arguments(entry, raw)
        except NotFound:
            if then is None:
                raise
            # What it was read by, such as its name, was taken away since.
            self._digest = then.digest
            return self._as_then(then)
        if entry.names is not None:
            arguments["replace"] = self._step.replace
        self._digest = digest(arguments)
        if then is not None:
            return self._as_then(then)
        return await self._effects.perform(entry, arguments, self._context)

    def _read_then(self, entry: Primitive) -> StepRow | None:
        """Return the record of what the step read, where a replay takes it from there."""
        if not self._run.recorded or entry.effect != "reads" or self._run.replayed is None:
            return None
        row = self._run.replayed.row(self._position)
        return row if row is not None and row.resource is not None and row.type == self._step.type else None

    def _as_then(self, then: StepRow) -> Outcome:
        identifier, counterparts = then.resource or "", self._run.meter.counterparts
        # What the run made itself, the replay has made anew: that was read.
        result = self._context.get(identifier if counterparts is None else counterparts.later(identifier))
        return Outcome("success", result, then.value)
