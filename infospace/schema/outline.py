"""The shape of JSON in one line, for whoever writes the next step: `list of 30: {author: text, date?: text}`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.data.json_text import read_json
from infospace.schema.infer import Schema, types_in
from infospace.schema.references import resolved

SAMPLE = 500
"""Values of a list that are looked at."""
KEYS = 16
"""Keys of an object that are named."""
LONG = 200
"""Characters of a text in an object whose length is told."""
LONGEST_JSON = 1_000_000
"""Characters of a text that is read to see whether it is JSON."""
DEEPEST = 4
"""Objects and lists inside one another that are told."""

_NAMES = {"string": "text"}
_ORDER = ("string", "integer", "number", "boolean", "array", "object", "null")


def outline_value(value: JSON) -> str:
    """Return the shape of a value: its kind, the length of a list or a text, and the fields with their types.

    >>> outline_value([{"a": 1, "b": "x"}, {"a": 2.5}])
    'list of 2: {a: integer|number, b?: text}'
    """
    return _text(value) if isinstance(value, str) else _outline([value], 0)


def json_in(text: str) -> JSON:
    """Return the list or object that a text is as JSON, None where it is none, or too short or long to look at."""
    if not LONG <= len(text) <= LONGEST_JSON or text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        return read_json(text)
    except InvalidJSON:
        return None


def _text(text: str) -> str:
    """Return how long a text is; of one that is JSON its shape."""
    if (inside := json_in(text)) is not None:
        return f"JSON text, {_outline([inside], 0)}"
    lines = text.count("\n") + 1
    return f"text of {pluralize(len(text), 'character')}" + (f" in {pluralize(lines, 'line')}" if lines > 1 else "")


def outline_schema(schema: Schema | None) -> str:
    """Return the shape of what fits a schema; "" where nothing is known of it."""
    return "" if schema is None else _of_schema(schema, schema, 0)


def _outline(values: Sequence[JSON], depth: int) -> str:
    scalars: dict[str, None] = {}
    objects = [value for value in values if isinstance(value, Mapping)]
    lists = [value for value in values if isinstance(value, list)]
    for value in values:
        if not isinstance(value, (Mapping, list)):
            scalars[_scalar(value)] = None
    parts = []
    if objects:
        parts.append(_fields(objects, depth) if depth < DEEPEST else "{…}")
    if lists:
        inner = [item for one in lists for item in one[:SAMPLE]][:SAMPLE]
        count = f"list of {len(lists[0]):,}" if depth == 0 else "list"
        parts.append(f"{count}: {_outline(inner, depth + 1)}" if inner and depth < DEEPEST else count)
    return "|".join([*parts, *scalars])


def _fields(objects: Sequence[Mapping[str, Any]], depth: int) -> str:
    keys = list(dict.fromkeys(key for one in objects[:SAMPLE] for key in one))
    messages = []
    for key in keys[:KEYS]:
        there = [one[key] for one in objects if key in one]
        # Of one object alone, such as a tool's answer, a long text is told by its length, or as the JSON it is.
        long = len(there) == 1 == len(objects) and depth == 0 and isinstance(there[0], str) and len(there[0]) >= LONG
        inner = _text(there[0]) if long else _outline(there, depth + 1)
        messages.append(f"{_key(key)}{'' if len(there) == len(objects) else '?'}: {inner}")
    if len(keys) > KEYS:
        messages.append(f"… {len(keys) - KEYS} more")
    return "{" + ", ".join(messages) + "}"


def _key(key: str) -> str:
    return key if key.isidentifier() else f'"{key}"'


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
    return "text"


def _of_schema(schema: Schema, root: Schema, depth: int) -> str:
    schema = resolved(schema, root)
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list) and options and depth < DEEPEST:
        results = dict.fromkeys(
            _of_schema(option, root, depth + 1) for option in options if isinstance(option, Mapping)
        )
        return "|".join(part for part in results if part)
    types = types_in(schema, root)
    if len(types) == len(_ORDER):
        return ""
    names = [_of_type(name, schema, root, depth) for name in _ORDER if name in types and not _is_number(name, types)]
    return "|".join(names)


def _is_number(name: str, types: Iterable[str]) -> bool:
    return name == "integer" and "number" in types


def _of_type(name: str, schema: Schema, root: Schema, depth: int) -> str:
    if name == "array" and isinstance(items := schema.get("items"), Mapping) and depth < DEEPEST:
        inner = _of_schema(items, root, depth + 1)
        return f"list: {inner}" if inner else "list"
    if name == "object" and isinstance(fields := schema.get("properties"), Mapping) and fields and depth < DEEPEST:
        required = schema.get("required", ())
        messages = []
        for key, part in list(fields.items())[:KEYS]:
            inner = _of_schema(part, root, depth + 1) if isinstance(part, Mapping) else ""
            mark = "" if key in required else "?"
            messages.append(f"{_key(key)}{mark}{': ' if inner else ''}{inner}")
        if len(fields) > KEYS:
            messages.append(f"… {len(fields) - KEYS} more")
        return "{" + ", ".join(messages) + "}"
    return {"array": "list"}.get(name, _NAMES.get(name, name))
