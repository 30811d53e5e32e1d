"""`flatten`: the texts of items as one text, or the items of Collections as one Collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from infospace import Args, Collection, Context, Note, Ref, primitive
from infospace.authoring.shapes import NO_METADATA, UNKNOWN, CollectionShape, NoteShape, Shape, Unknown
from infospace.authoring.values import Kind


class Flatten(Args):
    """Arguments of `flatten`."""

    target: Ref[Collection] = Field(description="The Collection.")
    separator: str | None = Field("\n\n", description="Put between the texts; null joins Collections instead.")


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    separator = arguments.get("separator")
    if separator is UNKNOWN:
        return Unknown()
    if separator is not None:
        return NoteShape({"type": "string"}, NO_METADATA)
    target = shapes.get("target", Unknown())
    item = target.item if isinstance(target, CollectionShape) else Unknown()
    if isinstance(item, CollectionShape):
        return item
    return CollectionShape(Unknown() if Kind.COLLECTION in item.kinds else item)


@primitive(
    effect="reads",
    result_shape=_result_shape,
    examples=[
        {"type": "flatten", "target": "$hits", "out": "$text"},
        {"type": "flatten", "target": "$titles", "separator": ", ", "out": "$line"},
        {"type": "flatten", "target": "$groups", "separator": None, "out": "$all"},
    ],
    avoid=["Flattening to text what a later step wants as items: keep the Collection."],
)
async def flatten(args: Flatten, context: Context) -> Note[str] | Collection:
    """Join the items' texts into one text Note, in order; a search result gives its source's whole text.

    With `separator: null`, a Collection of Collections becomes one Collection, one level less deep; an item
    that is not a Collection stays as it is.
    """
    items = context.items(args.target)
    if args.separator is not None:
        return context.note(context.joined((context.text(item) for item in items), args.separator))
    inner = [item.members if isinstance(item, Collection) else (item,) for item in items]
    return context.collection([member for members in inner for member in members])
