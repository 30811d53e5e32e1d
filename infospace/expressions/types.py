"""The types of expressions: what an expression gives, and what in it can have no result whatever the values are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from infospace.core.errors import Invalid
from infospace.data.paths import Path
from infospace.expressions.functions import FUNCTIONS, KINDS, NEVER_NULL
from infospace.expressions.show import show
from infospace.expressions.tree import (
    Aggregate,
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
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
    Or,
    Parameter,
    Star,
    children,
)
from infospace.schema.combine import any_of, list_of, nullable
from infospace.schema.infer import NoSuchPath, Schema, schema_of_value, subschema_at, types_of

Kinds: TypeAlias = "frozenset[str]"
"""The kinds of JSON that a value may be of, null apart; empty where nothing is known of it."""

_KIND: Final[Mapping[str, str]] = {
    "integer": "number",
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "array": "list",
    "object": "object",
}
_ORDERED: Final[Kinds] = frozenset({"number", "string"})
_JOINED: Final[Kinds] = frozenset({"number", "string", "boolean"})
_NUMBER: Final[Kinds] = frozenset({"number"})
_LIST: Final[Kinds] = frozenset({"list"})
_WRITTEN: Final = frozenset({"null", "boolean", "integer", "number", "string"})
_WORDS: Final = {
    "list": "a list",
    "object": "an object",
    "string": "text",
    "boolean": "true or false",
    "number": "a number",
}
_CASTS: Final = {"text": "string", "number": "number", "integer": "integer", "boolean": "boolean"}
_GIVES: Final[Mapping[str, Schema]] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "string or null": {"type": ["string", "null"]},
    "number or text": {"type": ["number", "string"]},
    "list of string": {"type": "array", "items": {"type": "string"}},
}
_NUMERIC_AGGREGATES: Final = frozenset({"sum", "avg", "median", "quantile"})


class Senseless(NamedTuple):
    """A part of an expression that can have no result: a sentence, a hint, and the expression that was meant."""

    message: str
    hint: str | None
    suggestion: str | None = None


class Typer:
    """Types trees. `field` gives the schema of what stands at a path, `parameter` that of a `$parameter`.

    Either gives None where nothing is known. `never` says what comes of a comparison of different types.
    """

    def __init__(
        self,
        field: Callable[[Path], Schema | None],
        parameter: Callable[[str], Schema | None],
        *,
        text: str = "",
        never: str = ", and so is never true",
    ) -> None:
        self._field = field
        self._parameter = parameter
        self._text = text
        self._never = never

    def schema(self, node: Expression) -> Schema | None:
        """Return the schema of what an expression gives, null among it where that is not ruled out; None: unknown."""
        match node:
            case Constant(value):
                return schema_of_value(value)
            case Field(path):
                return nullable(self._field(path))
            case Parameter(name):
                return nullable(self._parameter(name))
            case Star():
                return None
            case Call():
                return self._called(node)
            case Element(value, place):
                subschema = subschema_at(self.schema(value), (place,))
                return None if isinstance(subschema, NoSuchPath) else nullable(subschema)
            case Aggregate():
                return self._aggregated(node)
            case Arithmetic(_, rest):
                if rest[0][0] == "||":
                    return {"type": ["string", "null"]}
                whole = all(operator != "/" for operator, _ in rest) and self._all_whole(children(node))
                return {"type": ["integer" if whole else "number", "null"]}
            case Negative(value):
                return {"type": ["integer" if self._all_whole((value,)) else "number", "null"]}
            case Cast(_, to):
                return {"type": [_CASTS[to], "null"]}
            case Case(branches, otherwise):
                return self._either([*(then for _, then in branches), otherwise])
            case IsNull():
                return {"type": "boolean"}
            case _:
                return {"type": ["boolean", "null"]}

    def _called(self, node: Call) -> Schema | None:
        gives = FUNCTIONS[node.function].gives
        if node.function == "coalesce":
            return self._either(node.arguments)
        if node.function in ("least", "greatest"):
            joined = self._either(node.arguments)
            names = types_of(joined) - {"null"}
            return joined if names <= {"integer", "number"} or names <= {"string"} else nullable(joined)
        if gives == "number" and node.function in ("abs", "round") and self._whole_call(node):
            return {"type": ["integer", "null"]}
        results = _GIVES[gives]
        sure = node.function in NEVER_NULL and (node.function != "concat_ws" or self._surely_joined(node.arguments))
        return results if sure else nullable(results)

    def _surely_joined(self, nodes: Sequence[Expression]) -> bool:
        """Whether `concat_ws` has a text of these: a separator that is one, and nothing that cannot be joined."""
        separator, *rest = (self.schema(node) for node in nodes)
        return types_of(separator) == {"string"} and all(types_of(schema) <= _WRITTEN for schema in rest)

    def _whole_call(self, node: Call) -> bool:
        return (node.function == "round" and len(node.arguments) == 1) or self._all_whole(node.arguments[:1])

    def _aggregated(self, node: Aggregate) -> Schema | None:
        inner = self.schema(node.arguments[0]) if node.arguments else None
        match node.function:
            case "count" | "count_distinct":
                return {"type": "integer"}
            case "sum":
                return {"type": ["integer" if self._all_whole(node.arguments) else "number", "null"]}
            case "avg" | "median" | "quantile":
                return {"type": ["number", "null"]}
            case "bool_or" | "bool_and":
                return {"type": ["boolean", "null"]}
            case "list":
                return list_of(inner)
            case _:
                return nullable(inner)

    def _all_whole(self, nodes: Sequence[Expression]) -> bool:
        """Whether all of them are whole numbers, or null."""
        results = [types_of(self.schema(node)) - {"null"} for node in nodes]
        return all(types == {"integer"} for types in results)

    def _either(self, nodes: Sequence[Expression]) -> Schema | None:
        schemas = [self.schema(node) for node in nodes]
        joined: Schema | None = schemas[0]
        for schema in schemas[1:]:
            joined = joined if schema == joined else any_of(joined, schema)
        return joined

    def kinds(self, node: Expression) -> Kinds:
        """Return the kinds that an expression may give."""
        return _kinds_of(types_of(self.schema(node)))

    def senseless(self, node: Expression) -> Iterator[Senseless]:
        """Iterate over what in an expression can have no result."""
        match node:
            case And(parts) | Or(parts):
                for part in parts:
                    yield from self._truth(part)
            case Not(part):
                yield from self._truth(part)
            case Case(branches, otherwise):
                for when, then in branches:
                    yield from self._truth(when)
                    yield from self.senseless(then)
                yield from self.senseless(otherwise)
            case Compare(by, left, right):
                yield from self._parts(node)
                yield from self._compared(by, left, right)
            case In(value, items):
                yield from self._parts(node)
                for item in items:
                    yield from self._among(value, item)
            case InList(value, items):
                yield from self._listed(value, items)
            case Between(value, low, high):
                yield from self._parts(node)
                results = [*self._compared(">=", value, low), *self._compared("<=", value, high)]
                yield from results[:1]
            case Like(value, pattern):
                yield from self._parts(node)
                for part in (value, pattern):
                    yield from self._unfit(part, frozenset({"string"}), "LIKE looks at text", "`=` compares others")
            case Arithmetic(_, rest):
                yield from self._parts(node)
                yield from self._computed(node, "||" in [operator for operator, _ in rest])
            case Negative(value):
                yield from self._parts(node)
                yield from self._unfit(value, _NUMBER, "takes a number", of=node)
            case Element(value):
                yield from self._parts(node)
                yield from self._unfit(value, _LIST, "takes an element of a list", of=node)
            case Call() | Aggregate():
                yield from self._parts(node)
                yield from self._check_arguments(node)
            case _:
                yield from self._parts(node)

    def condition(self, node: Expression) -> Iterator[Senseless]:
        """Iterate over what in a condition can have no result."""
        yield from self._truth(node)

    def _truth(self, node: Expression) -> Iterator[Senseless]:
        yield from self.senseless(node)
        kinds = self.kinds(node)
        if kinds and "boolean" not in kinds:
            message = f"`{show(node)}` is used as a condition, and is {format_kinds(kinds)}"
            yield Senseless(message, "compare it with a value")

    def _parts(self, node: Expression) -> Iterator[Senseless]:
        for part in children(node):
            yield from self.senseless(part)

    def _compared(self, by: str, left: Expression, right: Expression) -> Iterator[Senseless]:
        one, other = self.kinds(left), self.kinds(right)
        if not one or not other:
            return
        if one & other and (by in ("=", "!=") or one & other & _ORDERED):
            return
        text = f"`{show(left)} {by} {show(right)}`"
        if not one & other:
            message = f"{text} compares {format_kinds(one)} with {format_kinds(other)}{self._never}"
            suggestion = self._converted(right, one) or self._converted(left, other)
            hint = (
                "nothing is converted: write both as one type, or CAST one" if suggestion is None else f"`{suggestion}`"
            )
            yield Senseless(message, hint, suggestion)
        else:
            yield Senseless(f"{text} compares {format_kinds(one)}, which has no order", "numbers and texts have one")

    def _among(self, value: Expression, item: Expression) -> Iterator[Senseless]:
        kinds = self.kinds(value)
        if isinstance(item, Parameter) and self.kinds(item) == {"list"} and kinds != {"list"}:
            text = f"{show(value)} IN ({show(item)})"
            suggestion = f"{show(value)} IN {show(item)}"
            alone = self._text.split() == text.split()
            message = f"`{text}` compares with a list{self._never}"
            yield Senseless(message, f"`{suggestion}` asks whether the list has it", suggestion if alone else None)
        elif kinds and self.kinds(item) and not kinds & self.kinds(item):
            yield from self._compared("=", value, item)

    def _listed(self, value: Expression, items: Parameter) -> Iterator[Senseless]:
        yield from self.senseless(value)
        yield from self._unfit(items, _LIST, "IN takes a list")
        kinds, schema = self.kinds(value), self._parameter(items.name)
        inner = subschema_at(schema, (0,)) if schema is not None else None
        held: Kinds = types_of(inner) if isinstance(inner, Mapping) else frozenset(_KIND)
        inner_kinds = _kinds_of(held)
        if kinds and inner_kinds and not kinds & inner_kinds:
            message = (
                f"`{show(value)} IN {show(items)}` compares {format_kinds(kinds)} with {format_kinds(inner_kinds)}"
            )
            yield Senseless(f"{message}{self._never}", "nothing is converted: CAST one of them")

    def _computed(self, node: Expression, joins: bool) -> Iterator[Senseless]:
        takes, words = (_JOINED, "joins texts, numbers and booleans") if joins else (_NUMBER, "computes with numbers")
        for part in children(node):
            yield from self._unfit(part, takes, words, of=node)

    def _check_arguments(self, node: Call | Aggregate) -> Iterator[Senseless]:
        if isinstance(node, Aggregate):
            if node.function in _NUMERIC_AGGREGATES:
                yield from self._unfit(node.arguments[0], _NUMBER, f"{node.function} takes a number")
            if node.function in ("bool_or", "bool_and"):
                takes = frozenset({"boolean"})
                yield from self._unfit(node.arguments[0], takes, f"{node.function} takes true or false")
            return
        function = FUNCTIONS[node.function]
        for place, argument in enumerate(node.arguments):
            takes = KINDS[function.accepts(place)]
            if function.accepts(place) != "any":
                yield from self._unfit(argument, takes, f"{node.function} takes {format_kinds(takes)}", "a path of one")
        yield from _constants(node)

    def _unfit(
        self, part: Expression, takes: Kinds, message: str, hint: str | None = None, of: Expression | None = None
    ) -> Iterator[Senseless]:
        """Give a part that is of other kinds than `takes`. The message is about the expression `of`, if given."""
        kinds = self.kinds(part)
        if kinds and not kinds & takes:
            message = message if of is None else f"`{show(of)}` {message}"
            cast = "CAST(… AS number) makes a number of a text" if takes == _NUMBER and "string" in kinds else hint
            yield Senseless(f"{message}, and `{show(part)}` is {format_kinds(kinds)}", cast)

    def _converted(self, value: Expression, kinds: Kinds) -> str | None:
        """The expression with a constant written as what it is compared with, where it says one."""
        if not isinstance(value, Constant):
            return None
        text = None
        if isinstance(value.value, str) and "number" in kinds and _is_number(value.value):
            text = value.value.strip()
        elif isinstance(value.value, (int, float)) and not isinstance(value.value, bool) and kinds == {"string"}:
            text = f"'{show(value)}'"
        results = [(start, end) for start, end, inner in _words(self._text) if inner == value]
        if text is None or len(results) != 1:
            return None
        start, end = results[0]
        return f"{self._text[:start]}{text}{self._text[end:]}"


@cache
def _kinds_of(types: frozenset[str]) -> Kinds:
    """Return the kinds that types of JSON Schema are; none where they may be of every kind."""
    return frozenset() if types >= _KIND.keys() else frozenset(_KIND[one] for one in types if one in _KIND)


def _constants(node: Call) -> Iterator[Senseless]:
    """Try what a call gives where all that matters of it stands in the text: patterns of dates and of RE2."""
    place = 1
    if node.function in ("matches", "regexp_extract", "regexp_replace", "strftime") and len(node.arguments) > place:
        pattern = node.arguments[place]
        if isinstance(pattern, Constant) and isinstance(pattern.value, str):
            from infospace.expressions import functions
            from infospace.expressions.dates import strftime
            from infospace.expressions.mismatch import OperandError

            try:
                if node.function == "strftime":
                    strftime("2026-01-01", pattern.value)
                else:
                    functions.matches("", pattern.value)
            except (OperandError, Invalid) as error:
                yield Senseless(f"`{show(node)}` has {node.function}, which {error}", None)


def _words(text: str) -> Iterator[tuple[int, int, object]]:
    from infospace.expressions.refused import Refused
    from infospace.expressions.tokens import tokenize

    try:
        words = tokenize(text)
    except Refused:
        return
    for word in words:
        yield word.start, word.start + len(word.text), word.value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().lstrip("-").replace(".", "", 1).isdecimal()


def format_kinds(kinds: Kinds) -> str:
    """Return kinds as words of a sentence."""
    return " or ".join(_WORDS[kind] for kind in sorted(kinds))
