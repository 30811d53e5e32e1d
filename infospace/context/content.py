"""What resources are as values and as texts, however deep Collections are nested."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.resources import Collection, Note, Resource, SearchResult, text_of

DEEPEST = 100
"""How deep Collections within Collections are read."""

ItemsOf = Callable[[Collection[Any]], Sequence[Resource]]
"""Returns the items of a Collection as they are now, in order."""


def content_of(resource: Resource, items: ItemsOf, around: tuple[str, ...] = ()) -> JSON:
    """Return a Note's JSON, or a Collection's list of contents; `around` are the ids of the Collections it is in."""
    if not isinstance(resource, Collection):
        return resource.content
    if resource.id in around:
        return _itself(resource)
    inside = _inside(resource, around)
    return [content_of(item, items, inside) for item in items(resource)]


def text_of_resource(
    resource: Resource, items: ItemsOf, joined: Callable[[Iterable[str], str], str], around: tuple[str, ...] = ()
) -> str:
    """Return a resource's text; `joined` makes one of the texts of a Collection's items."""
    if isinstance(resource, Collection):
        if resource.id in around:
            return _itself(resource)
        inside = _inside(resource, around)
        return joined((text_of_resource(item, items, joined, inside) for item in items(resource)), "\n\n")
    if isinstance(resource, Note) and resource.evidence:
        return cast("SearchResult", resource.content)["text"]
    return text_of(resource.content)


def _itself(collection: Collection) -> str:
    return f"({collection.id}, which contains itself)"


def _inside(collection: Collection, around: tuple[str, ...]) -> tuple[str, ...]:
    """The Collections around the items of one."""
    if len(around) == DEEPEST:
        raise Invalid(
            f"{around[0]} has Collections within Collections more than {DEEPEST} deep",
            hint="`flatten` with `separator: null` takes one level away",
        )
    return (*around, collection.id)
