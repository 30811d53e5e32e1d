"""Executing the control forms."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Literal, TypeVar, cast

from infospace.context.context import Context
from infospace.context.invoke import Outcome
from infospace.core.errors import InfospaceError, Invalid, NotFound, Unsupported
from infospace.core.ids import Kind, kind_of
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.core.position import item_at, prefix_in
from infospace.core.resources import Collection, CreatedBy, Member, Resource, is_resource
from infospace.expressions.mismatch import Mismatch
from infospace.schema.value_text import shown
from planner.check.primitive_calls import item_slot
from planner.execute.arguments import Resolver
from planner.execute.branches import branches
from planner.execute.call import Effects
from planner.execute.concurrent import map_ordered
from planner.execute.conditions import ConditionEvaluator
from planner.execute.frame import Frame
from planner.execute.loops.collect import Results
from planner.execute.loops.pages import PageReader
from planner.execute.retry import FINAL, attempt_call
from planner.execute.step_state import StepState
from planner.execute.variables import Scope, Unbound
from planner.journal.commit_order import ControlDecision
from planner.journal.failures import Failure, Stopped, sentence
from planner.journal.run_clock import at_begin
from planner.journal.suspension import Suspension
from planner.language.plan import (
    Ask,
    Condition,
    ForEach,
    Form,
    If,
    Input,
    Map,
    Pages,
    Parallel,
    Plan,
    SavedPlanCall,
    Stop,
    ToolCall,
    Wait,
    While,
    collected,
)
from planner.language.references import Reference, read_text
from planner.parse.conditions import ComparisonError
from planner.parse.schemas import first_violation

T = TypeVar("T")

MAX_CONCURRENT_ITEMS = 32
"""Items of a loop that are under way at once."""


class ControlFlow:
    """Executes the control form of one step, by running the steps in it."""

    def __init__(self, state: StepState, effects: Effects) -> None:
        self._state = state
        self._effects = effects
        self._run, self._step, self._frame = state.run, state.step, state.frame
        self._scope, self._position = state.scope, state.position
        self._context, self._resolver = state.context, state.resolver

    async def execute(self, form: Form) -> Outcome:
        """Execute the form. Raises Unbound, for which the step is skipped, Stopped and Suspension."""
        match form:
            case If():
                return await self._execute_if(form)
            case While():
                return await self._execute_while(form)
            case ForEach():
                return await self._execute_for_each(form)
            case Map():
                return await self._execute_map(form)
            case Pages():
                return await PageReader(self._state, self._effects, form).read_all()
            case Parallel():
                return await self._execute_parallel(form)
            case Wait():
                return await self._effects.wait(form)
            case Ask():
                return self._effects.ask(form)
            case Stop():
                return self._execute_stop(form)
            case ToolCall(tool, arguments):
                return await self._effects.call_tool(self._context, self._resolver, tool, dict(arguments))
            case SavedPlanCall():
                return await self._execute_saved_plan(form)
        raise Unsupported(f"step {self._position} ({self._step.type}) cannot be run")

    async def _execute_if(self, form: If) -> Outcome:
        branch = await self._choose_branch(form)
        steps = form.then if branch == "then" else form.otherwise
        read: list[JSON] = [[identifier, version] for identifier, version in self._context.uses.items()]
        decided = (*self._state.clock_decisions, ControlDecision(self._position, {"branch": branch, "read": read}))
        failure = await self._run.block(steps, self._frame.inner(prefix_in(self._position, branch), None, *decided))
        if failure is not None:
            return Outcome("failed", reason=sentence(failure), error=failure.kind)
        return Outcome("success", value=branch if steps else f"{branch}: nothing to do")

    async def _choose_branch(self, form: If) -> Literal["then", "else"]:
        """Decide a condition once: what was decided in an earlier part of the run stays, with what was read for it."""
        record = self._run.record or (self._run.replayed if self._run.recorded else None)
        if record is not None:
            decision = record.decision(self._position)
            if isinstance(decision, dict):
                for identifier, version in decision["read"] if self._run.record is not None else ():
                    self._context.uses.add(str(identifier), int(version))
                decision = decision["branch"]
            branch = decision or record.branch(self._position)
            recorded = record.row(self._position)
            if branch is None and recorded is not None:
                branch = recorded.value.partition(":")[0]
            if branch in ("then", "else"):
                return "then" if branch == "then" else "else"
        return "then" if await ConditionEvaluator(self._context, self._resolver).evaluate(form.condition) else "else"

    async def _execute_while(self, form: While) -> Outcome:
        count, start = 0, 0 if self._run.record is None else self._run.record.rounds(self._position)
        while count < start or (self._state.recorded_row is None and await self._begins_round(form, count + 1)):
            if count >= form.max_iterations:
                reason = (
                    f"its condition still holds after {pluralize(count, 'iteration')}, which `max_iterations` allows"
                )
                return Outcome("failed", reason=reason, error="iterations")
            count += 1
            if count <= start:
                self._state.recall_read(count)
            await self._run.yield_to_loop()
            prefix, decided = prefix_in(self._position, "body", count), self._state.decided
            failure = await self._run.block(form.body, self._frame.inner(prefix, None, *decided))
            if failure is not None:
                return Outcome("failed", reason=f"iteration {count:,}: {sentence(failure)}", error=failure.kind)
        if self._state.recorded_row is not None and self._state.recorded_row.status != "success":
            return Outcome("failed", reason=self._state.recorded_row.reason, error=self._state.recorded_row.error)
        self._context.extra["iterations"] = count
        return Outcome("success", value=pluralize(count, "iteration"))

    async def _begins_round(self, form: While, count: int) -> bool:
        """Whether a round is to begin: each is decided under what the clock then shows, which is journalled with it."""
        self._state.set_clock(self._run.reading(self._position, self._frame.clock, count))
        self._state.decided = self._state.decisions_of_reading(at_begin(self._position, count))
        # Each round has a place of its own for what the condition asks a tool: a run that goes on asks of later rounds
        # alone, and would else be given what was said before the first.
        where = item_at(self._position, count)
        if self._run.replayed is not None and not self._run.replayed.has_calls(item_at(self._position, 1)):
            where = self._position  # a run that was recorded when they had none
        context = self._context.inner(CreatedBy(self._run.id, where, self._step.type))
        try:
            resolver = Resolver(context, self._scope, self._run.extras)
            return await ConditionEvaluator(context, resolver).evaluate(form.condition)
        finally:
            self._context.uses.update(context.uses)
            self._state.decided += (self._state.reads_decision(context, count),)

    async def _execute_parallel(self, form: Parallel) -> Outcome:
        scopes = [Scope(self._scope) for _ in form.branches]
        failure = await branches(self._run, form.branches, scopes, self._frame, self._position)
        if failure is not None:
            return Outcome("failed", reason=sentence(failure), error=failure.kind)
        for scope in scopes:
            for name, identifier in scope.own.items():
                self._scope.bind(name, identifier)
            for name, cause in scope.causes.items():
                self._scope.mark_unbound(name, cause)
        return Outcome("success", value=pluralize(len(form.branches), "branch", "branches"))

    def _execute_stop(self, form: Stop) -> Outcome:
        if form.value is None:
            return Outcome("success", value=form.status)
        if isinstance(form.value, str) and isinstance(read_text(form.value), Reference):
            resource = self._resolver.resource(form.value)
        else:
            resource = self._resolver.value(form.value)
        item = resource if is_resource(resource) else self._context.note(cast("JSON", resource))
        return Outcome("success", item, self._context.preview(item))

    async def _execute_saved_plan(self, form: SavedPlanCall) -> Outcome:
        plan = self._run.plans.get(form.name)
        if plan is None:
            raise NotFound(f"there is no saved plan {form.name!r}")
        scope, decided = Scope(), self._inputs(form, plan)
        for name, identifier in decided.items():
            scope.bind(name, identifier)
        frame = self._frame.inner(
            "", None, ControlDecision(self._position, dict(decided)), self._state.reads_decision(self._context)
        )
        try:
            failure, last = await self._run.run_saved_plan(plan, scope, self._position, frame)
        except Stopped as stop:
            if stop.status == "failed":
                text = (
                    "" if stop.resource is None else f", with {self._context.preview(self._context.get(stop.resource))}"
                )
                return Outcome("failed", reason=f"the saved plan {form.name!r}: {stop}{text}", error="stopped")
            return self._answer(None if stop.resource is None else self._context.get(stop.resource))
        if failure is not None:
            return Outcome("failed", reason=f"the saved plan {form.name!r}: {sentence(failure)}", error=failure.kind)
        if plan.result is None:
            return self._answer(None if last is None else self._context.get(last))
        try:
            resource = Resolver(self._context, scope, self._run.extras).resource(plan.result)
        except Unbound as error:
            return Outcome("failed", reason=f"the saved plan {form.name!r} has no result: {error}", error=error.kind)
        return self._answer(resource if is_resource(resource) else self._context.note(cast("JSON", resource)))

    def _answer(self, resource: Resource | None) -> Outcome:
        """Give what a saved plan answers with; a null Note where it has no answer."""
        item = self._context.note(None) if resource is None else resource
        return Outcome("success", item, self._context.preview(item))

    def _inputs(self, form: SavedPlanCall, plan: Plan) -> dict[str, str]:
        """Return the ids of what a saved plan's inputs are bound to; those of values are Notes, written at once."""
        record = self._run.record
        known = None if record is None else record.decision(self._position)
        if isinstance(known, dict):
            self._state.recall_read()
            return {str(name): str(identifier) for name, identifier in known.items()}
        results = {name: self._input(form, plan.inputs[name], plan.inputs).id for name in plan.inputs}
        self._run.space.store.commit(self._context.changes)
        self._context.changes.clear()
        return results

    def _input(self, form: SavedPlanCall, declared: Input, inputs: Mapping[str, Input]) -> Resource:
        """Resolve one argument of a saved plan, as its input is declared."""
        values = form.call_arguments(inputs)
        name, written = declared.name, declared.name in values
        raw = values[name] if written else declared.default
        if declared.kind is not None:
            takes_list = declared.kind == Kind.COLLECTION
            resource = self._resolver.collection(raw) if takes_list else self._resolver.resource(raw)
            if not is_resource(resource) or resource.kind != declared.kind:
                raise Invalid(f"unchecked: the input {name!r} is {shown(resource)}, not a {declared.kind}")
            return resource
        value = self._resolver.value(raw) if written else raw
        fault = first_violation(value, declared.schema or {})
        if fault is not None:
            raise Invalid(f"unchecked: the input {name!r} does not fit: {fault}")
        return self._context.note(value)

    async def _execute_for_each(self, form: ForEach) -> Outcome:
        target, items = self._items(form.target)
        results = Results(self._context, form.filter_null)
        collect = collected(form)
        decided = self._target_decision(target)
        handler = self._step.on_fail if isinstance(self._step.on_fail, tuple) else ()
        failed_outcomes: list[Outcome] = []
        until_met: list[int] = []

        async def run_item(index: int, frame: Frame) -> tuple[Scope, Failure | None]:
            inner = Scope(self._scope)
            inner.bind(form.as_, items[index].id)
            prefix = prefix_in(self._position, "do", index + 1)
            return inner, await self._run.block(form.do, frame.inner(prefix, inner, decided, *self._state.decided))

        async def collect_result(index: int, result: tuple[Scope, Failure | None]) -> bool:
            inner, failure = result
            member = items[index]
            if failure is None:
                given_id = inner.own.get(collect) if collect is not None else None
                cause = inner.causes.get(collect) if collect is not None and given_id is None else None
                self._collect(results, index, member, given_id, None if cause is None else str(cause))
            else:
                outcome = await self._recover(failure, inner, index, collect, results, member, decided)
                failed_outcomes.extend([] if outcome is None else [outcome])
            if failed_outcomes or form.until is None:
                return not failed_outcomes
            try:
                until_met.extend([index] if await self._until_holds(form.until, inner, index) else [])
            except (ComparisonError, Mismatch) as error:
                reason = f"`until` after item {index + 1} ({member.id}): {error}"
                failed_outcomes.append(Outcome("failed", reason=reason, error=error.kind))
            return not failed_outcomes and not until_met

        independent = form.until is None and self._run.order.items_independent(form.do, handler)
        await self._for_items(len(items), run_item, collect_result, independent)
        if form.until is not None:
            self._context.extra["ended"] = bool(until_met)
        return failed_outcomes[0] if failed_outcomes else self._outcome_of_items(results, len(items))

    async def _until_holds(self, until: Condition, inner: Scope, index: int) -> bool:
        """Whether a loop ends with an item, of which the condition is read over what its body has bound."""
        record = self._run.record or (self._run.replayed if self._run.recorded else None)
        if record is not None and index + 1 < record.rounds(self._position):
            self._state.recall_read(index + 1)
            return False
        # Each item has a place of its own for what the condition asks a tool: a run that goes on asks of the items
        # from there on alone, and would else be given what was said of earlier ones.
        self._state.set_clock(self._run.reading(self._position, self._frame.clock, index + 1))
        decisions = self._state.decisions_of_reading(at_begin(self._position, index + 1))
        self._state.decided = (
            *(control_decision for control_decision in self._state.decided if not control_decision.written),
            *decisions,
        )
        context = self._context.inner(CreatedBy(self._run.id, item_at(self._position, index + 1), self._step.type))
        try:
            return await ConditionEvaluator(context, Resolver(context, inner, self._run.extras)).evaluate(until)
        except Unbound:
            return False
        finally:
            self._context.uses.update(context.uses)
            self._state.decided += (self._state.reads_decision(context, index + 1),)

    async def _for_items(
        self,
        count: int,
        run_item: Callable[[int, Frame], Awaitable[T]],
        collect_result: Callable[[int, T], Awaitable[bool]],
        independent: bool,
    ) -> None:
        """Do something for each item, side by side where that changes nothing, and take what it gave in order."""
        if independent and count > 1 and self._run.record is None:
            await map_ordered(self._run, count, self._frame, run_item, collect_result, MAX_CONCURRENT_ITEMS)
            return
        for index in range(count):
            if not await collect_result(index, await run_item(index, self._frame)):
                return

    async def _execute_map(self, form: Map) -> Outcome:
        target, items = self._items(form.target)
        results = Results(self._context, form.filter_null)
        decided = self._target_decision(target)
        unit = self._run.order.unit(self._step)
        ended: list[Outcome] = []
        left: list[int] = []

        async def call(index: int, inner: Scope, context: Context) -> Outcome:
            return await self._call_for_item(form, items[index], inner, context)

        async def run_item(index: int, _frame: Frame) -> tuple[Scope, Outcome, Context] | None:
            await self._run.yield_to_loop()
            inner = Scope(self._scope)
            inner.bind("item", items[index].id)
            with suppress(Suspension):
                where = item_at(self._position, index + 1)
                return inner, *await attempt_call(self._state, where, form.operation, partial(call, index, inner))
            return None

        async def collect_result(index: int, result: tuple[Scope, Outcome, Context] | None) -> bool:
            if result is None:
                left.append(index)
            if left or result is None:
                return True
            inner, outcome, context = result
            member = items[index]
            self._context.uses.update(context.uses)
            if outcome.status == "success":
                self._context.merge(context)
                results.add(index, member.id, outcome.resource)
                return True
            where = item_at(self._position, index + 1)
            failure = Failure(where, form.operation, outcome.reason or "", outcome.error or "failed")
            over = await self._recover(failure, inner, index, self._step.out, results, member, decided)
            ended.extend([] if over is None else [replace(over, trace=outcome.trace)])
            return over is None

        await self._for_items(len(items), run_item, collect_result, unit.waits and not unit.alone)
        if left:
            self._state.decided = (decided,)
            self._state.remaining = f"interrupted with {len(left):,} of {len(items):,} items to do"
            raise Suspension(())
        return ended[0] if ended else self._outcome_of_items(results, len(items))

    async def _call_for_item(self, form: Map, member: Member, scope: Scope, context: Context) -> Outcome:
        """Perform the operation of `map` for one item; raises Unbound, for which the whole step is skipped."""
        resolver = Resolver(context, scope, self._run.extras)
        try:
            if "/" in form.operation:
                arguments = form.arguments.get("arguments", {})
                return await self._effects.call_tool(context, resolver, form.operation, arguments)
            entry = self._run.space.catalogue.get(form.operation)
            arguments = resolver.arguments(entry, form.arguments)
            slot = item_slot(entry, form.arguments, frozenset({kind_of(member.id)}))
            if slot is not None:
                arguments[slot] = resolver.resource("$item")
        except Unbound:
            raise
        except InfospaceError as error:
            return Outcome("failed", reason=str(error), error=error.kind)
        return await self._effects.perform(entry, arguments, context)

    async def _recover(
        self,
        failure: Failure,
        inner: Scope,
        index: int,
        collect: str | None,
        results: Results,
        member: Member,
        decided: ControlDecision,
    ) -> Outcome | None:
        """Do what `on_fail` says about a failing item; return the outcome of the whole step where it ends it."""
        on_fail = self._step.on_fail
        if on_fail == "stop" or failure.kind in FINAL:
            return Outcome("failed", reason=f"item {index + 1} ({member.id}): {sentence(failure)}", error=failure.kind)
        if isinstance(on_fail, tuple):
            before = inner.own.get(self._item_name())
            if collect is not None and collect != self._item_name():
                inner.own.pop(collect, None)
            frame = self._frame.inner("", inner, decided)
            second = await self._run.run_on_fail_steps(failure, on_fail, frame, item_at(self._position, index + 1))
            if second is not None and second.kind in FINAL:
                return Outcome("failed", reason=sentence(second), error=second.kind)
            supplied = inner.own.get(collect) if collect is not None else None
            if second is None and supplied is not None and (supplied != before or collect != self._item_name()):
                self._collect(results, index, member, supplied)
                return None
        results.fail(index, member.id, sentence(failure))
        return None

    def _item_name(self) -> str:
        return self._step.form.as_ if isinstance(self._step.form, ForEach) else "item"

    def _collect(
        self, results: Results, index: int, member: Member, identifier: str | None, skipped: str | None = None
    ) -> None:
        """Take what an item gave. What it deleted again is left out, as of every Collection."""
        resource = None
        if identifier is not None:
            try:
                resource = self._effects.item_result(identifier)
            except NotFound as error:
                skipped = error.message
        results.add(index, member.id, resource, skipped)

    def _items(self, raw: JSON) -> tuple[Collection, Sequence[Member]]:
        """Return the Collection to go over, and its items as they were when that began."""
        record = self._run.record
        decision = None if record is None else record.decision(self._position)
        if isinstance(decision, list):
            with self._run.space.store.reading() as snapshot:
                resource: Resource | JSON = snapshot.get(str(decision[0]), int(decision[1]))
            for identifier, version in decision[2] if len(decision) > 2 else [decision[:2]]:
                self._context.uses.add(str(identifier), int(version))
        else:
            resource = self._resolver.collection(raw)
            if self._context.changes:
                # Rounds are run by other steps, and a resumed run finds by its id what the loop goes over: the
                # Collection that a list was taken for is in the store before the first round begins.
                self._run.space.store.commit(self._context.changes)
                self._context.changes.clear()
        if not isinstance(resource, Collection):
            raise Invalid(f"unchecked: `target` is {shown(resource)}, not a Collection")
        return resource, resource.members

    def _target_decision(self, target: Collection) -> ControlDecision:
        """Write down what is gone over, and what was read for it: a resumed step has used both, too."""
        read: list[JSON] = [[identifier, version] for identifier, version in self._context.uses.items()]
        return ControlDecision(self._position, [target.id, target.version, read])

    def _outcome_of_items(self, results: Results, count: int) -> Outcome:
        self._effects.require_item_results()
        collection = self._context.collection(results.members)
        self._context.extra |= {"item_count": len(results.members), "of": count, "failed": results.failed}
        return Outcome("success", collection, self._context.answer(collection))
