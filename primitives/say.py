"""`say`: to the user."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Context, Value, primitive
from infospace.authoring.values import text_of


class Say(Args):
    """Arguments of `say`."""

    value: Value = Field(description="What to say: text, usually with `${…}` in it; other JSON is shown as JSON.")


@primitive(
    effect="calls",
    formerly=["display"],
    renamed={"target": "value"},
    examples=[{"type": "say", "value": "Found ${n} notes; the best is ${hits[0].metadata.title}."}],
    avoid=["Saying the result of the plan: name it in `result`."],
)
async def say(args: Say, context: Context) -> None:
    """Show a text to the user while the plan runs."""
    context.say(text_of(args.value))
