"""`coerce`: the same as another type."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import isinf
from typing import Any, Literal

from pydantic import Field, model_validator

from infospace import Args, Context, Invalid, Note, Ref, primitive
from infospace.authoring.shapes import (
    NO_METADATA,
    UNKNOWN,
    UNTOLD,
    ContentUnfit,
    Facts,
    NoteShape,
    Schema,
    Shape,
    disjoint,
    format_types,
    schema_of_value,
    shown,
    types_of,
)
from infospace.authoring.values import JSON, json_list, read_json

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_DIGITS = 4_000
"""Digits of a whole number: more are not read again from JSON."""
_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_TYPES: Mapping[str, Schema] = {
    "string": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
}

_SCALARS: Schema = {"type": ["boolean", "number", "string"]}
_TAKES: Mapping[str, Schema] = {
    "int": _SCALARS,
    "float": _SCALARS,
    "bool": _SCALARS,
    "list": {"type": ["array", "string"]},
}


class Coerce(Args):
    """Arguments of `coerce`."""

    target: Ref[Note] = Field(description="The Note.")
    coercion: Literal["string", "int", "float", "bool", "json", "list"] = Field(description="The type that is wanted.")
    delimiter: str | None = Field(
        None, min_length=1, description="For `list`: the text at which a text is cut; by default line ends or commas."
    )

    @model_validator(mode="after")
    def _delimiter_for_lists(self) -> Coerce:
        if self.delimiter is not None and self.coercion not in {"list", UNKNOWN}:
            raise Invalid(f"`delimiter` is for the coercion `list`, not for {self.coercion!r}", hint="leave it out")
        return self


def _result_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
    target, coercion = shapes.get("target"), arguments.get("coercion")
    values = target.content if isinstance(target, NoteShape) else None
    if isinstance(coercion, str) and disjoint(values, _TAKES.get(coercion)):
        what = f"content of type {format_types(values)}"
        raise Invalid(f"{what} has no form as `{coercion}`", hint=f"{format_types(_TAKES[coercion])} has")
    known = target.facts.content if isinstance(target, NoteShape) else UNTOLD
    if isinstance(known, (str, bool, int, float)) and isinstance(coercion, str) and coercion in _MADE:
        try:
            result = _MADE[coercion](known)
        except Invalid as error:
            raise ContentUnfit(error.message, hint=error.hint) from error
        if coercion != "json":
            return NoteShape(schema_of_value(result), NO_METADATA, Facts(content=result))
    if coercion == "list":
        return NoteShape(values if types_of(values) == {"array"} else {"type": "array"}, NO_METADATA)
    if coercion == "json":
        return NoteShape(None if "string" in types_of(values) else values, NO_METADATA)
    return NoteShape(_TYPES.get(coercion) if isinstance(coercion, str) else None, NO_METADATA)


@primitive(
    effect="pure",
    result_shape=_result_shape,
    failures=[
        "The content has no such form: one sentence says what it is, and what would have fitted.",
        "`delimiter` is given for another coercion than `list`.",
    ],
    examples=[
        {"type": "coerce", "target": "$reply", "coercion": "int", "out": "$number"},
        {"type": "coerce", "target": "$answer_text", "coercion": "json", "out": "$answer"},
        {"type": "coerce", "target": "$line", "coercion": "list", "delimiter": ";", "out": "$words"},
    ],
    avoid=[
        "Coercing to `string` to put a value into a text: `${x}` is its text already.",
        "Coercing to `list` to have items to go over: `split` makes a Collection.",
    ],
)
async def coerce(args: Coerce, context: Context) -> Note:
    """Make a Note of the same content as another JSON type, and really of that type; or fail and say why.

    `string`: text as it is, of a search result its `text`, other JSON compactly. `int`: a whole number, also one
    written as text or as 3.0; nothing is rounded. `float`: a number, also written as text (`1e3`, not `1,000`).
    `bool`: true, false, 1, 0, and the texts true, yes, on, 1, false, no, off, 0 in any case. Numbers are made of true
    and false too: 1 and 0. White space around a text is no matter. `json`: text is read as strict JSON, a code fence
    around it passed over; other content stays. `list`: a list stays; a text is the JSON list that it is, else it is cut
    at `delimiter`, by default at line ends or, where it is a single line, at commas; pieces are trimmed and empty
    ones left out. Null has no other form but `string` and `json`.
    """
    content = args.target.content
    match args.coercion:
        case "string":
            return context.note(context.text(args.target))
        case "int":
            return context.note(_to_integer(content))
        case "float":
            return context.note(_real(content))
        case "bool":
            return context.note(_boolean(content))
        case "json":
            return context.note(_json(content))
        case "list":
            return context.note(_list(content, args.delimiter))


def _refused(content: JSON, expected: str, hint: str) -> Invalid:
    return Invalid(f"{shown(content)} is {expected}", hint=hint)


def _to_integer(content: JSON) -> int:
    number = _number(content, "whole number", "digits such as 42")
    if isinstance(number, float) and number.is_integer():
        return int(number)
    if isinstance(number, Decimal) and number.adjusted() >= _DIGITS:
        raise _refused(content, "too large for a whole number", f"at most {_DIGITS:,} digits are kept")
    if isinstance(number, Decimal) and number == number.to_integral_value():
        return int(number)
    if isinstance(number, int):
        return number
    raise _refused(content, "not a whole number", "`float` keeps what is behind the point")


def _real(content: JSON) -> float:
    number = _number(content, "number", "digits such as 3.5 or 1e3")
    try:
        result = float(number)
    except OverflowError:
        result = float("inf")
    if isinf(result):
        raise _refused(content, "beyond what a number holds", "numbers go to about 1.8e308; `string` keeps the digits")
    return result


def _number(content: JSON, what: str, example: str) -> int | float | Decimal:
    if isinstance(content, (bool, int, float)):
        return int(content) if isinstance(content, bool) else content
    if isinstance(content, str):
        text = content.strip()
        if _NUMBER.fullmatch(text):
            return Decimal(text)
        raise _refused(content, f"not a {what}", f"{example}, without signs of thousands, units or words")
    raise _refused(
        content, f"not a {what}", f"a number, true, false, or a text of {example}; `$x.key` is a place in it"
    )


def _boolean(content: JSON) -> bool:
    if isinstance(content, bool):
        return content
    if isinstance(content, (int, float)) and content in (0, 1):
        return bool(content)
    result = _BOOLEANS.get(content.strip().lower()) if isinstance(content, str) else None
    if result is None:
        raise _refused(content, "neither true nor false", "true, false, yes, no, on, off, 1 or 0")
    return result


def _json(content: JSON) -> JSON:
    return read_json(content, what="the text", max_bytes=sys.maxsize) if isinstance(content, str) else content


_MADE: Mapping[str, Callable[[JSON], JSON]] = {"int": _to_integer, "float": _real, "bool": _boolean, "json": _json}
"""What makes one scalar of another: of one that stands in the plan, before it runs."""


def _list(content: JSON, delimiter: str | None) -> list[Any]:
    if isinstance(content, list):
        return content
    if not isinstance(content, str):
        hint = 'a list or a text; `create-note` with "value": ["$x"] makes a list of one'
        raise _refused(content, "not a list, nor a text of one", hint)
    results = json_list(content)
    if results is not None and delimiter is None:
        return results
    pieces = content.split(delimiter) if delimiter is not None else content.splitlines()
    if delimiter is None and len(pieces) == 1:
        pieces = content.split(",")
    return [piece.strip() for piece in pieces if piece.strip()]
