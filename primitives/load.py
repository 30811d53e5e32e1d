"""`load`: a known resource, or a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from infospace import Args, Collection, Context, Invalid, Note, Relation, Resource, Slice, TitledRef, primitive
from infospace.authoring.shapes import (
    NO_METADATA,
    UNKNOWN,
    CollectionShape,
    ContentUnfit,
    NoteShape,
    RelationShape,
    Schema,
    Shape,
    Unknown,
    bare,
    describe,
    disjoint,
    is_itself,
    source_of,
    subschema_at,
    types_of,
)
from infospace.authoring.values import kind_of


class Load(Args):
    """Arguments of `load`."""

    target: TitledRef[Resource] = Field(description="A name, a note's title, an id or a `$variable`.")
    slice: Slice | None = Field(
        None, description='A Python slice of characters, list elements or items: ":500", "-3:".'
    )


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    target = shapes.get("target", Unknown())
    target = target if is_itself(target) else bare(source_of(target) or target)
    cut = arguments.get("slice")
    if cut is None:
        return target
    if isinstance(target, CollectionShape):
        return CollectionShape(target.item) if cut is UNKNOWN else CollectionShape(target.item, NO_METADATA)
    if isinstance(target, RelationShape) or (isinstance(target, NoteShape) and disjoint(target.content, _ORDERED)):
        raise ContentUnfit(f"{describe(target)} has no order to slice", hint="a text, a list or a Collection has")
    if isinstance(target, NoteShape) and cut is not UNKNOWN:
        return NoteShape(_part(target.content), NO_METADATA)
    return NoteShape() if isinstance(target, NoteShape) else Unknown()


_ORDERED: Schema = {"type": ["string", "array"]}


def _part(content: Schema | None) -> Schema:
    types = types_of(content) & {"string", "array"} or {"string", "array"}
    items = subschema_at(content, (0,))
    return {"type": sorted(types), **({"items": items} if isinstance(items, Mapping) else {})}


@primitive(
    effect="reads",
    result_shape=_result_shape,
    failures=[
        "Nothing has that id or name.",
        "A slice of a Note whose content is neither text nor a list, or of a Relation.",
    ],
    examples=[
        {"type": "load", "target": "reading list", "out": "$list"},
        {"type": "load", "target": "$hits[0]", "slice": ":200", "out": "$opening"},
    ],
    avoid=["Looking for a resource by what it is about: that is `discover-notes`."],
)
async def load(args: Load, context: Context) -> Resource:
    """Give a resource by name, id or variable; of a search result, its source.

    With `slice`, a new Note of those characters or list elements, or a new Collection of those items, by
    Python's rules: negative numbers count from the end, a range beyond the end is cut short.
    """
    resource = context.source(args.target)
    if args.slice is None:
        return resource
    if isinstance(resource, Collection):
        return context.collection(resource.members[args.slice])
    if isinstance(resource, Note) and isinstance(resource.content, (str, list)):
        return context.note(resource.content[args.slice])
    what = "a Relation" if isinstance(resource, Relation) else f"content of type {kind_of(resource.content)}"
    raise Invalid(f"{resource.id} is {what}, which has no order to slice", hint="a text, a list or a Collection has")
