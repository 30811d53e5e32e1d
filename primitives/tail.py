"""`tail`: the last items."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Collection, Context, Ref, primitive
from infospace.authoring.shapes import same_as


class Tail(Args):
    """Arguments of `tail`."""

    target: Ref[Collection] = Field(description="The Collection.")
    count: int = Field(1, ge=0, description="How many items, up to the last.")


@primitive(
    effect="pure",
    result_shape=same_as("target"),
    examples=[{"type": "tail", "target": "$sorted", "count": 2, "out": "$largest"}],
    avoid=["`tail` with count 1 to get a single Note: `$sorted[-1]` is the Note itself."],
)
async def tail(args: Tail, context: Context) -> Collection:
    """Give the last `count` items in their order, or all when there are fewer."""
    members = args.target.members
    return context.collection(members[max(0, len(members) - args.count) :])
