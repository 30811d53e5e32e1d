"""Which keys of an object the parts of a schema that it fits say something of: what `unevaluatedProperties` is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from infospace.core.regex import compile_pattern

_OF_ALL = ("allOf", "anyOf", "oneOf")
"""Keywords with a list of schemas, each of which speaks for the object if the object fits it."""


def evaluated_keys(validator: Any, instance: Mapping[str, Any], schema: Any) -> set[str]:
    """Return the keys of an object that a schema evaluates; patterns for keys are RE2's, in linear time."""
    if not isinstance(schema, Mapping):
        return set()
    results = set(schema.get("properties", {})) & set(instance)
    for pattern in schema.get("patternProperties", {}):
        results |= {key for key in instance if compile_pattern(pattern).search(key) is not None}
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in schema:
            rest = _within(validator, schema[keyword])
            results |= {key for key, value in instance.items() if key not in results and rest.is_valid(value)}
    for inside in _applied(validator, instance, schema):
        results |= evaluated_keys(inside, instance, inside.schema)
    return results


def _applied(validator: Any, instance: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Any]:
    """Iterate over validators of the schemas in place that an object fits, and that therefore speak for it."""
    for keyword in ("$ref", "$dynamicRef"):
        if keyword in schema:
            there = validator._resolver.lookup(schema[keyword])  # noqa: SLF001 - it has no public name
            yield validator.evolve(schema=there.contents, _resolver=there.resolver)
    parts = [_within(validator, part) for keyword in _OF_ALL for part in schema.get(keyword, ())]
    yield from (part for part in parts if part.is_valid(instance))
    yield from (_within(validator, part) for key, part in schema.get("dependentSchemas", {}).items() if key in instance)
    if "if" not in schema:
        return
    condition = _within(validator, schema["if"])
    if condition.is_valid(instance):
        yield condition
        yield _within(validator, schema.get("then", {}))
    else:
        yield _within(validator, schema.get("else", {}))


def _within(validator: Any, part: Any) -> Any:
    """Return a validator of a part of a schema, whose references start from the part where it has an `$id`."""
    from referencing.jsonschema import DRAFT202012

    resolver = validator._resolver.in_subresource(DRAFT202012.create_resource(part))  # noqa: SLF001 - as above
    return validator.evolve(schema=part, _resolver=resolver)
