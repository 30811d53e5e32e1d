"""`split`: one into many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from infospace import Args, Collection, Context, Invalid, Note, Path, Ref, primitive
from infospace.authoring.shapes import (
    NO_METADATA,
    UNKNOWN,
    CollectionShape,
    NoSuchPath,
    NoteShape,
    Schema,
    Shape,
    disjoint,
    format_types,
    place_in,
    resolved,
    subschema_at,
    types_of,
)
from infospace.authoring.values import (
    JSON,
    json_lines,
    json_list,
    kind_of,
    lines,
    paragraphs,
    read,
    sentences,
    show_parts,
)
from infospace.authoring.values import Path as ParsedPath

_PARTED: Schema = {"type": ["array", "null", "object", "string"]}
_CUT: Schema = {"type": ["null", "string"]}
_CUTS = {"paragraph": paragraphs, "sentence": sentences, "line": lines}


def _some(delimiter: str) -> str:
    if not delimiter:
        raise Invalid("`delimiter` is empty", hint='"auto", "paragraph", "sentence", "line" or a text such as ", "')
    return delimiter


class Split(Args):
    """Arguments of `split`."""

    target: Ref[Note] = Field(description="The Note.")
    field: Path | None = Field(None, description="The path of what is split, where that is not the whole content.")
    delimiter: Annotated[str, AfterValidator(_some)] = Field(
        "auto", description='"auto", "paragraph", "sentence", "line", or the text at which a text is cut.'
    )


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    delimiter = arguments.get("delimiter", "auto")
    target, path = shapes.get("target"), arguments.get("field")
    subschema: Schema | NoSuchPath | None = target.content if isinstance(target, NoteShape) else None
    if path is not None:
        subschema = (
            place_in(target, path.parts) if isinstance(path, ParsedPath) and isinstance(target, NoteShape) else None
        )
    subschema = None if isinstance(subschema, NoSuchPath) else subschema
    if delimiter is UNKNOWN:
        return CollectionShape(NoteShape(None, NO_METADATA))
    accepts = _PARTED if delimiter == "auto" else _CUT
    if disjoint(subschema, accepts):
        message = f"content of type {format_types(subschema)} is not split by {delimiter!r:.60}"
        raise Invalid(message, hint=f"{format_types(accepts)} is")
    return CollectionShape(NoteShape(_element(subschema) if delimiter == "auto" else {"type": "string"}, NO_METADATA))


def _element(schema: Schema | None) -> Schema | None:
    """The schema of an element of what has this schema, where that is a list or holds one only."""
    types = types_of(schema) - {"null"}
    if types == {"object"}:
        plain = resolved(schema or {}, schema)
        may_be = [key for key in plain.get("properties", {}) if "array" in types_of(_at(schema, key))]
        if plain.get("additionalProperties") is not False or "anyOf" in plain or len(may_be) != 1:
            return None
        schema = _at(schema, may_be[0])
        types = types_of(schema)
    if types != {"array"}:
        return None
    subschema = subschema_at(schema, (0,))
    return None if isinstance(subschema, NoSuchPath) else subschema


def _at(schema: Schema | None, key: str) -> Schema | None:
    subschema = subschema_at(schema, (key,))
    return None if isinstance(subschema, NoSuchPath) else subschema


@primitive(
    effect="pure",
    result_shape=_result_shape,
    failures=[
        "`field` leads nowhere in the Note.",
        "What is to be split is a number or a boolean, or with another delimiter than `auto` no text.",
        "`auto`, without `field`, meets an object that has no list, or more than one.",
    ],
    examples=[
        {"type": "split", "target": "$answer", "field": "items", "out": "$items"},
        {"type": "split", "target": "$text", "delimiter": "sentence", "out": "$sentences"},
        {"type": "split", "target": "$text", "delimiter": "; ", "out": "$parts"},
    ],
    avoid=[
        "Splitting a Collection: `for-each` and `map` go over its items.",
        "Splitting text for a search: `discover-notes` and `search-within-collection` look into passages anyway.",
    ],
)
async def split(args: Split, context: Context) -> Collection:
    """Make a Note of each part of a Note's content, in order: of list elements, paragraphs, sentences, lines.

    `auto` takes, of a list, its elements; of an object, the elements of its only list; of a text that is a JSON
    list, its elements; of JSON Lines, each line's object or list; of any other text, its paragraphs. The other
    delimiters take texts. `paragraph` cuts at blank lines. `line` cuts at line ends, leaves blank lines out, and
    keeps the white space in front of a line. `sentence` cuts after `.`, `!`, `?` or `…` before white space, and at
    blank lines; closing quotes and brackets behind the sign belong to it, and `。`, `！`, `？` need no white space. A
    full stop ends no sentence after a single letter (`J. Smith`), after a number that begins a line or a sentence,
    after words such as `Dr` and `e.g`, and before a small letter or a digit after such as `etc`, `No` and `p.m`; an
    ellipsis, or a sign with a quote or bracket behind it, ends none before a small letter. Paragraphs and sentences
    are trimmed of white space. Any other delimiter is a text at which is cut exactly: nothing is trimmed, empty
    pieces stay, and `flatten` with it as separator gives the text again. Null, an empty list and an empty text have
    no parts: an empty Collection.
    """
    value = args.target.content if args.field is None else read(args.target, args.field)
    if isinstance(value, str) and args.delimiter not in {"auto", *_CUTS}:
        context.room.require_room(items=value.count(args.delimiter) + 1 if args.delimiter else 0)
    return context.collection(context.make_notes(_parts(value, args.delimiter)))


def _parts(value: JSON, delimiter: str) -> list[Any]:
    if value is None or value == "":
        return []
    if delimiter == "auto":
        return _auto(value)
    if not isinstance(value, str):
        raise Invalid(
            f"{delimiter!r} cuts a text, and this is of type {kind_of(value)}",
            hint='the elements of a list are given by "auto"',
        )
    cut = _CUTS.get(delimiter)
    return value.split(delimiter) if cut is None else cut(value)


def _auto(value: JSON) -> list[Any]:
    match value:
        case str():
            for read_as in (json_list, json_lines):
                results = read_as(value)
                if results is not None:
                    return results
            return paragraphs(value)
        case list():
            return value
        case Mapping():
            lists = [key for key, inner in value.items() if isinstance(inner, list)]
            if len(lists) == 1:
                return _auto(value[lists[0]])
            what = "no list" if not lists else "lists at " + ", ".join(f"`{show_parts((key,))}`" for key in lists[:8])
            raise Invalid(f"the object has {what}", hint="`field` says what to split")
        case _:
            raise Invalid(f"content of type {kind_of(value)} has no parts", hint="a list, an object or a text has")
