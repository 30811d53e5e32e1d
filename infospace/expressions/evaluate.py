"""Expressions as closures: made once, called for every resource.

A closure takes the resource and the `Evaluation`, and gives a JSON value; null, missing and unknown are None. An
operation that has no result for its values says so to the tally, which raises or counts; counted, it is null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fmod, isfinite
from typing import Any, Final, TypeAlias, assert_never

from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.data.json_text import same
from infospace.data.like import like
from infospace.data.paths import ABSENT, Path, Readable, kind_of, reader
from infospace.expressions.compare import MIRRORED, TESTS, Verdict, compare, kind_word
from infospace.expressions.functions import CASTS, FUNCTIONS, KINDS, checked, concatenated, joined
from infospace.expressions.show import show
from infospace.expressions.tree import (
    Aggregate,
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    Comparator,
    Compare,
    Constant,
    Element,
    Expression,
    Field,
    In,
    InList,
    IsNull,
    Like,
    Negative,
    Not,
    Operator,
    Or,
    Parameter,
    Star,
)
from infospace.expressions.wrong import Evaluation, Wrong

Getter: TypeAlias = Callable[[Readable, Evaluation], JSON]
"""Gives a value."""
Judge: TypeAlias = Callable[[Readable, Evaluation], Verdict]
"""Gives true, false or, as None, unknown."""
FieldReader: TypeAlias = Callable[[Path], Getter]
"""Makes the closure that reads a path."""


def compile_expression(node: Expression) -> Getter:
    """Make the closure that gives the value of an expression."""
    return Compiler().value(node)


def compile_condition(node: Expression) -> Judge:
    """Make the closure that judges one resource; a missing place of a parameter is null in it."""
    return Compiler(lenient=True).condition(node)


def _read_field(path: Path) -> Getter:
    find = reader(path)

    def field(resource: Readable, _given: Evaluation) -> JSON:
        found = find(resource)
        return None if found is ABSENT else found

    return field


class Compiler:
    """Makes closures of the parts of one expression."""

    def __init__(
        self,
        *,
        lenient: bool = False,
        fields: FieldReader = _read_field,
        aggregates: Callable[[Aggregate], Getter] | None = None,
    ) -> None:
        """`lenient` makes a parameter's missing place null; `fields` and `aggregates` say how those are read."""
        self._lenient = lenient
        self._fields = fields
        self._plain = fields is _read_field
        self._aggregates = aggregates

    def value(self, node: Expression) -> Getter:
        """Make the closure that gives what `node` is."""
        match node:
            case Constant(constant):
                return lambda _resource, _given: constant
            case Field(path):
                return self._fields(path)
            case Parameter(name):
                return _parameter(name, lenient=self._lenient)
            case Call():
                return self._call(node)
            case Element(value, place):
                return _element(self.value(value), place, show(node))
            case Aggregate():
                if self._aggregates is None:
                    raise Invalid(f"`{show(node)}` is an aggregate, which `group` makes of many items")
                return self._aggregates(node)
            case Arithmetic(first, rest):
                return self._arithmetic(node, first, rest)
            case Negative(value):
                return _negative(self.value(value), show(node))
            case Cast(value, to, attempt):
                return _cast(self.value(value), CASTS[to], show(node), attempt=attempt)
            case Case():
                return self._case(node)
            case Star():
                return lambda _resource, _given: None
            case And() | Or() | Not() | Compare() | In() | InList() | Like() | Between() | IsNull():
                return self.condition(node)
            case _:
                assert_never(node)

    def condition(self, node: Expression) -> Judge:
        """Make the closure that says whether `node` is true."""
        match node:
            case And(parts):
                return _all([self.condition(part) for part in parts])
            case Or(parts):
                return _some([self.condition(part) for part in parts])
            case Not(part):
                return _not(self.condition(part))
            case Compare(by, left, right):
                return self._compare(by, left, right)
            case In():
                return self._in(node)
            case InList(value, items):
                return _in_list(self.value(value), self.value(items), show(node))
            case Like():
                return self._like(node)
            case Between(value, low, high):
                return _between(self.value(value), self.value(low), self.value(high), show(node))
            case IsNull(value):
                get = self._leniently(value)
                return lambda resource, given: get(resource, given) is None
            case _:
                return _truth(self.value(node), show(node))

    def _leniently(self, node: Expression) -> Getter:
        """Make a closure in which a missing place of a parameter is null."""
        return Compiler(lenient=True, fields=self._fields, aggregates=self._aggregates).value(node)

    def _call(self, node: Call) -> Getter:
        text, name = show(node), node.function
        match name:
            case "coalesce":
                return _coalesce([self._leniently(argument) for argument in node.arguments])
            case "concat_ws":
                return _concat_ws([self.value(argument) for argument in node.arguments], text)
            case "complete":
                return self._complete(node)
            case "today":
                return lambda _resource, given: given.present()[0]
            case "now":
                return lambda _resource, given: given.present()[1]
        function = FUNCTIONS[name]
        assert function.apply is not None  # noqa: S101 - those without are above
        getters = [self.value(argument) for argument in node.arguments]
        kinds = [function.accepts(place) for place in range(len(getters))]
        if len(getters) == 1:
            return _on_one(name, function.apply, getters[0], kinds[0], text)
        return _on_several(name, function.apply, getters, kinds, text)

    def _complete(self, node: Call) -> Getter:
        if not isinstance(node.arguments[0], Star):
            getters = [self.value(argument) for argument in node.arguments]
            return lambda resource, given: all(get(resource, given) is not None for get in getters)

        def complete(resource: Readable, given: Evaluation) -> bool:
            content = resource.content
            if not isinstance(content, dict):
                return content is not None
            return all(content.get(key) is not None for key in given.fields)

        return complete

    def _arithmetic(self, node: Expression, first: Expression, rest: Sequence[tuple[Operator, Expression]]) -> Getter:
        text = show(node)
        if len(rest) >= _CHAIN:
            return self._long(text, first, rest)
        made = self.value(first)
        for operator, part in rest:
            made = (
                _concatenated(made, self.value(part), text)
                if operator == "||"
                else _computed(operator, made, self.value(part), text)
            )
        return made

    def _long(self, text: str, first: Expression, rest: Sequence[tuple[Operator, Expression]]) -> Getter:
        """Make one closure of a row of so many operators that closures within closures would exhaust the stack."""
        get_first = self.value(first)
        steps = [(_concat if operator == "||" else OPERATIONS[operator], self.value(part)) for operator, part in rest]

        def row(resource: Readable, given: Evaluation) -> JSON:
            found = get_first(resource, given)
            for apply, get in steps:
                found = _operated(apply, found, get(resource, given), given, text)
            return found

        return row

    def _case(self, node: Case) -> Getter:
        branches = [(self.condition(when), self.value(then)) for when, then in node.branches]
        otherwise = self.value(node.otherwise)

        def case(resource: Readable, given: Evaluation) -> JSON:
            for when, then in branches:
                if when(resource, given):
                    return then(resource, given)
            return otherwise(resource, given)

        return case

    def _compare(self, by: Comparator, left: Expression, right: Expression) -> Judge:
        text = show(Compare(by, left, right))
        if self._plain:
            match left, right:
                case Field(path), Constant(str() | int() | float() as known):
                    return _compare_constant(by, path, known, text)
                case Constant(str() | int() | float() as known), Field(path):
                    return _compare_constant(MIRRORED[by], path, known, text)
        get_left, get_right, test = self.value(left), self.value(right), TESTS[by]

        def both(resource: Readable, given: Evaluation) -> Verdict:
            one, other = get_left(resource, given), get_right(resource, given)
            types = type(one), type(other)
            if types in _DIRECT:
                return test(one, other)
            return compare(by, one, other, given.tally, text)

        return both

    def _in(self, node: In) -> Judge:
        get, text = self.value(node.value), show(node)
        getters = [self.value(item) for item in node.items if not isinstance(item, Constant)]
        known = [item.value for item in node.items if isinstance(item, Constant)]
        by_kind: dict[str, set[JSON]] = {}
        for item in known:
            by_kind.setdefault(kind_of(item), set()).add(item)
        has_null = "null" in by_kind
        count = {kind: sum(kind_of(item) == kind for item in known) for kind in by_kind if kind != "null"}
        total = sum(count.values())

        def contained(resource: Readable, given: Evaluation) -> Verdict:
            value = get(resource, given)
            if value is None:
                return None
            kind = kind_of(value)
            likes = by_kind.get(kind)
            if likes is not None and value in likes:
                return True
            alike = total == count.get(kind, 0)
            others = [] if alike else [item for item in known if kind_of(item) not in (kind, "null")]
            items = [get_item(resource, given) for get_item in getters]
            return _among(value, kind, items, others, given, text, unknown=has_null)

        return contained

    def _like(self, node: Like) -> Judge:
        get, escape, text = self.value(node.value), node.escape, show(node)
        match node.pattern:
            case Constant(str() as pattern):
                fits = like(pattern, escape)

                def fixed(resource: Readable, given: Evaluation) -> Verdict:
                    value = get(resource, given)
                    if isinstance(value, str):
                        return fits(value)
                    if value is not None:
                        given.tally.wrong(text, f"looks at {kind_word(value)}, not at text", value)
                    return None

                return fixed
        get_pattern = self.value(node.pattern)

        def varying(resource: Readable, given: Evaluation) -> Verdict:
            value, pattern = get(resource, given), get_pattern(resource, given)
            if isinstance(value, str) and isinstance(pattern, str):
                return like(pattern, escape)(value)
            if value is not None and pattern is not None:
                given.tally.wrong(text, f"compares {kind_word(value)} with {kind_word(pattern)}", value, pattern)
            return None

        return varying


_DIRECT: Final = frozenset({(int, int), (float, float), (int, float), (float, int), (str, str)})
"""Types of two values that compare as they are."""
_CHAIN: Final = 64
"""Operators in a row that are closures within closures."""


def _parameter(name: str, *, lenient: bool) -> Getter:
    def parameter(_resource: Readable, given: Evaluation) -> JSON:
        try:
            found = given.parameters[name]
        except KeyError:
            raise PathNotFound(f"the expression was given no value for ${name}") from None
        if isinstance(found, PathNotFound):
            if lenient:
                return None
            raise found
        return found

    return parameter


def _element(get: Getter, place: int, text: str) -> Getter:
    def element(resource: Readable, given: Evaluation) -> JSON:
        found = get(resource, given)
        if isinstance(found, (list, tuple)):
            return found[place] if -len(found) <= place < len(found) else None
        if found is not None:
            given.tally.wrong(text, f"takes an element of {kind_word(found)}, not of a list", found)
        return None

    return element


def _all(parts: list[Judge]) -> Judge:
    def every(resource: Readable, given: Evaluation) -> Verdict:
        verdict: Verdict = True
        for part in parts:
            one = part(resource, given)
            if one is False:
                return False
            if one is None:
                verdict = None
        return verdict

    return every


def _some(parts: list[Judge]) -> Judge:
    def some(resource: Readable, given: Evaluation) -> Verdict:
        verdict: Verdict = False
        for part in parts:
            one = part(resource, given)
            if one:
                return True
            if one is None:
                verdict = None
        return verdict

    return some


def _not(part: Judge) -> Judge:
    def negated(resource: Readable, given: Evaluation) -> Verdict:
        verdict = part(resource, given)
        return None if verdict is None else not verdict

    return negated


def _truth(get: Getter, text: str) -> Judge:
    def truth(resource: Readable, given: Evaluation) -> Verdict:
        value = get(resource, given)
        if value is None or isinstance(value, bool):
            return value
        given.tally.wrong(text, f"stands as a condition and is {kind_word(value)}", value)
        return None

    return truth


def _compare_constant(by: Comparator, path: Path, known: str | float, text: str) -> Judge:
    find, test = reader(path), TESTS[by]
    direct: tuple[type, ...] = {"number": (float, int), "string": (str,)}.get(kind_of(known), ())

    def one(resource: Readable, given: Evaluation) -> Verdict:
        value = find(resource)
        if type(value) in direct:
            return test(value, known)
        if value is None or value is ABSENT:
            return None
        return compare(by, value, known, given.tally, text)

    return one


def _between(get: Getter, get_low: Getter, get_high: Getter, text: str) -> Judge:
    def between(resource: Readable, given: Evaluation) -> Verdict:
        value = get(resource, given)
        above = compare(">=", value, get_low(resource, given), given.tally, text)
        if above is False:
            return False
        below = compare("<=", value, get_high(resource, given), given.tally, text)
        return below if above or below is False else None

    return between


def _in_list(get: Getter, get_items: Getter, text: str) -> Judge:
    def contained(resource: Readable, given: Evaluation) -> Verdict:
        value, items = get(resource, given), get_items(resource, given)
        if items is None or (value is None and items):
            return None
        if not isinstance(items, (list, tuple)):
            given.tally.wrong(text, f"takes a list, not {kind_word(items)}", items)
            return None
        return _among(value, kind_of(value), items, [], given, text)

    return contained


def _among(
    value: JSON,
    kind: str,
    items: Sequence[JSON],
    others: Sequence[JSON],
    given: Evaluation,
    text: str,
    *,
    unknown: bool = False,
) -> Verdict:
    """Say whether a value is one of the items; `others` are known to be of another type."""
    others = list(others)
    for item in items:
        if item is None:
            unknown = True
        elif kind_of(item) != kind:
            others.append(item)
        elif same(value, item):
            return True
    for other in others:
        given.tally.wrong(text, f"compares {kind_word(value)} with {kind_word(other)}", value, other)
    return None if unknown or others else False


def _coalesce(getters: list[Getter]) -> Getter:
    def first(resource: Readable, given: Evaluation) -> JSON:
        for get in getters:
            value = get(resource, given)
            if value is not None:
                return value
        return None

    return first


def _concat_ws(getters: list[Getter], text: str) -> Getter:
    get_separator, *rest = getters

    def concat(resource: Readable, given: Evaluation) -> JSON:
        separator = get_separator(resource, given)
        if separator is None:
            return None
        if not isinstance(separator, str):
            given.tally.wrong(text, f"takes a text between the parts, not {kind_word(separator)}", separator)
            return None
        values = [get(resource, given) for get in rest]
        try:
            return joined(separator, values)
        except Wrong as error:
            given.tally.wrong(text, str(error), *[value for value in values if value is not None][:3])
            return None

    return concat


_A: Final = {
    "text": "text",
    "date": "a date",
    "number": "a number",
    "whole": "a whole number",
    "list": "a list",
    "text or list": "text or a list",
    "number or text": "numbers, or texts",
    "any": "any value",
}


def _on_one(name: str, apply: Callable[..., JSON], get: Getter, kind: str, text: str) -> Getter:
    accepted = KINDS[kind]

    def applied(resource: Readable, given: Evaluation) -> JSON:
        value = get(resource, given)
        if value is None:
            return None
        if kind_of(value) not in accepted:
            given.tally.wrong(text, f"has {name}, which takes {_A[kind]}, not {kind_word(value)}", value)
            return None
        try:
            return apply(value)
        except Wrong as error:
            given.tally.wrong(text, _reason(name, error), value)
            return None

    return applied


def _reason(name: str, error: Wrong) -> str:
    message = str(error)
    if message.startswith(("is not a date", "is no day")):
        return f"has {name} of what {message}"
    return f"has {name}, which {message}"


def _on_several(
    name: str, apply: Callable[..., JSON], getters: Sequence[Getter], kinds: Sequence[str], text: str
) -> Getter:
    triples = [(get, kind, KINDS[kind]) for get, kind in zip(getters, kinds, strict=True)]

    def applied(resource: Readable, given: Evaluation) -> JSON:
        values: list[JSON] = []
        for get, kind, accepted in triples:
            value = get(resource, given)
            if value is None:
                return None
            if kind_of(value) not in accepted:
                message = f"has {name}, which takes {_A[kind]}, not {kind_word(value)}"
                given.tally.wrong(text, message, value)
                return None
            if kind == "whole" and isinstance(value, float):
                if not value.is_integer():
                    given.tally.wrong(text, f"has {name}, which takes a whole number", value)
                    return None
                value = int(value)
            values.append(value)
        try:
            return apply(*values)
        except Wrong as error:
            given.tally.wrong(text, _reason(name, error), *values)
            return None

    return applied


def _add(one: Any, other: Any) -> Any:
    return one + other


def _subtract(one: Any, other: Any) -> Any:
    return one - other


def _multiply(one: Any, other: Any) -> Any:
    return one * other


def _divide(one: Any, other: Any) -> Any:
    if other == 0:
        raise Wrong("divides by zero")
    if isinstance(one, int) and isinstance(other, int) and one % other == 0:
        return one // other
    return one / other


def _remainder(one: Any, other: Any) -> Any:
    """The remainder has the sign of the first; whole numbers stay exact."""
    if other == 0:
        raise Wrong("divides by zero")
    if isinstance(one, int) and isinstance(other, int):
        rest = abs(one) % abs(other)
        return -rest if one < 0 else rest
    return fmod(one, other)


OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _remainder,
}
"""What each operator makes of two numbers, of which neither is null."""
_NUMBERS: Final = frozenset({int, float})


def _computed(operator: Operator, get_left: Getter, get_right: Getter, text: str) -> Getter:
    apply = OPERATIONS[operator]

    def computed(resource: Readable, given: Evaluation) -> JSON:
        return _operated(apply, get_left(resource, given), get_right(resource, given), given, text)

    return computed


def _concatenated(get_left: Getter, get_right: Getter, text: str) -> Getter:
    def concatenated(resource: Readable, given: Evaluation) -> JSON:
        return _operated(_concat, get_left(resource, given), get_right(resource, given), given, text)

    return concatenated


def _operated(apply: Callable[[Any, Any], Any], one: JSON, other: JSON, given: Evaluation, text: str) -> JSON:
    if one is None or other is None:
        return None
    try:
        if apply is not _concat:
            if type(one) not in _NUMBERS or type(other) not in _NUMBERS:
                message = f"computes with {kind_word(one)} and {kind_word(other)}, not with numbers"
                given.tally.wrong(text, message, one, other)
                return None
            found = apply(one, other)
            if type(found) is float and isfinite(found):
                return found
            return checked(found)
        return _concat(one, other)
    except OverflowError:
        given.tally.wrong(text, "is beyond what a number holds", one, other)
    except Wrong as error:
        given.tally.wrong(text, str(error), one, other)
    return None


def _concat(one: JSON, other: JSON) -> str:
    try:
        return concatenated(one, other)
    except Wrong:
        for value in (one, other):
            if kind_of(value) not in ("string", "number", "boolean"):
                raise Wrong(f"joins texts, numbers and booleans, not {kind_word(value)}") from None
        raise


def _negative(get: Getter, text: str) -> Getter:
    def negative(resource: Readable, given: Evaluation) -> JSON:
        value = get(resource, given)
        if value is None:
            return None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return -value
        given.tally.wrong(text, f"takes a number, not {kind_word(value)}", value)
        return None

    return negative


def _cast(get: Getter, to: Callable[[JSON], JSON], text: str, *, attempt: bool) -> Getter:
    def cast(resource: Readable, given: Evaluation) -> JSON:
        value = get(resource, given)
        if value is None:
            return None
        try:
            return to(value)
        except Wrong as error:
            if not attempt:
                given.tally.wrong(text, str(error), value)
            return None

    return cast
