"""Executing the control forms."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Literal, cast

from infospace.errors import InfospaceError, Invalid, NotFound, Unsupported
from infospace.ids import kind_of
from infospace.jsonvalue import JSON
from infospace.perform import Outcome
from infospace.resources import Collection, Made, Member, Resource, is_resource
from infospace.view import Infospace
from planner.calls import FINAL, called, may_repeat, validated
from planner.check_call import item_slot
from planner.decide import Judge
from planner.execute import Execution
from planner.failure import Failure, Stopped, sentence
from planner.plan import ForEach, Form, If, Map, Parallel, Plan, Saved, Stop, ToolCall, Wait, While, collected
from planner.references import Reference, read_text
from planner.resolve import Resolver
from planner.results import Results
from planner.retrying import pause
from planner.schemas import misfit
from planner.scope import Scope, Unbound

LONGEST_SLEEP = 60
"""Seconds that a `wait` just sleeps; a longer one suspends the run."""


class FormExecution(Execution):
    """One execution of one step, which may be a control form."""

    async def _form(self, form: Form) -> Outcome:
        match form:
            case If():
                return await self._if(form)
            case While():
                return await self._while(form)
            case ForEach():
                return await self._for_each(form)
            case Map():
                return await self._map(form)
            case Parallel():
                return await self._parallel(form)
            case Wait():
                return await self._wait(form)
            case Stop():
                return self._stop(form)
            case ToolCall(tool, arguments):
                return await called(self._view, self._resolver, tool, dict(arguments))
            case Saved():
                return await self._saved(form)
        raise Unsupported(f"step {self._position} ({self._step.type}) cannot be run")

    async def _if(self, form: If) -> Outcome:
        holds = await Judge(self._view, self._resolver).holds(form.condition)
        word: Literal["then", "else"] = "then" if holds else "else"
        steps = form.then if holds else form.otherwise
        failure = await self._run.block(steps, self._scope, f"{self._position}.{word}.", self._nesting + 1)
        if failure is not None:
            return Outcome("failed", reason=sentence(failure), error=failure.kind)
        return Outcome("success", value=word if steps else f"{word}: nothing to do")

    async def _while(self, form: While) -> Outcome:
        judge, count = Judge(self._view, self._resolver), 0
        while await judge.holds(form.condition):
            if count >= form.max_iterations:
                reason = f"its condition still holds after {count:,} iterations, which `max_iterations` allows"
                return Outcome("failed", reason=reason, error="iterations")
            count += 1
            await self._run.breathe()
            prefix = f"{self._position}.body[{count}]."
            failure = await self._run.block(form.body, self._scope, prefix, self._nesting + 1)
            if failure is not None:
                return Outcome("failed", reason=f"iteration {count:,}: {sentence(failure)}", error=failure.kind)
        self._view.extra["iterations"] = count
        return Outcome("success", value=f"{count:,} iteration{'' if count == 1 else 's'}")

    async def _parallel(self, form: Parallel) -> Outcome:
        scopes = [Scope(self._scope) for _ in form.branches]
        for index, (branch, scope) in enumerate(zip(form.branches, scopes, strict=True)):
            prefix = f"{self._position}.branches[{index + 1}]."
            failure = await self._run.block(branch, scope, prefix, self._nesting + 1)
            if failure is not None:
                return Outcome("failed", reason=sentence(failure), error=failure.kind)
        for scope in scopes:
            for name, identifier in scope.own.items():
                self._scope.bind(name, identifier)
            for name, cause in scope.causes.items():
                self._scope.lose(name, cause)
        return Outcome("success", value=f"{len(form.branches)} branches")

    async def _wait(self, form: Wait) -> Outcome:
        if form.condition is not None:
            if await Judge(self._view, self._resolver).holds(form.condition):
                return Outcome("success", value="its condition holds")
            raise Unsupported("its condition does not hold, and this version cannot suspend a run")
        seconds = self._resolver.value(form.seconds)
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds < 0:
            raise Invalid(f"unchecked: `seconds` is a number from 0, not {seconds!r:.40}")
        if seconds > LONGEST_SLEEP:
            raise Unsupported(f"this version waits {LONGEST_SLEEP} seconds at most, not {seconds:g}")
        await asyncio.sleep(seconds)
        return Outcome("success", value=f"{seconds:g} s")

    def _stop(self, form: Stop) -> Outcome:
        if form.value is None:
            return Outcome("success", value=form.status)
        if isinstance(form.value, str) and isinstance(read_text(form.value), Reference):
            found = self._resolver.resource(form.value)
        else:
            found = self._resolver.value(form.value)
        answer = found if is_resource(found) else self._view.note(cast("JSON", found))
        return Outcome("success", answer, self._view.preview(answer))

    async def _saved(self, form: Saved) -> Outcome:
        plan = self._run.plans.get(form.name)
        if plan is None:
            raise NotFound(f"there is no saved plan {form.name!r}")
        scope = Scope()
        for name, resource in self._inputs(form, plan).items():
            scope.bind(name, resource.id)
        self._run.space.store.commit(self._view.changes)
        self._view.changes.clear()
        try:
            failure, last = await self._run.called(plan, scope, self._position, self._nesting + 1)
        except Stopped as stop:
            if stop.status == "failed":
                return Outcome("failed", reason=f"the saved plan {form.name!r}: {stop}", error="stopped")
            return self._answer(None if stop.resource is None else self._view.get(stop.resource))
        if failure is not None:
            return Outcome("failed", reason=f"the saved plan {form.name!r}: {sentence(failure)}", error=failure.kind)
        if plan.result is None:
            return self._answer(None if last is None else self._view.get(last))
        try:
            found = Resolver(self._view, scope).resource(plan.result)
        except Unbound as error:
            return Outcome("failed", reason=f"the saved plan {form.name!r} has no result: {error}", error=error.kind)
        return self._answer(found if is_resource(found) else self._view.note(cast("JSON", found)))

    def _answer(self, resource: Resource | None) -> Outcome:
        """Give what a saved plan answers with; a null Note where it has no answer."""
        answer = self._view.note(None) if resource is None else resource
        return Outcome("success", answer, self._view.preview(answer))

    def _inputs(self, form: Saved, plan: Plan) -> dict[str, Resource]:
        """Resolve the arguments of a saved plan, each as its input is declared."""
        found: dict[str, Resource] = {}
        for name, declared in plan.inputs.items():
            written = name in form.arguments
            raw = form.arguments[name] if written else declared.default
            if declared.kind is not None:
                resource = self._resolver.resource(raw)
                if not is_resource(resource) or resource.kind != declared.kind:
                    raise Invalid(f"unchecked: the input {name!r} is {_what(resource)}, not a {declared.kind}")
                found[name] = resource
                continue
            value = self._resolver.value(raw) if written else raw
            fault = misfit(value, declared.schema or {})
            if fault is not None:
                raise Invalid(f"unchecked: the input {name!r} does not fit: {fault}")
            found[name] = self._view.note(value)
        return found

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
        results = Results(self._view, form.filter_null)
        for index, member in enumerate(items):
            await self._run.breathe()
            inner = Scope(self._scope)
            inner.bind("item", member.id)
            where = f"{self._position}[{index + 1}]"
            outcome, view = await self._attempts(form, member, inner, where)
            if outcome.status == "success":
                self._view.absorb(view)
                results.add(index, member.id, outcome.resource)
                continue
            failure = Failure(where, form.operation, outcome.reason or "", outcome.error or "failed")
            ended = await self._recover(failure, inner, index, self._step.out, results, member)
            if ended is not None:
                return replace(ended, trace=outcome.trace)
        return self._collected(results, len(items))

    async def _attempts(self, form: Map, member: Member, scope: Scope, where: str) -> tuple[Outcome, Infospace]:
        """Perform the operation of `map` for one item, again while it fails and `retry` has attempts left."""
        retry, attempt = self._step.retry, 1
        while True:
            view = self._view.inner(Made(self._run.id, where, form.operation))
            outcome = await self._one(form, member, scope, view)
            self._view.uses.update(view.uses)
            last = retry is None or attempt >= retry.attempts
            if outcome.status == "success" or last or not may_repeat(outcome, view):
                return outcome, view
            await pause(retry, attempt)
            attempt += 1

    async def _one(self, form: Map, member: Member, scope: Scope, view: Infospace) -> Outcome:
        """Perform the operation of `map` for one item; raises Unbound, for which the whole step is skipped."""
        resolver = Resolver(view, scope)
        try:
            if "/" in form.operation:
                return await called(view, resolver, form.operation, form.arguments.get("arguments", {}))
            entry = self._run.space.catalogue.get(form.operation)
            arguments = resolver.arguments(entry, form.arguments)
            slot = item_slot(entry, form.arguments, frozenset({kind_of(member.id)}))
            if slot is not None:
                arguments[slot] = resolver.resource("$item")
        except Unbound:
            raise
        except InfospaceError as error:
            return Outcome("failed", reason=str(error), error=error.kind)
        return await validated(entry, arguments, view)

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


def _what(found: Resource | JSON) -> str:
    return f"{found.id}, a {found.kind}" if is_resource(found) else f"{found!r:.60}"
