"""`project`: some fields of each item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from infospace import Args, Collection, Context, Path, Ref, primitive
from infospace.authoring.shapes import NO_METADATA, CollectionShape, NoteShape, Selection, Shape
from infospace.authoring.values import ABSENT


def _side_by_side(fields: list[Path]) -> list[Path]:
    Selection(fields)
    return fields


class Project(Args):
    """Arguments of `project`."""

    target: Ref[Collection] = Field(description="The Collection.")
    fields: Annotated[list[Path], Field(min_length=1), AfterValidator(_side_by_side)] = Field(
        description='The paths of the values to take: `title`, `metadata.score`, `["odd key"]`, `tags[0]`, `@id`.'
    )


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    target, fields = shapes.get("target"), arguments.get("fields")
    if not isinstance(fields, list) or not isinstance(target, CollectionShape):
        return CollectionShape(NoteShape(None, NO_METADATA))
    return CollectionShape(NoteShape(Selection(fields).schema(target.item), NO_METADATA))


@primitive(
    effect="reads",
    gives=_result_shape,
    failures=["Two fields cannot stand in one object: `tags[0]` and `tags.first`, or `id` and `@id`."],
    examples=[
        {"type": "project", "target": "$hits", "fields": ["metadata.title", "metadata.score"], "out": "$rows"},
        {"type": "project", "target": "$notes", "fields": ["@id", "@metadata.tags[0]"], "out": "$tagged"},
    ],
    avoid=[
        "Reading `score` of what `metadata.score` was taken into: nesting is kept, so it is `metadata.score` still.",
        "Taking a single field to have its values: `pluck` gives them bare.",
    ],
)
async def project(args: Project, context: Context) -> Collection:
    """Give a new Note for each item, an object of just the fields named.

    Nesting is kept: `metadata.score` gives `{"metadata": {"score": …}}`. An index keeps the list, with just the
    elements that are named, in the order they are named. `@id` gives the key `id`, `@metadata.x` gives
    `{"metadata": {"x": …}}`: with an `@`, a path means the new Note itself. The new Notes have no metadata of their
    own. Items that miss one of the fields are left out and counted in `extra.excluded`; a null there is a value.
    """
    selection = Selection(args.fields)
    made = [selection.read(item) for item in context.items(args.target)]
    rows = [row for row in made if row is not ABSENT]
    context.extra["excluded"] = len(made) - len(rows)
    return context.collection([context.note(row) for row in rows])
