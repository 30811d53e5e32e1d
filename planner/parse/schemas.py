"""JSON Schema as plans give it: its faults as problems of the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from infospace.core.json_types import JSON
from infospace.schema.validate import first_violation as violation
from infospace.schema.validate import schema_errors
from planner.language.problems import Problems, join

__all__ = ["KEYWORDS", "check_schema", "first_violation", "row_violation"]

KEYWORDS: Final = (
    "$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema", "$vocabulary",
    "additionalProperties", "allOf", "anyOf", "const", "contains", "contentEncoding", "contentMediaType",
    "contentSchema", "default", "definitions", "dependencies", "dependentRequired", "dependentSchemas",
    "deprecated", "description", "discriminator", "else", "enum", "example", "examples", "exclusiveMaximum",
    "exclusiveMinimum", "externalDocs", "format", "if", "items", "maxContains", "maxItems", "maxLength",
    "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf",
    "not", "nullable", "oneOf", "pattern", "patternProperties", "prefixItems", "properties", "propertyNames",
    "readOnly", "required", "then", "title", "type", "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
    "writeOnly", "xml",
)  # fmt: skip
"""Keywords of JSON Schema (2020-12), of the drafts before it, and of OpenAPI's schemas."""


def check_schema(schema: Any, pointer: str, problems: Problems) -> bool:
    """Whether something is a JSON Schema (2020-12) that can be asked; says where it is not."""
    good = True
    for fault in schema_errors(schema):
        problems.error("bad-schema", join(pointer, *fault.place), fault.message, fault.hint)
        good = False
    return good


def first_violation(value: JSON, schema: Mapping[str, Any]) -> str | None:
    """Say why a value does not fit a schema of a plan, formats and all; None when it does."""
    return violation(value, schema, formats=True)


def row_violation(rows: Sequence[JSON], schema: Mapping[str, Any] | None) -> str | None:
    """Say what is wrong with the first row that does not fit the schema of rows; None where all fit."""
    if schema is None:
        return None
    fits = _quick_test(schema)
    for number, row in enumerate(rows, start=1):
        fault = None if fits is not None and fits(row) else first_violation(row, schema)
        if fault is not None:
            return f"row {number}: {fault}"
    return None


_PLAIN: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_SIMPLE = frozenset({"type", "properties", "required", "additionalProperties", "title", "description"})


def _quick_test(schema: Mapping[str, Any]) -> Callable[[JSON], bool] | None:
    """Return a test that is true only of rows that fit: of objects with plain values, which most tables hold.

    A row of which it is not true may fit all the same. None where the schema says more than types of plain values.
    """
    if schema.get("type", "object") != "object" or not _SIMPLE.issuperset(schema):
        return None
    types: dict[str, frozenset[type]] = {}
    for key, part in schema.get("properties", {}).items():
        named = part.get("type") if isinstance(part, Mapping) else None
        names = [named] if isinstance(named, str) else named
        if not isinstance(names, list) or not {"type", "title", "description"}.issuperset(part):
            return None
        if not _PLAIN.keys() >= set(names):
            return None
        types[key] = frozenset(type_ for name in names for type_ in _PLAIN[name])
    required, closed = frozenset(schema.get("required", ())), schema.get("additionalProperties", True) is False
    if not isinstance(schema.get("additionalProperties", True), bool):
        return None

    def fits(row: JSON) -> bool:
        if type(row) is not dict or not row.keys() >= required:
            return False
        return all(type(value) in types[key] if key in types else not closed for key, value in row.items())

    return fits
