"""`difference`: what is in one Collection and not in the other."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from infospace import Args, Collection, Context, Ref, primitive
from infospace.authoring.shapes import same_as
from infospace.authoring.values import set_operations as sets


class Difference(Args):
    """Arguments of `difference`."""

    target: Ref[Collection] = Field(description="The Collection whose items are given.")
    value: Ref[Collection] = Field(description="The Collection that must not have them.")
    by: Literal["@id", "content"] = Field(
        "@id", description="What makes items equal: what they are, or their content (the default for lists)."
    )


@primitive(
    effect="reads",
    result_shape=same_as("target"),
    examples=[
        {"type": "difference", "target": "$hits", "value": "$notes", "out": "$new"},
        {"type": "difference", "target": "$titles", "value": "$tags", "by": "content", "out": "$untagged"},
    ],
    avoid=["Taking one item out of a Collection that is to stay the same one: that is `remove` with `value`."],
)
async def difference(args: Difference, context: Context) -> Collection:
    """Give the items of the first that the second does not have, in their order.

    Each is there once, the first of equal ones. By `@id` a search result is its source, a passage its source and
    range, a tool `server/tool`, anything else itself. By `content` equal JSON is equal: 1 and 1.0, not "1".
    """
    others = {key for key, _ in sets.keyed(context, args.value, args.by)}
    pairs = sets.keyed(context, args.target, args.by)
    return context.collection(sets.first_of_each(pairs, lambda key: key not in others))
