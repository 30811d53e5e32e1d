"""What a tool found, as search results: each element of a list in its answer, by a mapping of its fields."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from pydantic import Field

from infospace.contract.arguments import Args, Path
from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.core.resources import Collection, text_of
from infospace.data.json_text import dump
from infospace.data.paths import kind_of, lookup

if TYPE_CHECKING:
    from infospace.context.context import Context
    from infospace.core.tool import Tool


class ResultMapping(Args):
    """Where in a tool's answer what stands: `items` in the whole of it, the others in each item."""

    text: Path = Field(description="What an item says.")
    items: Path | None = Field(None, description="Where the list is; by default the answer is the list.")
    title: Path | None = Field(None, description="What an item is called.")
    uri: Path | None = Field(None, description="Where an item is from.")
    score: Path | None = Field(None, description="How well an item fits, a number.")


class ForeignMetadata(TypedDict):
    """Where a result of a tool came from. `score` is the tool's own, null where it gives none."""

    source_id: str
    uri: str | None
    score: float | None
    type: str
    title: str | None
    passage: None
    source: dict[str, Any]


class ForeignResult(TypedDict):
    """The content of a search-result Note that a tool found."""

    text: str
    format: str
    metadata: ForeignMetadata
    char_count: int


def as_results(context: Context, tool: Tool, content: JSON, mapped: ResultMapping) -> Collection[Any]:
    """Make a Collection of search results of a tool's answer, in its order; items without a text are left out.

    How many these are stands in `extra.excluded`. Raises PathNotFound where there is no list, Invalid where it is none.
    """
    items = content if mapped.items is None else lookup(content, mapped.items.parts)
    if not isinstance(items, list):
        where = f"`{mapped.items}` of it" if mapped.items is not None else "it"
        keys = f"it has the keys {', '.join(list(content)[:12])}" if isinstance(content, Mapping) else None
        message = f"{tool.full_name} answers no list: {where} is of the kind {kind_of(items)}"
        raise Invalid(message, hint=f"`fields.items` says where the list is; {keys}" if keys else None)
    results = [result for item in items if (result := _result(tool, item, mapped)) is not None]
    context.extra["item_count"] = len(results)
    context.extra["excluded"] = len(items) - len(results)
    return context.collection([context.result(result) for result in results])


def _result(tool: Tool, item: JSON, mapped: ResultMapping) -> JSON:
    text = _at(item, mapped.text)
    if text is None:
        return None
    uri, title, score = _at(item, mapped.uri), _at(item, mapped.title), _at(item, mapped.score)
    message = text_of(text)
    number = isinstance(score, int | float) and not isinstance(score, bool)
    return {
        "text": message,
        "format": "text" if isinstance(text, str) else "json",
        "metadata": {
            "source_id": uri if isinstance(uri, str) and uri else f"{tool.full_name}#{_digest(item)}",
            "uri": uri if isinstance(uri, str) else None,
            "score": float(score) if isinstance(score, int | float) and number else None,
            "type": "Result",
            "title": None if title is None else text_of(title),
            "passage": None,
            "source": {"found_by": tool.full_name, "item": item},
        },
        "char_count": len(message),
    }


def _at(item: JSON, path: Path | None) -> JSON:
    """Return what stands at a place of an item, null where there is nothing."""
    if path is None:
        return None
    try:
        return lookup(item, path.parts)
    except PathNotFound:
        return None


def _digest(item: JSON) -> str:
    """Tell an item without an address from others: the same item is the same result."""
    return hashlib.sha256(dump(item).encode("utf-8", "surrogatepass")).hexdigest()[:16]
