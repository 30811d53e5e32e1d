"""`discover-collections`: find kept Collections by what they are about."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infospace import Args, Collection, Context, Limit, Query, primitive
from infospace.authoring.certificates import proof
from infospace.authoring.values import CollectionResult


class DiscoverCollections(Args):
    """Arguments of `discover-collections`."""

    query: Query = Field(description="What the Collection should be about, in plain words.")
    limit: Limit = Field(3, description='At most this many, a whole number from 1, or "all".')
    threshold: Annotated[float, Field(ge=-1, le=1)] | Literal["auto"] | None = Field(
        None,
        description='Lowest cosine similarity that counts, -1 to 1; by default the model\'s own (0.3). "auto" as in '
        "`discover-notes`.",
    )


@primitive(
    effect="reads",
    waits=True,
    formerly=["search-collections"],
    renamed={"value": "query"},
    out="required",
    extra_schema=proof.of_collections,
    failures=[
        "`query` or `out` is missing, or `query` is blank.",
        "There are Collections to search but no embedding weights on the machine.",
    ],
    examples=[
        {"type": "discover-collections", "query": "papers to read about attention", "out": "$lists"},
        {"type": "discover-collections", "query": "risks", "limit": "all", "threshold": 0.2, "out": "$all"},
    ],
    avoid=[
        "Looking up a Collection whose name is known: that is `load`.",
        "Looking for single Notes: that is `discover-notes`, with `within` for those of one Collection.",
    ],
)
async def discover_collections(args: DiscoverCollections, context: Context) -> Collection[CollectionResult]:
    """Find the kept Collections nearest in meaning to a query, nearest first.

    A Collection is compared by its name, its metadata and its items' titles, as they are now; one whose name
    begins with `_` is not searched. Each hit is a search-result Note of type `Collection`, whose text is the
    titles of the items; `load` gives the Collection itself. `extra.certificate` says what was proved, in
    counts of `collections`; a plan quotes it: `${lists.@extra.certificate.matched}`.
    """
    from infospace.authoring.ranking import search_collections

    results = await context.run_search(search_collections(args.query, args.limit, args.threshold))
    context.extra["item_count"] = len(results.hits)
    context.extra["certificate"] = results.certificate
    return context.collection([context.search_result(hit) for hit in results.hits])
