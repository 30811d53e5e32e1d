"""`update-note`: a new version of a Note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import Field, model_validator

from infospace import Args, Context, Invalid, Note, Ref, Value, primitive
from infospace.authoring.shapes import NoteShape, Schema, Shape, Unknown, describe, merged_or_new, source_of
from infospace.authoring.values import JSON, JsonNull, Kind, kind_of


class UpdateNote(Args):
    """Arguments of `update-note`."""

    target: Ref[Note] = Field(description="The Note; of a search result, its source.")
    value: Value = Field(None, description="The new content: any JSON; left out, the content stays.")
    metadata: dict[str, Any] | None = Field(None, description="The new metadata; left out, it stays.")
    merge: bool = Field(False, description="Put the keys given into content and metadata, and keep the others.")
    if_version: int | None = Field(None, ge=1, description="Only if the Note is at this version still.")

    @model_validator(mode="after")
    def _changes_something(self) -> UpdateNote:
        if "value" not in self.model_fields_set and self.metadata is None:
            raise Invalid("update-note changes nothing", hint="give `value` (the content), `metadata`, or both")
        return self


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    target = shapes.get("target", Unknown())
    target = source_of(target) or target
    if Kind.NOTE not in target.kinds:
        raise Invalid(f"this stands for {describe(target)}, which has no content", hint="`set-metadata` changes it")
    parts: list[Schema | None] = [target.content, target.metadata] if isinstance(target, NoteShape) else [None, None]
    for index, name in enumerate(("value", "metadata")):
        given = shapes.get(name)
        if isinstance(given, NoteShape):
            parts[index] = merged_or_new(parts[index], given.content, arguments.get("merge"))
    return NoteShape(parts[0], parts[1])


@primitive(
    effect="writes",
    result_shape=_result_shape,
    changes=_result_shape,
    failures=[
        "Neither `value` nor `metadata` is given.",
        "The Note is not at `if_version`.",
        "With `merge`, the content or `value` is not a JSON object.",
        "A search result of a tool or a Collection, which stands for no Note.",
    ],
    examples=[
        {"type": "update-note", "target": "$decision", "value": "Ship on the 19th.", "out": "$later"},
        {"type": "update-note", "target": "$status", "value": {"open": []}, "merge": True, "if_version": 1},
        {"type": "update-note", "target": "$hits[0]", "metadata": {"status": "read"}, "merge": True},
    ],
    avoid=[
        "Making a second Note of the new text: `update-note` keeps the id, the name and the earlier versions.",
        "`merge` with a text: only JSON objects have keys to merge.",
    ],
)
async def update_note(args: UpdateNote, context: Context) -> Note:
    """Change a Note in place: the same id, a new version; earlier ones stay readable.

    Without `merge` what is given takes the place of what was there. With it the keys given are put into the objects
    that are there, each replaced whole. Of a search result its source is changed. Without `if_version` the last
    write wins.
    """
    target = context.acted_on(args.target)
    if not isinstance(target, Note):
        raise Invalid(f"{args.target.id} stands for {target.id}, which is not a Note", hint="`set-metadata` changes it")
    content: JSON | JsonNull = None
    if "value" in args.model_fields_set:
        content = _merged(target, args.value) if args.merge else args.value
        content = JsonNull() if content is None else content
    metadata = args.metadata
    if metadata is not None and args.merge:
        metadata = {**target.metadata, **metadata}
    return context.revise(target, content=content, metadata=metadata, if_version=args.if_version)


def _merged(target: Note, value: JSON) -> JSON:
    for whose, part in ((f"the content of {target.id}", target.content), ("`value`", value)):
        if not isinstance(part, Mapping):
            raise Invalid(f"{whose} is of type {kind_of(part)}, and only objects merge", hint="leave `merge` out")
    return {**cast("Mapping[str, JSON]", target.content), **cast("Mapping[str, JSON]", value)}
