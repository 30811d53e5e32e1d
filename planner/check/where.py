"""Comparisons in a `where` of values that are of different types whatever they are: unknown, and so never true."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias, get_args

from infospace.data.json_text import dump
from infospace.data.paths import kind_of
from infospace.schema.shapes import NoSuchPath, Schema, Shape, place_in, types_of
from infospace.where.aggregates import Reckoning
from infospace.where.ast import (
    And,
    Between,
    Call,
    Compare,
    Condition,
    Constant,
    Field,
    Function,
    In,
    IsNull,
    Like,
    Not,
    Or,
    Parameter,
    Truth,
    Value,
)

Kinds: TypeAlias = "frozenset[str]"
"""The kinds of JSON that a value may be of, null apart; empty where nothing is known of it."""

_KIND: Mapping[str, str] = {
    "integer": "number",
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "array": "list",
    "object": "object",
}
_EVERY: Kinds = frozenset(_KIND.values())
_ORDERED: Kinds = frozenset({"number", "string"})
_GIVES: Mapping[str, str] = {
    "lower": "string",
    "upper": "string",
    "length": "number",
    "abs": "number",
    "has": "boolean",
}
_TAKES: Mapping[str, Kinds] = {
    "lower": frozenset({"string"}),
    "upper": frozenset({"string"}),
    "length": frozenset({"string", "list"}),
    "abs": frozenset({"number"}),
    "has": frozenset({"list"}),
}
_WORDS = {"list": "a list", "object": "an object", "string": "text", "boolean": "true or false", "number": "a number"}


class Senseless(NamedTuple):
    """A part of a `where` that can be neither true nor false: a sentence, a hint, and the `where` that was meant."""

    message: str
    hint: str
    meant: str | None = None


class Comparisons:
    """Looks at a `where` for what it compares; `of` gives the schema of what a `$parameter` is, None if not known."""

    def __init__(self, text: str, item: Shape, of: Callable[[str], Schema | None]) -> None:
        self._text = text
        self._item = item
        self._of = of

    def senseless(self, condition: Condition) -> Iterator[Senseless]:
        """Iterate over the comparisons that are never true."""
        match condition:
            case And(parts) | Or(parts):
                for part in parts:
                    yield from self.senseless(part)
            case Not(part):
                yield from self.senseless(part)
            case Compare(by, left, right):
                yield from self._compared(by, left, right)
            case In(value, items):
                for item in items:
                    yield from self._among(value, item)
            case Between(value, low, high):
                found = [*self._compared(">=", value, low), *self._compared("<=", value, high)]
                yield from found[:1]
            case Like(value, pattern):
                yield from self._unlike(value)
                yield from self._unlike(pattern)
            case Truth(value):
                yield from self._calls(value)
                kinds = self._kinds(value)
                if kinds and "boolean" not in kinds:
                    message = f"`{self._shown(value)}` stands as a condition, and is {_format_kinds(kinds)}"
                    yield Senseless(message, "compare it with a value")
            case IsNull(value):
                yield from self._calls(value)

    def _compared(self, by: str, left: Value, right: Value) -> Iterator[Senseless]:
        yield from self._calls(left)
        yield from self._calls(right)
        one, other = self._kinds(left), self._kinds(right)
        if not one or not other:
            return
        shown = f"`{self._shown(left)} {by} {self._shown(right)}`"
        if not one & other:
            message = f"{shown} compares {_format_kinds(one)} with {_format_kinds(other)}, and so is never true"
            meant = self._converted(right, one) or self._converted(left, other)
            hint = "nothing is converted: write both as one type" if meant is None else f"`{meant}`"
            yield Senseless(message, hint, meant)
        elif by not in ("=", "!=") and not one & other & _ORDERED:
            yield Senseless(f"{shown} compares {_format_kinds(one)}, which has no order", "numbers and texts have one")

    def _among(self, value: Value, item: Constant | Parameter) -> Iterator[Senseless]:
        yield from self._calls(value)
        kinds = self._kinds(value)
        if isinstance(item, Parameter) and self._kinds(item) == {"list"} and kinds != {"list"}:
            message = f"`{self._shown(value)} IN ({self._shown(item)})` compares with a list, and so is never true"
            meant = f"has({self._shown(item)}, {self._shown(value)})"
            yield Senseless(message, f"`{meant}` asks whether the list has it", self._instead(value, item, meant))
        elif kinds and self._kinds(item) and not kinds & self._kinds(item):
            yield from self._compared("=", value, item)

    def _unlike(self, value: Value) -> Iterator[Senseless]:
        yield from self._calls(value)
        kinds = self._kinds(value)
        if kinds and "string" not in kinds:
            yield Senseless(
                f"LIKE looks at text, and `{self._shown(value)}` is {_format_kinds(kinds)}", "`=` compares others"
            )

    def _calls(self, value: Value) -> Iterator[Senseless]:
        if not isinstance(value, Call):
            return
        for argument in value.arguments:
            yield from self._calls(argument)
        kinds, takes = self._kinds(value.arguments[0]), _TAKES.get(value.function)
        if takes is not None and kinds and not kinds & takes:
            shown = self._shown(value.arguments[0])
            yield Senseless(
                f"{value.function} takes {_format_kinds(takes)}, and `{shown}` is {_format_kinds(kinds)}",
                "a path of one",
            )

    def _kinds(self, value: Value) -> Kinds:
        match value:
            case Constant(constant):
                return frozenset({kind_of(constant)}) & _EVERY
            case Field(path):
                found = place_in(self._item, path.parts)
                return frozenset() if isinstance(found, NoSuchPath) else _of_schema(found)
            case Parameter(name):
                return _of_schema(self._of(name))
            case Call("coalesce", arguments):
                each = [self._kinds(argument) for argument in arguments]
                return frozenset().union(*each) if all(each) else frozenset()
            case Call(function):
                return frozenset({_GIVES[function]})

    def _shown(self, value: Value) -> str:
        match value:
            case Constant(None):
                return "NULL"
            case Constant(str() as text):
                return f"'{text}'"
            case Constant(constant):
                return dump(constant)
            case Field(path):
                return str(path)
            case Parameter(name):
                return f"${name}"
            case Call(function, arguments):
                return f"{function}({', '.join(map(self._shown, arguments))})"

    def _converted(self, value: Value, kinds: Kinds) -> str | None:
        """The `where` with a constant written as what it is compared with, where it says one."""
        if not isinstance(value, Constant):
            return None
        written = None
        if isinstance(value.value, str) and "number" in kinds and _is_number(value.value):
            written = value.value.strip()
        elif isinstance(value.value, (int, float)) and not isinstance(value.value, bool) and kinds == {"string"}:
            written = f"'{dump(value.value)}'"
        found = [word for word in self._tokens() if word[2] == value]
        if written is None or len(found) != 1:
            return None
        start, end, _ = found[0]
        return f"{self._text[:start]}{written}{self._text[end:]}"

    def _instead(self, value: Value, item: Parameter, meant: str) -> str | None:
        """The `where` with a list's `has` in the place of IN, where that is all that it says."""
        return meant if self._text.split() == f"{self._shown(value)} IN ({self._shown(item)})".split() else None

    def _tokens(self) -> Iterator[tuple[int, int, object]]:
        from infospace.where.tokens import tokenize

        for word in tokenize(self._text, (*get_args(Function), *get_args(Reckoning))):
            yield word.start, word.start + len(word.text), word.value


def _of_schema(schema: Schema | None) -> Kinds:
    types = types_of(schema)
    return frozenset() if types >= _KIND.keys() else frozenset(_KIND[one] for one in types if one in _KIND)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().lstrip("-").replace(".", "", 1).isdecimal()


def _format_kinds(kinds: Kinds) -> str:
    return " or ".join(_WORDS[kind] for kind in sorted(kinds))
