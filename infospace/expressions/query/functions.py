"""Functions of expressions in the engine: its own where they mean the same, else ours, called for each row."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.data.like import like
from infospace.expressions.functions import CASTS, FUNCTIONS, joined, whole
from infospace.expressions.mismatch import OperandError
from infospace.expressions.query.builder import (
    UNSURE,
    WORDS,
    Builder,
    Typed,
    Udf,
    all_whole,
    chosen_whole,
    first_of,
    is_null,
    json_of,
    kinds_of,
    may_fail,
    number,
    number_as_text,
    unify,
    wholeness,
)
from infospace.expressions.query.columns import DIGITS, EXACT, NUMBERS, Type

MISMATCH: Final = "\1"
"""Begins the message of an operation that has no result."""
_LONG: Final = 2_000
"""Characters of SQL that are not written once for each argument."""
_GIVES: Final = {
    "string": ("VARCHAR", Type.TEXT),
    "string or null": ("VARCHAR", Type.TEXT),
    "integer": ("HUGEINT", Type.INT),
    "boolean": ("BOOLEAN", Type.BOOL),
    "number": ("DOUBLE", Type.NUM),
    "list of string": ("VARCHAR[]", Type.LIST),
}
_CAST_GIVES: Final = {
    "text": ("VARCHAR", Type.TEXT),
    "number": ("DOUBLE", Type.NUM),
    "integer": ("HUGEINT", Type.INT),
    "boolean": ("BOOLEAN", Type.BOOL),
}


_MOST: Final = {"year": 9_999, "month": 12, "day": 31, "weekday": 7, "days": 4_000_000}
"""How large the whole numbers are that functions give."""


class Mismatches(Protocol):
    """Says in SQL what becomes of an operation without a result, in one clause."""

    builder: Builder
    strict: bool

    def mismatch(self, message: str, *values: Typed) -> str:
        """Return SQL for it: null where one of the values is."""


class _Beyond(OperandError):
    """A value that the language has, and a query's numbers do not hold."""


def guarded(
    at: Mismatches, call: Callable[..., Any], text: str, name: str, count: int, *, attempt: bool = False
) -> Callable[..., Any]:
    """Return a function of so many values, null for null; where `call` cannot, it fails with a sentence, or gives null.

    The engine wants to see how many values a function takes. Of an attempt, null is what was asked for, but not of what
    is only beyond the query's numbers.
    """
    strict, doubt, stop = at.strict, at.builder.doubt(), at.builder.stop

    def applied(*values: Any) -> Any:
        if stop.now:
            raise TimeoutError
        for value in values:
            if value is None:
                return None
        try:
            return call(*values)
        except OperandError as error:
            if attempt and not isinstance(error, _Beyond):
                return None
            if strict:
                raise OperandError(_sentence(text, name, error)) from None
            doubt()
            return None

    return _COUNTED[count](applied)


_COUNTED: Final[tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...]] = (
    lambda call: lambda: call(),  # noqa: PLW0108 - its signature counts
    lambda call: lambda a: call(a),  # noqa: PLW0108
    lambda call: lambda a, b: call(a, b),  # noqa: PLW0108
    lambda call: lambda a, b, c: call(a, b, c),  # noqa: PLW0108
    lambda call: lambda a, b, c, d: call(a, b, c, d),  # noqa: PLW0108
)


def _sentence(text: str, name: str, error: OperandError) -> str:
    reason = str(error)
    if not name:
        return f"{MISMATCH}`{text}` {reason}{MISMATCH}"
    if reason.startswith(("is not a date", "is not a day")):
        return f"{MISMATCH}`{text}` has {name} of what {reason}{MISMATCH}"
    return f"{MISMATCH}`{text}` has {name}, which {reason}{MISMATCH}"


def exact(value: JSON) -> float | None:
    """Return a number as a double. Raises OperandError for a whole number that a double does not hold."""
    if value is None:
        return None
    assert isinstance(value, (int, float))  # noqa: S101 - functions of numbers give numbers
    if isinstance(value, int) and abs(value) > EXACT:
        raise _Beyond(f"gives the whole number {value}, which a query's numbers with a point do not hold")
    return float(value)


def bounded(value: JSON) -> int | None:
    """Return a whole number. Raises OperandError for one of more than 38 digits."""
    if value is None:
        return None
    assert isinstance(value, int)  # noqa: S101 - functions of whole numbers give whole numbers
    if abs(value) >= DIGITS:
        raise _Beyond("gives a whole number of more than 38 digits")
    return value


def cast_to(at: Mismatches, value: Typed, to: str, text: str, *, attempt: bool) -> Typed:
    """Return CAST or TRY_CAST of a value."""
    gives, type_ = _CAST_GIVES[to]
    same = {"text": {Type.TEXT}, "number": NUMBERS, "integer": {Type.INT}, "boolean": {Type.BOOL}}[to]
    if value.type in same:
        return value
    if value.type is Type.NULL:
        return Typed(f"NULL::{gives}", type_)
    if to == "text" and value.type in (Type.INT, Type.BOOL):
        return Typed(f"({value.sql})::VARCHAR", Type.TEXT)
    if to == "integer" and value.type is Type.BOOL:
        return Typed(f"({value.sql})::INTEGER", Type.INT, 1)
    if to == "boolean" and value.type is Type.INT:
        return Typed(f"({value.sql}) <> 0", Type.BOOL)
    if to == "text" and value.type is Type.NUM:
        pointed = cast_to(at, replace(value, type=Type.FLOAT, whole=None), to, text, attempt=attempt)
        return Typed(number_as_text(value, pointed.sql, text), Type.TEXT)
    cast, plain = CASTS[to], value.type in (Type.TEXT, Type.BOOL, Type.FLOAT)
    finish: Callable[[JSON], Any] = {"number": exact, "integer": bounded}.get(to, _same)

    def call(actual: Any) -> Any:
        return finish(cast(actual if plain else json.loads(actual)))

    takes = value.type.value.strip() if plain else "VARCHAR"
    udf = Udf(guarded(at, call, text, "", 1, attempt=attempt), (takes,), gives)
    name = at.builder.function(("cast", to, value.type, text, at.strict, attempt), udf, [value.sql], strict=at.strict)
    whole = _whole_cast(value) if type_ is Type.NUM else None
    return Typed(f"{name}({value.sql if plain else json_of(value)})", type_, whole=whole)


def _whole_cast(value: Typed) -> str:
    """Return SQL for whether what is cast to a number is written as a whole one."""
    text = value.sql
    if value.type not in (Type.TEXT, Type.ANY):  # nothing of another type is cast to a number
        return "FALSE"
    if value.type is Type.ANY:
        text = f"CASE WHEN ({value.sql}).v.k = 0 THEN ({value.sql}).o ELSE ({value.sql}).v.s END"
    return f"NOT contains({text}, '.') AND NOT contains(lower({text}), 'e')"


def _same(value: JSON) -> JSON:
    return value


def like_of(at: Mismatches, value: Typed, pattern: Typed, known: str | None, escape: str | None, text: str) -> Typed:
    """Return LIKE; `known` is the pattern where it is a constant."""
    if known is not None:
        udf = Udf(guarded(at, like(known, escape), text, "", 1), ("VARCHAR",), "BOOLEAN")
        return Typed(f"{at.builder.function(('like', known, escape), udf)}({value.sql})", Type.BOOL)

    def call(given: str, pattern: str) -> bool:
        return like(pattern, escape)(given)

    udf = Udf(guarded(at, call, text, "", 2), ("VARCHAR", "VARCHAR"), "BOOLEAN")
    return Typed(f"{at.builder.function(('like', escape), udf)}({value.sql}, {pattern.sql})", Type.BOOL)


def call_of(at: Mismatches, name: str, arguments: Sequence[Typed], text: str) -> Typed:
    """Return a call of a function of `FUNCTIONS`: what stands after a null is not asked for."""
    result = _call_of(at, name, arguments, text)
    if not at.strict or name == "coalesce":
        return result
    known = next((place for place, value in enumerate(arguments) if value.type is Type.NULL), None)
    if known is not None and name != "concat_ws":
        return replace(result, sql=evaluated(arguments[:known], result.sql))
    last = max((place for place, value in enumerate(arguments) if may_fail(value.sql)), default=0)
    ahead = arguments[: last if name != "concat_ws" else min(last, 1)]
    return replace(result, sql=unless_null(ahead, result.sql))


def unless_null(values: Sequence[Typed], sql: str) -> str:
    """Return SQL that is null, and evaluates nothing more, where one of the values is; the first null ends it."""
    nulls = [is_null(value.sql) for value in values if value.type is not Type.NULL]
    if not nulls or len(sql) > _LONG:
        return sql
    return f"CASE{''.join(f' WHEN {null} THEN NULL' for null in nulls)} ELSE {sql} END"


def evaluated(values: Sequence[Typed], sql: str) -> str:
    """Return SQL that does not depend on values, and evaluates those of them that may fail."""
    for value in values:
        if may_fail(value.sql):
            sql = f"CASE WHEN {is_null(value.sql)} THEN {sql} ELSE {sql} END"
    return sql


def _call_of(at: Mismatches, name: str, arguments: Sequence[Typed], text: str) -> Typed:
    native = _NATIVE.get(name)
    if name == "coalesce":
        unified, type_ = unify(arguments)
        most = max((value.most or 0 for value in arguments), default=0)
        bounded_ = all(value.most is not None or value.type is Type.NULL for value in arguments)
        elements = next((value.element for value in arguments if value.element), None)
        sql = first_of([value.sql for value in unified])
        there = [f"({value.sql}) IS NOT NULL" for value in unified[:-1]]
        whole_ = chosen_whole(unified, there) if type_ is Type.NUM else None
        bound = most if bounded_ and type_ is Type.INT else None
        return Typed(sql, type_, bound, elements, kinds_of(unified), whole_)
    if name in ("today", "now"):
        return at.builder.constant(at.builder.clock()[name == "now"])
    if name == "concat_ws":
        return _concat_ws(at, arguments, text)
    if any(value.type is Type.NULL for value in arguments):
        gives, type_ = _GIVES.get(FUNCTIONS[name].gives, ("DOUBLE", Type.NUM))
        return Typed(f"NULL::{gives}", type_, element=Type.TEXT if type_ is Type.LIST else None)
    if name in ("least", "greatest"):
        return _extreme(at, name, arguments, text)
    if name in ("contains", "has") and arguments[0].type is not Type.TEXT:
        return _list_has(at, arguments, text)
    if name == "length" and arguments[0].type is not Type.TEXT:
        return _length(at, arguments[0], text)
    fitted: list[Typed] = []
    for place, value in enumerate(arguments):
        kind = FUNCTIONS[name].accepts(place)
        result = fit(at, value, kind if kind != "any" else "text", f"`{text}` has {name}, which", text)
        if result is None:
            return Typed(at.mismatch(_unfit(name, text, kind, value), *arguments), *_gives_null(name))
        fitted.append(result)
    if native is not None and (result := native(fitted)) is not None:
        return result
    return _ours(at, name, fitted, text)


def _gives_null(name: str) -> tuple[Type]:
    return (_GIVES.get(FUNCTIONS[name].gives, ("DOUBLE", Type.NUM))[1],)


def _unfit(name: str, text: str, kind: str, value: Typed) -> str:
    expected = {"date": "a date", "number": "a number", "whole": "a whole number", "list": "a list"}.get(kind, kind)
    return f"`{text}` has {name}, which takes {expected}, not {WORDS[value.type]}"


def fit(at: Mismatches, value: Typed, kind: str, begins: str, text: str) -> Typed | None:
    """Return a value as one of a kind; None where none of its values is. Raises Invalid for a mixed number."""
    numeric = kind in ("number", "whole")
    if numeric:
        if value.is_number:
            return value
        if value.type is Type.ANY and "number" in value.kinds:
            raise mixed_numbers(text, value)
        return None
    if kind in ("text", "date", "text or list", "number or text"):
        if value.type is Type.TEXT:
            return value
        if value.type is Type.ANY and "text" in value.kinds:
            other = at.mismatch(f"{begins} takes text, and a value of it is none", value)
            return Typed(f"CASE WHEN ({value.sql}).v.k = 1 THEN ({value.sql}).v.s ELSE {other} END", Type.TEXT)
    return None


def mixed_numbers(text: str, value: Typed) -> Invalid:
    """Return what is said of computing with values of mixed kinds."""
    held = " and ".join(sorted(value.kinds))
    message = f"`{text}` computes with a column of {held}"
    if value.kinds == {"number"}:
        message = f"`{text}` computes with a column of numbers, some beyond what a double holds exactly"
    return Invalid(message, hint="TRY_CAST(… AS number) makes numbers of it, and null of what is none")


def _ours(at: Mismatches, name: str, values: Sequence[Typed], text: str) -> Typed:
    """Call the evaluator's own function for each row."""
    function = FUNCTIONS[name]
    apply = function.apply
    assert apply is not None  # noqa: S101 - those without stand above
    whole_at = [function.accepts(place) == "whole" for place in range(len(values))]
    from_num = [value.type is Type.NUM for value in values]
    gives, type_ = _GIVES.get(function.gives, ("DOUBLE", Type.NUM))
    if (name == "round" and len(values) == 1) or (name == "round" and values[0].type is Type.INT):
        gives, type_ = "HUGEINT", Type.INT
    finish: Callable[[JSON], Any] = {Type.NUM: exact, Type.INT: bounded}.get(type_, _same)

    def call(*given: Any) -> Any:
        read = [
            whole(value) if whole_ else int(value) if num and value.is_integer() else value
            for value, whole_, num in zip(given, whole_at, from_num, strict=True)
        ]
        return finish(apply(*read))

    takes = tuple(value.type.value.strip() for value in values)
    udf = Udf(guarded(at, call, text, name, len(values)), takes, gives)
    known = at.builder.function(
        (name, tuple(value.type for value in values), text, at.strict),
        udf,
        [value.sql for value in values],
        strict=at.strict,
    )
    element = Type.TEXT if type_ is Type.LIST else None
    sql = f"{known}({', '.join(value.sql for value in values)})"
    if type_ is Type.NUM:
        type_, whole_ = _of_number(name, values)
        return Typed(sql, type_, whole=whole_)
    return Typed(sql, type_, _MOST.get(name) if type_ is Type.INT else None, element)


def _of_number(name: str, values: Sequence[Typed]) -> tuple[Type, str | None]:
    """Return the type of the number that a function gives, and what says whether it is whole."""
    if name == "sqrt" or (name == "round" and values[0].type is Type.FLOAT):
        return Type.FLOAT, None
    if name == "round":
        return Type.NUM, wholeness(values[0])
    if name == "power":
        return Type.NUM, all_whole(values, f"({values[1].sql}) >= 0")
    return Type.NUM, UNSURE


def _concat_ws(at: Mismatches, values: Sequence[Typed], text: str) -> Typed:
    if values[0].type is Type.NULL:
        return Typed("NULL::VARCHAR", Type.TEXT)

    def call(given: list[str | None]) -> str | None:
        separator, *rest = (None if one is None else json.loads(one) for one in given)
        if separator is None:
            return None
        try:
            return _joined(separator, rest)
        except OperandError as error:
            if at.strict:
                raise OperandError(_sentence(text, "concat_ws", error)) from None
            doubt()
            return None

    for value in values:
        if value.whole == UNSURE:
            number_as_text(value, "", text)
    strict, doubt = at.strict, at.builder.doubt()
    name = at.builder.function(
        ("concat_ws", text, strict),
        Udf(call, ("VARCHAR[]",), "VARCHAR"),
        [value.sql for value in values],
        strict=strict,
    )
    return Typed(f"{name}([{', '.join(map(json_of, values))}])", Type.TEXT)


def _joined(separator: JSON, values: Sequence[JSON]) -> str:
    if not isinstance(separator, str):
        raise OperandError("takes a text between the parts")
    return joined(separator, values)


def _extreme(at: Mismatches, name: str, values: Sequence[Typed], text: str) -> Typed:
    if all(value.is_number for value in values):
        unified, type_ = unify(values)
        if type_ is Type.ANY:
            raise Invalid(f"`{text}` compares whole numbers beyond 2^53 with numbers with a point")
    elif all(value.type is Type.TEXT for value in values):
        unified, type_ = list(values), Type.TEXT
    elif any(value.type is Type.ANY for value in values):
        raise Invalid(f"`{text}` takes numbers, or texts, and has mixed values", hint="TRY_CAST(… AS number)")
    else:
        return Typed(
            at.mismatch(f"`{text}` has {name}, which takes numbers, or texts, and not both", *values), Type.NUM
        )
    nulls = " OR ".join(f"({value.sql}) IS NULL" for value in unified)
    listed = ", ".join(value.sql for value in unified)
    most = max((value.most for value in values if value.most is not None), default=None)
    is_known = type_ is Type.INT and all(value.most is not None for value in values)
    sql = f"CASE WHEN {nulls} THEN NULL ELSE {name}({listed}) END"
    whole_ = _whole_extreme(unified, f"{name}({listed})") if type_ is Type.NUM else None
    return Typed(sql, type_, most if is_known else None, whole=whole_)


def _whole_extreme(values: Sequence[Typed], result: str) -> str:
    """Return SQL for whether the first of the values that equals `result` is whole; `UNSURE` where it would be long."""
    if len(result) > _LONG:
        return UNSURE
    return chosen_whole(values, [f"({value.sql}) = {result}" for value in values[:-1]])


def _list_has(at: Mismatches, values: Sequence[Typed], text: str) -> Typed:
    from infospace.data.paths import kind_of
    from infospace.expressions.functions import contains

    def call(held: str, value: str) -> bool:
        read, sought = json.loads(held), json.loads(value)
        if kind_of(read) not in ("list", "string"):
            raise OperandError("takes text or a list")
        return contains(read, sought)

    udf = Udf(guarded(at, call, text, "contains", 2), ("VARCHAR", "VARCHAR"), "BOOLEAN")
    name = at.builder.function(("contains", text, at.strict), udf, [value.sql for value in values], strict=at.strict)
    return Typed(f"{name}({json_of(values[0])}, {json_of(values[1])})", Type.BOOL)


def _length(at: Mismatches, value: Typed, text: str) -> Typed:
    if value.type is Type.LIST:
        return Typed(f"len({value.sql})", Type.INT, 2**53)

    def call(given: str) -> int:
        read = json.loads(given)
        if not isinstance(read, (str, list)):
            raise OperandError("takes text or a list")
        return len(read)

    udf = Udf(guarded(at, call, text, "length", 1), ("VARCHAR",), "BIGINT")
    name = at.builder.function(("length", text, at.strict), udf, [value.sql], strict=at.strict)
    return Typed(f"{name}({json_of(value)})", Type.INT, 2**53)


def _abs(values: Sequence[Typed]) -> Typed | None:
    [value] = values
    sql = f"({value.sql})::HUGEINT" if value.type is Type.INT else value.sql
    return Typed(f"abs({sql})", value.type, value.most, whole=value.whole)


def _whole(values: Sequence[Typed]) -> Typed | None:
    """A whole number rounded to whole ones is itself."""
    return values[0] if values[0].type is Type.INT and len(values) == 1 else None


_NATIVE: Final[dict[str, Callable[[Sequence[Typed]], Typed | None]]] = {
    "abs": _abs,
    "floor": _whole,
    "ceil": _whole,
    "round": _whole,
    "length": lambda values: Typed(f"length({values[0].sql})", Type.INT, EXACT),
    "starts_with": lambda values: Typed(f"starts_with({values[0].sql}, {values[1].sql})", Type.BOOL),
    "contains": lambda values: Typed(f"contains({values[0].sql}, {values[1].sql})", Type.BOOL),
    "has": lambda values: Typed(f"contains({values[0].sql}, {values[1].sql})", Type.BOOL),
}
"""Functions of the engine that mean the same; None where they do not for these types."""

__all__ = [
    "MISMATCH",
    "Mismatches",
    "call_of",
    "cast_to",
    "evaluated",
    "fit",
    "like_of",
    "mixed_numbers",
    "number",
    "unless_null",
]
