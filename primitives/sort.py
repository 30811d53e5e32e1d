"""`sort`: by fields of the items, or by what is computed of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from infospace import Args, Collection, Context, Ref, SortKey, SortKeys, primitive
from infospace.authoring.shapes import same_as
from infospace.authoring.values import JSON, order_key


class Sort(Args):
    """Arguments of `sort`."""

    target: Ref[Collection] = Field(description="The Collection.")
    by: SortKeys[SortKey | Annotated[list[SortKey], Field(min_length=1)]] = Field(
        description="A path or an expression, or several: the first decides, the next breaks ties. `asc` or `desc` as "
        "its last word is its own order: `score desc`."
    )
    order: Literal["asc", "desc"] = Field("asc", description="Smallest or largest first, for those that say neither.")
    nulls: Literal["first", "last"] = Field("last", description="Where null and missing go, whatever the order.")


@primitive(
    effect="reads",
    result_shape=same_as("target"),
    failures=[
        "`by` is not of the language: one sentence says what, and where in it.",
        "An expression has no result for an item: a wrong type, a division by zero, a failed CAST.",
    ],
    examples=[
        {"type": "sort", "target": "$hits", "by": "metadata.score", "order": "desc", "out": "$best_first"},
        {"type": "sort", "target": "$tasks", "by": ["priority desc", "lower(title)"], "out": "$plan"},
    ],
    avoid=["Sorting hits by score straight after `discover-notes`: they are in that order already."],
)
async def sort(args: Sort, context: Context) -> Collection:
    """Give the same items in order. Nothing is dropped; equal items keep their order.

    Smallest first is: numbers, then strings by their characters' code points, then false and true, then lists
    by their elements, then objects by their keys and values; `desc` turns that round. Null and missing values are
    one, and go where `nulls` says in both orders.
    """
    from infospace.authoring.expressions import TypeMismatches, absent_paths, evaluate_each, keys_of

    keys = args.by if isinstance(args.by, list) else [args.by]
    items = context.items(args.target)
    fields = keys_of(items, (key.formula for key in keys))
    places = list(range(len(items)))
    tally = TypeMismatches.failing()
    for key in reversed(keys):
        evaluation = key.evaluation(tally, context.clock, fields)
        values = evaluate_each(key.formula, items, evaluation)
        if all(value is None for value in values):
            context.remark(absent_paths(items, [key.formula]))
        descending = (key.formula.order or args.order) == "desc"
        places = _by(places, values, descending, nulls_first=args.nulls == "first")
    return context.pick(args.target, places)


def _by(places: list[int], values: list[JSON], descending: bool, *, nulls_first: bool) -> list[int]:
    """Put places in the order of the values that stand there, those of equal values as they are."""
    full, empty = places, list[int]()
    if None in values:
        full = [place for place in places if values[place] is not None]
        empty = [place for place in places if values[place] is None]
    ordered = sorted(full, key=_keys(values).__getitem__, reverse=descending)
    return empty + ordered if nulls_first else ordered + empty


def _keys(values: list[JSON]) -> list[Any]:
    """What the values go by: numbers alone, and strings alone, go by themselves."""
    types = {type(value) for value in values if value is not None}
    return values if types <= {int, float} or types == {str} else [order_key(value) for value in values]
