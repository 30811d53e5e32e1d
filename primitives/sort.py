"""`sort`: by fields of the items."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from infospace import Args, Collection, Context, Path, Ref, Resource, primitive
from infospace.authoring.shapes import same_as
from infospace.authoring.values import ABSENT, find, order_key


class Sort(Args):
    """Arguments of `sort`."""

    target: Ref[Collection] = Field(description="The Collection.")
    by: Path | Annotated[list[Path], Field(min_length=1)] = Field(
        description="A path, or several: the first decides, the next breaks ties."
    )
    order: Literal["asc", "desc"] = Field("asc", description="Smallest or largest first.")
    nulls: Literal["first", "last"] = Field("last", description="Where null and missing go, whatever the order.")


@primitive(
    effect="reads",
    gives=same_as("target"),
    examples=[
        {"type": "sort", "target": "$hits", "by": "metadata.score", "order": "desc", "out": "$best_first"},
        {"type": "sort", "target": "$tasks", "by": ["priority", "due"], "out": "$plan"},
    ],
    avoid=["Sorting hits by score straight after `discover-notes`: they are in that order already."],
)
async def sort(args: Sort, context: Context) -> Collection:
    """Give a Collection of the same items in order. Nothing is dropped; equal items keep their order.

    Smallest first is: numbers, then strings by their characters' code points, then false and true, then lists
    by their elements, then objects by their keys and values; `desc` turns that round. Null and missing values are
    one, and go where `nulls` says in both orders.
    """
    paths = args.by if isinstance(args.by, list) else [args.by]
    rows = list(zip(args.target.members, context.items(args.target), strict=True))
    for path in reversed(paths):
        rows = _by(rows, path, args.order == "desc", nulls_first=args.nulls == "first")
    return context.collection([member for member, _ in rows])


def _by(
    rows: list[tuple[Any, Resource]], path: Path, descending: bool, *, nulls_first: bool
) -> list[tuple[Any, Resource]]:
    keyed = [(find(row[1], path), row) for row in rows]
    empty = [row for value, row in keyed if value is ABSENT or value is None]
    full = sorted(
        ((value, row) for value, row in keyed if value is not ABSENT and value is not None),
        key=lambda pair: order_key(pair[0]),
        reverse=descending,
    )
    ordered = [row for _, row in full]
    return empty + ordered if nulls_first else ordered + empty
