"""Two schemas compared: in which places no value of the one fits the other.

A list is compared by its items although it may be empty, and an object by the keys that it always has. What is not
understood of a schema is taken to fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from infospace.core.plural import pluralize
from infospace.data.json_text import dump
from infospace.schema.infer import Schema, format_types, on_its_own, types_in
from infospace.schema.references import DEEPEST, resolved
from infospace.schema.words import describe_schema, shown

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


def mismatches(given: Schema | None, wanted: Schema | None) -> Iterator[Mismatch]:
    """Iterate over the places at which no value of the one schema fits the other, the outermost of each."""
    if given is not None and wanted is not None:
        yield from _Comparison(given, wanted).compare(given, wanted, (), 0)


class _Comparison:
    """Compares the parts of two schemas, each with its own definitions."""

    def __init__(self, given: Schema, wanted: Schema) -> None:
        self._given, self._wanted = given, wanted
        self._left = MAX_COMPARED_PAIRS

    def compare(self, given: Any, wanted: Any, place: Way, depth: int) -> Iterator[Mismatch]:
        self._left -= 1
        if self._left < 0 or depth > DEEPEST or given is False or wanted is True:
            return
        given = resolved(given, self._given) if isinstance(given, Mapping) else {}
        if wanted is False:
            yield Mismatch(place, "false", "may not be there", given, {})
            return
        wanted = resolved(wanted, self._wanted) if isinstance(wanted, Mapping) else {}
        types, fits = types_in(given, self._given), types_in(wanted, self._wanted)
        if not types & fits:
            yield self._unlike(given, wanted, place)
            return
        values = _values(given)
        if values is not None:
            yield from self._named(values, given, wanted, place)
            return
        for option in wanted.get("allOf", ()):
            yield from self.compare(given, option, place, depth + 1)
        options = given.get("anyOf") or given.get("oneOf")
        if options:
            yield from self._whichever(options, given, wanted, place, depth)
            return
        options = wanted.get("anyOf") or wanted.get("oneOf")
        if options:
            yield from self._none_of(options, given, wanted, place, depth)
        if types == {"array"}:
            yield from self._items(given, wanted, place, depth)
        if types == {"object"}:
            yield from self._keys(given, wanted, place, depth)

    def _unlike(self, given: Schema, wanted: Schema, place: Way) -> Mismatch:
        is_, fits = self._describe(given, self._given), self._describe(wanted, self._wanted)
        return Mismatch(place, "type", f"is {is_ or 'something else'}, and {fits} is wanted", given, wanted)

    @staticmethod
    def _describe(schema: Schema, root: Schema) -> str:
        return describe_schema(schema, root) or format_types({"type": sorted(types_in(schema, root))})

    def _whichever(
        self, options: list[Any], given: Schema, wanted: Schema, place: Way, depth: int
    ) -> Iterator[Mismatch]:
        """What does not fit of each alternative that a value may be of."""
        found = [list(self.compare(option, wanted, place, depth + 1)) for option in options]
        if all(found):
            same = all(one[0] == found[0][0] for one in found)
            yield from found[0] if same else [self._unlike(given, wanted, place)._replace(keyword="anyOf")]

    def _none_of(self, options: list[Any], given: Schema, wanted: Schema, place: Way, depth: int) -> Iterator[Mismatch]:
        """What does not fit any alternative; of the only one of the same type, what in it."""
        found = [list(self.compare(given, option, place, depth + 1)) for option in options]
        if not all(found):
            return
        near = [one for one in found if one[0].place != place or one[0].keyword != "type"]
        if len(near) > 1:  # a value that names another alternative is not of this one
            near = [one for one in near if all(mismatch.keyword != "enum" for mismatch in one)]
        if len(near) == 1:
            yield from near[0]
        else:
            yield Mismatch(place, "anyOf", f"fits none of what may be here: {self._fits(wanted)}", given, wanted)

    def _fits(self, wanted: Schema) -> str:
        return describe_schema(wanted, self._wanted) or "each alternative needs something else"

    def _named(self, values: list[Any], given: Schema, wanted: Schema, place: Way) -> Iterator[Mismatch]:
        """What does not fit of the values that a schema names: none of them does."""
        from infospace.schema.validate import first_violation

        schema = wanted if wanted is self._wanted else on_its_own(wanted, self._wanted)
        if len(values) > VALUES or not values:
            return
        faults = [first_violation(value, schema) for value in values]
        if all(faults):
            is_ = " or ".join(map(shown, values[:3])) + (" or another" if len(values) > 3 else "")
            said = f"is {is_}, and {self._describe(wanted, self._wanted)} is wanted"
            yield Mismatch(place, "enum", said if len(values) > 1 else f"does not fit: {faults[0]}", given, wanted)

    def _items(self, given: Schema, wanted: Schema, place: Way, depth: int) -> Iterator[Mismatch]:
        first, wanted_first = given.get("prefixItems", ()), wanted.get("prefixItems", ())
        others = wanted.get("items", True)
        for index, item in enumerate(first):
            fits = wanted_first[index] if index < len(wanted_first) else others
            yield from self.compare(item, fits, (*place, index), depth + 1)
        if isinstance(given.get("items"), Mapping) and not wanted_first and isinstance(others, Mapping):
            yield from self.compare(given["items"], others, (*place, EACH), depth + 1)
        most, least = given.get("maxItems"), wanted.get("minItems")
        if most is not None and least is not None and most < least:
            yield Mismatch(
                place, "minItems", f"has at most {pluralize(most, 'item')}, and {least:,} are needed", given, wanted
            )
        most, least = wanted.get("maxItems"), given.get("minItems")
        if most is not None and least is not None and most < least:
            yield Mismatch(
                place, "maxItems", f"has {pluralize(least, 'item')} or more, and at most {most:,} fit", given, wanted
            )

    def _keys(self, given: Schema, wanted: Schema, place: Way, depth: int) -> Iterator[Mismatch]:
        has, fits = given.get("properties", {}), wanted.get("properties", {})
        if given.get("additionalProperties") is False and not given.get("patternProperties"):
            for key in wanted.get("required", ()):
                if key not in has:
                    yield Mismatch(place, "required", f"has no {dump(key)}, which is needed", given, wanted)
        others = True if wanted.get("patternProperties") else wanted.get("additionalProperties", True)
        for key in given.get("required", ()):
            if key not in has:
                continue
            if key in fits:
                yield from self.compare(has[key], fits[key], (*place, key), depth + 1)
            elif others is False:
                message = f"has {dump(key)}, which is not taken"
                yield Mismatch(place, "additionalProperties", message, given, wanted)
            else:
                yield from self.compare(has[key], others, (*place, key), depth + 1)


def _values(schema: Schema) -> list[Any] | None:
    """The values that a schema names, None where it names none."""
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if isinstance(schema.get("enum"), list) else None
