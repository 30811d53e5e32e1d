"""Executing one step. Its changes and its journal row are committed together, or not at all."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from infospace.answer import cut
from infospace.clock import now
from infospace.errors import InfospaceError, Invalid
from infospace.jsonvalue import JSON
from infospace.memory.changes import MakeNote
from infospace.perform import BUG, Outcome, call
from infospace.resources import Collection, Made, Member
from infospace.runs.journal import StepRow, Use
from infospace.view import Infospace, Speech
from planner.check import last_out
from planner.check_call import first_resource
from planner.decide import Judge
from planner.events import Emit, Event, Progressed, Spoke, StepStarted
from planner.failure import Exhausted, Failure, sentence
from planner.plan import Block, Call, ForEach, If, Map, Step
from planner.resolve import Resolver, digest
from planner.results import Results
from planner.scope import Scope, Unbound

if TYPE_CHECKING:
    from planner.run import Run


class Voices:
    """Passes what a step says to the run's events, from whatever thread it comes."""

    def __init__(self, emit: Emit, position: str) -> None:
        self._emit = emit
        self._position = position
        self._thread = threading.get_ident()
        self._loop = asyncio.get_running_loop()
        self.spoken: list[str] = []

    def speech(self, kind: Speech, text: str) -> None:
        """Pass on something said."""
        self.spoken.append(text)
        self._send(Spoke(kind, self._position, text))

    def progress(self, done: int, total: int, what: str) -> None:
        """Pass on how far it has come."""
        self._send(Progressed(self._position, done, total, what))

    def _send(self, event: Event) -> None:
        if threading.get_ident() == self._thread:
            self._emit(event)
        else:
            self._loop.call_soon_threadsafe(self._emit, event)


class Execution:
    """One execution of one step."""

    def __init__(self, run: Run, step: Step, scope: Scope, position: str, nesting: int) -> None:
        self._run = run
        self._step = step
        self._scope = scope
        self._position = position
        self._nesting = nesting
        self._voices = Voices(run.emit, position)
        self._view = run.space.view(Made(run.id, position, step.type), self._voices)
        self._resolver = Resolver(self._view, scope)
        self._digest: bytes | None = None
        self._started = now()
        self._clock = time.perf_counter()
        self._sequence = 0

    async def run(self) -> Failure | None:
        """Execute, journal, bind, and handle a failure as the step says."""
        step = self._step
        try:
            self._sequence = self._run.next_sequence()
        except Exhausted as error:
            return Failure(self._position, step.type, str(error), error.kind)
        self._run.emit(StepStarted(self._sequence, self._position, step.type, step.out, self._nesting))
        await asyncio.sleep(0)
        outcome = await self._outcome()
        if outcome.status == "success":
            outcome = self._name(outcome)
        handled = outcome.status == "failed" and step.on_fail != "stop" and outcome.error not in (BUG, Exhausted.kind)
        if isinstance(step.form, (ForEach, Map)):
            handled = False
        outcome = self._commit(outcome, handled)
        match outcome.status:
            case "success":
                if step.out is not None and outcome.resource is not None:
                    self._scope.bind(step.out, outcome.resource.id)
                return None
            case "skipped":
                self._lose(f"step {self._position} was skipped")
                return None
        failure = Failure(self._position, step.type, outcome.reason or "", outcome.error or "failed")
        if not handled:
            return failure
        if isinstance(step.on_fail, tuple):
            return await self._handle(failure, step.on_fail, self._scope, f"{self._position}.on_fail.")
        self._lose(f"step {self._position} failed and was passed over")
        return None

    def interrupted(self) -> None:
        """Journal that the step was cancelled."""
        if self._sequence:
            self._commit(Outcome("failed", reason="the run was cancelled", error="cancelled"), handled=False)

    def _lose(self, cause: str) -> None:
        if self._step.out is not None:
            self._scope.lose(self._step.out, cause)

    async def _outcome(self) -> Outcome:
        try:
            match self._step.form:
                case Call(arguments):
                    return await self._call(arguments)
                case If():
                    return await self._if(self._step.form)
                case ForEach():
                    return await self._for_each(self._step.form)
                case Map():
                    return await self._map(self._step.form)
        except Unbound as error:
            return Outcome("skipped", reason=str(error), error=error.kind)
        except InfospaceError as error:
            return Outcome("failed", reason=str(error), error=error.kind)

    def _name(self, outcome: Outcome) -> Outcome:
        if self._step.name is None or outcome.resource is None:
            return outcome
        try:
            name = self._resolver.value(self._step.name)
            if not isinstance(name, str):
                return Outcome("failed", reason=f"unchecked: `name` is text, not {name!r:.60}", error="invalid")
            self._view.name(outcome.resource, name, replace=self._step.replace)
        except Unbound as error:
            return Outcome("skipped", reason=str(error), error=error.kind)
        except InfospaceError as error:
            return Outcome("failed", reason=str(error), error=error.kind)
        return outcome

    def _commit(self, outcome: Outcome, handled: bool) -> Outcome:
        """Commit changes and row. A change that the store refuses makes the step fail, without changes."""
        store = self._run.space.store
        changes = self._view.changes if outcome.status == "success" else []
        row = self._row(outcome, handled)
        try:
            store.commit(changes, [row])
        except InfospaceError as error:
            if not changes:
                raise
            outcome = Outcome("failed", reason=str(error), error=error.kind)
            step = self._step
            handled = step.on_fail != "stop" and not isinstance(step.form, (ForEach, Map))
            row = self._row(outcome, handled)
            store.commit([], [row])
        self._run.ended(row, self._nesting)
        return outcome

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
            status=outcome.status if outcome.status != "suspended" else "failed",
            started=self._started,
            duration_ms=round((time.perf_counter() - self._clock) * 1000, 3),
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

    # Forms

    async def _call(self, raw: Mapping[str, JSON]) -> Outcome:
        entry = self._run.space.catalogue.get(self._step.type)
        arguments = self._resolver.arguments(entry, raw)
        self._digest = digest(arguments)
        return await call(entry, arguments, self._view)

    async def _if(self, form: If) -> Outcome:
        holds = Judge(self._view, self._resolver).holds(form.condition)
        word: Literal["then", "else"] = "then" if holds else "else"
        steps = form.then if holds else form.otherwise
        failure = await self._run.block(steps, self._scope, f"{self._position}.{word}.", self._nesting + 1)
        if failure is not None:
            return Outcome("failed", reason=sentence(failure), error=failure.kind)
        return Outcome("success", value=word if steps else f"{word}: nothing to do")

    async def _for_each(self, form: ForEach) -> Outcome:
        items = self._items(form.target)
        results = Results(self._view, form.filter_null)
        collect = form.collect or last_out(form.do)
        for index, member in enumerate(items):
            inner = Scope(self._scope)
            inner.bind(form.as_, member.id)
            prefix = f"{self._position}.do[{index + 1}]."
            failure = await self._run.block(form.do, inner, prefix, self._nesting + 1)
            if failure is not None:
                recovered = await self._recover(failure, inner, index, collect, results, member)
                if isinstance(recovered, Outcome):
                    return recovered
                if not recovered:
                    continue
            found = inner.own.get(collect) if collect is not None else None
            resource = None if found is None else self._view.get(found)
            results.add(index, member.id, resource)
        return self._collected(results, len(items))

    async def _map(self, form: Map) -> Outcome:
        items = self._items(form.target)
        entry = self._run.space.catalogue.get(form.operation)
        slot = first_resource(entry)
        results = Results(self._view, form.filter_null)
        for index, member in enumerate(items):
            inner = Scope(self._scope)
            inner.bind("item", member.id)
            view = self._run.space.view(Made(self._run.id, f"{self._position}[{index + 1}]", entry.type), self._voices)
            outcome = await self._one(entry, form.arguments, slot, inner, view)
            self._view.uses.update(view.uses)
            if outcome.status == "success":
                self._view.absorb(view)
                results.add(index, member.id, outcome.resource)
                continue
            where = f"{self._position}[{index + 1}]"
            failure = Failure(where, entry.type, outcome.reason or "", outcome.error or "failed")
            recovered = await self._recover(failure, inner, index, self._step.out, results, member)
            if isinstance(recovered, Outcome):
                return replace(recovered, trace=outcome.trace)
            if recovered:
                found = inner.own.get(self._step.out or "")
                results.add(index, member.id, None if found is None else self._view.get(found))
        return self._collected(results, len(items))

    @staticmethod
    async def _one(entry: Any, raw: Mapping[str, JSON], slot: str | None, scope: Scope, view: Infospace) -> Outcome:
        resolver = Resolver(view, scope)
        try:
            arguments = resolver.arguments(entry, raw)
            if slot is not None and slot not in arguments:
                arguments[slot] = resolver.resource("$item")
        except InfospaceError as error:
            return Outcome("failed", reason=str(error), error=error.kind)
        return await call(entry, arguments, view)

    async def _recover(
        self, failure: Failure, inner: Scope, index: int, collect: str | None, results: Results, member: Member
    ) -> Outcome | bool:
        """Do what `on_fail` says about a failing item.

        Return the failed outcome of the whole step, False where the item is recorded as failed, True where
        an `on_fail` list supplied its result.
        """
        on_fail = self._step.on_fail
        if on_fail == "stop" or failure.kind in (BUG, Exhausted.kind):
            return Outcome("failed", reason=f"item {index + 1} ({member.id}): {sentence(failure)}", error=failure.kind)
        if isinstance(on_fail, tuple):
            if collect is not None:
                inner.own.pop(collect, None)
            prefix = f"{self._position}[{index + 1}].on_fail."
            second = await self._handle(failure, on_fail, inner, prefix)
            if second is None and collect is not None and collect in inner.own:
                return True
        results.fail(index, member.id, sentence(failure))
        return False

    def _items(self, raw: JSON) -> tuple[Member, ...]:
        found = self._resolver.resource(raw)
        if not isinstance(found, Collection):
            raise Invalid(f"unchecked: `target` is a Collection, and {raw!r:.60} is not one")
        return found.members

    def _collected(self, results: Results, count: int) -> Outcome:
        made = self._view.collection(results.members)
        self._view.extra |= {"item_count": count, "failed": results.failed}
        self._digest = None
        return Outcome("success", made, self._view.preview(made))
