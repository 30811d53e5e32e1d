"""`set-metadata`: what is to be known of a resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field

from infospace import Args, Context, Note, Ref, Resource, primitive
from infospace.authoring.shapes import NO_METADATA, CollectionShape, NoteShape, Shape, Unknown, merged_or_new, source_of


class SetMetadata(Args):
    """Arguments of `set-metadata`."""

    target: Ref[Resource] = Field(description="The resource; of a search result, its source.")
    value: dict[str, Any] = Field(description="A JSON object.")
    merge: bool = Field(True, description="Keep the other keys; false takes them away.")
    if_version: int | None = Field(None, ge=1, description="Only if the resource is at this version still.")


def _changes(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    target = shapes.get("target", Unknown())
    target = source_of(target) or target
    value = shapes.get("value")
    if not isinstance(target, (NoteShape, CollectionShape)):
        return target
    values = value.content if isinstance(value, NoteShape) else None
    return replace(target, metadata=merged_or_new(target.metadata, values, arguments.get("merge")))


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    after = _changes(arguments, shapes)
    return NoteShape(
        after.metadata if isinstance(after, (NoteShape, CollectionShape)) else {"type": "object"}, NO_METADATA
    )


@primitive(
    effect="writes",
    result_shape=_result_shape,
    changes=_changes,
    failures=["The resource is not at `if_version`.", "A search result of a tool, which has no source here."],
    examples=[
        {"type": "set-metadata", "target": "$decision", "value": {"status": "open", "priority": 1}},
        {"type": "set-metadata", "target": "$hits[0]", "value": {"read": True}, "merge": False, "out": "$now"},
    ],
    avoid=["Putting what a text says into metadata: it is there to sort and filter by. Content belongs in the Note."],
)
async def set_metadata(args: SetMetadata, context: Context) -> Note[dict[str, Any]]:
    """Set keys of a resource's own metadata in place: the same id, a new version.

    The other keys stay, unless `merge` is false; a key given is replaced whole, and null is a value. Of a search
    result its source is changed. Gives a new Note of all the metadata as it is then.
    """
    target = context.acted_on(args.target)
    metadata = {**target.metadata, **args.value} if args.merge else args.value
    context.revise(target, metadata=metadata, if_version=args.if_version)
    return context.note(dict(metadata))
