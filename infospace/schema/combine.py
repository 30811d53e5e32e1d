"""Schemas made of other schemas: of an object of parts, of alternatives, of two objects merged.

A schema that is given may be None, for "not known"; what is made refers to nothing outside of itself, so that
it can be a part of the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infospace.schema.infer import Schema, types_of
from infospace.schema.references import resolved

MAX_INLINED_PARTS = 10_000
"""Parts of a schema that are written out."""
_DATA = ("const", "enum", "default", "examples")
"""Keywords whose values are data, in which nothing is a schema."""
_ADDRESSES = ("$defs", "$id", "$anchor", "$dynamicAnchor")
"""Keywords that serve references alone."""
_REFERRING = frozenset({*_ADDRESSES, "$ref", "$dynamicRef"})
_NAMED = ("properties", "patternProperties")
"""Keywords whose values hold schemas by names of the author's."""


def inline_refs(schema: Schema | None) -> Schema:
    """Return a schema with its references written out; what goes round in circles is not known.

    Of one that grows too large by it, only the types are told.
    """
    if schema is None:
        return {}
    if _stands_alone(schema):
        return schema
    writer = _Writer(schema)
    value: Schema = writer.write(schema, ())
    return value if writer.left >= 0 else {"type": sorted(types_of(schema))}


def _stands_alone(schema: Schema) -> bool:
    """Whether nothing in a schema refers to anything, or can be referred to, so that it is written out already.

    False, too, of what is so large that only its types are told.
    """
    left: list[tuple[Any, bool]] = [(schema, False)]
    looked = 0
    while left:
        part, is_named = left.pop()
        looked += 1
        if looked > MAX_INLINED_PARTS:
            return False
        if isinstance(part, list):
            left.extend((item, False) for item in part)
        elif isinstance(part, Mapping):
            if not is_named and not _REFERRING.isdisjoint(part):
                return False
            left.extend(
                (value, not is_named and key in _NAMED) for key, value in part.items() if is_named or key not in _DATA
            )
    return True


class _Writer:
    """Writes the parts of one schema out."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self.left = MAX_INLINED_PARTS
        """Parts that may still be written; below 0 what was written is not whole."""

    def write(self, part: Any, within: tuple[int, ...]) -> Any:
        """Write a part that stands within what references lead to, by their ids."""
        self.left -= 1
        if self.left < 0 or not isinstance(part, (Mapping, list)):
            return part
        if isinstance(part, list):
            return [self.write(item, within) for item in part]
        if "$dynamicRef" in part:
            return {}
        if isinstance(part.get("$ref"), str):
            target = resolved(part, self._root)
            return {} if id(target) in within else self.write(target, (*within, id(target)))
        return {key: self._keyword(key, value, within) for key, value in part.items() if key not in _ADDRESSES}

    def _keyword(self, key: str, value: Any, within: tuple[int, ...]) -> Any:
        if key in _DATA:
            return value
        if key in _NAMED and isinstance(value, Mapping):
            return {name: self.write(inner, within) for name, inner in value.items()}
        return self.write(value, within)


def closed_object(properties: Mapping[str, Schema | None]) -> Schema:
    """Return the schema of an object that has always just these keys."""
    return object_of({key: inline_refs(schema) for key, schema in properties.items()})


def object_of(properties: Mapping[str, Schema]) -> Schema:
    """Return the same of schemas each of which stands alone."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(items: Schema | None) -> Schema:
    """Return the schema of a list whose elements have one schema."""
    return {"type": "array"} if items is None else {"type": "array", "items": inline_refs(items)}


def list_in_order(items: Sequence[Schema]) -> Schema:
    """Return the schema of a list that has just these elements, each at its place; their schemas stand alone."""
    return {"type": "array", "prefixItems": list(items), "minItems": len(items), "maxItems": len(items)}


def any_of(one: Schema | None, other: Schema | None) -> Schema | None:
    """Return the schema of what fits one schema or the other."""
    if one is None or other is None:
        return None
    one, other = inline_refs(one), inline_refs(other)
    return one if one == other else {"anyOf": [one, other]}


def nullable(schema: Schema | None) -> Schema | None:
    """Return the schema of what fits a schema or is null."""
    return schema if schema is None or "null" in types_of(schema) else any_of(schema, {"type": "null"})


def merged(left: Schema | None, right: Schema | None, *, always: tuple[bool, bool]) -> Schema:
    """Return the schema of two objects merged, the right one's values before the left one's.

    `always` says of the left and of the right one whether it is always there; where it is not, the other
    may stand alone. At least one is there.
    """
    one, other = _plain(left), _plain(right)
    here, there = ({} if side is None else side["properties"] for side in (one, other))
    sure = [_sure(one) if always[0] else frozenset(), _sure(other) if always[1] else frozenset()]
    properties = {}
    for key in (*here, *(key for key in there if key not in here)):
        if key in sure[1]:
            properties[key] = there[key]
        elif other is not None and key not in there:
            properties[key] = here[key]
        elif one is not None and key not in here:
            properties[key] = there[key]
        elif key in here and key in there:
            properties[key] = any_of(here[key], there[key]) or {}
        else:
            properties[key] = {}
    result = {"type": "object", "properties": properties, "required": sorted(sure[0] | sure[1])}
    return result if one is None or other is None else {**result, "additionalProperties": False}


def merged_or_new(before: Schema | None, given: Schema | None, merge: object) -> Schema | None:
    """Return the schema of a value changed to what is given, or with `merge` of an object that takes its keys over.

    `merge` other than true or false is not known yet.
    """
    if merge is False:
        return given
    if merge is not True:
        return None
    if before is None or given is None:
        return {"type": "object"}
    return merged(before, given, always=(True, True)) if types_of(before) == {"object"} else {"type": "object"}


def _plain(schema: Schema | None) -> Schema | None:
    """A closed schema of objects, all of whose keys are known; None for any other."""
    results = inline_refs(schema)
    if results.keys() == {"anyOf"}:
        return _any_of([_plain(option) for option in results["anyOf"]])
    plain = {"type", "properties", "required", "additionalProperties", "title", "description"}
    closed = (
        results.get("additionalProperties") is False and results.get("type") == "object" and results.keys() <= plain
    )
    return {"properties": {}, **results} if closed else None


def _any_of(options: Sequence[Schema | None]) -> Schema | None:
    """One closed schema that admits what any of these admits, and more."""
    known = [option for option in options if option is not None]
    if not known or len(known) < len(options):
        return None
    properties: dict[str, Schema] = {}
    for option in known:
        for key, schema in option["properties"].items():
            properties[key] = (any_of(properties[key], schema) or {}) if key in properties else schema
    required = frozenset.intersection(*map(_sure, known))
    return {"type": "object", "properties": properties, "required": sorted(required), "additionalProperties": False}


def _sure(schema: Schema | None) -> frozenset[str]:
    return frozenset() if schema is None else frozenset(schema["properties"]) & frozenset(schema.get("required", ()))
