"""Content schemas: what is known of JSON before it exists, and how a path is followed into that.

A schema is JSON Schema (2020-12); `None` stands for "not known", which fits everything. What is not understood
of a schema is taken to admit everything, so that nothing is ruled out by mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, cast

from infospace.core.json_types import JSON
from infospace.schema.references import DEEPEST, resolved, resource_of

Schema: TypeAlias = Mapping[str, Any]

NO_METADATA: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
"""The schema of a Note's metadata when its maker gave it none."""

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

LISTED = "x-listed"
"""A keyword of ours: an object has no other fields since a tool lists these, and says nothing of others."""
_OPENING = (
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "if",
    "not",
    "dependentSchemas",
    "$ref",
    "$dynamicRef",
)
"""Keywords by which a schema may say something of other fields than those it lists."""


@dataclass(frozen=True, slots=True)
class NoSuchPath:
    """A place that a schema rules out; `known` are the keys that it has there."""

    key: str | int
    known: tuple[str, ...] = ()
    assumed: bool = False
    """Whether it is ruled out because a tool lists its fields, and not by a schema that says there are no others."""


def format_types(schema: Schema | None) -> str:
    """Return the JSON types that a schema admits as words (`number or null`), "" when it admits all."""
    types = types_of(schema)
    return "" if types == frozenset(TYPES) else " or ".join(t for t in TYPES if t in types)


def types_of(schema: Schema | None) -> frozenset[str]:
    """Return the JSON types that a schema may admit; a superset where the schema is not understood."""
    return _types(schema, schema, 0, {})


def types_in(schema: Schema | None, root: Schema | None) -> frozenset[str]:
    """Return the JSON types that a part of a schema may admit."""
    return _types(schema, root, 0, {})


Looked: TypeAlias = "dict[tuple[int, int], tuple[Schema, Any]]"
"""What was found of parts of a schema, by their ids and how deep they stand, so that none is looked at twice."""


def _widen(types: set[str]) -> frozenset[str]:
    return frozenset(types | {"integer"} if "number" in types else types)


_ALL = frozenset(TYPES)
_ONE: Mapping[str, frozenset[str]] = {type_: _widen({type_}) for type_ in TYPES}
"""The types that a schema of one type may admit."""
_SAYING_TYPES = frozenset({"$ref", "const", "enum", "anyOf", "oneOf", "allOf"})
"""Keywords beside `type` that say which types a schema may admit."""


def _types(schema: Schema | None, root: Schema | None, depth: int, looked: Looked) -> frozenset[str]:
    if schema is None or depth > DEEPEST:
        return _ALL
    if isinstance(schema, dict) and _SAYING_TYPES.isdisjoint(schema):
        # Most schemas are of this kind: nothing has to be followed, nor remembered.
        return _declared(schema)
    schema = resolved(schema, root)
    key = id(schema), depth
    if key not in looked:
        looked[key] = schema, _own_types(schema, root, depth, looked)
    results: frozenset[str] = looked[key][1]
    return results


def _own_types(schema: Schema, root: Schema | None, depth: int, looked: Looked) -> frozenset[str]:
    results = _declared(schema)
    if "const" in schema:
        results &= _ONE[_type_name(schema["const"])]
    if isinstance(schema.get("enum"), list):
        results &= _widen({_type_name(value) for value in schema["enum"]})
    for word in ("anyOf", "oneOf"):
        if isinstance(schema.get(word), list):
            results &= frozenset().union(*(_types(option, root, depth + 1, looked) for option in schema[word]))
    for option in schema.get("allOf", ()):
        results &= _types(option, root, depth + 1, looked)
    return results


def _declared(schema: Schema) -> frozenset[str]:
    """Return the types that the keyword `type` admits."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return _ONE.get(declared, frozenset())
    return _ALL & _widen(set(declared)) if isinstance(declared, list) else _ALL


def _type_name(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case _:
            return "object"


def subschema_at(schema: Schema | None, parts: tuple[str | int, ...]) -> Schema | NoSuchPath | None:
    """Follow a path into a schema: the schema there, `NoSuchPath` when it is ruled out, None if not known."""
    root = schema
    for part in parts:
        if schema is None:
            return None
        step = _step(resolved(schema, root), part, root, 0, {})
        if step is None or isinstance(step, NoSuchPath):
            return step
        schema = step
    if schema is None or schema is root:
        return schema
    return on_its_own(resolved(schema, root), root)


def may_hold_text(schema: Schema | None) -> bool:
    """Whether a value of a schema may be a text, or have one in it: as a value, an element or a field."""
    return _may_hold_text(schema, schema, 0)


def _may_hold_text(schema: Schema | None, root: Schema | None, depth: int) -> bool:
    types = types_in(schema, root)
    if schema is None or "string" in types or depth > DEEPEST:
        return True
    schema = resolved(schema, root)
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return any(_may_hold_text(option, root, depth + 1) for option in options)
    inner: list[Any] = []
    if "array" in types:
        inner += [*schema.get("prefixItems", ())]
        inner.append(schema.get("items", schema.get("maxItems") != len(inner)))
    if "object" in types:
        inner += [*schema.get("properties", {}).values(), *schema.get("patternProperties", {}).values()]
        inner.append(schema.get("additionalProperties", True))
    return any(part is True or (isinstance(part, Mapping) and _may_hold_text(part, root, depth + 1)) for part in inner)


def of_listed_fields(schema: Schema | None) -> Schema | None:
    """Return a tool's output schema where an object that lists its fields, and says nothing of others, has no others.

    One with alternatives, conditions or references beside its fields is left as it is.
    """
    return None if schema is None else cast("Schema", _listed(schema))


def _listed(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    results: dict[str, Any] = dict(schema)
    for key in ("properties", "$defs"):
        if isinstance(results.get(key), Mapping):
            results[key] = {name: _listed(inner) for name, inner in results[key].items()}
    for key in ("items", "additionalProperties"):
        results |= {key: _listed(results[key])} if key in results else {}
    alone = not results.get("properties")
    for key in ("anyOf", "oneOf", "prefixItems"):
        if isinstance(results.get(key), list) and alone:
            results[key] = [_listed(option) for option in results[key]]
    if not alone and not any(key in results for key in _OPENING):
        results |= {"additionalProperties": False, LISTED: True}
    return results


def undeclared(schema: Schema | None, parts: tuple[str | int, ...]) -> NoSuchPath | None:
    """Say what a schema names where a path asks for something that it admits and says nothing of; else None."""
    if schema is None or subschema_at(schema, parts) is not None:
        return None
    subschema = subschema_at(_close(schema), parts)
    return subschema if isinstance(subschema, NoSuchPath) and subschema.known else None


def on_its_own(schema: Schema, root: Schema | None) -> Schema:
    """Return a part of `root` as a schema that stands alone; of one that refers to the whole, only its types."""
    references = set(_references(schema))
    if not references:
        return schema
    around = resource_of(schema, root)
    if around is schema and all(ref.startswith("#") for ref in references):
        return schema
    definitions = (around or {}).get("$defs", {})
    if around is not None and all(ref.startswith("#/$defs/") for ref in (*references, *_references(definitions))):
        return {**schema, "$defs": definitions}
    return {"type": [type_ for type_ in TYPES if type_ in _types(schema, root, 0, {})]}


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from (schema[key] for key in ("$ref", "$dynamicRef") if isinstance(schema.get(key), str))
        schema = schema.values()
    elif not isinstance(schema, list):
        return
    for part in schema:
        yield from _references(part)


def _step(
    schema: Schema, part: str | int, root: Schema | None, depth: int, looked: Looked
) -> Schema | NoSuchPath | None:
    if "allOf" in schema or depth > DEEPEST:
        return None
    options = schema.get("anyOf") or schema.get("oneOf")
    if not options:
        return _own_step(schema, part)
    key = id(schema), depth
    if key not in looked:
        steps = [_step(resolved(option, root), part, root, depth + 1, looked) for option in options]
        looked[key] = schema, _joined(steps, part)
    subschema: Schema | NoSuchPath | None = looked[key][1]
    return subschema


def _joined(steps: list[Schema | NoSuchPath | None], part: str | int) -> Schema | NoSuchPath | None:
    """What is at a place of which each alternative says something."""
    there = [step for step in steps if not isinstance(step, NoSuchPath)]
    if not there:
        known = dict.fromkeys(key for step in steps if isinstance(step, NoSuchPath) for key in step.known)
        return NoSuchPath(part, tuple(known), any(isinstance(step, NoSuchPath) and step.assumed for step in steps))
    if len(there) == 1 or not all(isinstance(step, Mapping) for step in there):
        return there[0] if len(there) == 1 else None
    return there[0] if all(step is there[0] or step == there[0] for step in there) else {"anyOf": there}


def _own_step(schema: Schema, part: str | int) -> Schema | NoSuchPath | None:
    types = types_of(schema)
    if isinstance(part, int):
        if "array" not in types:
            return NoSuchPath(part)
        items = schema.get("items")
        return items if isinstance(items, Mapping) and "prefixItems" not in schema else None
    if "object" not in types:
        return NoSuchPath(part)
    properties = schema.get("properties", {})
    if part in properties:
        return cast("Schema", properties[part])
    if schema.get("patternProperties"):
        return None
    extra = schema.get("additionalProperties", True)
    if extra is False:
        return NoSuchPath(part, tuple(properties), bool(schema.get(LISTED)))
    return extra if isinstance(extra, Mapping) else None


def disjoint(given: Schema | None, expected: Schema | None) -> bool:
    """Whether no value of the one schema can be of the other's types. False where that is not known."""
    return not types_of(given) & types_of(expected)


@cache
def schema_of(annotation: Any) -> Schema:
    """Return the closed JSON Schema of a Python type (TypedDict, `str`, `list[int]`, …)."""
    from pydantic import TypeAdapter

    return cast("Schema", _close(TypeAdapter(pydantic_readable(annotation)).json_schema()))


def pydantic_readable(annotation: Any) -> Any:
    """Return a type with each `typing.TypedDict` in it as one that pydantic reads before Python 3.12 too."""
    import sys
    import types
    import typing

    import typing_extensions

    if sys.version_info >= (3, 12):
        return annotation
    if typing.is_typeddict(annotation) and type(annotation).__module__ == "typing":
        fields = typing.get_type_hints(annotation, include_extras=True)
        wrapped = {
            name: pydantic_readable(of)
            if name in annotation.__required_keys__
            else typing_extensions.NotRequired[pydantic_readable(of)]
            for name, of in fields.items()
        }
        make: Any = typing_extensions.TypedDict
        result = make(annotation.__name__, wrapped)
        result.__doc__ = annotation.__doc__
        return result
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (list, dict, tuple) and inner:
        return origin[tuple(pydantic_readable(of) for of in inner)]
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(pydantic_readable(of) for of in inner)]  # noqa: UP007 - of a tuple
    return annotation


def _close(schema: Any) -> Any:
    """Say of each object with named properties that it has no others."""
    if isinstance(schema, dict):
        closed = {key: _close(value) for key, value in schema.items()}
        if "properties" in closed:
            closed.setdefault("additionalProperties", False)
        return closed
    return [_close(value) for value in schema] if isinstance(schema, list) else schema


def schema_of_value(value: JSON) -> Schema:
    """Return the tightest simple schema of a JSON value that is known already."""
    if isinstance(value, Mapping):
        return {
            "type": "object",
            "properties": {key: schema_of_value(item) for key, item in value.items()},
            "required": list(value),
            "additionalProperties": False,
        }
    if isinstance(value, (list, tuple)):
        kinds = [schema_of_value(item) for item in value]
        same = bool(kinds) and all(kind == kinds[0] for kind in kinds)
        return {"type": "array", "items": kinds[0]} if same else {"type": "array"}
    return {"type": _type_name(value)}
