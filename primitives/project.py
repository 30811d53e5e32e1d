"""`project`: some fields of each item, or what is computed of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from infospace import Args, Collection, Context, Formulas, Invalid, ItemExpression, Path, Ref, Resource, primitive
from infospace.authoring.shapes import (
    NO_METADATA,
    CollectionShape,
    NoSuchPath,
    NoteShape,
    Schema,
    Selection,
    Shape,
    Unknown,
    are_known,
    closed_object,
    merged,
    place_in,
    types_of,
)
from infospace.authoring.values import ABSENT, JSON
from infospace.authoring.values import Path as ParsedPath


def _side_by_side(fields: list[Path]) -> list[Path]:
    if are_known(*fields):
        Selection(fields)
    return fields


class Project(Args):
    """Arguments of `project`."""

    target: Ref[Collection] = Field(description="The Collection.")
    fields: Formulas[
        Path
        | Annotated[list[Path], Field(min_length=1), AfterValidator(_side_by_side)]
        | Annotated[dict[str, ItemExpression], Field(min_length=1)]
    ] = Field(
        description='A path of the value to take, or several: `title`, `metadata.score`, `["odd key"]`, `tags[0]`, '
        '`@id`; or names with an expression each: `{"total": "price * quantity"}`.'
    )
    keep: bool = Field(
        False, description="Whether the item's own fields stay; the expressions read the item as it was."
    )
    mismatch: Literal["fail", "null"] = Field(
        "fail",
        description="What becomes of a wrong type, a division by zero, a failed CAST in an expression: the step "
        "fails, or null.",
    )

    @model_validator(mode="after")
    def _keeps_objects(self) -> Project:
        if are_known(self.fields, self.keep) and self.keep and not isinstance(self.fields, dict):
            paths = _several(self.fields)
            if are_known(*paths) and any(isinstance(path.parts[0], int) for path in paths):
                message = "`keep` adds to an object, and an index at the beginning of a path makes a list"
                raise Invalid(message, hint='a name says where it stands: {"first": "[0]"}')
        return self


def _several(fields: Path | list[Path]) -> list[Path]:
    return fields if isinstance(fields, list) else [fields]


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    target, fields, keep = shapes.get("target"), arguments.get("fields"), arguments.get("keep")
    item = target.item if isinstance(target, CollectionShape) else Unknown()
    result: Schema | None = None
    if isinstance(fields, dict):
        result = closed_object({name: _typed(item, expression) for name, expression in fields.items()})
    elif fields is not None and all(isinstance(path, ParsedPath) for path in _several(fields)):
        result = Selection(_several(fields)).schema(item)
    if not are_known(keep):
        result = None
    elif keep and result is not None:
        result = _added(item, result, computed=isinstance(fields, dict))
    return CollectionShape(NoteShape(result, NO_METADATA))


def _typed(item: Shape, expression: object) -> Schema | None:
    from infospace.authoring.expressions import BoundExpression, Typer

    if not isinstance(expression, BoundExpression):
        return None

    def field(path: Path) -> Schema | None:
        subschema = place_in(item, path.parts)
        return None if isinstance(subschema, NoSuchPath) else subschema

    return Typer(field, expression.schemas.get).schema(expression.formula.tree)


def _added(item: Shape, result: Schema, *, computed: bool) -> Schema:
    """The schema of an item to whose fields those of what is made are added."""
    content = item.content if isinstance(item, NoteShape) else None
    if content is not None and "object" not in types_of(content):
        content = closed_object({"content": content})
    if not computed:
        there = (content or {}).get("properties", {})
        closed = (content or {}).get("additionalProperties") is False
        taken = result["properties"].items()
        result = closed_object({key: schema if closed else None for key, schema in taken if key not in there})
    return merged(content, result, always=(True, True))


@primitive(
    effect="reads",
    result_shape=_result_shape,
    failures=[
        "Two fields cannot stand in one object: `tags[0]` and `tags.first`, or `id` and `@id`.",
        "An expression is not of the language: one sentence says what, and where in it.",
        "An expression has no result for an item: a wrong type, a division by zero, a failed CAST.",
    ],
    examples=[
        {"type": "project", "target": "$hits", "fields": ["metadata.title", "metadata.score"], "out": "$rows"},
        {"type": "project", "target": "$notes", "fields": ["@id", "@metadata.tags[0]"], "out": "$tagged"},
        {
            "type": "project",
            "target": "$orders",
            "fields": {"total": "round(price * quantity, 2)", "month": "substr(day, 1, 7)"},
            "keep": True,
            "out": "$priced",
        },
    ],
    avoid=[
        "Reading `score` of what `metadata.score` was taken into: nesting is kept, so it is `metadata.score` still.",
        "Taking a single field to have its values: `pluck` gives them bare.",
    ],
)
async def project(args: Project, context: Context) -> Collection:
    """Give a new Note for each item, an object of just the fields named, or with `keep` of those besides its own.

    Of paths, nesting is kept: `metadata.score` gives `{"metadata": {"score": …}}`. An index keeps the list, with just
    the elements that are named, in the order they are named. `@id` gives the key `id`, `@metadata.x` gives
    `{"metadata": {"x": …}}`: with an `@`, a path means the new Note itself. Items that miss one of the paths are left
    out and counted in `extra.excluded`; a null there is a value. Of names, each is a key of its own, and an expression
    that reads what an item misses reads null. The new Notes have no metadata of their own.

    With `keep`, what is named replaces a field of that name; an item that is no object has its content under
    `content`. With `mismatch` `null` an operation without a result is null, counted in `extra.mismatches`,
    and told in the answer's text.
    """
    items = context.items(args.target)
    if isinstance(args.fields, dict):
        rows: Sequence[JSON] = _computed(args.fields, items, args, context)
    else:
        rows = _selected(_several(args.fields), items, keep=args.keep)
        context.extra["excluded"] = len(items) - len(rows)
    return context.collection(context.make_notes(rows))


def _computed(
    fields: Mapping[str, ItemExpression], items: Sequence[Resource], args: Project, context: Context
) -> list[JSON]:
    from infospace.authoring.expressions import TypeMismatches, contents_of, evaluate_each, keys_of

    tally = TypeMismatches.failing() if args.mismatch == "fail" else TypeMismatches()
    keys = keys_of(items, (expression.formula for expression in fields.values()))
    columns = [
        evaluate_each(expression.formula, items, expression.evaluation(tally, context.clock, keys))
        for expression in fields.values()
    ]
    if args.mismatch == "null":
        context.extra["mismatches"] = tally.mismatches
        context.remark(str(tally))
    rows: list[Any] = (
        [dict(_object(content)) for content in contents_of(items)] if args.keep else [{} for _ in range(len(items))]
    )
    for name, values in zip(fields, columns, strict=True):
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    return rows


def _selected(paths: Sequence[Path], items: Sequence[Resource], *, keep: bool) -> list[JSON]:
    selection = Selection(paths)
    own = {str(path.parts[0])[1:] for path in paths if str(path.parts[0]).startswith("@")}
    merge: Callable[[Resource, Any], JSON] = _merge_row(own) if keep else lambda _item, row: row
    return [merge(item, row) for item in items if (row := selection.read(item)) is not ABSENT]


def _merge_row(own: set[str]) -> Callable[[Resource, Any], JSON]:
    """Return what adds to an item's fields what was taken: what it has in its content stands there already."""

    def merge(item: Resource, row: Mapping[str, JSON]) -> JSON:
        content = _object(item.content)
        return _merged(content, {key: value for key, value in row.items() if key in own or key not in content})

    return merge


def _object(content: JSON) -> Mapping[str, JSON]:
    return content if type(content) is dict or isinstance(content, Mapping) else {"content": content}


def _merged(one: Mapping[str, JSON], other: Mapping[str, JSON]) -> dict[str, JSON]:
    """Merge objects at every depth; the second one's values win."""
    result = dict(one)
    for key, value in other.items():
        before = result.get(key)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        result[key] = _merged(before, value) if both else value  # type: ignore[arg-type]
    return result
