"""`assess`: whether something is so, by a language model's judgement."""

from __future__ import annotations

from typing import cast

from pydantic import Field

from infospace import Args, Context, Note, Ref, Resource, Text, primitive
from infospace.authoring.prompts import judge_prompt


class Assess(Args):
    """Arguments of `assess`."""

    target: Ref[Resource] = Field(description="What is judged, whole; of a search result its source's text.")
    predicate: Text = Field(description="A statement that is true of it or not, in plain words.")
    model: Text | None = Field(None, description="Another model at the same endpoint than the usual one.")


@primitive(
    effect="calls",
    asks=True,
    failures=[
        "No language model is configured, it cannot be reached, or it answers neither true nor false.",
        "`target` is too long for the model: nothing is cut.",
    ],
    examples=[
        {"type": "assess", "target": "$hits[0]", "predicate": "It names a date on which to ship.", "out": "$dated"},
        {"type": "assess", "target": "$summary", "predicate": "It contradicts: ${decision}", "out": "$wrong"},
    ],
    avoid=[
        "What a condition decides without a model: `contains`, `equals`, `empty`.",
        "One `assess` for each item of a Collection: `filter-semantic` judges them side by side.",
    ],
)
async def assess(args: Assess, context: Context) -> Note[bool]:
    """Ask the language model whether a predicate is true of a resource: a Note of true or false.

    A Collection is judged as its items' texts together. Where the model is in doubt the answer is false.
    """
    messages = judge_prompt(args.predicate, (args.target.id, context.text(args.target)))
    return context.note(cast("bool", await context.ask_model(messages, schema={"type": "boolean"}, model=args.model)))
