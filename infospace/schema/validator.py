"""JSON Schema (2020-12) as it is held against values here: in time that grows with schema and value, and no faster.

Patterns are RE2's, and nothing is compared with everything. `jsonschema` is loaded with this module, so who only might
hold a schema against a value imports it late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from infospace.core.regex import compile_pattern
from infospace.schema.evaluated import evaluated_keys
from infospace.schema.messages import additional
from infospace.schema.reference_cache import REFERRED
from infospace.schema.value_text import shown

MAX_NESTED_VIOLATIONS = 50
"""Misfits of one value under one reference that are told."""

_FOLLOW: Any = Draft202012Validator.VALIDATORS["$ref"]


def _reference(validator: Any, text: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    known = REFERRED.get()
    if known is None:
        yield from _FOLLOW(validator, text, instance, schema)
        return
    key = id(schema), id(instance)
    if key not in known:
        known[key] = (
            schema,
            instance,
            list(islice(_FOLLOW(validator, text, instance, schema), MAX_NESTED_VIOLATIONS)),
        )
    # Whoever passes an error on writes into it where it was found.
    yield from map(ValidationError.create_from, known[key][2])


def _pattern(_validator: Any, text: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and compile_pattern(text).search(instance) is None:
        yield ValidationError("")


def _pattern_properties(validator: Any, schemas: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, Mapping):
        return
    for raw, schema in schemas.items():
        for key, value in instance.items():
            if compile_pattern(raw).search(key) is not None:
                yield from validator.descend(value, schema, path=key, schema_path=raw)


def _additional_properties(validator: Any, expected: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    more = list(additional(instance, schema)) if isinstance(instance, Mapping) else []
    if isinstance(expected, Mapping):
        for key in more:
            yield from validator.descend(instance[key], expected, path=key)
    elif more and expected is False:
        yield ValidationError("")


def _unevaluated_properties(validator: Any, expected: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, Mapping):
        return
    rest_of_schema = {key: value for key, value in schema.items() if key != "unevaluatedProperties"}
    evaluated = evaluated_keys(validator, instance, rest_of_schema)
    rest = [key for key in instance if key not in evaluated]
    if expected is False and rest:
        yield ValidationError(f"{', '.join(map(shown, rest))} {'is' if len(rest) == 1 else 'are'} unknown")
    elif expected is not False:
        for key in rest:
            yield from validator.descend(instance[key], expected, path=key)


def _multiple_of(_validator: Any, expected: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, (int, float)) and not isinstance(instance, bool) and not _is_multiple(instance, expected):
        yield ValidationError("")


def _unique_items(_validator: Any, expected: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if expected and isinstance(instance, list) and len(set(map(_same, instance))) < len(instance):
        yield ValidationError("")


def _is_multiple(value: float, of: float) -> bool:
    """Whether a number as it is written is a multiple of another: 19.99 is one of 0.01."""
    if isinstance(value, int) and isinstance(of, int):
        return value % of == 0
    return (Fraction(str(value)) / Fraction(str(of))).denominator == 1


def _same(value: Any) -> Any:
    """Return what two JSON values have in common only if they are equal: 1 is 1.0, and not true."""
    match value:
        case bool():
            return bool, value
        case str() | int() | float() | None:
            return value
        case Mapping():
            return dict, frozenset((key, _same(item)) for key, item in value.items())
        case list() | tuple():
            return list, tuple(map(_same, value))
    return object, id(value)


_extend: Any = extend
VALIDATOR: Any = _extend(
    Draft202012Validator,
    {
        "$ref": _reference,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "unevaluatedProperties": _unevaluated_properties,
        "multipleOf": _multiple_of,
        "uniqueItems": _unique_items,
    },
)
"""The class of validators."""
