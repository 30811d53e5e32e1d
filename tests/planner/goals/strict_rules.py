"""The published rules of vendors for schemas that they hold an answer to, as far as they can be looked up.

OpenAI (structured outputs, `strict`): an object at the root; each object closed, with all of its keys required; no
keyword that composes or conditions but `anyOf`, and that not at the root; 5,000 properties and 10 levels. Before 2025
they were 100 and 5, and compatible endpoints keep to these. Anthropic (`output_config`): no recursion; no bounds of
numbers and lengths; 24 optional properties and 16 unions in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

KNOWN = {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "const", "$ref", "$defs"}
"""The keywords that all of them take."""


def broken_rules(schema: dict[str, Any]) -> list[str]:
    """Return what a vendor would refuse a schema for."""
    found = []
    if schema.get("type") != "object" or "anyOf" in schema:
        found.append("the root is not an object")
    parts = list(subschemas(schema))
    for part in parts:
        found += [f"unknown keyword {key!r}" for key in part.keys() - KNOWN]
        if not part.keys() & {"type", "anyOf", "const", "$ref", "enum"}:
            found.append("anything may stand somewhere")
        if part.get("type") == "object":
            if part.get("additionalProperties") is not False:
                found.append("an object is open")
            if set(part.get("required", ())) != part.get("properties", {}).keys():
                found.append("an object has optional keys")
    properties = sum(len(part.get("properties", ())) for part in parts)
    unions = sum(isinstance(part.get("type"), list) or "anyOf" in part for part in parts)
    if properties > 100:
        found.append(f"{properties} properties")
    if unions > 16:
        found.append(f"{unions} unions")
    levels = object_levels(schema, schema, ())
    if levels is None:
        found.append("it is recursive")
    elif levels > 5:
        found.append(f"{levels} levels of objects")
    return found


def subschemas(part: Any) -> Iterator[dict[str, Any]]:
    """Yield all schemas that a schema is made of, whatever keyword they stand under."""
    if isinstance(part, list):
        for item in part:
            yield from subschemas(item)
    elif isinstance(part, dict):
        yield part
        for key, value in part.items():
            if key in ("properties", "$defs", "patternProperties"):
                for inner in value.values():
                    yield from subschemas(inner)
            elif key not in ("enum", "const", "required", "default", "examples"):
                yield from subschemas(value)


def object_levels(part: Any, root: dict[str, Any], within: tuple[str, ...]) -> int | None:
    """Return how deep objects stand in one another, references followed; None where they lead in a circle."""
    if isinstance(part, list):
        levels = [object_levels(item, root, within) for item in part]
        return None if None in levels else max((level for level in levels if level is not None), default=0)
    if not isinstance(part, dict):
        return 0
    if "$ref" in part:
        if part["$ref"] in within:
            return None
        return object_levels(root["$defs"][part["$ref"].rpartition("/")[2]], root, (*within, part["$ref"]))
    inner = [*part.get("properties", {}).values(), part.get("items"), part.get("anyOf", [])]
    below = object_levels(inner, root, within)
    return None if below is None else below + (part.get("type") == "object")
