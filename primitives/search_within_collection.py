"""`search-within-collection`: find the passages of a Collection's items that say something about a query."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infospace import Args, Collection, Context, Limit, Query, Ref, SearchResult, primitive
from infospace.authoring.certificates import proof
from infospace.authoring.shapes import results_by_mode


class SearchWithinCollection(Args):
    """Arguments of `search-within-collection`."""

    target: Ref[Collection] = Field(description="The Collection whose items are searched.")
    query: Query = Field(description="What to look for, in plain words.")
    limit: Limit = Field(5, description='At most this many passages, a whole number from 1, or "all".')
    threshold: Annotated[float, Field(ge=-1, le=1)] | Literal["auto"] = Field(
        0.0, description='Lowest cosine similarity that counts, -1 to 1; "auto" as in `discover-notes`.'
    )
    mode: Literal["semantic", "keyword", "hybrid"] = Field(
        "semantic", description="By meaning, by words (any of them), or by both in one ranking."
    )
    explain: bool = Field(False, description="Say in each hit's `metadata.explanation` what its score is made of.")


@primitive(
    effect="reads",
    waits=True,
    renamed={"value": "query"},
    out="required",
    result_shape=results_by_mode,
    extra_schema=proof.of_passages,
    failures=[
        "`query` or `out` is missing, or `query` is blank.",
        "There is text to search but no embedding weights on the machine.",
    ],
    examples=[
        {"type": "search-within-collection", "target": "$notes", "query": "what it costs", "out": "$passages"},
        {
            "type": "search-within-collection",
            "target": "$hits",
            "query": "deadline",
            "mode": "hybrid",
            "limit": "all",
            "threshold": 0.3,
            "out": "$said",
        },
    ],
    avoid=[
        "Wanting whole Notes of the Collection: `discover-notes` with `within` gives each Note once.",
        "Reading the text of a hit for its passage: `metadata.passage.text` is the passage, `text` the whole source.",
    ],
)
async def search_within_collection(args: SearchWithinCollection, context: Context) -> Collection[SearchResult]:
    """Find the passages of a Collection's items that fit a query best, best first.

    Transient items are searched too; of a search result its source, of a Collection its items. Each source is
    searched once, and may be found by several passages: a hit is one passage, in `metadata.passage`, and two
    hits are the same when source and range are. Scores and modes are those of `discover-notes`, titles apart; in
    `keyword` and `hybrid` words are weighed among the passages. `extra.certificate` counts `passages`, and `items`,
    with those `left_out` since their source was deleted or they have no text of their own; a plan
    quotes it: `${said.@extra.certificate.matched}`. With `explain` a hit's metadata has `explanation`, as there: under
    `meaning` the passage's cosine, under `words` what each word that it has adds.
    """
    from infospace.authoring.ranking import PassageQuery, search_passages_of

    query = PassageQuery(args.query, args.limit, args.threshold, args.mode, args.explain)
    results = await context.run_search(search_passages_of(query, context.items(args.target)))
    context.extra["item_count"] = len(results.hits)
    context.extra["certificate"] = results.certificate
    return context.collection([context.search_result(hit) for hit in results.hits])
