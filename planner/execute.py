"""Executing one step. Its changes and its journal row are committed together, or not at all."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from infospace.answer import cut
from infospace.clock import now
from infospace.errors import InfospaceError, Unsupported
from infospace.jsonvalue import JSON
from infospace.memory.changes import Change, MakeNote
from infospace.perform import Outcome
from infospace.resources import Made
from infospace.runs.journal import StepRow, Use
from planner.calls import FINAL, may_repeat, validated
from planner.events import StepStarted
from planner.failure import Exhausted, Failure, Stopped
from planner.plan import Ask, Block, Call, ForEach, Form, Map, Step, Stop, Unread, outs
from planner.resolve import Resolver, digest
from planner.scope import Cause, Scope, Unbound
from planner.voices import Voices

if TYPE_CHECKING:
    from planner.run import Run


class Execution(ABC):
    """One execution of one step. The control forms are in `execute_forms`."""

    def __init__(self, run: Run, step: Step, scope: Scope, position: str, nesting: int, *, last: bool = True) -> None:
        self.again = False
        """Whether it failed and is to be attempted once more."""
        self._last = last
        self._run = run
        self._step = step
        self._scope = scope
        self._position = position
        self._nesting = nesting
        self._voices = Voices(run.emit, position)
        self._view = run.space.view(Made(run.id, position, step.type), self._voices, meter=run.meter)
        self._resolver = Resolver(self._view, scope)
        self._digest: bytes | None = None
        self._started = now()
        self._clock = time.perf_counter()
        self._duration = 0.0
        self._sequence = 0
        self._open: Outcome | None = None
        """How the step failed, while its `on_fail` list runs."""

    async def run(self) -> Failure | None:
        """Execute, journal, bind, and handle a failure as the step says."""
        step = self._step
        try:
            self._sequence = self._run.next_sequence()
        except Exhausted as error:
            return Failure(self._position, step.type, str(error), error.kind)
        self._run.emit(StepStarted(self._sequence, self._position, step.type, step.out, self._nesting))
        await self._run.breathe()
        try:
            outcome = self._committed(self._named(await self._in_time()))
        except Stopped as stop:
            self._journal(Outcome("success", value=str(stop)))
            raise
        match outcome.status:
            case "success":
                if step.out is not None and outcome.resource is not None:
                    self._scope.bind(step.out, outcome.resource.id)
                if isinstance(step.form, Stop):
                    answer = None if outcome.resource is None else outcome.resource.id
                    raise Stopped(self._position, step.form.status, answer)
                return None
            case "skipped":
                self._journal(outcome)
                return None
        return await self._failed(outcome)

    async def _failed(self, outcome: Outcome) -> Failure | None:
        """Do what `on_fail` says about the failure of the whole step; return the failure that remains."""
        step, on_fail = self._step, self._step.on_fail
        failure = Failure(self._position, step.type, outcome.reason or "", outcome.error or "failed")
        if not self._last and may_repeat(outcome, self._view):
            self.again = True
            self._view.extra["retried"] = True
            self._journal(outcome, handled=True)
            return None
        if on_fail == "stop" or isinstance(step.form, (ForEach, Map)) or outcome.error in FINAL:
            self._journal(outcome)
            return failure
        if on_fail == "continue":
            self._journal(outcome, handled=True)
            self._lose(Cause(self._position, f"step {self._position} failed and was passed over"))
            return None
        self._open = outcome
        self._duration = round((time.perf_counter() - self._clock) * 1000, 3)
        self._lose(Cause(self._position, f"step {self._position} failed, and its `on_fail` does not bind it"))
        try:
            second = await self._handle(failure, on_fail, self._scope, f"{self._position}.on_fail.")
        except Stopped:
            self._journal(outcome, handled=True)
            raise
        self._journal(outcome, handled=second is None)
        return second

    def interrupted(self) -> None:
        """Journal that the step was cancelled."""
        if self._sequence:
            self._journal(self._open or Outcome("failed", reason="the step was broken off", error="cancelled"))

    def _lose(self, cause: Cause) -> None:
        for name in outs((self._step,)):
            self._scope.lose(name, cause)

    async def _in_time(self) -> Outcome:
        """Come to an outcome within the step's own time; that it ran out is a failure."""
        seconds = self._step.timeout_s
        if seconds is None:
            return await self._outcome()
        try:
            async with asyncio.timeout(seconds) as limit:
                return await self._outcome()
        except TimeoutError:
            if not limit.expired():
                raise
            return Outcome("failed", reason=f"it took longer than its `timeout_s` of {seconds:g} s", error="timeout")

    async def _outcome(self) -> Outcome:
        try:
            match self._step.form:
                case Call(arguments):
                    return await self._call(arguments)
                case Unread() | Ask():
                    raise Unsupported(f"step {self._position} ({self._step.type}) cannot be run")
                case _:
                    return await self._form(self._step.form)
        except Unbound as error:
            return self._skipped(error)
        except InfospaceError as error:
            return Outcome("failed", reason=str(error), error=error.kind)

    def _skipped(self, error: Unbound) -> Outcome:
        cause = error.passed_on(self._position)
        self._lose(cause)
        self._view.extra["cause"] = cause.step
        return Outcome("skipped", reason=str(error), error=error.kind)

    def _named(self, outcome: Outcome) -> Outcome:
        if outcome.status != "success" or self._step.name is None or outcome.resource is None:
            return outcome
        try:
            name = self._resolver.value(self._step.name)
            if not isinstance(name, str):
                return Outcome("failed", reason=f"unchecked: `name` is text, not {name!r:.60}", error="invalid")
            self._view.name(outcome.resource, name, replace=self._step.replace)
        except Unbound as error:
            return self._skipped(error)
        except InfospaceError as error:
            return Outcome("failed", reason=str(error), error=error.kind)
        return outcome

    def _committed(self, outcome: Outcome) -> Outcome:
        """Commit a success with its changes. What the store refuses makes the step fail, without changes."""
        if outcome.status != "success":
            return outcome
        try:
            self._journal(outcome, changes=self._view.changes)
        except InfospaceError as error:
            if not self._view.changes:
                raise
            return Outcome("failed", reason=str(error), error=error.kind)
        return outcome

    def _journal(self, outcome: Outcome, changes: Sequence[Change] = (), *, handled: bool = False) -> None:
        """Commit the step's row, and with it its changes: all or nothing."""
        if not self._duration:
            self._duration = round((time.perf_counter() - self._clock) * 1000, 3)
        row = self._row(outcome, handled)
        self._run.space.store.commit(changes, [row])
        self._run.ended(row, self._nesting)

    def _row(self, outcome: Outcome, handled: bool) -> StepRow:
        resource = outcome.resource
        extra = dict(self._view.extra)
        if handled:
            extra["handled"] = True
        return StepRow(
            run=self._run.id,
            sequence=self._sequence,
            position=self._position,
            type=self._step.type,
            status=outcome.status,
            started=self._started,
            duration_ms=self._duration,
            out=self._step.out,
            resource=None if resource is None else resource.id,
            version=None if resource is None else resource.version,
            value=outcome.value or cut("\n".join(self._voices.spoken)),
            reason=outcome.reason,
            error=outcome.error,
            extra=extra,
            expect=self._step.expect,
            uses=[Use(identifier, version) for identifier, version in self._view.uses.items()],
            digest=self._digest,
            trace=outcome.trace,
        )

    async def _handle(self, failure: Failure, steps: Block, scope: Scope, prefix: str) -> Failure | None:
        """Run an `on_fail` list in a scope, with `$error` bound while it runs."""
        store = self._run.space.store
        view = self._run.space.view(Made(self._run.id, prefix.rstrip("."), "on_fail"))
        error = view.note(
            {"step": failure.position, "type": failure.type, "reason": failure.reason, "kind": failure.kind}
        )
        store.commit([MakeNote(error.id, error.content, made=error.made)])
        before = scope.own.get("error")
        scope.bind("error", error.id)
        second = await self._run.block(steps, scope, prefix, self._nesting + 1)
        if before is None:
            scope.own.pop("error", None)
        else:
            scope.bind("error", before)
        return second

    async def _call(self, raw: Mapping[str, JSON]) -> Outcome:
        entry = self._run.space.catalogue.get(self._step.type)
        arguments = self._resolver.arguments(entry, raw)
        if entry.names is not None:
            arguments["replace"] = self._step.replace
        self._digest = digest(arguments)
        return await validated(entry, arguments, self._view)

    @abstractmethod
    async def _form(self, form: Form) -> Outcome:
        """Execute a control form. Raises Unbound, for which the step is skipped."""
