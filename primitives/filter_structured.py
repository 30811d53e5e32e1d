"""`filter-structured`: the items that satisfy an SQL condition."""

from __future__ import annotations

from pydantic import Field

from infospace import Args, Collection, Context, Ref, Where, primitive
from infospace.authoring.shapes import same_as


class FilterStructured(Args):
    """Arguments of `filter-structured`."""

    target: Ref[Collection] = Field(description="The Collection.")
    where: Where = Field(description="A SQL condition over the items' paths; `$x` is a typed parameter.")


@primitive(
    effect="reads",
    result_shape=same_as("target"),
    failures=["`where` is not of the language: one sentence says what, and where in it."],
    examples=[
        {"type": "filter-structured", "target": "$hits", "where": "metadata.score >= 0.5", "out": "$strong"},
        {
            "type": "filter-structured",
            "target": "$hits",
            "where": "metadata.source.status IN ('open', 'decided') AND metadata.source.priority <= $most",
            "out": "$urgent",
        },
    ],
    avoid=["Pasting a value into the text with `${x}`: write `$x`, which keeps its type and needs no quotes."],
)
async def filter_structured(args: FilterStructured, context: Context) -> Collection:
    """Give the items for which the condition is true.

    A missing or null value compares as unknown, and unknown is not true. Nothing is converted; comparisons
    between different types are unknown too: counted in `extra.mismatches`, and told in the answer's text. Where
    nothing satisfies it because a key stands elsewhere (`status` under `metadata`), `extra.hint` says so.
    """
    from infospace.authoring.expressions import ItemMismatches, keys_of
    from infospace.authoring.ranking import misplaced_in

    tally = ItemMismatches()
    items = context.items(args.target)
    verdicts = args.where.match_each(items, tally, keys_of(items, [args.where.where]))
    chosen = [place for place, verdict in enumerate(verdicts) if verdict]
    context.extra["mismatches"] = tally.mismatches
    context.remark(str(tally))
    if not chosen and (hint := misplaced_in(args.where, items)):
        context.extra["hint"] = hint
        context.remark(hint.partition("; ")[2])
    return context.pick(args.target, chosen)
