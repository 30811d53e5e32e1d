"""`one-more`: what a step of the measured chains does, a function of Python as other runtimes have it for a step."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Context, Note, primitive


class OneMore(Args):
    """Arguments of `one-more`."""

    value: int = Field(description="The number to begin with.")


@primitive(effect="pure", waits=False, examples=[{"type": "one-more", "value": 1, "out": "$n"}])
async def one_more(args: OneMore, context: Context) -> Note[int]:
    """Add one to a number."""
    return context.note(args.value + 1)
