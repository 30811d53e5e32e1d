"""`one-more`: what a step of the measured chains does, a function of Python as other runtimes have it for a step.

`one-more-read` does the same and says that it reads the space, so that it is written before the next step begins.
"""

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


@primitive(effect="reads", waits=False, examples=[{"type": "one-more-read", "value": 1, "out": "$n"}])
async def one_more_read(args: OneMore, context: Context) -> Note[int]:
    """Add one to a number, as a step that may have read the space."""
    return context.note(args.value + 1)
