"""What a result is, before its first lines: so the next step can be written without reading it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Note, Resource
from infospace.data.json_text import dump
from infospace.data.result import truncate
from infospace.schema.outline import SAMPLE, outline_value
from infospace.space import Space

BEGINNING = 400
"""Characters of the beginning of a text."""
EXAMPLE = 300
"""Characters of the first item of a list."""
SHAPE = 400
"""Characters of a shape."""


def preview(value: JSON) -> dict[str, Any]:
    """Return a value's shape, then its first item, or how its text begins."""
    shown: dict[str, Any] = {"shape": truncate(outline_value(value), SHAPE)}
    if isinstance(value, str):
        return {**shown, "begins": _cut(value, BEGINNING)}
    if isinstance(value, list) and value:
        return {**shown, "example": _example(value[0])}
    return {**shown, "begins": _cut(dump(value), BEGINNING)}


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _example(item: JSON) -> JSON:
    """Return an item as it is where it is short, else its long texts cut; as the beginning of its JSON if need be."""
    if len(dump(item)) <= EXAMPLE:
        return item
    if isinstance(item, Mapping):
        each = max(EXAMPLE // (2 * max(len(item), 1)), 20)
        short = {key: _cut(value, each) if isinstance(value, str) else value for key, value in item.items()}
        if len(dump(short)) <= EXAMPLE:
            return short
    return _cut(item if isinstance(item, str) else dump(item), EXAMPLE)


def kind_and_shape(space: Space, resource: Resource) -> str:
    """Return what a variable is bound to in a line: `Collection of 30: {author: text, date: text}`."""
    if isinstance(resource, Collection):
        view = space.view()
        items: Sequence[Any] = [
            view.content(item) for item in view.resources([one.id for one in resource.members[:SAMPLE]])
        ]
        shape = outline_value(list(items)).partition(": ")[2] if items else ""
        return truncate(f"Collection of {len(resource):,}" + (f": {shape}" if shape else ""), SHAPE)
    if isinstance(resource, Note):
        return truncate(outline_value(resource.content), SHAPE)
    return str(resource.kind)
