"""A server's JSON Schema without what nobody can hold a value against."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from infospace.schema.messages import Place
from infospace.schema.validate import schema_errors

_TRIES = 50
_ANY: Mapping[str, Any] = {"type": "object"}


def sound(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema that says nothing but what can be checked here.

    A pattern of another dialect, a reference that leads nowhere or out of the schema, a keyword with a value that it
    cannot have: such a keyword goes, and the rest stays. Where that helps nothing, any object fits.
    """
    if _is_plain(schema, 0) and _leads_to_definitions(schema):
        return schema
    mended: Any = deepcopy(dict(schema))
    for _ in range(_TRIES):
        faults = list(_error_places(mended))
        if not faults:
            return dict(mended)
        for place in faults:
            if not _without(mended, place):
                return _ANY
    return _ANY


def _error_places(schema: Any) -> Iterator[Place]:
    try:
        yield from (fault.place for fault in schema_errors(schema))
    except RecursionError:
        yield ()


def _without(schema: Any, place: Place) -> bool:
    """Take out what stands at a place; whether that could be done."""
    if not place:
        return False
    *path, last = place
    for part in path:
        try:
            schema = schema[part]
        except (KeyError, IndexError, TypeError):
            return True
    if isinstance(schema, dict):
        schema.pop(last, None)
    elif isinstance(schema, list) and isinstance(last, int) and last < len(schema):
        schema[last] = {}
    else:
        return False
    return True


TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
_DEEPEST = 50


def _is_plain(schema: Any, depth: int) -> bool:
    """Whether a schema has nothing but keywords that are often used, and nothing wrong; a quick look, not all there is.

    The meta-schema says the same of it, a hundred times slower.
    """
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return False
    return all(key in _PLAIN and _PLAIN[key](value, depth + 1) for key, value in schema.items())


def _leads_to_definitions(schema: Mapping[str, Any]) -> bool:
    """Whether every reference of a schema leads to one of its own definitions."""
    text = json.dumps(schema)
    if '"$ref"' not in text:
        return True
    definitions = schema.get("$defs")
    return isinstance(definitions, Mapping) and set(_REFERENCE.findall(text)) <= set(definitions)


def _text(value: Any, _depth: int) -> bool:
    return isinstance(value, str)


def _reference(value: Any, _depth: int) -> bool:
    return isinstance(value, str) and _PLAIN_REFERENCE.fullmatch(value) is not None


def _number(value: Any, _depth: int) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any, _depth: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _truth(value: Any, _depth: int) -> bool:
    return isinstance(value, bool)


def _any(_value: Any, _depth: int) -> bool:
    return True


def _list(value: Any, _depth: int) -> bool:
    return isinstance(value, list)


def _type(value: Any, _depth: int) -> bool:
    return isinstance(value, str) and value in TYPES


def _names(value: Any, _depth: int) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value) and len(set(value)) == len(value)


def _schemas(value: Any, depth: int) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_plain(item, depth) for item in value)


def _by_name(value: Any, depth: int) -> bool:
    return isinstance(value, dict) and all(_is_plain(item, depth) for item in value.values())


_PLAIN_REFERENCE = re.compile(r"#/\$defs/[A-Za-z0-9._-]+")
_REFERENCE = re.compile(r'"\$ref": "#/\$defs/([^"]*)"')

_PLAIN: Mapping[str, Callable[[Any, int], bool]] = {
    "$defs": _by_name,
    "$ref": _reference,
    "type": _type,
    "properties": _by_name,
    "required": _names,
    "items": _is_plain,
    "additionalProperties": _is_plain,
    "anyOf": _schemas,
    "oneOf": _schemas,
    "allOf": _schemas,
    "enum": _list,
    "const": _any,
    "default": _any,
    "examples": _list,
    "title": _text,
    "description": _text,
    "format": _text,
    "minimum": _number,
    "maximum": _number,
    "minLength": _count,
    "maxLength": _count,
    "minItems": _count,
    "maxItems": _count,
    "uniqueItems": _truth,
    "readOnly": _truth,
    "writeOnly": _truth,
    "deprecated": _truth,
}
