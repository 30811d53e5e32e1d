"""The schemas of a document as JSON Schema 2020-12, each complete in itself: what it refers to stands in `$defs`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import isfinite
from typing import Any, Literal, TypeAlias

from infospace.core.errors import Invalid
from infospace.data.json_text import dump
from infospace.schema.value_text import shown
from infospace.tools.mcp.catalogue.schema_check import TYPES, sound
from infospace.tools.openapi.document import Document

Direction: TypeAlias = Literal["input", "output"]

MOST_DEFINITIONS = 500
"""Schemas that one schema may refer to; what further references lead to may be anything."""

_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SINGLE = (
    "items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_NUMBERS = frozenset(
    {
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    }
)
_TRUTHS = frozenset({"deprecated", "readOnly", "writeOnly", "uniqueItems"})
_DEFINED = "#/$defs/"
_DROPPED = ("discriminator", "xml", "externalDocs", "$schema", "$id")
_UNNAMED = re.compile(r"[^A-Za-z0-9._-]+")


class SchemaReader:
    """Reads the schemas of a document. Properties that only go the other way are left out, or are not required."""

    def __init__(self, document: Document, direction: Direction) -> None:
        self._document = document
        self._against = "readOnly" if direction == "input" else "writeOnly"
        self._names: dict[str, str] = {}
        """The names in `$defs` of what references lead to: the same in all schemas of the document."""
        self._reached: list[str] = []
        """What the schema refers to that is being read."""

    def read(self, schema: Any) -> Mapping[str, Any]:
        """Return a schema that is complete in itself, without what cannot be checked. Any fits where there is none."""
        self._reached = []
        result = self._schema(schema)
        if isinstance(result, bool):
            return {} if result else {"not": {}}
        definitions: dict[str, Any] = {}
        for reference in self._reached:  # grows meanwhile
            definitions[self._names[reference]] = self._target(reference)
        seen: set[str] = set()
        while set(result) == {"$ref"} and result["$ref"] not in seen:
            seen.add(result["$ref"])
            target = definitions[result["$ref"].removeprefix(_DEFINED)]
            result = dict(target) if isinstance(target, dict) else {}
        whole = dump([result, definitions])
        used = {name: one for name, one in definitions.items() if f'"{_DEFINED}{name}"' in whole}
        return sound({**result, "$defs": used} if used else result)

    def _target(self, reference: str) -> Any:
        try:
            return self._schema(self._document.lookup(reference))
        except Invalid:
            return True

    def _schema(self, schema: Any) -> Any:
        if not isinstance(schema, Mapping):
            return schema if isinstance(schema, bool) else True
        if isinstance(schema.get("$ref"), str):
            return self._referring(schema, schema["$ref"])
        return self._members(schema)

    def _referring(self, schema: Mapping[str, Any], reference: str) -> Any:
        """Return a schema that refers. In 3.0 nothing beside that counts, but that it may be null, which many write."""
        name = self._name(reference)
        referred = {} if name is None else {"$ref": f"{_DEFINED}{name}"}
        if not self._document.old:
            return {**self._members({key: value for key, value in schema.items() if key != "$ref"}), **referred}
        return {"anyOf": [referred, {"type": "null"}]} if schema.get("nullable") is True else referred

    def _name(self, reference: str) -> str | None:
        """Return the name in `$defs` of what a reference leads to, None where there are too many."""
        if reference not in self._names:
            plain = _UNNAMED.sub("_", reference.rpartition("/")[2].lstrip("#")) or "it"
            used = set(self._names.values())
            names = (plain, *(f"{plain}_{number}" for number in range(2, len(used) + 3)))
            self._names[reference] = next(name for name in names if name not in used)
        if reference not in self._reached:
            if len(self._reached) >= MOST_DEFINITIONS:
                return None
            self._reached.append(reference)
        return self._names[reference]

    def _members(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in schema.items():
            if key in _DROPPED or key.startswith("x-"):
                continue
            if key in _BY_NAME and isinstance(value, Mapping):
                result[key] = {name: self._schema(one) for name, one in value.items() if not self._is_against(one)}
            elif key in _SINGLE:
                result[key] = self._schema(value)
            elif key in _LISTS and isinstance(value, list):
                result[key] = [self._schema(one) for one in value]
            elif key in _NUMBERS and isinstance(value, str):
                result |= _number(key, value)
            elif key not in _TRUTHS or isinstance(value, bool):
                result[key] = value
        if isinstance(result.get("required"), list) and isinstance(schema.get("properties"), Mapping):
            known = schema["properties"]
            kept = [name for name in result["required"] if not self._is_against(known.get(name))]
            result.pop("required")
            if kept:
                result["required"] = kept
        if "example" in result:
            example = result.pop("example")
            result.setdefault("examples", [example])
        return _of_3_0(result) if self._document.old else result

    def _is_against(self, schema: Any) -> bool:
        """Whether a property only goes the other way."""
        return isinstance(schema, Mapping) and schema.get(self._against) is True


def check_types(document: Document, schema: Any, what: str) -> None:
    """Raise Invalid where a schema, or one within it, names no type of JSON Schema: else any value would fit there.

    References are followed, also from one to another; any value fits one that leads nowhere.
    """
    waiting: list[tuple[Any, str]] = [(schema, "")]
    seen: set[str] = set()
    while waiting:
        one, place = waiting.pop()
        if not isinstance(one, Mapping):
            continue
        reference = one.get("$ref")
        if isinstance(reference, str):
            if reference not in seen:
                seen.add(reference)
                with suppress(Invalid):
                    waiting.append((document.lookup(reference), place))
            if document.old:
                continue  # what stands beside a reference does not count in 3.0
        value = one.get("type")
        for named in [] if value is None else value if isinstance(value, list) else [value]:
            if not isinstance(named, str) or named not in TYPES:
                where = f" at {place!r:.120}" if place else ""
                known = ", ".join(sorted(TYPES))
                raise Invalid(f"{what} has the type {shown(named)}{where}, and types are {known}")
        waiting += reversed([(inner, f"{place}.{step}".lstrip(".")) for step, inner in _inner_schemas(one)])


def _inner_schemas(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Iterate over the schemas that stand in another one, each with its place there."""
    for key in _BY_NAME:
        named = schema.get(key)
        if isinstance(named, Mapping):
            yield from ((f"{key}.{name}", one) for name, one in named.items())
    yield from ((key, schema[key]) for key in _SINGLE if key in schema)
    for key in _LISTS:
        listed = schema.get(key)
        if isinstance(listed, list):
            yield from ((f"{key}.{number}", one) for number, one in enumerate(listed))


def _number(key: str, text: str) -> dict[str, Any]:
    """Return a bound that is written as a text, as documents in YAML often have it; nothing where it is no number."""
    try:
        value = float(text)
    except ValueError:
        return {}
    return {key: int(value) if value.is_integer() else value} if isfinite(value) else {}


def _of_3_0(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of OpenAPI 3.0 as 2020-12 says the same: what may be null, and bounds that are excluded."""
    for bound, excluded in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(excluded), bool) and schema.pop(excluded) and bound in schema:
            schema[excluded] = schema.pop(bound)
    if schema.pop("nullable", False) is not True:
        return schema
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    if not any(key in schema for key in _LISTS):
        return schema
    operation: dict[str, Any] = {
        key: schema.pop(key) for key in ("title", "description", "default", "examples") if key in schema
    }
    return {**operation, "anyOf": [schema, {"type": "null"}]}
