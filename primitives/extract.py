"""`extract`: what a Note says of something, as text or as data."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Context, JsonSchema, Note, Ref, Text, primitive
from infospace.authoring.prompts import answers_to, task


class Extract(Args):
    """Arguments of `extract`."""

    target: Ref[Note] = Field(description="The Note, read whole; of a search result its source's text.")
    instruction: Text = Field(description="What to take out of it, in plain words.")
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
        "The Note is too long for the model: nothing is cut.",
    ],
    examples=[
        {
            "type": "extract",
            "target": "$hits[0]",
            "instruction": "The decision and who made it.",
            "schema": {
                "type": "object",
                "properties": {"decision": {"type": "string"}, "who": {"type": ["string", "null"]}},
                "required": ["decision", "who"],
                "additionalProperties": False,
            },
            "out": "$found",
        },
        {"type": "extract", "target": "$status", "instruction": "Every open question, a line each.", "out": "$open"},
    ],
    avoid=[
        "Taking a field out of JSON: that is `pluck`, or `$x.field`, and needs no model.",
        "A schema without room for what is not there: let such fields be null, or they are made up.",
    ],
)
async def extract(args: Extract, context: Context) -> Note:
    """Take out of a Note what an instruction asks for: a text, or with `schema` JSON that fits it.

    The schema is checked here, whatever the model's endpoint promises; a wrong answer is sent back once.
    """
    instruction = f"Take out of the material, adding nothing that it does not say:\n{args.instruction}"
    messages = task(instruction, [(args.target.id, context.text(args.target))])
    return context.note(await context.ask_model(messages, schema=args.schema_, model=args.model))
