"""JSON Schema (2020-12) as plans give it: whether it is one, and whether a value fits it.

Patterns are RE2's, in linear time. A `$ref` stays within its schema: nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from infospace.errors import Invalid
from infospace.jsonvalue import JSON
from planner.patterns import compile_pattern
from planner.problems import Problems, join

_DATA = ("const", "enum", "default", "examples")
"""Keywords whose values are data, in which nothing is a schema."""


def check_schema(schema: Any, pointer: str, problems: Problems) -> bool:
    """Whether something is a JSON Schema (2020-12) that can be asked; says where it is not."""
    from jsonschema.exceptions import SchemaError

    try:
        _dialect().check_schema(schema)
    except SchemaError as error:
        place = join(pointer, *error.absolute_path)
        problems.error("bad-schema", place, f"this is not JSON Schema: {error.message[:200]}")
        return False
    good = True
    for place, says, hint in _unaskable(schema, schema, pointer):
        problems.error("bad-schema", place, says, hint)
        good = False
    return good


def _unaskable(part: Any, root: Any, pointer: str) -> Iterator[tuple[str, str, str | None]]:
    """What the meta-schema allows and no value can be held against: patterns and references that lead nowhere."""
    if isinstance(part, list):
        for index, item in enumerate(part):
            yield from _unaskable(item, root, join(pointer, index))
        return
    if not isinstance(part, Mapping):
        return
    for key, value in part.items():
        place = join(pointer, key)
        if key == "pattern" and isinstance(value, str):
            yield from _bad_pattern(value, place)
        elif key == "$ref" and isinstance(value, str):
            yield from _bad_reference(value, root, place)
        elif key == "patternProperties" and isinstance(value, Mapping):
            for name in value:
                yield from _bad_key(name, join(place, name))
        if key not in _DATA:
            yield from _unaskable(value, root, place)


def _bad_pattern(pattern: str, place: str) -> Iterator[tuple[str, str, str | None]]:
    try:
        compile_pattern(pattern)
    except Invalid as error:
        yield place, error.says, error.hint


def _bad_key(pattern: str, place: str) -> Iterator[tuple[str, str, str | None]]:
    try:
        re.compile(pattern)
    except re.error as error:
        yield place, f"{pattern!r:.60} is not a pattern: {error}", None


def _bad_reference(reference: str, root: Any, place: str) -> Iterator[tuple[str, str, str | None]]:
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    try:
        Registry().resolver_with_root(DRAFT202012.create_resource(root)).lookup(reference)
    except Unresolvable:
        yield place, f"$ref {reference!r:.80} leads nowhere in this schema", "such as #/$defs/name"


def misfit(value: JSON, schema: Mapping[str, Any]) -> str | None:
    """Say why a value does not fit a JSON Schema that `check_schema` took, None when it does."""
    from jsonschema.exceptions import best_match

    try:
        error = best_match(_validator(schema).iter_errors(value))
    except RecursionError:
        return "the schema refers to itself without end"
    if error is None:
        return None
    where = "".join(f"[{part!r}]" for part in error.absolute_path)
    return f"{error.message[:200]}{' at ' + where if where else ''}"


def _validator(schema: Any) -> Any:
    from referencing.jsonschema import EMPTY_REGISTRY

    return _dialect()(schema, registry=EMPTY_REGISTRY)


@cache
def _dialect() -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend

    def pattern(_validator: Any, written: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and compile_pattern(written).search(instance) is None:
            yield ValidationError(f"{instance!r} does not match {written!r}")

    make: Any = extend
    return make(Draft202012Validator, {"pattern": pattern})
