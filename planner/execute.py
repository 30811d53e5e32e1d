"""Executing one step. Its changes and its journal row are committed together, or not at all."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from infospace.answer import cut
from infospace.clock import now
from infospace.contract import Primitive
from infospace.errors import InfospaceError, Invalid, Unsupported
from infospace.faults import ArgumentsInvalid
from infospace.ids import kind_of
from infospace.jsonvalue import JSON
from infospace.memory.changes import Change, MakeNote
from infospace.perform import BUG, Outcome, perform
from infospace.resources import Collection, Made, Member, Resource, is_resource
from infospace.runs.journal import StepRow, Use
from infospace.view import Infospace
from planner.check_call import item_slot
from planner.decide import Judge
from planner.events import StepStarted
from planner.failure import Exhausted, Failure, sentence
from planner.plan import Block, Call, ForEach, If, Map, Step, Unread, collected, outs
from planner.resolve import Resolver, digest
from planner.results import Results
from planner.scope import Cause, Scope, Unbound
from planner.voices import Voices

if TYPE_CHECKING:
    from planner.run import Run

FINAL = (BUG, Exhausted.kind)
"""Kinds of failure that no `on_fail` handles."""


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
        outcome = self._committed(self._named(await self._outcome()))
        match outcome.status:
            case "success":
                if step.out is not None and outcome.resource is not None:
                    self._scope.bind(step.out, outcome.resource.id)
                return None
            case "skipped":
                self._journal(outcome)
                return None
        return await self._failed(outcome)

    async def _failed(self, outcome: Outcome) -> Failure | None:
        """Do what `on_fail` says about the failure of the whole step; return the failure that remains."""
        step, on_fail = self._step, self._step.on_fail
        failure = Failure(self._position, step.type, outcome.reason or "", outcome.error or "failed")
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
        second = await self._handle(failure, on_fail, self._scope, f"{self._position}.on_fail.")
        self._journal(outcome, handled=second is None)
        return second

    def interrupted(self) -> None:
        """Journal that the step was cancelled."""
        if self._sequence:
            self._journal(self._open or Outcome("failed", reason="the step was broken off", error="cancelled"))

    def _lose(self, cause: Cause) -> None:
        for name in outs((self._step,)):
            self._scope.lose(name, cause)

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
                case Unread():
                    raise Unsupported(f"step {self._position} could not be read")
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

    # Forms

    async def _call(self, raw: Mapping[str, JSON]) -> Outcome:
        entry = self._run.space.catalogue.get(self._step.type)
        arguments = self._resolver.arguments(entry, raw)
        self._digest = digest(arguments)
        return await _validated(entry, arguments, self._view)

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
        collect = collected(form)
        for index, member in enumerate(items):
            inner = Scope(self._scope)
            inner.bind(form.as_, member.id)
            prefix = f"{self._position}.do[{index + 1}]."
            failure = await self._run.block(form.do, inner, prefix, self._nesting + 1)
            if failure is None:
                found = inner.own.get(collect) if collect is not None else None
                cause = inner.causes.get(collect) if collect is not None and found is None else None
                results.add(index, member.id, self._made(found), None if cause is None else str(cause))
                continue
            ended = await self._recover(failure, inner, index, collect, results, member)
            if ended is not None:
                return ended
        return self._collected(results, len(items))

    async def _map(self, form: Map) -> Outcome:
        items = self._items(form.target)
        entry = self._run.space.catalogue.get(form.operation)
        results = Results(self._view, form.filter_null)
        for index, member in enumerate(items):
            await self._run.breathe()
            inner = Scope(self._scope)
            inner.bind("item", member.id)
            where = f"{self._position}[{index + 1}]"
            view = self._run.space.view(Made(self._run.id, where, entry.type), self._voices)
            outcome = await self._one(entry, form.arguments, member, inner, view)
            self._view.uses.update(view.uses)
            if outcome.status == "success":
                self._view.absorb(view)
                results.add(index, member.id, outcome.resource)
                continue
            failure = Failure(where, entry.type, outcome.reason or "", outcome.error or "failed")
            ended = await self._recover(failure, inner, index, self._step.out, results, member)
            if ended is not None:
                return replace(ended, trace=outcome.trace)
        return self._collected(results, len(items))

    @staticmethod
    async def _one(entry: Primitive, raw: Mapping[str, JSON], member: Member, scope: Scope, view: Infospace) -> Outcome:
        """Perform the operation of `map` for one item; raises Unbound, for which the whole step is skipped."""
        resolver = Resolver(view, scope)
        try:
            arguments = resolver.arguments(entry, raw)
            slot = item_slot(entry, raw, frozenset({kind_of(member.id)}))
            if slot is not None:
                arguments[slot] = resolver.resource("$item")
        except Unbound:
            raise
        except InfospaceError as error:
            return Outcome("failed", reason=str(error), error=error.kind)
        return await _validated(entry, arguments, view)

    async def _recover(
        self, failure: Failure, inner: Scope, index: int, collect: str | None, results: Results, member: Member
    ) -> Outcome | None:
        """Do what `on_fail` says about a failing item; return the outcome of the whole step where it ends it."""
        on_fail = self._step.on_fail
        if on_fail == "stop" or failure.kind in FINAL:
            return Outcome("failed", reason=f"item {index + 1} ({member.id}): {sentence(failure)}", error=failure.kind)
        if isinstance(on_fail, tuple):
            before = inner.own.get(self._item_name())
            if collect is not None and collect != self._item_name():
                inner.own.pop(collect, None)
            second = await self._handle(failure, on_fail, inner, f"{self._position}[{index + 1}].on_fail.")
            if second is not None and second.kind in FINAL:
                return Outcome("failed", reason=sentence(second), error=second.kind)
            supplied = inner.own.get(collect) if collect is not None else None
            if second is None and supplied is not None and (supplied != before or collect != self._item_name()):
                results.add(index, member.id, self._made(supplied))
                return None
        results.fail(index, member.id, sentence(failure))
        return None

    def _item_name(self) -> str:
        return self._step.form.as_ if isinstance(self._step.form, ForEach) else "item"

    def _made(self, identifier: str | None) -> Resource | None:
        return None if identifier is None else self._view.get(identifier)

    def _items(self, raw: JSON) -> tuple[Member, ...]:
        found = self._resolver.resource(raw)
        if not isinstance(found, Collection):
            raise Invalid(f"unchecked: `target` is {_what(found)}, not a Collection")
        return found.members

    def _collected(self, results: Results, count: int) -> Outcome:
        made = self._view.collection(results.members)
        self._view.extra |= {"item_count": count, "failed": results.failed}
        return Outcome("success", made, self._view.preview(made))


async def _validated(entry: Primitive, arguments: Mapping[str, Any], view: Infospace) -> Outcome:
    try:
        args = entry.validate(arguments)
    except ArgumentsInvalid as error:
        return Outcome("failed", reason=f"unchecked: {error}", error=error.kind)
    return await perform(entry, args, view)


def _what(found: Resource | JSON) -> str:
    return f"{found.id}, a {found.kind}" if is_resource(found) else f"{found!r:.60}"
