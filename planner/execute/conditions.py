"""Whether a condition holds, while a plan runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from infospace.context.context import Context
from infospace.core.errors import Invalid, NotFound, PathNotFound
from infospace.core.json_types import JSON
from infospace.core.regex import compile_pattern
from infospace.core.resources import Collection, Member, Note, Relation, Resource
from infospace.schema.value_text import shown
from infospace.tools.answer_content import content_of
from infospace.tools.call import call_for_step
from planner.execute.arguments import Place, Resolver
from planner.execute.variables import Unbound
from planner.language.plan import All, AnyOf, Condition, ExpressionCondition, Not, TypedCondition
from planner.language.references import Reference, read_text
from planner.parse.conditions import (
    COMPARED,
    EXISTENCE,
    ON_ABSENT,
    ComparisonError,
    compare,
    is_empty,
    queried_name,
    truth_of,
)

if TYPE_CHECKING:
    from infospace.expressions import Where


class ConditionEvaluator:
    """Decides conditions in one scope. Raises Unbound where a condition other than (not)bound needs a value."""

    def __init__(self, context: Context, resolver: Resolver) -> None:
        self._context = context
        self._resolver = resolver

    async def evaluate(self, condition: Condition) -> bool:
        """Whether a condition is true; the parts of `and` and `or` are asked until one decides."""
        match condition:
            case All(of):
                for part in of:
                    if not await self.evaluate(part):
                        return False
                return True
            case AnyOf(of):
                for part in of:
                    if await self.evaluate(part):
                        return True
                return False
            case Not(of):
                return not await self.evaluate(of)
            case ExpressionCondition(parsed):
                return self._expressed(parsed)
            case TypedCondition("tool_condition", arguments):
                return await self._tool(arguments)
            case TypedCondition(type_, arguments):
                return self._test(type_, arguments)

    def _expressed(self, parsed: Where) -> bool:
        """Evaluate an expression: unknown is false. Raises Mismatch where an operation has no result for its values."""
        from infospace.expressions import EmptyRecord, Evaluation, Refusing

        return (
            parsed.judge(EmptyRecord(), Evaluation(self._resolver.parameters(parsed), Refusing(), self._context.clock))
            is True
        )

    async def _tool(self, arguments: Mapping[str, JSON]) -> bool:
        name = self._resolver.value(arguments["tool"])
        if not isinstance(name, str):
            raise Invalid(f"unchecked: `tool` is a tool's full name, not {name!r:.60}")
        tool = self._context.space.tools.get(name)
        value = self._resolver.value(arguments.get("arguments", {}))
        answer = await call_for_step(self._context, tool, value, reads=True)
        content, _ = content_of(tool, answer)
        truth = truth_of(content)
        if truth is None:
            raise Invalid(f"unchecked: {tool.full_name} answers {shown(content)}, not true or false")
        return truth

    def _test(self, type_: str, arguments: Mapping[str, JSON]) -> bool:
        name = queried_name(arguments) if type_ in EXISTENCE else None
        if name is not None:
            return self._context.has(name) == (type_ == "bound")
        try:
            target = self._resource_or_place(arguments["target"])
        except (Unbound, NotFound):
            # What was deleted since is not there any more: a variable that is still bound to it counts as unbound.
            if type_ not in EXISTENCE:
                raise
            return type_ == "notbound"
        except PathNotFound:
            return type_ in ON_ABSENT
        match type_:
            case "bound":
                return True
            case "notbound":
                return False
            case "has_value":
                return not self._empty(target)
            case "empty":
                return self._empty(target)
            case "matches_pattern":
                value = self._value(target)
                if not isinstance(value, str):
                    raise ComparisonError(f"matches_pattern looks into a text, not into {shown(value)}")
                return compile_pattern(arguments["pattern"]).search(value) is not None
            case "validates":
                from planner.parse.schemas import first_violation

                schema: Any = arguments["schema"]
                return first_violation(self._value(target), schema) is None
        assert type_ in COMPARED, type_  # noqa: S101 - the reader of conditions admits no other
        return self._compare(type_, target, arguments["value"])

    def _compare(self, type_: str, target: Resource | Place, raw: JSON) -> bool:
        try:
            value = self._resource_or_place(raw)
        except PathNotFound:
            return type_ in ON_ABSENT
        members = type_ in ("contains", "not_contains") and isinstance(target, Collection)
        if members and isinstance(value, (Note, Collection, Relation)):
            expected, *there = self._context.identities([Member(value.id), *cast("Collection", target).members])
            return (expected in there) == (type_ == "contains")
        return compare(type_, self._value(target), self._value(value))

    def _resource_or_place(self, raw: JSON) -> Resource | Place:
        read = read_text(raw) if isinstance(raw, str) else None
        if isinstance(read, Reference):
            return self._resolver.resolve_reference(read)
        return Place(self._resolver.value(raw))

    def _value(self, thing: Resource | Place) -> JSON:
        return thing.value if isinstance(thing, Place) else self._context.content(thing)

    def _empty(self, thing: Resource | Place) -> bool:
        if isinstance(thing, Collection):
            return not len(thing)
        return is_empty(self._value(thing))
