"""Conditions: how they are written and when they are true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from infospace.core.errors import ExpressionInvalid, InfospaceError, Invalid
from infospace.core.json_types import JSON
from infospace.core.names import normalise
from infospace.core.regex import compile_pattern
from infospace.data.json_text import dump, same
from infospace.data.misspelling import closest_spelling, words_of
from infospace.data.paths import a_kind, kind_of, nearest
from infospace.schema.shapes import disjoint
from planner.language.plan import All, AnyOf, Condition, ExpressionCondition, Not, TypedCondition
from planner.language.problems import Patch, Problems, join, listed
from planner.language.references import Literal, ReferenceInvalid, read_text
from planner.parse.condition_text import condition_from_text, with_words

JOINS: Final = ("and", "or", "not")
EXISTENCE: Final = ("bound", "notbound")
"""Read whether a place exists, and so never skip."""
PRESENCE: Final = (*EXISTENCE, "has_value", "empty")
COMPARED: Final = (
    "equals",
    "not_equals",
    "greater_than",
    "less_than",
    "gte",
    "lte",
    "contains",
    "not_contains",
)
TESTS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(PRESENCE, ("target",)),
    **dict.fromkeys(COMPARED, ("target", "value")),
    "matches_pattern": ("target", "pattern"),
    "validates": ("target", "schema"),
    "tool_condition": ("tool", "arguments"),
}
"""Each condition with the fields it needs."""

OTHERWISE: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("left", "variable", "subject", "var", "field", "a", "lhs", "key", "input"), ("target",)),
    **dict.fromkeys(("right", "expected", "than", "b", "rhs", "other", "to", "threshold", "compare_to"), ("value",)),
    "regex": ("pattern",),
    "value": ("target",),
}
"""What fields are called elsewhere."""

CALLED_ELSEWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("eq", "equal", "equal_to", "is_equal", "=", "==", "==="), "equals"),
    **dict.fromkeys(("ne", "neq", "not_equal", "not_equal_to", "!=", "<>"), "not_equals"),
    **dict.fromkeys(("gt", "greater", "more_than", "above", ">"), "greater_than"),
    **dict.fromkeys(("lt", "less", "below", "<"), "less_than"),
    **dict.fromkeys(("ge", "greater_than_or_equal", "greater_or_equal", "at_least", ">="), "gte"),
    **dict.fromkeys(("le", "less_than_or_equal", "less_or_equal", "at_most", "<="), "lte"),
    **dict.fromkeys(("is_empty", "isempty"), "empty"),
    **dict.fromkeys(("not_empty", "is_not_empty", "non_empty", "nonempty", "has_items"), "has_value"),
    **dict.fromkeys(("exists", "is_bound", "defined", "is_defined", "is_set"), "bound"),
    **dict.fromkeys(("not_exists", "not_bound", "unbound", "undefined", "not_defined", "is_unbound"), "notbound"),
    **dict.fromkeys(("includes", "contains_text"), "contains"),
    **dict.fromkeys(("not_includes", "excludes"), "not_contains"),
    **dict.fromkeys(("matches", "regex", "regexp", "match", "pattern", "matches_regex"), "matches_pattern"),
    **dict.fromkeys(("all", "all_of", "every", "&&"), "and"),
    **dict.fromkeys(("any", "any_of", "some", "||"), "or"),
    **dict.fromkeys(("negate", "!"), "not"),
    **dict.fromkeys(("matches_schema", "valid", "is_valid", "validate", "schema"), "validates"),
}
"""What conditions are called elsewhere, with `_` between words."""

_NULL: Final = {
    "is_null": "IS NULL",
    "isnull": "IS NULL",
    "null": "IS NULL",
    "not_null": "IS NOT NULL",
    "is_not_null": "IS NOT NULL",
}
"""Conditions elsewhere that an expression over variables says."""


def _null_test(type_: str, raw: Mapping[str, Any]) -> str | None:
    """Return the text that asks whether a variable, or a place in one, is null."""
    words = _NULL.get("_".join(words_of(type_)))
    fields = [key for key in raw if key != "type" and (key == "target" or "target" in OTHERWISE.get(key, ()))]
    target = raw.get(fields[0]) if len(fields) == 1 == len(raw) - 1 else None
    if words is None or not isinstance(target, str) or not target.startswith("$") or target[1:2] == "{":
        return None
    return f"{target} {words}"


OPTIONAL: Final = ("arguments",)
"""Fields that may be left out."""

LITERAL: Final = ("pattern", "schema")
"""Fields in which no reference is read."""

ON_ABSENT: Final = ("notbound", "empty", "not_equals", "not_contains")
"""Conditions that are true of a place that does not exist; the others are false."""


def queried_name(arguments: Mapping[str, JSON]) -> str | None:
    """Return the literal name, or id, that a condition asks about; None where its target is anything else."""
    raw = arguments.get("target")
    try:
        read = read_text(raw) if isinstance(raw, str) else None
    except ReferenceInvalid:
        return None
    return normalise(read.value) if isinstance(read, Literal) and isinstance(read.value, str) else None


TRUTHS: Final[Mapping[str, bool]] = {"true": True, "false": False}
"""The texts that a tool may answer a condition with."""

RESULT: Final = "result"
"""The key under which servers put what is no object."""


def may_be_truth(returns: Mapping[str, Any]) -> bool:
    """Whether what fits a tool's output schema may be true or false, as `truth_of` reads it."""
    truth = {"type": "boolean"}
    if not disjoint(returns, truth):
        return True
    if disjoint(returns, {"type": "object"}) or not set(returns.get("required") or ()) <= {RESULT}:
        return False
    properties = returns.get("properties")
    inner = properties.get(RESULT) if isinstance(properties, Mapping) else None
    if inner is None:
        return returns.get("additionalProperties") is not False
    return inner is True or (isinstance(inner, Mapping) and not disjoint(inner, truth))


def truth_of(answer: JSON) -> bool | None:
    """Return what a tool answers a condition with, None where that is neither true nor false."""
    if isinstance(answer, dict) and set(answer) == {RESULT}:
        answer = answer[RESULT] if isinstance(answer[RESULT], bool) else None
    if isinstance(answer, str):
        return TRUTHS.get(answer.strip())
    return answer if isinstance(answer, bool) else None


def parse_condition(raw: JSON, pointer: str, problems: Problems) -> Condition | None:
    """Read a condition; None when something in it is wrong."""
    if isinstance(raw, str):
        return _parse_text(raw, pointer, problems)
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
        message = f"a condition is a text or an object with a `type`, not {a_kind(raw)}"
        if isinstance(raw, dict):
            message = "a condition that is an object has a `type`"
        problems.error("bad-condition", pointer, message, '"$n > 3", or {"type": "empty", "target": "$hits"}')
        return None
    type_: str = raw["type"]
    if type_ in JOINS:
        return _parse_join(type_, raw, pointer, problems)
    if type_ not in TESTS:
        keys = (*TESTS, *JOINS)
        suggestion = closest_spelling(type_, keys) or CALLED_ELSEWHERE.get("_".join(words_of(type_)) or type_)
        near = suggestion or nearest(type_, keys)
        place = join(pointer, "type")
        fix: Patch | None = [{"op": "replace", "path": place, "value": suggestion}] if suggestion else None
        presence = _null_test(type_, raw)
        if presence is not None:
            near, fix = None, [{"op": "replace", "path": pointer, "value": presence}]
        problems.error(
            "unknown-condition",
            place,
            f"there is no condition {type_!r}",
            f"did you mean {near!r}?" if near else dump(presence) if presence is not None else listed(keys, 20),
            fix,
        )
        if suggestion in JOINS:
            return _parse_join(suggestion, raw, pointer, problems)
        if suggestion is None or presence is not None:
            return None
        type_ = suggestion
    return TypedCondition(type_, dict(raw), pointer) if _fields(type_, raw, pointer, problems) else None


def _parse_text(raw: str, pointer: str, problems: Problems) -> Condition | None:
    """Read an expression over variables; one in other words has a fix where it is plain what these say."""
    from infospace.expressions.expression import parse_condition as read

    try:
        return ExpressionCondition(read(raw), pointer)
    except ExpressionInvalid as error:
        called = condition_from_text(raw)
        suggestion = (called or error.suggestion) if "(" in raw else (error.suggestion or called)
        suggestion = suggestion or with_words(raw, read)
        problems.error(
            "bad-expression",
            pointer,
            error.message,
            error.hint,
            None if suggestion is None else [{"op": "replace", "path": pointer, "value": suggestion}],
        )
        return None


def _fields(type_: str, raw: Mapping[str, Any], pointer: str, problems: Problems) -> bool:
    expected, names = TESTS[type_], set[str]()
    good = True
    for key in raw:
        if key != "type" and key not in expected:
            free = [name for name in expected if name not in raw]
            suggestion = closest_spelling(key, free) or next(
                (name for name in OTHERWISE.get(key, ()) if name in free), None
            )
            near = suggestion or nearest(key, expected)
            gone: Patch | None = [{"op": "remove", "path": join(pointer, key)}] if raw[key] is None else None
            problems.error(
                "unknown-argument",
                join(pointer, key),
                f"the condition `{type_}` has no field `{key}`",
                f"did you mean {near!r}?" if near else f"it takes {listed(expected)}",
                [{"op": "move", "from": join(pointer, key), "path": join(pointer, suggestion)}] if suggestion else gone,
            )
            names.add(suggestion or key)
            good = False
    for key in expected:
        if key not in raw and key not in OPTIONAL and key not in names:
            problems.error("missing-argument", pointer, f"the condition `{type_}` needs `{key}`")
            good = False
    if good and type_ == "matches_pattern":
        good = _pattern_fits(raw["pattern"], join(pointer, "pattern"), problems)
    if good and type_ == "validates":
        from planner.parse.schemas import check_schema

        good = check_schema(raw["schema"], join(pointer, "schema"), problems)
    return good


def _pattern_fits(pattern: JSON, pointer: str, problems: Problems) -> bool:
    try:
        compile_pattern(pattern)
    except Invalid as error:
        problems.error("bad-pattern", pointer, error.message, error.hint)
        return False
    return True


def _parse_join(type_: str, raw: Mapping[str, Any], pointer: str, problems: Problems) -> Condition | None:
    for key in raw:
        if key not in ("type", "of"):
            problems.error(
                "unknown-argument",
                join(pointer, key),
                f"the condition `{type_}` has no field `{key}`",
                "it has only `of`, its conditions",
                [{"op": "move", "from": join(pointer, key), "path": join(pointer, "of")}]
                if "of" not in raw and isinstance(raw[key], (list, dict, str))
                else None,
            )
    place = join(pointer, "of")
    if "of" not in raw:
        problems.error(
            "missing-argument", pointer, f"the condition `{type_}` needs `of`", "a condition, or a list of them"
        )
        return None
    of = raw["of"]
    listed_, places = (of, [join(place, i) for i in range(len(of))]) if isinstance(of, list) else ([of], [place])
    if not listed_ or (type_ == "not" and len(listed_) != 1):
        problems.error(
            "bad-condition",
            place,
            f"`{type_}` takes {'one condition' if type_ == 'not' else 'at least one condition'}, not {len(listed_)}",
        )
        return None
    read = [parse_condition(item, at, problems) for item, at in zip(listed_, places, strict=True)]
    conditions = tuple(condition for condition in read if condition is not None)
    if len(conditions) < len(read):
        return None
    match type_:
        case "not":
            return Not(conditions[0])
        case "and":
            return All(conditions)
        case _:
            return AnyOf(conditions)


def is_empty(value: JSON) -> bool:
    """Whether a value that exists is null, `""`, `[]` or `{}`; 0 and false are not empty."""
    return value is None or (isinstance(value, (str, list, dict, tuple)) and not value)


def compare(type_: str, left: JSON, right: JSON) -> bool:
    """Apply a condition that compares two values; raises ComparisonError where they have no order."""
    match type_:
        case "equals":
            return same(left, right)
        case "not_equals":
            return not same(left, right)
        case "contains":
            return _contains(left, right)
        case "not_contains":
            return not _contains(left, right)
    number = kind_of(left) == kind_of(right) == "number"
    if not number and not (isinstance(left, str) and isinstance(right, str)):
        raise ComparisonError(f"{type_} compares two numbers or two texts, not {_shown(left)} and {_shown(right)}")
    a: Any = left
    b: Any = right
    match type_:
        case "greater_than":
            return bool(a > b)
        case "less_than":
            return bool(a < b)
        case "gte":
            return bool(a >= b)
        case _:
            return bool(a <= b)


class ComparisonError(InfospaceError):
    """A condition that has no answer for these values."""

    kind = "condition"


def _contains(target: JSON, value: JSON) -> bool:
    match target:
        case str():
            if not isinstance(value, str):
                raise ComparisonError(f"contains looks for text in a text, not for {_shown(value)}")
            return value in target
        case dict():
            return isinstance(value, str) and value in target
        case list() | tuple():
            return any(same(item, value) for item in target)
    raise ComparisonError(f"contains looks into a text, a list, an object or a Collection, not into {_shown(target)}")


def _shown(value: JSON) -> str:
    text = repr(value)
    return f"{kind_of(value)} {text if len(text) <= 40 else text[:40] + '…'}"
