"""`union`: what is in one Collection or the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from infospace import Args, Collection, Context, Ref, primitive
from infospace.authoring.shapes import Shape, Unknown
from infospace.authoring.shapes import union as either
from infospace.authoring.values import set_operations as sets


class Union(Args):
    """Arguments of `union`."""

    target: Ref[Collection] = Field(description="The first Collection.")
    value: Ref[Collection] = Field(description="The second Collection.")
    by: Literal["@id", "content"] = Field(
        "@id", description="What makes items equal: what they are, or their content (the default for lists)."
    )


def _result_shape(_arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    return either(shapes.get("target", Unknown()), shapes.get("value", Unknown()))


@primitive(
    effect="reads",
    result_shape=_result_shape,
    examples=[
        {"type": "union", "target": "$hits", "value": "$notes", "out": "$all"},
        {"type": "union", "target": "$titles", "value": "$tags", "by": "content", "out": "$words"},
    ],
    avoid=["Growing one Collection in a loop by `union`: `add` changes it in place."],
)
async def union(args: Union, context: Context) -> Collection:
    """Give the items of the first, then those of the second that the first does not have.

    Each is there once, the first of equal ones. By `@id` a search result is its source, a passage its source and
    range, a tool `server/tool`, anything else itself. By `content` equal JSON is equal: 1 and 1.0, not "1".
    """
    pairs = [*sets.keyed(context, args.target, args.by), *sets.keyed(context, args.value, args.by)]
    return context.collection(sets.first_of_each(pairs))
