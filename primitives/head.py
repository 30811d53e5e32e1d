"""`head`: the first items."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Collection, Context, Ref, primitive
from infospace.authoring.shapes import same_as


class Head(Args):
    """Arguments of `head`."""

    target: Ref[Collection] = Field(description="The Collection.")
    count: int = Field(1, ge=0, description="How many items, from the first.")


@primitive(
    effect="pure",
    result_shape=same_as("target"),
    examples=[{"type": "head", "target": "$sorted", "count": 3, "out": "$top"}],
    avoid=["`head` with count 1 to get a single Note: `$sorted[0]` is the Note itself."],
)
async def head(args: Head, context: Context) -> Collection:
    """Give the first `count` items, or all when there are fewer."""
    return context.collection(args.target.members[: args.count])
