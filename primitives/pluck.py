"""`pluck`: one field of each item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from infospace import Args, Collection, Context, Path, Ref, primitive
from infospace.authoring.shapes import NO_METADATA, CollectionShape, NoteShape, Shape, field_shape
from infospace.authoring.values import ABSENT, find


class Pluck(Args):
    """Arguments of `pluck`."""

    target: Ref[Collection] = Field(description="The Collection.")
    field: Path = Field(description="The path of the value in each item: `metadata.score`, `title`, `@id`.")


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    return CollectionShape(NoteShape(field_shape(arguments, shapes, "field"), NO_METADATA))


@primitive(
    effect="reads",
    gives=_result_shape,
    examples=[
        {"type": "pluck", "target": "$hits", "field": "metadata.title", "out": "$titles"},
        {"type": "pluck", "target": "$notes", "field": "@metadata.tags[0]", "out": "$first_tags"},
    ],
    avoid=["`title` for the title of a search result: it is `metadata.title`."],
)
async def pluck(args: Pluck, context: Context) -> Collection:
    """Give a new Note for the value that each item has at a path, in order.

    Items without the field are left out and counted in `extra.excluded`; a null there is a value.
    """
    values = [find(item, args.field) for item in context.items(args.target)]
    there = [value for value in values if value is not ABSENT]
    context.extra["excluded"] = len(values) - len(there)
    return context.collection([context.note(value) for value in there])
