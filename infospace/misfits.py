"""In which a value does not fit a JSON Schema, as sentences for who wrote the value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from infospace.paths import nearest
from infospace.patterns import compile_pattern
from infospace.wording import either, shown, wanted

LONGEST = 200
"""Most characters of a sentence that the validator itself wrote."""

_COUNTED = {
    "minLength": "character",
    "maxLength": "character",
    "minItems": "item",
    "maxItems": "item",
    "minProperties": "key",
    "maxProperties": "key",
}
_COMPARED = {
    "minimum": "less than",
    "exclusiveMinimum": "not more than",
    "maximum": "more than",
    "exclusiveMaximum": "not less than",
    "multipleOf": "no multiple of",
}


def sentence(error: Any) -> str:
    """Say what a `jsonschema.ValidationError` found, and where in the value."""
    place = spell(tuple(error.absolute_path))
    return f"{says(error)} at {place}" if place else says(error)


def says(error: Any) -> str:
    """Say what it found, without the place."""
    keyword = str(error.validator)
    if keyword in _SAYS:
        return _SAYS[keyword](error)
    if keyword in _COUNTED:
        return _counted(error, keyword)
    if keyword in _COMPARED:
        return f"{shown(error.instance)} is {_COMPARED[keyword]} {shown(error.validator_value)}"
    message: str = error.message[:LONGEST]
    return message


def spell(place: Sequence[str | int]) -> str:
    """Write a place in a value: `` `rows[2].name` ``, "" for the whole."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return f"`{text}`" if text else ""


def _type(error: Any) -> str:
    return f"{shown(error.instance)} is not {wanted({'type': error.validator_value})}"


def _enum(error: Any) -> str:
    return f"{shown(error.instance)} is not {either(shown(value) for value in error.validator_value)}"


def _const(error: Any) -> str:
    return f"{shown(error.instance)} is not {shown(error.validator_value)}"


def _required(error: Any) -> str:
    """The validator tells each missing key by itself, as Python writes it, and nowhere else."""
    name = ast.literal_eval(error.message.removesuffix(" is a required property"))
    return f"{shown(name)} is missing"


def additional(instance: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over the keys of an object that a schema names neither by themselves nor by a pattern."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key in instance:
        if key not in known and not any(compile_pattern(pattern).search(key) for pattern in patterns):
            yield key


def _additional(error: Any) -> str:
    known, unknown = error.schema.get("properties", {}), list(additional(error.instance, error.schema))
    near = nearest(unknown[0], known)
    hint = f"did you mean {shown(near)}?" if near else f"it takes {', '.join(known)}" if known else "it takes none"
    return f"{', '.join(shown(key) for key in unknown)} {'is' if len(unknown) == 1 else 'are'} unknown ({hint})"


def _alternatives(error: Any) -> str:
    fits = wanted(error.schema)
    return (
        f"{shown(error.instance)} is not {fits}" if fits else f"{shown(error.instance)} fits none of what may be here"
    )


def _pattern(error: Any) -> str:
    return f"{shown(error.instance)} does not match {shown(error.validator_value)}"


def _counted(error: Any, keyword: str) -> str:
    most, noun = error.validator_value, _COUNTED[keyword]
    has = f"has {len(error.instance):,} {noun}{'s' * (len(error.instance) != 1)}"
    return f"{shown(error.instance)} {has}, and at {'least' if keyword.startswith('min') else 'most'} {most:,} fit"


_SAYS: Mapping[str, Callable[[Any], str]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _required,
    "additionalProperties": _additional,
    "anyOf": _alternatives,
    "oneOf": _alternatives,
    "pattern": _pattern,
    "uniqueItems": lambda error: f"{shown(error.instance)} has an item twice",
}
