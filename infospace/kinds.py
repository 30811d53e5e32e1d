"""Shapes: what is known of a value before it exists. The check follows them from step to step.

A content schema is JSON Schema (2020-12); `None` stands for "not known", which fits everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias, cast, get_args, get_origin

from infospace.ids import Kind
from infospace.jsonvalue import JSON
from infospace.paths import Path
from infospace.resources import Collection, Note, Relation, Resource, SearchResult

Schema: TypeAlias = Mapping[str, Any]

NO_METADATA: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
"""The schema of a Note's metadata when its maker gave it none."""

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known, not even the kind."""

    kinds = frozenset(Kind)


@dataclass(frozen=True, slots=True)
class NoteShape:
    """A Note, with the schemas of its content and of its own metadata as far as they are known."""

    content: Schema | None = None
    metadata: Schema | None = None
    kinds = frozenset({Kind.NOTE})


@dataclass(frozen=True, slots=True)
class CollectionShape:
    """A Collection whose items all have one shape, as far as that is known."""

    item: Shape = field(default_factory=Unknown)
    kinds = frozenset({Kind.COLLECTION})


@dataclass(frozen=True, slots=True)
class RelationShape:
    """A Relation."""

    kinds = frozenset({Kind.RELATION})


Shape: TypeAlias = "Unknown | NoteShape | CollectionShape | RelationShape"


@dataclass(frozen=True, slots=True)
class Nowhere:
    """A place that a schema rules out; `known` are the keys that it has there."""

    key: str | int
    known: tuple[str, ...] = ()


def describe(shape: Shape) -> str:
    """Say what a shape is, in words for a message: `a Collection of Notes`."""
    match shape:
        case NoteShape(content=schema):
            kind = type_words(schema)
            return f"a Note ({kind})" if kind else "a Note"
        case CollectionShape(item=NoteShape()):
            return "a Collection of Notes"
        case CollectionShape(item=CollectionShape()):
            return "a Collection of Collections"
        case CollectionShape():
            return "a Collection"
        case RelationShape():
            return "a Relation"
        case _:
            return "a resource of unknown kind"


def type_words(schema: Schema | None) -> str:
    """Return the JSON types that a schema admits as words (`number or null`), "" when it admits all."""
    types = types_of(schema)
    return "" if types == frozenset(TYPES) else " or ".join(t for t in TYPES if t in types)


def types_of(schema: Schema | None) -> frozenset[str]:
    """Return the JSON types that a schema may admit; a superset where the schema is not understood."""
    return _types(schema, schema)


def _types(schema: Schema | None, root: Schema | None) -> frozenset[str]:
    everything = frozenset(TYPES)
    if schema is None:
        return everything
    schema = _resolve(schema, root)
    found = everything
    if "const" in schema:
        found &= {_type_name(schema["const"])}
    if isinstance(schema.get("enum"), list):
        found &= {_type_name(value) for value in schema["enum"]}
    declared = schema.get("type")
    if isinstance(declared, str):
        found &= _widen({declared})
    elif isinstance(declared, list):
        found &= _widen(set(declared))
    for word in ("anyOf", "oneOf"):
        if isinstance(schema.get(word), list):
            found &= frozenset().union(*(_types(option, root) for option in schema[word]))
    for option in schema.get("allOf", ()):
        found &= _types(option, root)
    return found


def _widen(types: set[str]) -> frozenset[str]:
    return frozenset(types | {"integer"} if "number" in types else types)


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


def _resolve(schema: Schema, root: Schema | None) -> Schema:
    seen = 0
    while isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str) and seen < 16:
        pointer, seen = schema["$ref"], seen + 1
        place: Any = root or {}
        if not pointer.startswith("#"):
            return {}
        for part in pointer.lstrip("#/").split("/") if pointer != "#" else ():
            place = place.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(place, Mapping) else {}
        schema = place
    return schema if isinstance(schema, Mapping) else {}


def inside(schema: Schema | None, parts: tuple[str | int, ...]) -> Schema | Nowhere | None:
    """Follow a path into a schema: the schema there, `Nowhere` when it is ruled out, None if not known."""
    root = schema
    for part in parts:
        if schema is None:
            return None
        step = _step(_resolve(schema, root), part, root)
        if step is None or isinstance(step, Nowhere):
            return step
        schema = step
    if schema is None:
        return None
    resolved = _resolve(schema, root)
    return {**resolved, "$defs": root["$defs"]} if root and "$defs" in root else resolved


def _step(schema: Schema, part: str | int, root: Schema | None) -> Schema | Nowhere | None:
    if "allOf" in schema:
        return None
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        steps = [_step(_resolve(option, root), part, root) for option in options]
        there = [step for step in steps if not isinstance(step, Nowhere)]
        known = tuple(key for step in steps if isinstance(step, Nowhere) for key in step.known)
        return (there[0] if len(there) == 1 else None) if there else Nowhere(part, known)
    types = types_of(schema)
    if isinstance(part, int):
        if "array" not in types:
            return Nowhere(part)
        items = schema.get("items")
        return items if isinstance(items, Mapping) and "prefixItems" not in schema else None
    if "object" not in types:
        return Nowhere(part)
    properties = schema.get("properties", {})
    if part in properties:
        return cast("Schema", properties[part])
    extra = schema.get("additionalProperties", True)
    if extra is False and not schema.get("patternProperties"):
        return Nowhere(part, tuple(properties))
    return extra if isinstance(extra, Mapping) else None


def place_in(shape: Shape, parts: tuple[str | int, ...]) -> Schema | Nowhere | None:
    """Follow a path from a resource by the one rule of paths: content first, then the resource's own.

    None means that nothing is known of the place.
    """
    if not parts:
        return shape.content if isinstance(shape, NoteShape) else None
    first, rest = parts[0], parts[1:]
    if isinstance(first, str) and first.startswith("@"):
        own = shape.metadata if isinstance(shape, NoteShape) else None
        return inside(own, rest) if first == "@metadata" else _own_field(first, rest)
    if not isinstance(shape, NoteShape):
        return None
    found = inside(shape.content, parts)
    if not isinstance(found, Nowhere):
        return found
    in_content = inside(shape.content, parts[:1])
    if not isinstance(in_content, Nowhere):
        return found
    if first == "metadata":
        return inside(shape.metadata, rest)
    if first == "content" and "string" in types_of(shape.content):
        return inside({"type": "string"}, rest)
    return _say_own(found, shape)


def _own_field(first: str, rest: tuple[str | int, ...]) -> Schema | Nowhere:
    return Nowhere(rest[0]) if rest else {"type": ["string", "null"] if first == "@name" else "string"}


def _say_own(found: Nowhere, shape: NoteShape) -> Nowhere:
    own = ("content",) if "string" in types_of(shape.content) else ()
    return Nowhere(found.key, (*found.known, *own, *(() if "metadata" in found.known else ("metadata",))))


def never_fits(given: Schema | None, wanted: Schema | None) -> bool:
    """Whether no value of the one schema can be of the other's types. False where that is not known."""
    return not types_of(given) & types_of(wanted)


@cache
def schema_of(annotation: Any) -> Schema:
    """Return the closed JSON Schema of a Python type (TypedDict, `str`, `list[int]`, …)."""
    from pydantic import ConfigDict, TypeAdapter
    from typing_extensions import is_typeddict

    config = ConfigDict(extra="forbid")
    if is_typeddict(annotation):
        return cast("Schema", _close(TypeAdapter(annotation).json_schema()))
    return cast("Schema", TypeAdapter(annotation, config=config).json_schema())


def _close(schema: Any) -> Any:
    """Say of each object with named properties that it has no others."""
    if isinstance(schema, dict):
        closed = {key: _close(value) for key, value in schema.items()}
        if "properties" in closed:
            closed.setdefault("additionalProperties", False)
        return closed
    return [_close(value) for value in schema] if isinstance(schema, list) else schema


def shape_of(annotation: Any) -> Shape:
    """Return the shape that a return annotation promises, such as `Collection[SearchResult]` or `Note[int]`."""
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if origin is Note:
        known = bool(arguments) and arguments[0] is not JSON
        return NoteShape(schema_of(arguments[0]) if known else None, None)
    if origin is Collection:
        return CollectionShape(_item_shape(arguments[0]) if arguments else Unknown())
    if origin is Relation:
        return RelationShape()
    return Unknown()


def _item_shape(annotation: Any) -> Shape:
    if annotation is Resource:
        return Unknown()
    if (get_origin(annotation) or annotation) in (Note, Collection, Relation):
        return shape_of(annotation)
    return NoteShape(schema_of(annotation), NO_METADATA)


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


def same_as(argument: str) -> Callable[[Mapping[str, Any], Mapping[str, Shape]], Shape]:
    """Return a `gives` that says: the same shape as the resource given as this argument."""

    def gives(_arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
        return shapes.get(argument, Unknown())

    return gives


def is_result(shape: Shape) -> bool:
    """Whether a shape is that of a search result."""
    return isinstance(shape, NoteShape) and shape.content == schema_of(SearchResult)


def field_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape], name: str) -> Schema | None:
    """Return the schema at the path given as one argument, in the items of `target`; None if not known."""
    target, path = shapes.get("target"), arguments.get(name)
    if not isinstance(target, CollectionShape) or not isinstance(path, Path):
        return None
    found = place_in(target.item, path.parts)
    return None if isinstance(found, Nowhere) else found
