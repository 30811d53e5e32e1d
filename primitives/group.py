"""`group`: one Note for each value, with what is reckoned of the items that have it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from infospace import Aggregate, Args, Collection, Context, Invalid, Path, Ref, Resource, primitive
from infospace.authoring.shapes import (
    NO_METADATA,
    UNKNOWN,
    CollectionShape,
    NoSuchPath,
    NoteShape,
    Schema,
    Shape,
    Unknown,
    UnknownValue,
    are_known,
    closed_object,
    nullable,
    place_in,
)
from infospace.authoring.values import ABSENT, JSON, equality_key, reader
from infospace.authoring.values import Path as ParsedPath


class Group(Args):
    """Arguments of `group`."""

    target: Ref[Collection] = Field(description="The Collection.")
    by: Path | Annotated[list[Path], Field(min_length=1)] = Field(
        description="A path, or several: items with equal values at all of them are one group."
    )
    aggregates: dict[str, Aggregate] = Field(
        {"n": "count"},
        validate_default=True,
        description="What is reckoned of each group, by the key it gets: `count`, `count(path)`, "
        "`count_distinct(path)`, `sum(path)`, `avg(path)`, `min(path)`, `max(path)` or `list(path)`.",
    )

    @model_validator(mode="after")
    def _keys_differ(self) -> Group:
        if are_known(self.by, self.aggregates):
            for key in _keys(_several(self.by)):
                if key in self.aggregates:
                    message = f"{key!r} is both a path of `by` and the key of an aggregate"
                    raise Invalid(message, hint="give the aggregate another key")
        return self


def _several(by: Path | list[Path]) -> list[Path]:
    return by if isinstance(by, list) else [by]


def _keys(paths: Sequence[Path]) -> list[str]:
    return [path.written or str(path) for path in paths]


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    target, by, aggregates = shapes.get("target"), arguments.get("by"), arguments.get("aggregates")
    item = target.item if isinstance(target, CollectionShape) else Unknown()
    paths = _several(by) if by is not UNKNOWN and by is not None else []
    if not paths or not all(isinstance(path, ParsedPath) for path in paths) or not isinstance(aggregates, dict):
        return CollectionShape(NoteShape(None, NO_METADATA))
    places = [place_in(item, path.parts) for path in paths]
    if any(isinstance(place, NoSuchPath) for place in places):
        return CollectionShape(NoteShape(None, NO_METADATA))
    keys = {key: nullable(_schema_or_none(place)) for key, place in zip(_keys(paths), places, strict=True)}
    reckoned = {key: _reckoned(item, aggregate) for key, aggregate in aggregates.items()}
    return CollectionShape(NoteShape(closed_object({**keys, **reckoned}), NO_METADATA))


def _reckoned(item: Shape, aggregate: Aggregate | UnknownValue) -> Schema | None:
    if isinstance(aggregate, UnknownValue):
        return None
    from infospace.authoring.expressions import Typer

    return Typer(lambda path: _schema_or_none(place_in(item, path.parts)), lambda _name: None).schema(aggregate.tree)


def _schema_or_none(place: Schema | NoSuchPath | None) -> Schema | None:
    return None if isinstance(place, NoSuchPath) else place


@primitive(
    effect="reads",
    gives=_result_shape,
    failures=[
        "An aggregate is not of the language: one sentence says what, and which may have been meant.",
        "An aggregate has the key that a path of `by` gives.",
        "A sum is beyond what a number holds, about 1.8e308.",
    ],
    examples=[
        {"type": "group", "target": "$hits", "by": "metadata.source.topic", "out": "$topics"},
        {
            "type": "group",
            "target": "$sales",
            "by": ["region", "year"],
            "aggregates": {"n": "count", "total": "sum(amount)", "best": "max(amount)", "who": "list(customer)"},
            "out": "$totals",
        },
    ],
    avoid=[
        'Reading `metadata.topic` of what was grouped by it: the key is the path as written, `["metadata.topic"]`.',
        "Summing numbers that are still texts: `coerce` makes numbers of them.",
    ],
)
async def group(args: Group, context: Context) -> Collection:
    """Give one Note for each value of a path, with counts, sums and the like of the items that have it.

    Its content is `{<path>: value, <key>: …}`: each path of `by` as it was written, then the aggregates. Groups
    stand in the order of their first items. Values are equal as JSON: 1 and 1.0 are one group, and true and "1" are
    others; missing counts as null. An aggregate passes over null and missing values; only `count` without a path
    counts items. `sum` and `avg` take numbers: other values are left out and counted in `extra.mismatches`; whole
    numbers are added exactly. `sum`, `avg`, `min` and `max` of nothing are null. `min` and `max` go by the order of
    `sort`, `list` by that of the items. The new Notes have no metadata of their own.
    """
    from infospace.authoring.expressions import Evaluation, TypeMismatches

    paths = _several(args.by)
    groups: dict[Hashable, tuple[list[JSON], list[Resource]]] = {}
    finds = [reader(path) for path in paths]
    for item in context.items(args.target):
        found = [find(item) for find in finds]
        values = [None if value is ABSENT else value for value in found]
        groups.setdefault(tuple(map(equality_key, values)), (values, []))[1].append(item)
    tally, keys = TypeMismatches(), _keys(paths)
    given = Evaluation(tally=tally, clock=context.clock)
    made = [
        context.note(
            dict(zip(keys, values, strict=True))
            | {key: aggregate.of(items, given) for key, aggregate in args.aggregates.items()}
        )
        for values, items in groups.values()
    ]
    context.extra["mismatches"] = tally.mismatches
    return context.collection(made)
