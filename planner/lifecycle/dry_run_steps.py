"""The steps of a dry run: which are run, and what is not known after those that are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, cast

from infospace.context.context import Context
from infospace.context.invoke import Outcome
from infospace.contract.argument_errors import ArgumentsInvalid
from infospace.contract.arguments import OFFERED, BoundCondition, ParseMode, Written, WrittenQuery
from infospace.contract.decorator import Primitive
from infospace.core.errors import InfospaceError, InputRequired, PathNotFound
from infospace.core.json_types import JSON
from infospace.core.names import normalise
from infospace.core.resources import Resource, is_resource
from infospace.core.tool import Tool
from infospace.tools.approvals import allowed, refuse_blocked
from planner.execute.arguments import Resolver
from planner.execute.call import StepEffects, question_to_ask
from planner.execute.step_state import StepState
from planner.execute.variables import UnboundReason
from planner.execute.wait import seconds_to_wait
from planner.journal.failures import Stopped
from planner.language.plan import (
    All,
    AnyOf,
    Ask,
    Call,
    Condition,
    ExpressionCondition,
    ForEach,
    If,
    Map,
    Not,
    Parallel,
    SavedPlanCall,
    Step,
    Stop,
    Wait,
    While,
    blocks,
    every_step,
    outs,
)
from planner.lifecycle.dry_run_space import DRY, UNKNOWN, DrySpace, Unknown, not_called

_NOT_DONE = "not done in a dry run"


class DryEffects:
    """Shows what one execution of a step would write or call, and goes on without what is not known for it.

    What is not called stays unknown under an id of its own, so that whatever reads it later is found out: no step
    takes a value for known that a real run would have got from outside.
    """

    def __init__(self, state: StepState) -> None:
        self._state = state
        self._real = StepEffects(state)
        self._run, self._step, self._position = state.run, state.step, state.position
        self._context, self._resolver = state.context, state.resolver
        self._missing: UnboundReason | None = None
        """Why some item of a `for-each` or `map` is not known."""
        self._given: Mapping[str, JSON] | None = None
        """What the step's call is given, as it is shown."""

    @property
    def _dry(self) -> DrySpace:
        return cast("DrySpace", self._run.space)

    def input_required(self, missing: InputRequired) -> Outcome:
        """Skip a step for what is not known; a `stop` stops, with an answer that is not known."""
        if not isinstance(missing, Unknown):
            raise missing
        form = self._step.form
        if isinstance(form, Stop):
            raise Stopped(self._position, form.status, self._unknown_id(missing.cause)) from None
        return self._unseen(missing.cause)

    def succeeded(self, outcome: Outcome) -> Outcome:
        """Show the name that the step would give, and without which earlier writes it read."""
        if self._step.name is not None:
            self._would("writes", self._given or {}, again=True)
            for name in self._names(self._step):
                self._dry.unknown.pop(name, None)
        if self._dry.undone and (self._context.uses or self._reads()):
            self._context.extra["without"] = list(self._dry.undone)
        return outcome

    def _reads(self) -> bool:
        entry = self._dry.catalogue.find(self._step.type)
        return entry is not None and entry.effect == "reads"

    # What is called, and what is written

    async def perform(self, entry: Primitive, arguments: Mapping[str, Any], context: Context) -> Outcome:
        """Call what computes and reads in the copy of the space; show what would be written or called."""
        try:
            effect = entry.effect_of(entry.validate(arguments))
        except ArgumentsInvalid:
            return await self._real.perform(entry, arguments, context)
        self._given = {name: _shown(value, context) for name, value in arguments.items() if name != "replace"}
        if effect != "calls":
            if effect == "writes":
                self._would("writes", self._given)
            return await self._real.perform(entry, arguments, context)
        tool, inner = None, {}
        for argument in entry.arguments.values():
            if argument.reading in OFFERED:
                tool = arguments.get(argument.name)
            elif argument.reading is ParseMode.TOOL_ARGUMENTS:
                inner = arguments.get(argument.name, {})
        fault = self._validation_failure(tool, inner) if isinstance(tool, Tool) else None
        return fault or self._skip_call(entry.type, self._given, tool, gives=entry.returns != "nothing")

    async def call_tool(self, context: Context, resolver: Resolver, tool: str, arguments: JSON) -> Outcome:
        """Show the call of a tool, or how it fails that cannot be made."""
        value: Any = resolver.value(arguments)
        current_tool = context.space.tools.get(tool)
        return self._validation_failure(current_tool, value) or self._skip_call(tool, value, current_tool)

    def _validation_failure(self, tool: Tool, value: Any) -> Outcome | None:
        """Return how a call fails that cannot be made."""
        try:
            refuse_blocked(tool)
            self._dry.tools.validate_arguments(tool, value)
        except InfospaceError as error:
            return Outcome("failed", reason=f"unchecked: {error}", error=error.kind)
        return None

    async def wait(self, form: Wait) -> Outcome:
        """Show what would be waited for. Raises Invalid for what is no number of seconds."""
        if form.condition is not None:
            return self._skip_call("wait", {"condition": _written(form.condition)}, gives=False)
        return self._skip_call("wait", {"seconds": seconds_to_wait(form, self._resolver)}, gives=False)

    def ask(self, form: Ask) -> Outcome:
        """Show what would be asked. Raises Invalid for what is no question."""
        schema = None if form.schema is None else dict(form.schema)
        return self._skip_call("ask", {"value": question_to_ask(form, self._resolver), "schema": schema})

    def _skip_call(
        self, what: str, arguments: Mapping[str, JSON], tool: Tool | None = None, *, gives: bool = True
    ) -> Outcome:
        """Show a call instead of making it. Of a `map`, the other items go on."""
        asks = tool is not None and not allowed(self._dry.store, tool, self._run.id)
        self._would("calls", arguments, asks=asks)
        cause = not_called(self._position, what)
        if isinstance(self._step.form, Map):
            self._missing = cause
            return Outcome("success")
        if not gives:
            return Outcome("skipped", reason=_NOT_DONE, error=DRY)
        return self._unseen(cause, f"{_NOT_DONE}, and so what it gives is not known")

    def _would(
        self,
        effect: Literal["writes", "calls"],
        arguments: Mapping[str, JSON],
        *,
        asks: bool = False,
        again: bool = False,
    ) -> None:
        """Show what the step would do; `again`, with its name, where that was shown already."""
        would = self._context.extra.setdefault("would", {"effect": effect, "arguments": dict(arguments)})
        if isinstance(self._step.form, Map) and not again:
            before = would["arguments"] if isinstance(would["arguments"], list) else []
            would["arguments"] = [*before, dict(arguments)]
        if asks:
            would["asks"] = True
        if self._step.name is not None:
            with suppress(InfospaceError, Unknown):
                would["name"] = self._resolver.value(self._step.name)

    # What is not known

    def item_result(self, identifier: str) -> Resource | None:
        """Return what an item of a loop gave, None where it is not known."""
        try:
            return self._context.get(identifier)
        except Unknown as unknown:
            self._missing = self._missing or unknown.cause
            return None

    def require_item_results(self) -> None:
        """Raise Unknown where an item gave what is not known, or its call was not made."""
        if self._missing is not None:
            raise Unknown(self._missing)

    def _unknown_id(self, cause: UnboundReason) -> str:
        """Return an id for what the step would have given."""
        identifier = f"{UNKNOWN}{self._position}"
        self._dry.unknown[identifier] = cause
        return identifier

    def _unseen(self, cause: UnboundReason, reason: str | None = None) -> Outcome:
        """Skip the step: what it would bind, give and change is not known from here on."""
        lost = self._unknown_id(cause)
        for name in outs((self._step,)):
            self._state.scope.bind(name, lost)
        if self._may_return_value(self._step):
            self._state.frame.latest.resource = lost
        writing = [step for step in self._every(self._step) if self._writes(step)]
        for step in writing:
            self._dry.unknown |= dict.fromkeys((*self._changed(step), *self._names(step)), cause)
        if writing:
            self._dry.undone[self._position] = cause
            self._dry.unknown |= dict.fromkeys(self._looped_ids(), cause)
        self._context.extra["cause"] = cause.step
        why = _NOT_DONE if cause.step == self._position else f"not run: {cause}"
        return Outcome("skipped", reason=reason or why, error=DRY)

    def _may_return_value(self, step: Step) -> bool:
        """Whether a step may give a value."""
        match step.form:
            case If() | While() | Parallel():
                return any(self._may_return_value(inner) for block in blocks(step.form) for inner in block)
            case Call():
                entry = self._dry.catalogue.find(step.type)
                return entry is None or entry.returns != "nothing"
        return not isinstance(step.form, (Wait, Stop))

    def _every(self, step: Step) -> Iterator[Step]:
        """Iterate over a step and all in it, in the saved plans that it names too."""
        for one in every_step((step,)):
            yield one
            plan = self._run.plans.get(one.form.name) if isinstance(one.form, SavedPlanCall) else None
            for inner in plan.steps if plan is not None else ():
                yield from self._every(inner)

    def _writes(self, step: Step) -> bool:
        type_ = step.form.operation if isinstance(step.form, Map) else step.type
        entry = self._dry.catalogue.find(type_)
        return step.name is not None or (entry is not None and entry.effect not in ("pure", "reads", "calls"))

    def _changed(self, step: Step) -> Iterator[str]:
        """Iterate over the ids of what a step that writes is given, as far as that is known."""
        type_ = step.form.operation if isinstance(step.form, Map) else step.type
        entry = self._dry.catalogue.find(type_)
        arguments = step.form.arguments if isinstance(step.form, (Call, Map)) else {}
        for argument in entry.arguments.values() if entry is not None else ():
            if argument.reading is ParseMode.RESOURCE:
                yield from self._resource_ids(arguments.get(argument.name))

    def _names(self, step: Step) -> Iterator[str]:
        """Iterate over the names that a step gives, as far as they are known: its own, or that which `name` gives."""
        given = step.form.arguments.get("value") if step.type == "name" and isinstance(step.form, Call) else step.name
        with suppress(InfospaceError, Unknown):
            name = self._resolver.value(given)
            if isinstance(name, str):
                yield normalise(name)

    def _looped_ids(self) -> Iterator[str]:
        """Iterate over the ids of the items that a loop here goes over."""
        form = self._step.form
        for identifier in self._resource_ids(form.target) if isinstance(form, (ForEach, Map)) else ():
            yield from (member.id for member in getattr(self._context.get(identifier), "members", ()))

    def _resource_ids(self, value: JSON) -> Iterator[str]:
        with suppress(InfospaceError, Unknown):
            resource = self._resolver.resource(value)
            if is_resource(resource):
                yield resource.id


def _written(condition: Condition) -> JSON:
    """Return a condition as it stands in a plan."""
    match condition:
        case ExpressionCondition(parsed):
            return parsed.text
        case Not(of):
            return {"type": "not", "of": _written(of)}
        case All(of) | AnyOf(of):
            return {"type": "and" if isinstance(condition, All) else "or", "of": [_written(part) for part in of]}
    return dict(condition.arguments)


def _shown(value: Any, context: Context) -> JSON:
    """Return an argument as JSON: of a resource its id, its kind, and how it begins."""
    if is_resource(value):
        try:
            preview = context.preview(value)
        except Unknown as unknown:
            preview = str(unknown)
        return {"id": value.id, "kind": str(value.kind), "value": preview}
    match value:
        case Tool():
            return value.full_name
        case BoundCondition():
            return {"where": value.where.text, "parameters": dict(value.parameters)}
        case Written():
            values = {name: str(of) if isinstance(of, PathNotFound) else of for name, of in value.parameters.items()}
            return {"expression": value.text, "parameters": values}
        case WrittenQuery():
            values = {name: str(of) if isinstance(of, PathNotFound) else of for name, of in value.parameters.items()}
            return {"sql": value.text, "tables": _shown(value.tables, context), "parameters": values}
        case list() | tuple():
            return [_shown(item, context) for item in value]
        case Mapping():
            return {str(key): _shown(item, context) for key, item in value.items()}
    return cast("JSON", value)
