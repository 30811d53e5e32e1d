"""`think`: for later planning turns."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Context, Value, primitive
from infospace.authoring.values import text_of


class Think(Args):
    """Arguments of `think`."""

    value: Value = Field(description="What to remember; text, usually with `${…}` in it.")


@primitive(
    effect="calls",
    examples=[{"type": "think", "value": "The notes disagree about the date; ask before writing the summary."}],
    avoid=["Keeping a finding that later steps need: that is `create-note`."],
)
async def think(args: Think, context: Context) -> None:
    """Put a text into the run's context, for whoever plans the next steps."""
    context.think(text_of(args.value))
