"""`create-note`: JSON becomes a Note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from infospace import Args, Context, Note, Value, primitive
from infospace.authoring.shapes import NO_METADATA, NOTHING, Facts, NoteShape, Shape


class CreateNote(Args):
    """Arguments of `create-note`."""

    value: Value = Field(description="The content: any JSON, with references replaced by content.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="A JSON object kept beside the content.")


def _result_shape(_arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    value, metadata = shapes.get("value"), shapes.get("metadata")
    return NoteShape(
        value.content if isinstance(value, NoteShape) else None,
        metadata.content if isinstance(metadata, NoteShape) else NO_METADATA,
        Facts(content=value.facts.content) if value is not None else NOTHING,
    )


@primitive(
    effect="pure",
    renamed={"properties": "metadata"},
    result_shape=_result_shape,
    examples=[
        {"type": "create-note", "value": "Ship on the 12th.", "out": "$decision"},
        {
            "type": "create-note",
            "value": {"total": 3, "open": ["docs"]},
            "name": "release status",
            "out": "$status",
        },
        {
            "type": "create-note",
            "value": "${decision}\n\nStatus: ${status}",
            "metadata": {"kind": "summary"},
            "out": "$summary",
        },
    ],
    avoid=["A bare `$name` inside longer text: write `${name}`, or `$$name` for the text itself."],
)
async def create_note(args: CreateNote, context: Context) -> Note:
    """Make a Note of any JSON value; text is a JSON string.

    Types are kept: a number stays a number, null stays null. The Note is transient, and so not found by
    discovery, until the step's `name`, or `persist`, keeps it.
    """
    return context.note(args.value, metadata=args.metadata)
