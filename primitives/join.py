"""`join`: items of two Collections that have one value, merged."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from infospace import Args, Collection, Context, Invalid, Path, Ref, Resource, primitive
from infospace.authoring.shapes import (
    NO_METADATA,
    CollectionShape,
    ItemSchema,
    NoteShape,
    PathsOf,
    Schema,
    Shape,
    merged,
)
from infospace.authoring.values import ABSENT, JSON, equality_key, kind_of, reader, same, timed

_HINT = '"on": "id" where both have it under one path, else "left_key" and "right_key"'

_OBJECT: Schema = {"type": "object"}


class Join(Args):
    """Arguments of `join`."""

    target: Annotated[Ref[Collection], ItemSchema(_OBJECT)] = Field(description="The left Collection.")
    value: Annotated[Ref[Collection], ItemSchema(_OBJECT)] = Field(description="The right Collection.")
    on: Annotated[Path | None, PathsOf(("target", "value"))] = Field(
        None, description="The path at which items of both have the value that joins them."
    )
    left_key: Path | None = Field(None, description="That path in the items of `target`, where it is not the same.")
    right_key: Annotated[Path | None, PathsOf(("value",))] = Field(
        None, description="That path in the items of `value`; goes with `left_key`."
    )
    join_type: Literal["inner", "left", "right", "outer"] = Field(
        "inner", description="Whether items without a match are kept: of neither, one or both Collections."
    )

    @model_validator(mode="after")
    def _check_one_key_form(self) -> Join:
        names = [name for name in ("on", "left_key", "right_key") if getattr(self, name) is not None]
        if names not in (["on"], ["left_key", "right_key"]):
            has = " and ".join(f"`{name}`" for name in names) if names else "none of them"
            raise Invalid(f"join needs either `on`, or `left_key` and `right_key`; it has {has}", hint=_HINT)
        return self


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    how = arguments.get("join_type")
    always = (how in {"inner", "left"}, how in {"inner", "right"})
    schema = merged(_content(shapes.get("target")), _content(shapes.get("value")), always=always)
    return CollectionShape(NoteShape(schema, NO_METADATA))


def _content(shape: Shape | None) -> Schema | None:
    return shape.item.content if isinstance(shape, CollectionShape) and isinstance(shape.item, NoteShape) else None


@primitive(
    effect="reads",
    result_shape=_result_shape,
    failures=[
        "Neither `on` nor both of `left_key` and `right_key` are given, or more than that.",
        "The content of an item is not an object, so that there is nothing to merge.",
    ],
    examples=[
        {"type": "join", "target": "$sales", "value": "$customers", "on": "customer", "out": "$both"},
        {
            "type": "join",
            "target": "$sales",
            "value": "$goals",
            "left_key": "region",
            "right_key": "area.code",
            "join_type": "left",
            "out": "$compared",
        },
    ],
    avoid=[
        "Joining texts: give them a key and an object first, by `project` or `create-note`.",
        "Joining to put one Collection behind another: `flatten` with `separator: null` does that.",
    ],
)
async def join(args: Join, context: Context) -> Collection:
    """Give a new Note for every pair of items, one of each Collection, that have the same value.

    Its content is both contents merged at the top level. Where both have a key, the right one's value stands; where
    the values differ, that is counted in `extra.conflicts`. Values are the same as JSON: 1 is 1.0, not "1". Null and
    missing match nothing. Pairs stand in the order of the left items, for each in the order of the right ones. With
    `left` and `outer`, a left item without a match stands alone in its place; with `right` and `outer`, right items
    without a match stand at the end. The new Notes have no metadata of their own.
    """
    left, right = context.items(args.target), context.items(args.value)
    contents = [_object(item) for item in right]
    matches = _by_key(right, args.right_key or args.on)
    keys = _keys(left, args.left_key or args.on)
    context.room.require_room(items=sum(len(matches.get(key, ())) for key in timed(keys) if key is not None))
    unmatched = dict.fromkeys(range(len(right)))
    rows: list[JSON] = []
    conflicts = 0
    for item, result in zip(left, keys, strict=True):
        content = _object(item)
        places = matches.get(result, ()) if result is not None else ()
        for place in places:
            unmatched.pop(place, None)
            conflicts += _conflicts(content, contents[place])
            rows.append({**content, **contents[place]})
        if not places and args.join_type in {"left", "outer"}:
            rows.append(content)
    if args.join_type in {"right", "outer"}:
        rows += [contents[place] for place in unmatched]
    context.extra["conflicts"] = conflicts
    return context.collection(context.make_notes(rows))


def _object(item: Resource) -> Mapping[str, JSON]:
    if isinstance(item.content, Mapping):
        return item.content
    what = f"of type {kind_of(item.content)}" if item.kind == "Note" else f"a {item.kind}"
    raise Invalid(
        f"join merges objects, and {item.id} is {what}", hint="`project` makes objects of fields of the items"
    )


def _keys(items: Sequence[Resource], path: Path | None) -> list[Hashable]:
    """The keys of the items; None where the value is null or missing."""
    if path is None:
        return [None] * len(items)
    result = map(reader(path), items)
    return [None if value is ABSENT else equality_key(value) for value in result]


def _by_key(items: Sequence[Resource], path: Path | None) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = {}
    for place, key in enumerate(_keys(items, path)):
        places.setdefault(key, []).append(place)
    return places


def _conflicts(left: Mapping[str, JSON], right: Mapping[str, JSON]) -> int:
    return sum(not same(left[key], right[key]) for key in left.keys() & right.keys())
