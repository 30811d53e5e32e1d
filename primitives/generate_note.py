"""`generate-note`: a language model writes a Note."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Context, JsonSchema, Note, Ref, Resource, Text, primitive
from infospace.authoring.prompts import answers_to, task


class GenerateNote(Args):
    """Arguments of `generate-note`."""

    prompt: Text = Field(description="What to write, in plain words.")
    target: Ref[Resource] | None = Field(None, description="Material to write from, read whole.")
    schema_: JsonSchema | None = Field(
        None, description="A JSON Schema that the result fits, read literally; without it the result is text."
    )
    model: Text | None = Field(None, description="Another model at the same endpoint than the usual one.")


@primitive(
    effect="calls",
    asks=True,
    result_shape=answers_to("schema"),
    failures=[
        "No language model is configured, or it cannot be reached.",
        "The answer does not fit `schema`, and did not after the model was told why.",
        "Prompt and material are too long for the model: nothing is cut.",
    ],
    examples=[
        {"type": "generate-note", "prompt": "Three questions to ask about a release plan.", "out": "$questions"},
        {
            "type": "generate-note",
            "prompt": "A title of at most eight words, and three tags.",
            "target": "$summary",
            "schema": {
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                },
                "required": ["title", "tags"],
            },
            "out": "$label",
        },
    ],
    avoid=[
        "Pasting what notes say into `prompt` with `${x}`: give it as `target`, where it is material and no order.",
        "Summing up a Collection: `synthesize` does, and cites its items.",
    ],
)
async def generate_note(args: GenerateNote, context: Context) -> Note:
    """Let the language model write a text, or with `schema` JSON that fits it, from a prompt and perhaps material.

    The Note is transient until it is kept. Of a Collection as `target` the items are given each with its id.
    """
    material = [] if args.target is None else context.material(args.target)
    return context.note(await context.ask_model(task(args.prompt, material), schema=args.schema_, model=args.model))
