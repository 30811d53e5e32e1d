"""`refine`: a Note written anew by an instruction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from infospace import Args, Context, Note, Ref, Text, primitive
from infospace.authoring.prompts import task
from infospace.authoring.shapes import NO_METADATA, NoteShape, Shape, is_result, schema_of_value, types_of


class Refine(Args):
    """Arguments of `refine`."""

    target: Ref[Note] = Field(description="The Note, read whole; of a search result its source's text.")
    instruction: Text = Field(description="How it should become, in plain words.")
    model: Text | None = Field(None, description="Another model at the same endpoint than the usual one.")


def _result_shape(_arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    target = shapes.get("target")
    if not isinstance(target, NoteShape):
        return NoteShape(None, NO_METADATA)
    types = {"string"} if is_result(target) else types_of(target.content)
    return NoteShape({"type": sorted(types)}, NO_METADATA)


@primitive(
    effect="calls",
    asks=True,
    result_shape=_result_shape,
    failures=[
        "No language model is configured, or it cannot be reached.",
        "The answer is of another JSON type than the Note, and was after the model was told.",
        "The Note is too long for the model, or comes back too long: nothing is cut.",
    ],
    examples=[
        {"type": "refine", "target": "$summary", "instruction": "Half as long, and without names.", "out": "$short"},
    ],
    avoid=[
        "Expecting the Note itself to change: this gives a new one; `update-note` with its content changes a kept one."
    ],
)
async def refine(args: Refine, context: Context) -> Note:
    """Let the language model write a Note anew by an instruction: a new Note of the same JSON type.

    Text gives text, an object an object, a list a list; what the instruction does not concern stays as it is.
    """
    note = args.target
    is_text = note.evidence or isinstance(note.content, str)
    schema = None if is_text else {"type": schema_of_value(note.content)["type"]}
    instruction = (
        "Rewrite the material by the instruction, and give the whole result. What the instruction does not"
        f" concern stays as it is.\n\nInstruction:\n{args.instruction}"
    )
    return context.note(
        await context.ask_model(task(instruction, [(note.id, context.text(note))]), schema=schema, model=args.model)
    )
