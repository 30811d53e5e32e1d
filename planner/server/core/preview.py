"""What a result is, before its first lines: so the next step can be written without reading it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Note, Resource
from infospace.data.json_text import dump
from infospace.data.result import truncate
from infospace.schema.outline import SAMPLE, json_in, outline_value
from infospace.space import Space

BEGINNING = 240
"""Characters of the beginning of a text."""
EXAMPLE = 300
"""Characters of the first item of a list."""
JSON_BEGINNING = 80
"""Characters of the beginning of a text in an object that is JSON."""
SHAPE = 400
"""Characters of a shape."""


def preview(value: JSON) -> dict[str, Any]:
    """Return a value's shape, then its first item, or how its text begins."""
    shown: dict[str, Any] = {"shape": truncate(outline_value(value), SHAPE)}
    if isinstance(value, str):
        return {**shown, "begins": cut(value, BEGINNING)}
    if isinstance(value, list) and value:
        return {**shown, "example": _example(value[0], EXAMPLE)}
    return {**shown, "begins": _example(value, BEGINNING)}


def cut(text: str, most: int) -> str:
    """Return the beginning of a text; what is left out is a `…`."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _example(value: JSON, most: int) -> JSON:
    """Return a value as it is where it is short, else its long texts cut; as the beginning of its JSON if need be."""
    if len(dump(value)) <= most:
        return value
    if isinstance(value, Mapping):
        each = max(most // (2 * max(len(value), 1)), 20)
        short = {key: _cut_text(one, each) if isinstance(one, str) else one for key, one in value.items()}
        if len(dump(short)) <= most:
            return short
    return cut(value if isinstance(value, str) else dump(value), most)


def _cut_text(text: str, most: int) -> str:
    """Return the beginning of a text, and less of one whose shape is told, since it is JSON."""
    return cut(text, min(most, JSON_BEGINNING) if json_in(text) is not None else most)


def kind_and_shape(space: Space, resource: Resource) -> str:
    """Return what a variable is bound to in a line: `Collection of 30: {author: text, date: text}`."""
    if isinstance(resource, Collection):
        context = space.context()
        items: Sequence[Any] = [
            context.content(item) for item in context.resources([member.id for member in resource.members[:SAMPLE]])
        ]
        shape = outline_value(list(items)).partition(": ")[2] if items else ""
        return truncate(f"Collection of {len(resource):,}" + (f": {shape}" if shape else ""), SHAPE)
    if isinstance(resource, Note):
        return truncate(outline_value(resource.content), SHAPE)
    return str(resource.kind)
