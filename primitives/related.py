"""`related`: what a resource's Relations lead to."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from infospace import Args, Collection, Context, Member, Ref, Resource, primitive
from infospace.authoring.values import number_of


class Related(Args):
    """Arguments of `related`."""

    target: Ref[Resource] = Field(description="The resource from which Relations are followed.")
    relation: str | None = Field(None, description="Only Relations with exactly this label.")
    direction: Literal["out", "in", "both"] = Field(
        "out", description="Follow those that begin here, those that end here, or both."
    )


@primitive(
    effect="reads",
    examples=[
        {"type": "related", "target": "$summary", "out": "$sources"},
        {"type": "related", "target": "$hits[0]", "relation": "cites", "direction": "in", "out": "$citing"},
    ],
    avoid=["Looking for what is similar in meaning: that is `discover-notes`."],
)
async def related(args: Related, context: Context) -> Collection[Resource]:
    """Give the resources at the other ends of a resource's Relations, each once.

    They come in the order in which the Relations were made. Followed are kept Relations and those that this run
    made. A search result stands for its source. None is success, with an empty Collection.
    """
    start = context.source(args.target)
    results = []
    if args.direction != "in":
        results += [(arrow, arrow.target) for arrow in context.relations(source=start, relation=args.relation)]
    if args.direction != "out":
        results += [(arrow, arrow.source) for arrow in context.relations(target=start, relation=args.relation)]
    results.sort(key=lambda pair: number_of(pair[0].id))
    ends = dict.fromkeys(end for _, end in results)
    context.extra["item_count"] = len(ends)
    return context.collection([Member(end) for end in ends])
