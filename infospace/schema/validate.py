"""JSON Schema (2020-12) as plans and primitives give it: whether it is one, and whether a value fits it.

Patterns are RE2's, in linear time. A `$ref` stays within its schema, or leads to the meta-schema: nothing is fetched,
and what it leads to is held against a part of a value once, however often it stands in the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.regex import compile_pattern
from infospace.schema.formats import format_checker
from infospace.schema.messages import Place, best, sentence, violation_message
from infospace.schema.reference_cache import referring
from infospace.schema.references import resolved
from infospace.schema.value_text import shown

DATA = ("const", "enum", "default", "examples")
"""Keywords whose values are data, in which nothing is a schema."""

_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Keywords whose values have schemas by names of their author's."""

LARGEST = 10_000
"""Parts of a schema, its references followed, up to which it is asked what it did not look at."""

MAX_VIOLATIONS = 8
"""Most misfits of one value that are told."""


class SchemaFault(NamedTuple):
    """What is wrong with a schema: where in it, a sentence, and what would have fitted."""

    place: Place
    message: str
    hint: str | None = None


def schema_errors(schema: Any) -> Iterator[SchemaFault]:
    """Iterate over what keeps something from being a JSON Schema (2020-12) that a value can be held against."""
    from jsonschema.exceptions import SchemaError

    from infospace.schema.validator import VALIDATOR

    try:
        # Without formats: the one that matters, a pattern's, is RE2's here.
        VALIDATOR.check_schema(schema, format_checker=None)
    except SchemaError as error:
        # `type` is a name or a list of names. Of what is no list, say which names there are: that is what was meant.
        names = (inner for inner in error.context or () if inner.validator == "enum")
        reported = error if isinstance(error.instance, list) else next(names, error)
        yield SchemaFault(tuple(error.absolute_path), f"this is not JSON Schema: {violation_message(reported)}")
        return
    yield from unsupported_keywords(schema, schema, ())
    if _unfolded(schema) > LARGEST:
        yield from _asking_all(schema, ())


def unsupported_keywords(part: Any, root: Any, place: Place) -> Iterator[SchemaFault]:
    """What the meta-schema allows and no value can be held against: patterns and references that lead nowhere."""
    from jsonschema_specifications import REGISTRY
    from referencing.jsonschema import DRAFT202012

    yield from _unsupported(part, REGISTRY.resolver_with_root(DRAFT202012.create_resource(root)), place)


def _unsupported(part: Any, resolver: Any, place: Place, *, is_named: bool = False) -> Iterator[SchemaFault]:
    """The same of a part, whose references a resolver follows; `is_named` where its schemas have names of their own."""
    if isinstance(part, list):
        for index, item in enumerate(part):
            yield from _unsupported(item, resolver, (*place, index))
        return
    if not isinstance(part, Mapping):
        return
    if isinstance(part.get("$id"), str) and not is_named and place:
        from referencing.jsonschema import DRAFT202012

        resolver = resolver.in_subresource(DRAFT202012.create_resource(part))
    for key, value in part.items():
        inner = (*place, key)
        if is_named:
            yield from _unsupported(value, resolver, inner)
            continue
        if key == "pattern" and isinstance(value, str):
            yield from _bad_pattern(value, inner)
        elif key in ("$ref", "$dynamicRef") and isinstance(value, str):
            yield from _bad_reference(value, resolver, inner)
        elif key == "patternProperties" and isinstance(value, Mapping):
            for name in value:
                yield from _bad_pattern(name, (*inner, name))
        if key not in DATA:
            yield from _unsupported(value, resolver, inner, is_named=key in _NAMED)


def _bad_pattern(pattern: str, place: Place) -> Iterator[SchemaFault]:
    try:
        compile_pattern(pattern)
    except Invalid as error:
        yield SchemaFault(place, error.message, error.hint)


def _asking_all(part: Any, place: Place) -> Iterator[SchemaFault]:
    """Where a schema asks what of a value was not looked at, though there are too many ways to look at it."""
    items = part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ()
    for key, value in items:
        if key in ("unevaluatedProperties", "unevaluatedItems") and place[-1:] != ("properties",):
            message = (
                f"{key} cannot be asked of a schema whose references have more than {LARGEST:,} parts when followed"
            )
            yield SchemaFault((*place, key), message, "fewer references to definitions that refer to others")
        elif key not in DATA:
            yield from _asking_all(value, (*place, key))


def _unfolded(schema: Any) -> int:
    """Count the parts of a schema with each reference followed; one that leads back into itself is followed once."""
    sizes: dict[int, int] = {}

    def size(part: Any) -> int:
        if isinstance(part, list):
            return sum(map(size, part))
        if not isinstance(part, Mapping):
            return 0
        if id(part) not in sizes:
            sizes[id(part)] = 0
            there = resolved(part, schema) if isinstance(part.get("$ref"), str) else {}
            sizes[id(part)] = 1 + sum(map(size, part.values())) + (size(there) if there else 0)
        return sizes[id(part)]

    try:
        return size(schema)
    except RecursionError:
        return LARGEST + 1


def _bad_reference(reference: str, resolver: Any, place: Place) -> Iterator[SchemaFault]:
    from referencing.exceptions import Unresolvable

    hint = "such as #/$defs/name"
    try:
        there = resolver.lookup(reference).contents
    except (Unresolvable, ValueError, TypeError):  # the last two: a key for an index, or within a text or a number
        yield SchemaFault(place, f"{place[-1]} {reference!r:.80} leads nowhere in this schema", hint)
        return
    if not isinstance(there, (Mapping, bool)):
        yield SchemaFault(place, f"{place[-1]} {reference!r:.80} leads to {shown(there)}, which is not a schema", hint)


def first_violation(value: JSON, schema: Mapping[str, Any], *, formats: bool = False) -> str | None:
    """Say why a value does not fit a JSON Schema without faults, None when it does; `formats` are asserted, or not."""
    try:
        with referring():
            return best(_validator(schema, formats=formats).iter_errors(value))
    except RecursionError:
        return ENDLESS


def validate(value: JSON, schema: Mapping[str, Any], most: int = MAX_VIOLATIONS) -> list[str]:
    """Say everything in which a value does not fit a JSON Schema without faults, at most so many sentences."""
    try:
        with referring():
            return [sentence(error) for error in islice(_validator(schema).iter_errors(value), most)]
    except RecursionError:
        return [ENDLESS]


class Misfit(NamedTuple):
    """One thing in which a value does not fit: where in it, by which keyword, a sentence, and what was there."""

    place: Place
    keyword: str
    message: str
    instance: Any
    wanted: Any
    """The keyword's value."""


def validate_ignoring(
    value: Any, schema: Mapping[str, Any], unknown: object, *, formats: bool = False
) -> Iterator[Misfit]:
    """Iterate over what does not fit whatever stands in the places where the value is `unknown`."""
    try:
        with referring():
            errors = list(_validator(schema, formats=formats).iter_errors(value))
    except RecursionError:
        return
    for error in errors:
        if error.validator in _OF_SHAPE or not holds(error.instance, unknown):
            place = tuple(error.absolute_path)
            yield Misfit(place, str(error.validator), violation_message(error), error.instance, error.validator_value)


_OF_SHAPE = (
    "required",
    "additionalProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "minItems",
    "maxItems",
)
"""Keywords that ask how many there are, or under which keys, and not what."""


def holds(value: Any, unknown: object) -> bool:
    """Whether something stands in a JSON value, at any depth."""
    if value is unknown:
        return True
    if isinstance(value, Mapping):
        return any(holds(item, unknown) for item in value.values())
    return isinstance(value, (list, tuple)) and any(holds(item, unknown) for item in value)


ENDLESS = "the schema refers to itself without end"
"""What is said of a schema that nothing can be held against."""


def _validator(schema: Any, *, formats: bool = False) -> Any:
    from jsonschema_specifications import REGISTRY

    from infospace.schema.validator import VALIDATOR

    return VALIDATOR(schema, registry=REGISTRY, format_checker=format_checker() if formats else None)
