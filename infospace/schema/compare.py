"""Two schemas compared: in which places no value of the one fits the other.

A list is compared by its items although it may be empty, and an object by the keys that it always has. What is not
understood of a schema is taken to fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from infospace.core.plural import pluralize
from infospace.data.json_text import dump
from infospace.schema.infer import Schema, on_its_own, types_in
from infospace.schema.references import DEEPEST, resolved
from infospace.schema.value_text import describe_schema, describe_types, join_reasons, shown

EACH = None
"""In a place: each item of a list."""
Way: TypeAlias = "tuple[str | int | None, ...]"

MAX_COMPARED_PAIRS = 5_000
"""Pairs of parts that are compared; what is left of two schemas is then taken to fit."""
VALUES = 20
"""Values that a schema may name and that are held against another."""


class Mismatch(NamedTuple):
    """A place in the one schema at which nothing fits the other, by which keyword, and what is said of it."""

    place: Way
    keyword: str
    message: str
    """Without the subject: `is a number, and text is wanted`."""
    given: Schema
    wanted: Schema

    def sentence(self, subject: str, inside: Way | None = None) -> str:
        """Say it of the place `inside` (by default the whole place) of something."""
        words = [_word(part) for part in reversed(self.place if inside is None else inside)]
        return f"{' of '.join([*words, subject])} {self.message}"


def _word(part: str | int | None) -> str:
    if part is EACH:
        return "each item"
    return f"[{part}]" if isinstance(part, int) else f"`{part}`"


def mismatches(given: Schema | None, expected: Schema | None) -> Iterator[Mismatch]:
    """Iterate over the places at which no value of the one schema fits the other, the outermost of each."""
    if given is not None and expected is not None:
        yield from _Comparison(given, expected).compare(given, expected, (), 0)


class _Comparison:
    """Compares the parts of two schemas, each with its own definitions."""

    def __init__(self, given: Schema, expected: Schema) -> None:
        self._given, self._wanted = given, expected
        self._left = MAX_COMPARED_PAIRS

    def compare(self, value: Any, expected: Any, place: Way, depth: int) -> Iterator[Mismatch]:
        self._left -= 1
        if self._left < 0 or depth > DEEPEST or value is False or expected is True:
            return
        value = resolved(value, self._given) if isinstance(value, Mapping) else {}
        if expected is False:
            yield Mismatch(place, "false", "may not be there", value, {})
            return
        expected = resolved(expected, self._wanted) if isinstance(expected, Mapping) else {}
        types, fits = types_in(value, self._given), types_in(expected, self._wanted)
        if not types & fits:
            yield self._unlike(value, expected, place)
            return
        values = _values(value)
        if values is not None:
            yield from self._named(values, value, expected, place)
            return
        for option in expected.get("allOf", ()):
            yield from self.compare(value, option, place, depth + 1)
        options = value.get("anyOf") or value.get("oneOf")
        if options:
            yield from self._whichever(options, value, expected, place, depth)
            return
        options = expected.get("anyOf") or expected.get("oneOf")
        if options:
            yield from self._none_of(options, value, expected, place, depth)
        if types == {"array"}:
            yield from self._items(value, expected, place, depth)
        if types == {"object"}:
            yield from self._keys(value, expected, place, depth)

    def _unlike(self, given: Schema, expected: Schema, place: Way) -> Mismatch:
        is_, fits = self._describe(given, self._given), self._describe(expected, self._wanted)
        return Mismatch(place, "type", f"is {is_ or 'something else'}, and {fits} is wanted", given, expected)

    @staticmethod
    def _describe(schema: Schema, root: Schema) -> str:
        return describe_schema(schema, root) or describe_types({"type": sorted(types_in(schema, root))})

    def _whichever(
        self, options: list[Any], given: Schema, expected: Schema, place: Way, depth: int
    ) -> Iterator[Mismatch]:
        """What does not fit of each alternative that a value may be of."""
        results = [list(self.compare(option, expected, place, depth + 1)) for option in options]
        if all(results):
            if all(result[0] == results[0][0] for result in results):
                yield from results[0]
                return
            text = f"fits in none of its alternatives: {_reasons(results, place)}"
            yield Mismatch(place, "anyOf", text, given, expected)

    def _none_of(
        self, options: list[Any], given: Schema, expected: Schema, place: Way, depth: int
    ) -> Iterator[Mismatch]:
        """What does not fit any alternative; of the only one of the same type, what in it."""
        results = [list(self.compare(given, option, place, depth + 1)) for option in options]
        if not all(results):
            return
        near = [result for result in results if result[0].place != place or result[0].keyword != "type"] or results
        # A value that names another alternative is not of this one.
        meant = [one for one in near if all(mismatch.keyword != "enum" for mismatch in one)] if len(near) > 1 else near
        if len(meant) == 1:
            yield from meant[0]
        else:
            text = f"fits none of what may be here: {_reasons(meant or near, place)}"
            yield Mismatch(place, "anyOf", text, given, expected)

    def _named(self, values: list[Any], given: Schema, expected: Schema, place: Way) -> Iterator[Mismatch]:
        """What does not fit of the values that a schema names: none of them does."""
        from infospace.schema.validate import first_violation

        schema = expected if expected is self._wanted else on_its_own(expected, self._wanted)
        if len(values) > VALUES or not values:
            return
        faults = [first_violation(value, schema) for value in values]
        if all(faults):
            is_ = " or ".join(map(shown, values[:3])) + (" or another" if len(values) > 3 else "")
            text = f"does not fit: {faults[0]}"
            if len(values) > 1:
                wanted = f"{self._describe(expected, self._wanted)} is wanted"
                text = f"is {is_}, and {text if _values(expected) is None else wanted}"
            yield Mismatch(place, "enum", text, given, expected)

    def _items(self, given: Schema, expected: Schema, place: Way, depth: int) -> Iterator[Mismatch]:
        first, wanted_first = given.get("prefixItems", ()), expected.get("prefixItems", ())
        others = expected.get("items", True)
        for index, item in enumerate(first):
            fits = wanted_first[index] if index < len(wanted_first) else others
            yield from self.compare(item, fits, (*place, index), depth + 1)
        if isinstance(given.get("items"), Mapping) and not wanted_first and isinstance(others, Mapping):
            yield from self.compare(given["items"], others, (*place, EACH), depth + 1)
        most, least = given.get("maxItems"), expected.get("minItems")
        if most is not None and least is not None and most < least:
            yield Mismatch(
                place, "minItems", f"has at most {pluralize(most, 'item')}, and {least:,} are needed", given, expected
            )
        most, least = expected.get("maxItems"), given.get("minItems")
        if most is not None and least is not None and most < least:
            yield Mismatch(
                place, "maxItems", f"has {pluralize(least, 'item')} or more, and at most {most:,} fit", given, expected
            )

    def _keys(self, given: Schema, expected: Schema, place: Way, depth: int) -> Iterator[Mismatch]:
        has, fits = given.get("properties", {}), expected.get("properties", {})
        if given.get("additionalProperties") is False and not given.get("patternProperties"):
            for key in expected.get("required", ()):
                if key not in has:
                    yield Mismatch(place, "required", f"has no {dump(key)}, which is needed", given, expected)
        others = True if expected.get("patternProperties") else expected.get("additionalProperties", True)
        for key in given.get("required", ()):
            if key not in has:
                continue
            if key in fits:
                yield from self.compare(has[key], fits[key], (*place, key), depth + 1)
            elif others is False:
                message = f"has {dump(key)}, which is not taken"
                yield Mismatch(place, "additionalProperties", message, given, expected)
            else:
                yield from self.compare(has[key], others, (*place, key), depth + 1)


def _reasons(results: list[list[Mismatch]], place: Way) -> str:
    """What is wrong first with each alternative of what stands at a place."""
    return join_reasons(result[0].sentence("it", result[0].place[len(place) :]) for result in results)


def _values(schema: Schema) -> list[Any] | None:
    """The values that a schema names, None where it names none."""
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if isinstance(schema.get("enum"), list) else None
