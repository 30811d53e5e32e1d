"""`size`: how many."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Collection, Context, Note, Ref, primitive


class Size(Args):
    """Arguments of `size`."""

    target: Ref[Collection] = Field(description="The Collection to count.")


@primitive(
    effect="pure",
    examples=[{"type": "size", "target": "$hits", "out": "$n"}],
    avoid=["Counting only to ask whether there are any: use the condition `empty` or `has_value`."],
)
async def size(args: Size, context: Context) -> Note[int]:
    """Count the items of a Collection: a Note whose content is that number."""
    return context.note(len(args.target))
