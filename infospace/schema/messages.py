"""In which a value does not fit a JSON Schema, as sentences for who wrote the value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import Any, TypeAlias

from infospace.core.regex import compile_pattern
from infospace.data.paths import nearest
from infospace.schema.formats import FORMATS
from infospace.schema.value_text import describe_schema, join_reasons, listed, shown

Place: TypeAlias = "tuple[str | int, ...]"

MAX_MESSAGE_CHARACTERS = 200
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
    value, inside = _innermost_error(error)
    return _at(_render_violation(value), (*error.relative_path, *inside))


def violation_message(error: Any) -> str:
    """Say what it found, without its place."""
    value, inside = _innermost_error(error)
    return _at(_render_violation(value), inside)


def best(errors: Iterable[Any]) -> str | None:
    """Say that of several findings which is nearest to what was meant, None where there is none."""
    from jsonschema.exceptions import relevance

    result = max(errors, key=relevance, default=None)
    if result is None:
        return None
    place = tuple(result.relative_path)
    while len(near := nsmallest(2, result.context, key=relevance)) and (
        len(near) == 1 or relevance(near[0]) != relevance(near[1])
    ):
        result = near[0]
        place += tuple(result.relative_path)
    value, inside = _innermost_error(result)
    return _at(_render_violation(value), (*place, *inside))


def _innermost_error(error: Any) -> tuple[Any, Place]:
    """Return what is wrong with the alternative that was meant, where that is plain; and where it is in the value."""
    place: Place = ()
    while error.validator in ("anyOf", "oneOf") and (suggestion := _intended_alternative(error.context)) is not None:
        place += tuple(suggestion.relative_path)
        error = suggestion
    return error, place


def _intended_alternative(context: Sequence[Any]) -> Any:
    """Return what is wrong first with the only alternative that a value is of the kind of, None where there is none."""
    apt = _alternatives_of_its_kind(context)
    return apt[0] if len(apt) == 1 else None


def _alternatives_of_its_kind(context: Sequence[Any]) -> list[Any]:
    """Return what is wrong first with each alternative that a value is of the kind of."""
    by_option: dict[Any, list[Any]] = {}
    for inner in context:
        if inner.validator is None:
            continue  # the alternative is `false`, which nothing is of the kind of, and has no path
        by_option.setdefault(inner.relative_schema_path[0], []).append(inner)
    return [inner[0] for inner in by_option.values() if not any(map(_of_another_kind, inner))]


def _of_another_kind(error: Any) -> bool:
    return not error.relative_path and error.validator in ("type", "const", "enum")


def _at(message: str, place: Place) -> str:
    return f"{message} at {spell(place)}" if place else message


def _render_violation(error: Any) -> str:
    if error.validator is None:
        return f"{shown(error.instance)} may not be here"
    keyword = str(error.validator)
    if keyword in _MESSAGES:
        return _MESSAGES[keyword](error)
    if keyword in _COUNTED:
        return _counted(error, keyword)
    if keyword in _COMPARED:
        return f"{shown(error.instance)} is {_COMPARED[keyword]} {shown(error.validator_value)}"
    message: str = error.message[:MAX_MESSAGE_CHARACTERS]
    return message


def spell(place: Sequence[str | int]) -> str:
    """Write a place in a value: `` `rows[2].name` ``, "" for the whole."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return f"`{text}`" if text else ""


def _type(error: Any) -> str:
    return f"{shown(error.instance)} is not {describe_schema({'type': error.validator_value})}"


def _enum(error: Any) -> str:
    return f"{shown(error.instance)} is not {listed(error.validator_value)}"


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
    if error.validator == "oneOf" and not error.context:
        return f"{shown(error.instance)} fits more than one of what may be here, and it has to be one"
    apt, none = _alternatives_of_its_kind(error.context), f"{shown(error.instance)} fits none of what may be here"
    if apt:
        return f"{none} ({join_reasons(map(_reason, apt))})"
    fits = describe_schema(error.schema)
    return f"{shown(error.instance)} is not {fits}" if fits else none


def _reason(error: Any) -> str:
    """Say what is wrong with one alternative, and where; of alternatives in it only that none fits."""
    value, inside = _innermost_error(error)
    inner = value.validator in ("anyOf", "oneOf")
    message = f"{shown(value.instance)} fits none of what may be here" if inner else _render_violation(value)
    return _at(message, (*error.relative_path, *inside))


def _pattern(error: Any) -> str:
    return f"{shown(error.instance)} does not match {shown(error.validator_value)}"


def _counted(error: Any, keyword: str) -> str:
    most, noun = error.validator_value, _COUNTED[keyword]
    has = f"has {len(error.instance):,} {noun}{'s' * (len(error.instance) != 1)}"
    return f"{shown(error.instance)} {has}, and at {'least' if keyword.startswith('min') else 'most'} {most:,} fit"


_MESSAGES: Mapping[str, Callable[[Any], str]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _required,
    "additionalProperties": _additional,
    "anyOf": _alternatives,
    "oneOf": _alternatives,
    "pattern": _pattern,
    "format": lambda error: f"{shown(error.instance)} is not {FORMATS[error.validator_value][1]}",
    "uniqueItems": lambda error: f"{shown(error.instance)} has an item twice",
}
