"""`find-relations`: arrows by their ends and label."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Collection, Context, Ref, Relation, Resource, primitive


class FindRelations(Args):
    """Arguments of `find-relations`."""

    source: Ref[Resource] | None = Field(None, description="Only those that begin here.")
    target: Ref[Resource] | None = Field(None, description="Only those that end here.")
    relation: str | None = Field(None, description="Only those with exactly this label.")


@primitive(
    effect="reads",
    examples=[
        {"type": "find-relations", "source": "$summary", "out": "$arrows"},
        {"type": "find-relations", "target": "$hits[0]", "relation": "cites", "out": "$citations"},
    ],
    avoid=["Finding Relations only to follow them: `related` gives the resources at the other ends."],
)
async def find_relations(args: FindRelations, context: Context) -> Collection[Relation]:
    """Give the Relations with these ends and label, in the order they were made.

    What is left out does not matter; without any argument all Relations are found. Found are kept ones and those that
    this run made. A search result stands for its source. None is success, with an empty Collection.
    """
    results = context.relations(
        source=None if args.source is None else context.source(args.source),
        target=None if args.target is None else context.source(args.target),
        relation=args.relation,
    )
    context.extra["item_count"] = len(results)
    return context.collection(results)
