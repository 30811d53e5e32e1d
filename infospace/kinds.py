"""Shapes: what is known of a resource before it exists. The check follows them from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ForwardRef, TypeAlias, get_args, get_origin

from infospace.ids import Kind
from infospace.paths import Path
from infospace.resources import Collection, CollectionResult, FusedResult, Note, Relation, Resource, SearchResult
from infospace.schemas import (
    NO_METADATA,
    TYPES,
    Nowhere,
    Schema,
    inside,
    never_fits,
    resolved,
    schema_of,
    schema_of_value,
    type_words,
    types_of,
)
from infospace.shaping import alone

__all__ = [
    "ALTERNATIVES",
    "NO_METADATA",
    "TYPES",
    "CollectionShape",
    "NoteShape",
    "Nowhere",
    "RelationShape",
    "Schema",
    "Shape",
    "Unknown",
    "alternatives",
    "describe",
    "field_shape",
    "inside",
    "is_result",
    "never_fits",
    "place_in",
    "results_by_mode",
    "same_as",
    "schema_of",
    "schema_of_value",
    "shape_of",
    "source_of",
    "type_words",
    "types_of",
    "union",
]


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
    if not isinstance(found, Nowhere) or not isinstance(inside(shape.content, parts[:1]), Nowhere):
        perhaps = first == "metadata" and not _has_always(shape.content, first)
        return None if perhaps and not isinstance(inside(shape.metadata, rest), Nowhere) else found
    if first == "metadata":
        return inside(shape.metadata, rest)
    if first == "content" and "string" in types_of(shape.content):
        return inside({"type": "string"}, rest)
    return _say_own(found, shape)


def _has_always(schema: Schema | None, key: str) -> bool:
    schema = resolved(schema or {}, schema)
    return types_of(schema) == {"object"} and key in schema.get("required", ())


def _own_field(first: str, rest: tuple[str | int, ...]) -> Schema | Nowhere:
    return Nowhere(rest[0]) if rest else {"type": ["string", "null"] if first == "@name" else "string"}


def _say_own(found: Nowhere, shape: NoteShape) -> Nowhere:
    own = ("content",) if "string" in types_of(shape.content) else ()
    return Nowhere(found.key, (*found.known, *own, *(() if "metadata" in found.known else ("metadata",))))


@cache
def shape_of(annotation: Any) -> Shape:
    """Return the shape that a return annotation promises, such as `Collection[SearchResult]` or `Note[int]`."""
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if origin is Note:
        return NoteShape(schema_of(arguments[0]) if arguments and not _is_open(arguments[0]) else None, None)
    if origin is Collection:
        return CollectionShape(_item_shape(arguments[0]) if arguments else Unknown())
    if origin is Relation:
        return RelationShape()
    return Unknown()


def _is_open(annotation: Any) -> bool:
    """Whether an annotation says nothing of the content: `Any`, or `JSON`, which refers to itself."""
    return annotation is Any or _is_recursive(annotation)


def _is_recursive(annotation: Any) -> bool:
    return isinstance(annotation, ForwardRef) or any(_is_recursive(option) for option in get_args(annotation))


def _item_shape(annotation: Any) -> Shape:
    if annotation is Resource:
        return Unknown()
    if (get_origin(annotation) or annotation) in (Note, Collection, Relation):
        return shape_of(annotation)
    return NoteShape(schema_of(annotation), NO_METADATA)


def same_as(argument: str) -> Callable[[Mapping[str, Any], Mapping[str, Shape]], Shape]:
    """Return a `gives` that says: the same shape as the resource given as this argument."""

    def gives(_arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
        return shapes.get(argument, Unknown())

    return gives


def results_by_mode(arguments: Mapping[str, Any], _shapes: Mapping[str, Shape]) -> Shape:
    """Be a `gives` that says: search results, which in the mode `hybrid` have both scores."""
    mode = arguments.get("mode", "semantic")
    if not isinstance(mode, str):
        return CollectionShape(NoteShape(None, NO_METADATA))
    return CollectionShape(NoteShape(schema_of(FusedResult if mode == "hybrid" else SearchResult), NO_METADATA))


def is_result(shape: Shape) -> bool:
    """Whether a shape is that of a search result."""
    return source_of(shape) is not None


def source_of(shape: Shape) -> Shape | None:
    """Return the shape of what a search result stands for; None for what is no search result."""
    if not isinstance(shape, NoteShape) or shape.content is None:
        return None
    options = shape.content.get("anyOf")
    found = [_source_of(option) for option in (options if isinstance(options, list) else [shape.content])]
    if not any(found):
        return None
    return found[0] if all(source == found[0] for source in found) else Unknown()


def _source_of(content: Schema) -> Shape | None:
    for result, source in (
        (CollectionResult, CollectionShape()),
        (SearchResult, NoteShape()),
        (FusedResult, NoteShape()),
    ):
        if content in (schema_of(result), alone(schema_of(result))):
            return source
    return None


ALTERNATIVES = 8
"""Schemas that a value may have one of, beyond which nothing is known of it."""


def union(one: Shape, other: Shape) -> Shape:
    """Return what is known of a resource that has one shape or the other."""
    match one, other:
        case _ if one == other:
            return one
        case NoteShape(), NoteShape():
            return NoteShape(_either(one.content, other.content), _either(one.metadata, other.metadata))
        case CollectionShape(), CollectionShape():
            return CollectionShape(union(one.item, other.item))
        case RelationShape(), RelationShape():
            return one
    return Unknown()


def _either(one: Schema | None, other: Schema | None) -> Schema | None:
    if one == other or one is None or other is None:
        return one if one == other else None
    options = [*alternatives(one)]
    options += [option for option in alternatives(other) if option not in options]
    if len(options) == 1:
        return one
    return {"anyOf": options} if len(options) <= ALTERNATIVES else None


def alternatives(schema: Schema) -> list[Schema]:
    """Return the schemas, each standing alone, of which what a schema admits has one."""
    options = schema.get("anyOf")
    return list(options) if schema.keys() == {"anyOf"} and isinstance(options, list) else [alone(schema)]


def field_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape], name: str) -> Schema | None:
    """Return the schema at the path given as one argument, in the items of `target`; None if not known."""
    target, path = shapes.get("target"), arguments.get(name)
    if not isinstance(target, CollectionShape) or not isinstance(path, Path):
        return None
    found = place_in(target.item, path.parts)
    return None if isinstance(found, Nowhere) else found
