"""`pluck`: one field of each item, or what is computed of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from infospace import Args, Collection, Context, PathOrExpression, Ref, SortKeys, primitive
from infospace.authoring.shapes import (
    NO_METADATA,
    CollectionShape,
    NoSuchPath,
    NoteShape,
    Schema,
    Shape,
    Unknown,
    place_in,
)
from infospace.authoring.values import ABSENT, Path, find


class Pluck(Args):
    """Arguments of `pluck`."""

    target: Ref[Collection] = Field(description="The Collection.")
    field: SortKeys[PathOrExpression] = Field(
        description="The path of the value in each item: `metadata.score`, `title`, `@id`; or an expression: "
        "`price * quantity`."
    )


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    from infospace.authoring.expressions import BoundExpression, Typer

    target, key = shapes.get("target"), arguments.get("field")
    item = target.item if isinstance(target, CollectionShape) else Unknown()

    def place(path: Path) -> Schema | None:
        subschema = place_in(item, path.parts)
        return None if isinstance(subschema, NoSuchPath) else subschema

    result: Schema | None = None
    if isinstance(key, BoundExpression):
        path = key.formula.path
        result = place(path) if path is not None else Typer(place, key.schemas.get).schema(key.formula.tree)
    return CollectionShape(NoteShape(result, NO_METADATA))


@primitive(
    effect="reads",
    result_shape=_result_shape,
    failures=[
        "`field` is not of the language: one sentence says what, and where in it.",
        "An expression has no result for an item: a wrong type, a division by zero, a failed CAST.",
    ],
    examples=[
        {"type": "pluck", "target": "$hits", "field": "metadata.title", "out": "$titles"},
        {"type": "pluck", "target": "$notes", "field": "@metadata.tags[0]", "out": "$first_tags"},
        {"type": "pluck", "target": "$orders", "field": "price * quantity", "out": "$totals"},
    ],
    avoid=["`title` for the title of a search result: it is `metadata.title`."],
)
async def pluck(args: Pluck, context: Context) -> Collection:
    """Give a new Note for the value that each item has at a path, or that an expression has of it, in order.

    Items without the field are left out and counted in `extra.excluded`; a null there is a value. An expression gives
    a value for every item, and null where it reads what the item misses.
    """
    from infospace.authoring.expressions import TypeMismatches, evaluate_each, keys_of

    items, formula = context.items(args.target), args.field.formula
    if formula.path is None:
        evaluation = args.field.evaluation(TypeMismatches.failing(), context.clock, keys_of(items, [formula]))
        return context.collection(context.make_notes(evaluate_each(formula, items, evaluation)))
    values = [find(item, formula.path) for item in items]
    there = [value for value in values if value is not ABSENT]
    context.extra["excluded"] = len(values) - len(there)
    return context.collection(context.make_notes(there))
