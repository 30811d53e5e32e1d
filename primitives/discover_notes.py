"""`discover-notes`: search by meaning, with proof of how complete the answer is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from infospace import Args, Collection, Context, Invalid, Limit, Query, Ref, SearchResult, Where, primitive
from infospace.authoring.certificates import proof
from infospace.authoring.shapes import results_by_mode


class DiscoverNotes(Args):
    """Arguments of `discover-notes`."""

    query: Query | None = Field(
        None, description="What to look for, in plain words. May be left out where `where` or `within` stands."
    )
    limit: Limit = Field(
        5, description='At most this many, a whole number from 1, or "all"; without `query` all, unless it is given.'
    )
    threshold: Annotated[float, Field(ge=-1, le=1)] | Literal["auto"] | None = Field(
        None,
        description='Lowest cosine similarity that counts, -1 to 1; by default the model\'s own (0.3). "auto" takes it '
        "from the space and the best hit.",
    )
    mode: Literal["semantic", "keyword", "hybrid"] = Field(
        "semantic", description="By meaning, by words (any of them), or by both in one ranking."
    )
    where: Where | None = Field(None, description="Only Notes that satisfy this SQL condition over their paths.")
    within: Ref[Collection] | None = Field(
        None, description="Only Notes of this Collection and of those in it, and the sources of their results."
    )
    certify: bool = Field(False, description="Insist on exact search, so that the certificate proves completeness.")
    explain: bool = Field(False, description="Say in each hit's `metadata.explanation` what its score is made of.")

    @model_validator(mode="after")
    def _check_what_is_looked_for(self) -> DiscoverNotes:
        if self.query is not None:
            return self
        if self.where is None and self.within is None:
            raise Invalid(
                "discover-notes needs a `query`, or `where` or `within`",
                hint="`query` says what to look for in plain words; `where` chooses notes by a condition",
            )
        if self.threshold is not None or self.mode != "semantic" or self.explain:
            name = "threshold" if self.threshold is not None else "explain" if self.explain else "mode"
            raise Invalid(
                f"`{name}` needs a `query`: without one nothing is scored", hint="add `query`, or leave it out"
            )
        return self


@primitive(
    effect="reads",
    waits=True,
    formerly=["search-notes"],
    renamed={"value": "query"},
    out="required",
    result_shape=results_by_mode,
    extra_schema=proof.of_notes,
    failures=[
        "`query` is blank, or missing where neither `where` nor `within` stands; `out` is missing.",
        "There are Notes to search but no embedding weights on the machine.",
    ],
    examples=[
        {
            "type": "discover-notes",
            "query": "transformer architectures or attention mechanisms",
            "out": "$matches",
        },
        {
            "type": "discover-notes",
            "query": "meeting notes about the Q2 release",
            "limit": "all",
            "threshold": "auto",
            "out": "$hits",
        },
        {
            "type": "discover-notes",
            "query": "risks of the release",
            "where": "metadata.status = 'open' OR metadata.status IS NULL",
            "out": "$open",
        },
        {
            "type": "discover-notes",
            "where": "@folder = 'projects' AND metadata.status = 'open'",
            "out": "$projects",
        },
        {
            "type": "discover-notes",
            "query": "error E1047 when the re-ranker starts",
            "mode": "hybrid",
            "limit": 10,
            "out": "$both",
        },
    ],
    avoid=[
        'The default `limit` of 5 for a goal that says "all": use `"limit": "all"` and read `extra.certificate`.',
        "Treating no hits as a failure: an empty Collection is success. Branch on the condition `empty`.",
        "`semantic` for a code, a number or a name that must occur: `keyword`, or `hybrid`, finds the word itself.",
        "Looking up a known name (`_rss_pending_titles`): that is `load`.",
    ],
)
async def discover_notes(args: DiscoverNotes, context: Context) -> Collection[SearchResult]:
    """Find the kept Notes nearest in meaning to a query, nearest first.

    Every kept Note is searched, whole; it scores as its best passage, title, alias or description. Each hit is a
    search-result Note with content `{text, format, metadata: {source_id, uri, score, type, title, passage, source},
    char_count}`; the passage has `start`, `end`, `text` and `headings`, under which it stands, the outermost first.
    `extra.certificate` says what was proved: `matched`, `returned`, `exhaustive`, `scored`, `notes`, `unembedded`,
    `max_below` (the best cosine under the threshold), `method`, `threshold`, `model`, `generation`; all counts are of
    Notes, not of passages. A plan quotes it: `${hits.@extra.certificate.matched}`.
    With `threshold` "auto" hits are those nearer to the best one than to `chance`, the cosine that everyday requests
    reach in this space (the certificate says it): seven tenths of the way from it to the best. Where the best is below
    chance nothing is found. It tells which hits belong together, not whether any of them answers. With `certify` and
    another threshold the certificate of a search by meaning proposes it, as `proposed_threshold`, beside `chance`.
    Notes whose name begins with `_`, search results and transient Notes are not searched.
    `keyword` finds all Notes with a word of the query in title, text or the texts of other properties, stop words
    apart and words by their stem; the score is b/(b+1) of BM25, and there is no threshold or model. A Note whose whole
    title or alias is the query stands first: the highest BM25 that there can be is added to its own. Chinese,
    Japanese, Korean and Thai, which put no spaces between words, are searched by pairs of characters. `hybrid`
    finds the Notes at or above the threshold and those with a word; the score is cosine + BM25/50, and a hit's
    metadata has `cosine`, `bm25` and `matched_by` too. The passage of a hit that only words found is the one that
    has most of them, null where only title or properties have one. In very large spaces the commonest words are
    left out, and named in `extra.certificate.words_left_out`. Without `query` all Notes are found that satisfy
    `where` and lie `within`, in order of id, without score and passage; `method` is `filter`. Where `where` is
    satisfied by nothing because a key stands elsewhere, `extra.hint` says so; where it leaves nothing,
    `extra.without_where` and the text say how many Notes there would be without it. What in `where` compares different
    types is unknown: counted in `extra.mismatches`, and told in `extra.mismatched` and the answer's text.
    With `explain` a hit's metadata has `explanation`: under `meaning` the best cosine of its passages, title, aliases
    and descriptions, under `words` which words it has, where, and what each adds, `whole_title` what that adds.
    """
    results = await context.discover(
        args.query,
        limit=args.limit if args.query is not None or "limit" in args.model_fields_set else None,
        threshold=args.threshold,
        mode=args.mode,
        where=args.where,
        within=args.within,
        certify=args.certify,
    )
    context.extra["item_count"] = len(results.hits)
    context.extra["certificate"] = results.certificate
    if args.where is not None:
        context.extra |= {"mismatches": results.mismatches, "mismatched": results.mismatched}
        context.remark(results.mismatched)
        if not results.hits:
            await _count_without_where(args, context)
    if results.hint is not None:
        context.extra["hint"] = results.hint
        context.remark(results.hint.partition("; ")[2])
    hits = results.hits
    if args.explain and args.query is not None and hits:
        from infospace.authoring.ranking import explained_hits

        hits = await context.run_search(explained_hits(args.query, hits, results.certificate, args.mode))
    return context.collection([context.search_result(hit) for hit in hits])


async def _count_without_where(args: DiscoverNotes, context: Context) -> None:
    """Say how many Notes there would be without `where`: nothing does not tell whether query or condition left it."""
    others = await context.discover(
        args.query, limit=1, threshold=args.threshold, mode=args.mode, within=args.within, certify=args.certify
    )
    count = others.certificate["matched"]
    if not isinstance(count, int):
        count = len(others.hits)
    context.extra["without_where"] = count
    context.remark(f"without `where` {count:,} {'note fits' if count == 1 else 'notes fit'}")
