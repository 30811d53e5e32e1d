"""How values, and what is wanted of them, are written in a message: as the author of a plan writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from infospace.core.resources import is_resource
from infospace.schema.infer import TYPES, Schema, types_of
from infospace.schema.references import resolved

SHOWN = 60
"""Most characters of a value in a message."""

MAX_DESCRIBED_DEPTH = 2
"""Alternatives and items inside one another of which it is said what they admit."""
MAX_NAMED_ALTERNATIVES = 20
"""Most alternatives that are named."""
MAX_REASONS = 3
"""Most alternatives of which it is said why they do not fit."""
MAX_REASON_CHARACTERS = 160
"""Most characters of what is said of one: there are alternatives in alternatives."""

_FORMATS = {
    "aggregate": 'an aggregate such as "count" or "avg(score)"',
    "expression": "an expression of SQL",
    "items": "a list or one resource",
    "path": "a path",
    "path-or-expression": "a path or an expression",
    "sort-key": "a path or an expression",
    "slice": 'a slice such as "2:5", ":100" or "-3:"',
    "where": "an SQL condition",
}
_NOUNS = {
    "null": "null",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "an object",
}
_MANY = {
    "a path": "paths",
    "a path or an expression": "such",
    "text": "texts",
    "a number": "numbers",
    "a whole number": "whole numbers",
    "an object": "objects",
}


def shown(value: object) -> str:
    """Write a given value: a resource by id and kind, anything else as JSON, cut where it is long."""
    if is_resource(value):
        return f"{value.id}, a {value.kind}"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return _cut(text, SHOWN)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def either(words: Iterable[str]) -> str:
    """Join alternatives: `a, b or c`, each once."""
    each = list(dict.fromkeys(word for word in words if word))
    return " or ".join([", ".join(each[:-1]), each[-1]] if len(each) > 2 else each)


def listed(values: Sequence[Any]) -> str:
    """Write values of which one is wanted, the first of very many."""
    if len(values) <= MAX_NAMED_ALTERNATIVES:
        return either(shown(value) for value in values)
    name = ", ".join(shown(value) for value in values[:MAX_NAMED_ALTERNATIVES])
    return f"{name} or one of {len(values) - MAX_NAMED_ALTERNATIVES:,} more"


def join_reasons(sentences: Iterable[str]) -> str:
    """Join what is wrong with each of some alternatives, each sentence once."""
    each = list(dict.fromkeys(_cut(sentence, MAX_REASON_CHARACTERS) for sentence in sentences))
    return "; ".join([*each[:MAX_REASONS], *(["…"] if len(each) > MAX_REASONS else [])])


def describe_types(schema: Schema | None) -> str:
    """Say which types a schema admits, as words: `an object`, `null or text`; "" when it admits all."""
    types = types_of(schema)
    return "" if types == frozenset(TYPES) else describe_schema({"type": [one for one in TYPES if one in types]})


def describe_schema(schema: Schema | None, root: Schema | None = None, depth: int = 0) -> str:
    """Say what a schema admits: `a whole number from 1 or "all"`; "" where it admits everything, or goes too deep."""
    if schema is None or depth > MAX_DESCRIBED_DEPTH:
        return ""
    root = schema if root is None else root
    schema = resolved(schema, root)
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        words = [describe_schema(option, root, depth + 1) for option in options[:MAX_NAMED_ALTERNATIVES]]
        return either(words) if all(words) and len(options) <= MAX_NAMED_ALTERNATIVES else ""
    if "const" in schema:
        return shown(schema["const"])
    if "enum" in schema:
        return listed(schema["enum"])
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    types = types_of(schema)
    if types == frozenset(TYPES):
        return ""
    if "number" in types:
        types -= {"integer"}
    return either(_noun(type_, schema, root, depth) for type_ in TYPES if type_ in types)


def _noun(type_: str, schema: Schema, root: Schema, depth: int) -> str:
    noun = _NOUNS[type_]
    if type_ in {"integer", "number"}:
        return noun + bounds(schema)
    items = schema.get("items")
    if type_ == "array" and isinstance(items, Mapping):
        each = _MANY.get(describe_schema(items, root, depth + 1))
        return f"{noun} of {each}" if each else noun
    return noun


def bounds(schema: Mapping[str, Any]) -> str:
    """Say the bounds that a schema sets to numbers: ` from 0 to 1`, "" for none."""
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    words = (
        ("from", low),
        ("above", above),
        ("to" if low is not None else "of at most", high),
        ("and below" if above is not None or low is not None else "below", below),
    )
    return "".join(f" {word} {bound:g}" for word, bound in words if bound is not None)
