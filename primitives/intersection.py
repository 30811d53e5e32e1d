"""`intersection`: what is in both Collections."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from infospace import Args, Collection, Context, Ref, primitive
from infospace.authoring.shapes import same_as
from infospace.authoring.values import set_operations as sets


class Intersection(Args):
    """Arguments of `intersection`."""

    target: Ref[Collection] = Field(description="The Collection whose items are given.")
    value: Ref[Collection] = Field(description="The Collection that must have them too.")
    by: Literal["@id", "content"] = Field(
        "@id", description="What makes items equal: what they are, or their content (the default for lists)."
    )


@primitive(
    effect="reads",
    result_shape=same_as("target"),
    examples=[
        {"type": "intersection", "target": "$hits", "value": "$notes", "out": "$both"},
        {"type": "intersection", "target": "$titles", "value": "$tags", "by": "content", "out": "$common"},
    ],
    avoid=["Two searches and their intersection, where one search `within` the other's result says the same."],
)
async def intersection(args: Intersection, context: Context) -> Collection:
    """Give the items of the first that the second has too, in their order.

    Each is there once, the first of equal ones. By `@id` a search result is its source, a passage its source and
    range, a tool `server/tool`, anything else itself. By `content` equal JSON is equal: 1 and 1.0, not "1".
    """
    others = {key for key, _ in sets.keyed(context, args.value, args.by)}
    return context.collection(sets.first_of_each(sets.keyed(context, args.target, args.by), others.__contains__))
