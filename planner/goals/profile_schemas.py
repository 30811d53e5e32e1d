"""Schemas of arguments that strict modes and decoding engines take: closed objects and plain types, nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from infospace.contract.arguments import ParseMode
from infospace.contract.decorator import Argument
from infospace.schema.infer import types_in, types_of
from infospace.schema.references import resolved

PlainSchema: TypeAlias = "dict[str, Any]"

TEXT: Final[PlainSchema] = {"type": "string"}
SCALAR: Final[PlainSchema] = {"type": ["string", "number", "boolean"]}
VALUE: Final[PlainSchema] = {"$ref": "#/$defs/value"}
"""A text, which may be a reference, a number, a boolean, or a list of these."""
VALUES: Final[PlainSchema] = {"anyOf": [SCALAR, {"type": "array", "items": SCALAR}]}
"""What `VALUE` refers to."""
TEXTS: Final[PlainSchema] = {"type": "array", "items": TEXT}
MAX_OPTIONAL = 3
"""Optional arguments of a tool that may be given; they are null where they are not."""
MAX_NESTING = 1
"""Objects within the arguments of a tool."""
MAX_ENUM = 30
"""Values that are listed; of more, any text may stand."""


def closed(properties: Mapping[str, PlainSchema]) -> PlainSchema:
    """Return the schema of an object that has just these keys, all of them."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def argument_schema(argument: Argument) -> PlainSchema | None:
    """Return what may stand in an argument of a verb, a reference to it included; None where that cannot be said."""
    match argument.reading:
        case ParseMode.RESOURCE | ParseMode.WHERE | ParseMode.EXPRESSION | ParseMode.SQL:
            return TEXT
        case ParseMode.ITEMS:
            return {"type": "array", "items": SCALAR}
        case ParseMode.EXPRESSIONS:
            return TEXTS if "array" in types_of(argument.schema) else None
        case ParseMode.SORT_KEYS | ParseMode.VALUE:
            return _plain(argument.schema, argument.schema, 0)
    return None


def tool_arguments(schema: Mapping[str, Any]) -> tuple[PlainSchema, frozenset[str]] | None:
    """Return the arguments of a tool, and which of them may be null for want of a value.

    None where the names of its arguments are not known beforehand. Of the optional ones the first few are taken.
    """
    properties = schema.get("properties") or {}
    if not properties and (schema.get("additionalProperties") or "patternProperties" in schema):
        return None
    required = [name for name in schema.get("required", ()) if name in properties]
    optional = [name for name in properties if name not in required][:MAX_OPTIONAL]
    results: dict[str, PlainSchema] = {}
    for name in properties:
        if name in required or name in optional:
            plain = _plain(properties[name], schema, 0)
            results[name] = plain if name in required else _or_null(plain)
    nullable = {name for name in optional if "null" in types_in(properties[name], schema)}
    return closed(results), frozenset(optional) - nullable


def _plain(schema: Any, root: Mapping[str, Any], depth: int) -> PlainSchema:
    """Return what a value may be as a plain schema. A reference may stand for each that is no boolean or name."""
    schema = resolved(schema, root) if isinstance(schema, Mapping) else {}
    enum = schema.get("enum")
    if enum and len(enum) <= MAX_ENUM and all(isinstance(value, str) for value in enum):
        return {"type": "string", "enum": list(enum)}
    types = set(types_in(schema, root)) - {"null"}
    numbers = types & {"integer", "number"}
    if types <= {"string"}:
        return TEXT
    if types == {"boolean"}:
        return {"type": "boolean"}
    if numbers and types <= {"integer", "number", "string"}:
        return {"type": ["integer" if numbers == {"integer"} else "number", "string"]}
    if types <= {"array", "string"}:
        items = next((option["items"] for option in _options(schema) if isinstance(option.get("items"), Mapping)), None)
        return {"anyOf": [{"type": "array", "items": SCALAR if items is None else _plain(items, root, depth)}, TEXT]}
    if types <= {"object", "string"}:
        return _object(schema, root, depth)
    return VALUE


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> PlainSchema:
    """Return an object that has its required keys, or a reference; without keys, or too deep, a reference alone."""
    properties = schema.get("properties")
    required = [name for name in schema.get("required", ()) if properties and name in properties]
    if not required or not properties or depth == MAX_NESTING:
        return TEXT
    return {"anyOf": [closed({name: _plain(properties[name], root, depth + 1) for name in required}), TEXT]}


def _options(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    yield from (one for one in schema.get("anyOf", ()) if isinstance(one, Mapping))


def _or_null(schema: PlainSchema) -> PlainSchema:
    if "enum" in schema or "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*types, "null"]}
