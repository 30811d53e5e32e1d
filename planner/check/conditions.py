"""Checking conditions: what they read, whether they can have an answer, and what they tell of variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infospace.core.ids import is_id
from infospace.core.json_types import JSON
from infospace.core.names import name_error
from infospace.data.misspelling import is_misspelling
from infospace.data.paths import nearest
from infospace.expressions.expression import asked_parameters, known_parameters
from infospace.schema.shapes import Schema, Unknown, disjoint, subschema_at, types_of
from infospace.schema.value_text import describe_types
from planner.check.environment import Environment
from planner.check.references.values import ValueChecker
from planner.check.tool_calls import ToolChecker
from planner.language.plan import All, AnyOf, Condition, ExpressionCondition, Not, TypedCondition, every_part, names_of
from planner.language.problems import Problems, join, replace
from planner.language.references import (
    Literal,
    Reference,
    ReferenceInvalid,
    names_in,
    read_text,
    whole_reference,
)
from planner.parse.condition_text import condition_from_text
from planner.parse.conditions import COMPARED, EXISTENCE, LITERAL, PRESENCE, queried_name

_ORDERED: Schema = {"type": ["number", "string"]}
_HOLDERS: Schema = {"type": ["string", "array", "object"]}
_TEXT: Schema = {"type": "string"}


class ConditionChecker:
    """Checks conditions in an environment."""

    def __init__(self, values: ValueChecker, tools: ToolChecker, problems: Problems) -> None:
        self._values = values
        self._tools = tools
        self._problems = problems
        self.later: frozenset[str] = frozenset()
        """Variables that are bound where a condition is asked again, though not where it is asked first."""

    def check(self, condition: Condition, env: Environment) -> None:
        """Check a condition; parts of `and` and `or` know what the parts before them tell."""
        match condition:
            case All(of) | AnyOf(of):
                inner = env
                for part in of:
                    self.check(part, inner)
                    yes, no = guards(part)
                    inner = inner.with_facts(yes if isinstance(condition, All) else no)
            case Not(of):
                self.check(of, env)
            case ExpressionCondition():
                self._expressed(condition, env)
            case TypedCondition("tool_condition"):
                self._tools.condition(condition, env)
            case TypedCondition(type_, arguments, pointer):
                if type_:
                    self._test(type_, arguments, pointer, env)

    def _expressed(self, condition: ExpressionCondition, env: Environment) -> None:
        """Check an expression over variables: what it reads, and whether it can have a result.

        A place may be missing where the text itself asks whether it is there: by IS NULL, IS NOT NULL, `coalesce`.
        """
        from planner.check.expressions import bare_names, senseless_in

        parsed, pointer = condition.parsed, condition.pointer
        with self._values.handling():
            self._values.read_parameters(parsed.parameters, asked_parameters(parsed.tree), pointer, env)
        for message, hint, text in bare_names(parsed, env):
            fix = None if text is None else replace(pointer, text)
            self._problems.error("bad-expression", pointer, message, hint, fix)

        def of(name: str) -> Schema | None:
            with self._problems.muted():
                return self._values.value(f"${name}", pointer, None, env)[1]

        for problem in senseless_in(parsed, Unknown(), of, fails=True):
            suggestion = problem.suggestion or _presence(parsed.text)
            fix = None if suggestion is None else replace(pointer, suggestion)
            self._problems.error("bad-expression", pointer, problem.message, problem.hint, fix)

    def _test(self, type_: str, arguments: Mapping[str, JSON], pointer: str, env: Environment) -> None:
        target, place = arguments["target"], join(pointer, "target")
        if type_ in EXISTENCE:
            self._exists(target, place, env)
            return
        with self._values.lenient(type_ in PRESENCE), self._values.handling():
            _, left = self._values.value(target, place, None, env)
        if type_ == "matches_pattern" and left is not None and disjoint(left, _TEXT):
            self._problems.error("bad-condition", place, "matches_pattern looks into a text, and this is not one")
        if type_ not in COMPARED:
            return
        raw, beside = arguments["value"], join(pointer, "value")
        with self._values.handling():
            _, right = self._values.value(raw, beside, None, env)
        if type_ in ("greater_than", "less_than", "gte", "lte"):
            self._ordered(type_, (left, place), (right, beside), pointer)
        elif type_ in ("contains", "not_contains"):
            self._contained(type_, (left, place), (right, beside))

    def _ordered(
        self, type_: str, left: tuple[Schema | None, str], right: tuple[Schema | None, str], pointer: str
    ) -> None:
        message = f"{type_} compares two numbers or two texts"
        for schema, place in (left, right):
            if schema is not None and disjoint(schema, _ORDERED):
                self._problems.error("bad-condition", place, f"{message}, and this is neither")
                return
        if left[0] is not None and right[0] is not None and disjoint(left[0], right[0]):
            self._problems.error("bad-condition", pointer, f"{message}, not one of each")

    def _contained(self, type_: str, left: tuple[Schema | None, str], right: tuple[Schema | None, str]) -> None:
        if left[0] is None:
            return
        if disjoint(left[0], _HOLDERS):
            message = f"{type_} looks into a text, a list, an object or a Collection, and this is none"
            self._problems.error("bad-condition", left[1], message)
        elif not types_of(left[0]) - {"string"} and right[0] is not None and disjoint(right[0], _TEXT):
            self._problems.error("bad-condition", right[1], f"{type_} looks for text in a text, and this is none")
        elif not types_of(left[0]) - {"object"} and right[0] is not None and disjoint(right[0], _TEXT):
            self._problems.error(
                "bad-condition", right[1], f"{type_} looks for a key in an object, and this is not text"
            )
        elif not types_of(left[0]) - {"array"} and right[0] is not None:
            self._never_element(type_, left[0], right)

    def _never_element(self, type_: str, target: Schema, right: tuple[Schema | None, str]) -> None:
        """Warn where a list holds nothing of the type of what is looked for in it."""
        element = subschema_at(target, (0,))
        if isinstance(element, Mapping) and disjoint(element, right[0]):
            held, sought = describe_types(element), describe_types(right[0])
            message = f"{type_} looks for an equal element: each is {held}, and this is {sought}"
            hint = "`pluck` makes a list of one field of them" if "object" in types_of(element) else None
            self._problems.warn("bad-condition", right[1], message, hint)

    def _exists(self, target: JSON, pointer: str, env: Environment) -> None:
        reference = reference_or_none(target)
        if reference is None:
            self._named(target, pointer, env)
            return
        variable = env.find(reference.name)
        if variable is not None:
            with self._values.lenient(True):
                self._values.places.check(variable, reference, pointer, whole=True)
            return
        if reference.name in self.later:
            return
        near = nearest(reference.name, env.variables)
        hint = f"did you mean ${near}?" if near else "here it is always unbound"
        sure = near is not None and is_misspelling(reference.name, near)
        fix = replace(pointer, str(Reference(near, reference.path))) if near and sure else None
        self._problems.warn("never-bound", pointer, f"no step before this one binds ${reference.name}", hint, fix)

    def _named(self, target: JSON, pointer: str, env: Environment) -> None:
        """Check the name, or the id, of which it is asked whether the space has it."""
        name = queried_name({"target": target})
        if name is None or ((fault := name_error(name)) is not None and not is_id(name)):
            message = "`bound` and `notbound` ask about a `$variable`, a place in one, or a name"
            hint = '"target": "$hits"' if name is None or fault is None else fault.message
            self._problems.error("bad-condition", pointer, message, hint)
        elif name in env.variables and name not in env.assigned_names and self._values.facts.holder(name) is None:
            message, hint = f"{name!r} is taken as a name of the space", f"did you mean ${name}?"
            self._problems.warn("never-bound", pointer, message, hint, replace(pointer, f"${name}"))


def reference_or_none(raw: JSON) -> Reference | None:
    """Return the reference that a value is from end to end, None when it is anything else."""
    try:
        return whole_reference(raw) if isinstance(raw, str) else None
    except ReferenceInvalid:
        return None


def guards(condition: Condition) -> tuple[set[str], set[str]]:
    """Return the variables known to be bound where a condition is true, and where it is false; names with a sign.

    Every condition but (not)bound tells both ways: with an unbound variable the form would be skipped.
    """
    match condition:
        case TypedCondition("bound" | "notbound" as type_, arguments):
            name = queried_name(arguments)
            there = _read(arguments, "target") if name is None else {f"'{name}"}
            absent: set[str] = set() if name is None else {f"!{name}"}
            there |= _place(arguments)
            return (there, absent) if type_ == "bound" else (absent, there)
        case TypedCondition("has_value" | "empty" as type_, arguments):
            read, there = _read(arguments, "target"), _place(arguments)
            return (read | there, read) if type_ == "has_value" else (read, read | there)
        case ExpressionCondition():
            names, tree = set(condition.names), condition.parsed.tree
            yes, no = ({f"${name}" for name in known_parameters(tree, true=true)} for true in (True, False))
            return names | yes, names | no
        case TypedCondition("tool_condition", arguments):
            read = _read(arguments, "tool")
            return read, read
        case TypedCondition(_, arguments):
            read = _read(arguments, "target") | _read(arguments, "value")
            return read, read
        case All(of):
            proved = [guards(part) for part in of]
            return set().union(*(yes for yes, _ in proved)), _whichever([(no, yes) for yes, no in proved])
        case AnyOf(of):
            proved = [guards(part) for part in of]
            return _whichever(proved), set().union(*(no for _, no in proved))
        case Not(of):
            yes, no = guards(of)
            return no, yes


def _whichever(proved: Sequence[tuple[set[str], set[str]]]) -> set[str]:
    """What is known whichever part it was that decided: what that part tells, and those before by being otherwise."""
    known, before = [], set[str]()
    for decided, otherwise in proved:
        known.append(decided | before)
        before = before | otherwise
    return set.intersection(*known)


def read_by(condition: Condition) -> set[str] | None:
    """Return the variables that a condition reads, None when it reads more than variables."""
    results: set[str] = set()
    for part in every_part(condition):
        if isinstance(part, ExpressionCondition):
            results.update(names_of(part))
            continue
        if part.type in ("", "tool_condition") or (part.type in EXISTENCE and queried_name(part.arguments) is not None):
            return None
        results.update(names_in({key: value for key, value in part.arguments.items() if key not in LITERAL}))
    return results


def reads_clock(condition: Condition) -> bool:
    """Whether a condition asks for the day or the moment, which go on after a `wait` or an `ask`."""
    return any(isinstance(part, ExpressionCondition) and part.parsed.reads_clock for part in every_part(condition))


def verdict(condition: Condition, env: Environment) -> bool | None:
    """Return what a condition is because nothing ever binds what it asks about, None when that is not known."""
    match condition:
        case TypedCondition("bound" | "notbound" as type_, arguments):
            reference = reference_or_none(arguments["target"])
            if reference is None or reference.name in env.variables:
                return None
            return type_ == "notbound"
        case Not(of):
            decided = verdict(of, env)
            return None if decided is None else not decided
    return None


def _place(arguments: Mapping[str, Any]) -> set[str]:
    """The place in a variable that a condition asks for, as a reference."""
    reference = reference_or_none(arguments.get("target"))
    return {str(reference)} if reference is not None and reference.path.parts else set()


def _presence(text: str) -> dict[str, JSON] | None:
    """Return the condition that a variable has a value, or has none, where that is all that a text says."""
    document = condition_from_text(text)
    inner = document["of"] if document is not None and document["type"] == "not" else document
    return document if inner is not None and inner["type"] == "has_value" else None


def _read(arguments: Mapping[str, Any], key: str) -> set[str]:
    try:
        read = read_text(arguments[key]) if isinstance(arguments.get(key), str) else Literal(None)
    except ReferenceInvalid:
        return set()
    return {read.name} if isinstance(read, Reference) else set()
