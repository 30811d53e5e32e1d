"""`group`: one Note for each value, with what is computed of the items that have it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from infospace import (
    Aggregate,
    Args,
    Collection,
    Context,
    Formulas,
    Invalid,
    ItemExpression,
    Path,
    Ref,
    Resource,
    primitive,
)
from infospace.authoring.shapes import (
    NO_METADATA,
    CollectionShape,
    NoSuchPath,
    NoteShape,
    Schema,
    Shape,
    Unknown,
    are_known,
    closed_object,
    nullable,
    place_in,
)
from infospace.authoring.values import JSON, dump, equality_key
from infospace.authoring.values import Path as ParsedPath


class Group(Args):
    """Arguments of `group`."""

    target: Ref[Collection] = Field(description="The Collection.")
    by: Formulas[
        Path
        | Annotated[list[Path], Field(min_length=1)]
        | Annotated[dict[str, ItemExpression], Field(min_length=1)]
        | None
    ] = Field(
        None,
        description="A path, or several, or names with an expression each, such as "
        '`{"month": "substr(day, 1, 7)"}`: items with equal values at all of them are one group. Without it, all '
        "items are one.",
    )
    aggregates: Formulas[dict[str, Aggregate]] = Field(
        {"n": "count"},
        validate_default=True,
        description="What is computed of each group, by the key it gets: `count`, `sum(price * quantity)`, "
        "`round(avg(score), 2)`, `median(n)`, `quantile(n, 0.9)`, `count(DISTINCT person)`, `list(name)` and others.",
    )
    mismatch: Literal["fail", "null"] = Field(
        "fail", description="What becomes of a wrong type, such as a text in a sum: the step fails, or it is null."
    )

    @model_validator(mode="after")
    def _keys_differ(self) -> Group:
        if not are_known(self.by, self.aggregates):
            return self
        keys = _keys(self.by)
        for key in keys:
            if key in self.aggregates:
                message = f"{key!r} is both a key of `by` and the key of an aggregate"
                raise Invalid(message, hint="give the aggregate another key")
        if are_known(*keys.values()):
            for key, aggregate in self.aggregates.items():
                if are_known(aggregate):
                    _refuse_ungrouped(key, aggregate, _places(keys))
        return self


By = Path | list[Path] | dict[str, ItemExpression] | None


def _keys(by: By) -> dict[str, Path | ItemExpression]:
    """What items are grouped by, by the keys that it gets: of a path as it was written."""
    if isinstance(by, dict):
        return dict(by)
    paths = by if isinstance(by, list) else [] if by is None else [by]
    return {path.written or str(path) if are_known(path) else repr(path): path for path in paths}


def _places(keys: Mapping[str, Path | ItemExpression]) -> dict[ParsedPath, str]:
    """By what expressions call it, the key of each thing that items are grouped by."""
    return {key if isinstance(key, ParsedPath) else ParsedPath((name,)): name for name, key in keys.items()}


def _refuse_ungrouped(key: str, aggregate: Aggregate, places: Mapping[ParsedPath, str]) -> None:
    for path in aggregate.formula.outside:
        if path not in places:
            message = f"`{path}` in the aggregate {key!r} is of one item: it stands in no aggregate and not in `by`"
            raise Invalid(message, hint=f"`first({path})` is that of the first item; `list({path})` are all of them")


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    target, by, aggregates = shapes.get("target"), arguments.get("by"), arguments.get("aggregates")
    item = target.item if isinstance(target, CollectionShape) else Unknown()
    unknown = CollectionShape(NoteShape(None, NO_METADATA))
    paths = by if isinstance(by, list) else [by]
    if not isinstance(aggregates, dict) or not (
        by is None or isinstance(by, dict) or all(isinstance(path, ParsedPath) for path in paths)
    ):
        return unknown
    keys = _keys(by)
    grouped = {name: nullable(_typed(item, key, {})) for name, key in keys.items()}
    called = {path: grouped[name] for path, name in _places(keys).items()}
    computed = {name: _typed(item, aggregate, called) for name, aggregate in aggregates.items()}
    return CollectionShape(NoteShape(closed_object({**grouped, **computed}), NO_METADATA))


def _typed(item: Shape, key: object, called: Mapping[ParsedPath, Schema | None]) -> Schema | None:
    """The schema of what a path or an expression gives of items; `called` are those of the keys of groups."""
    from infospace.authoring.expressions import BoundExpression, Typer

    def field(path: ParsedPath) -> Schema | None:
        subschema = place_in(item, path.parts)
        return called.get(path) if isinstance(subschema, NoSuchPath) else subschema

    if isinstance(key, ParsedPath):
        return field(key)
    if not isinstance(key, BoundExpression):
        return None
    return Typer(field, key.schemas.get).schema(key.formula.tree)


@primitive(
    effect="reads",
    result_shape=_result_shape,
    failures=[
        "An expression or an aggregate is not of the language: one sentence says what, and which may have been meant.",
        "An aggregate has the key that a path of `by` gives, or reads of one item what it is not grouped by.",
        "A wrong type, such as a text in a sum, unless `mismatch` is `null`.",
        "A sum is beyond what a number holds, about 1.8e308.",
    ],
    examples=[
        {"type": "group", "target": "$hits", "by": "metadata.source.topic", "out": "$topics"},
        {
            "type": "group",
            "target": "$sales",
            "by": ["region", "year"],
            "aggregates": {
                "n": "count",
                "total": "sum(price * amount)",
                "best": "max(amount)",
                "who": "list(customer)",
            },
            "out": "$totals",
        },
        {
            "type": "group",
            "target": "$sales",
            "by": {"month": "substr(day, 1, 7)"},
            "aggregates": {"customers": "count(DISTINCT customer)", "mean": "round(avg(amount), 2)"},
            "out": "$months",
        },
        {"type": "group", "target": "$sales", "aggregates": {"total": "sum(amount)"}, "out": "$total"},
    ],
    avoid=[
        'Reading `metadata.topic` of what was grouped by it: the key is the path as written, `["metadata.topic"]`.',
        "Summing numbers that are still texts: `sum(CAST(amount AS number))` makes numbers of them.",
    ],
)
async def group(args: Group, context: Context) -> Collection:
    """Give one Note for each value, with counts, sums and the like of the items that have it.

    Its content is `{<key>: value, …, <aggregate>: …}`: each path of `by` as it was written, or its name, then the
    aggregates. Groups stand in the order of their first items; without `by` there is one of all items, also of none.
    Values are equal as JSON: 1 and 1.0 are one group, and true and "1" are others; missing counts as null. An
    aggregate passes over null and missing values; only `count` without an argument counts items. `sum`, `avg`,
    `median` and `quantile` (which interpolates) take numbers, `bool_or` and `bool_and` true and false; whole numbers
    are added exactly. Of nothing, `count` is 0, `list` is empty, and others are null. `min` and `max` go by the order
    of `sort`, `first`, `last` and `list` by that of the items. An aggregate may be part of an expression, which then
    may read the keys of `by`. With `mismatch` `null` a value of a wrong type is null, counted in
    `extra.mismatches`, and told in the answer's text. The new Notes have no metadata of their own.
    """
    from infospace.authoring.expressions import Chosen, Mismatch, TypeMismatches, keys_of

    items = context.items(args.target)
    keys = _keys(args.by)
    tally = TypeMismatches.failing() if args.mismatch == "fail" else TypeMismatches()
    formulas = [key.formula for key in (*keys.values(), *args.aggregates.values()) if not isinstance(key, ParsedPath)]
    fields = keys_of(items, formulas)
    columns = [_values(key, items, tally, context, fields) for key in keys.values()]
    whole = Chosen(items, range(len(items)))
    groups = [((), whole)] if not keys else [(values, whole.part(at)) for values, at in _places_of(columns)]
    aggregates = {
        name: (aggregate.formula.of, aggregate.evaluation(tally, context.clock, fields))
        for name, aggregate in args.aggregates.items()
    }
    places = _places(keys)
    result = []
    for values, members in groups:
        key = dict(zip(keys, values, strict=True))
        called = {path: key[name] for path, name in places.items()}
        try:
            row = key | {name: of(members, evaluation, called) for name, (of, evaluation) in aggregates.items()}
        except Mismatch as error:
            raise _placed(error, items, key) from error
        result.append(row)
    if args.mismatch == "null":
        context.extra["mismatches"] = tally.mismatches
        context.remark(str(tally))
    return context.collection(context.make_notes(result))


def _places_of(columns: Sequence[Sequence[JSON]]) -> Iterable[tuple[tuple[JSON, ...], list[int]]]:
    """The values of each group, which are those of its first item, and the places of its items; first come first."""
    groups: dict[Hashable, list[int]] = {}
    keyed = [_equality_keys(column) for column in columns]
    for place, key in enumerate(keyed[0] if len(keyed) == 1 else zip(*keyed, strict=True)):
        results = groups.get(key)
        if results is None:
            groups[key] = [place]
        else:
            results.append(place)
    return ((tuple(column[places[0]] for column in columns), places) for places in groups.values())


def _equality_keys(column: Sequence[JSON]) -> Sequence[Hashable]:
    """What equal values have in common: numbers, texts and null are keys themselves."""
    if set(map(type, column)) <= {int, float, str, type(None)}:
        return column
    return [equality_key(value) for value in column]


def _values(
    key: Path | ItemExpression, items: Sequence[Resource], tally: Any, context: Context, fields: tuple[str, ...]
) -> list[JSON]:
    from infospace.authoring.expressions import evaluate_each, values_at

    if isinstance(key, ParsedPath):
        return values_at(key, items)
    return evaluate_each(key.formula, items, key.evaluation(tally, context.clock, fields))


def _placed(error: Any, items: Sequence[Resource], key: Mapping[str, JSON]) -> Any:
    """The error with what it is about: an item, or a group."""
    for index, item in enumerate(items):
        if error.item is not None and item.id == error.item.id:
            return error.of(f"item {index + 1} ({item.id})")
    return error.of(f"the group {dump(key)}") if key else error
