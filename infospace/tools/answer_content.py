"""What a step makes of a tool's answer: the value, out of the wrapping that servers put around it.

A server whose functions return no object wraps what they return as `{"result": …}`; another writes JSON into a text
block. A plan gets the value itself, and `extra` says how it was had: `unwrapped` or `read_as`. The journal keeps the
answer as it came, so that a replay makes the same of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from infospace.core.errors import InvalidJSON
from infospace.core.json_types import JSON
from infospace.core.tool import Tool, ToolAnswer
from infospace.data.json_text import read_json
from infospace.schema.infer import Schema, of_listed_fields, subschema_at

WRAPPED: Final = "result"
"""The one key of an object that is only there because what is returned is no object."""
LONGEST_BYTES = 64_000_000
"""Bytes of a text block that are read as JSON, at most."""


def result_schema(tool: Tool) -> Schema | None:
    """Return the schema of what a step makes of an answer, closed where it lists fields; None where none is known."""
    schema = tool.output_schema
    if schema is not None and _wraps(schema):
        inner = subschema_at(schema, (WRAPPED,))
        schema = inner if isinstance(inner, Mapping) else None
    return of_listed_fields(schema)


def content_of(tool: Tool, answer: ToolAnswer) -> tuple[JSON, dict[str, JSON]]:
    """Return the value of an answer, and what is to be said of how it was had."""
    value = answer.structured
    if value is None:
        return _from_blocks(answer)
    if isinstance(value, dict) and value.keys() == {WRAPPED}:
        schema = tool.output_schema
        if schema is None or _wraps(schema):
            return value[WRAPPED], {"unwrapped": WRAPPED}
    return value, {}


def _from_blocks(answer: ToolAnswer) -> tuple[JSON, dict[str, JSON]]:
    content = answer.content
    if isinstance(content, str) and content.lstrip()[:1] in ("{", "["):
        try:
            return read_json(content, what="the answer", max_bytes=LONGEST_BYTES), {"read_as": "json"}
        except InvalidJSON:
            return content, {}
    return content, {}


def _wraps(schema: Mapping[str, Any]) -> bool:
    properties = schema.get("properties")
    return isinstance(properties, Mapping) and properties.keys() == {WRAPPED}
