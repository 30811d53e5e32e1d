"""`create-collection`: resources and values in one ordered list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from infospace import Args, Collection, Context, Items, Note, Relation, primitive
from infospace.authoring.shapes import NO_METADATA, CollectionShape, Facts, NoteShape, Shape, Unknown, bare


class CreateCollection(Args):
    """Arguments of `create-collection`."""

    value: Items = Field(description="A list of `$variables`, ids and values, or one resource.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="A JSON object kept with the Collection.")


def _result_shape(_arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    value, metadata = shapes.get("value", Unknown()), shapes.get("metadata")
    own = metadata.content if isinstance(metadata, NoteShape) else NO_METADATA
    return CollectionShape(bare(value), own, Facts(size=value.facts.size))


@primitive(
    effect="pure",
    renamed={"properties": "metadata"},
    result_shape=_result_shape,
    failures=["An element is shaped like an id that the space does not have."],
    examples=[
        {"type": "create-collection", "value": ["first", {"n": 2}, 3], "out": "$list"},
        {"type": "create-collection", "value": ["$a", "$b"], "name": "reading list", "out": "$both"},
    ],
    avoid=["Names in the list: they are text there. `load` a named resource first and list its `$variable`."],
)
async def create_collection(args: CreateCollection, context: Context) -> Collection:
    """Make a Collection of the given elements, in order.

    `$variables` and strings shaped like an id are resources; any other element becomes a Note. A single
    resource gives a Collection of just that resource.
    """
    items = [item if isinstance(item, (Note, Collection, Relation)) else context.note(item) for item in args.value]
    return context.collection(items, metadata=args.metadata)
