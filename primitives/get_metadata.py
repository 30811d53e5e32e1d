"""`get-metadata`: what is known of a resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from infospace import Args, Context, Note, Path, Ref, Resource, primitive
from infospace.authoring.shapes import NO_METADATA, NoSuchPath, NoteShape, Shape, Unknown, place_in
from infospace.authoring.values import Path as Place
from infospace.authoring.values import read

ALL = Place(("metadata",))


class GetMetadata(Args):
    """Arguments of `get-metadata`."""

    target: Ref[Resource] = Field(description="The resource.")
    field: Path | None = Field(None, description="A path in its metadata, such as `score`; without, all of it.")

    @field_validator("field")
    @classmethod
    def _in_metadata(cls, field: Place | None) -> Place | None:
        if field is None or field.parts[0] == "@metadata":
            return field
        return Place((*ALL.parts, *field.parts))


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    path = arguments.get("field") or ALL
    subschema = place_in(shapes.get("target", Unknown()), path.parts) if isinstance(path, Place) else None
    return NoteShape(None if isinstance(subschema, NoSuchPath) else subschema, NO_METADATA)


@primitive(
    effect="reads",
    result_shape=_result_shape,
    failures=["The metadata has no such field: the sentence says which there are."],
    examples=[
        {"type": "get-metadata", "target": "$hits[0]", "field": "score", "out": "$score"},
        {"type": "get-metadata", "target": "reading list", "out": "$known"},
    ],
    avoid=["A step only to read a field: `$x.metadata.score` is its value wherever a value stands."],
)
async def get_metadata(args: GetMetadata, context: Context) -> Note:
    """Give a resource's metadata, or one field of it, as a Note.

    It reads what `$x.metadata` reads: of a search result, and of any content that has a key `metadata`, the content's;
    else the resource's own. `@metadata.kind` always means the resource's own. A null there is a value; a field that
    does not exist fails.
    """
    value = read(args.target, args.field or ALL)
    return context.note(dict(value) if isinstance(value, Mapping) else value)
