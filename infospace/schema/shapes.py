"""Shapes: what is known of a resource before it exists. The check follows them from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from typing import Any, ForwardRef, TypeAlias, get_args, get_origin

from infospace.core.errors import Invalid
from infospace.core.ids import Kind
from infospace.core.resources import (
    Collection,
    CollectionResult,
    ExplainedFusedResult,
    ExplainedResult,
    FilteredResult,
    FusedResult,
    Note,
    Relation,
    Resource,
    SearchResult,
)
from infospace.data.json_text import same
from infospace.data.paths import Path, fewer, show_parts
from infospace.schema.combine import inline_refs
from infospace.schema.infer import (
    NO_METADATA,
    TYPES,
    NoSuchPath,
    Schema,
    disjoint,
    format_types,
    schema_of,
    schema_of_value,
    subschema_at,
    types_of,
)
from infospace.schema.references import resolved

__all__ = [
    "ALTERNATIVES",
    "NOTHING",
    "NO_METADATA",
    "TYPES",
    "UNTOLD",
    "WRONG",
    "CollectionShape",
    "ContentUnfit",
    "Facts",
    "NoSuchPath",
    "NoteShape",
    "RelationShape",
    "Schema",
    "Shape",
    "Unknown",
    "alternatives",
    "bare",
    "describe",
    "disjoint",
    "field_shape",
    "format_types",
    "is_itself",
    "is_result",
    "itself",
    "part_of",
    "place_in",
    "results_by_mode",
    "same_as",
    "schema_of",
    "schema_of_value",
    "shape_of",
    "source_of",
    "subschema_at",
    "types_of",
    "union",
    "with_identity",
]


class Untold(Enum):
    """Stands for a part of a value that only the run will know."""

    UNTOLD = "untold"


UNTOLD = Untold.UNTOLD


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the very resource, beyond what its shape says of all that have it."""

    which: object = None
    """Where it is the same of two shapes, they are of one resource; None is not known."""
    content: Any = UNTOLD
    """A Note's content, with what only the run will know left out."""
    size: int | None = None
    """How many items a Collection has."""


NOTHING = Facts()


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known, not even the kind."""

    facts: Facts = field(default=NOTHING, compare=False, repr=False)
    kinds = frozenset(Kind)


@dataclass(frozen=True, slots=True)
class NoteShape:
    """A Note, with the schemas of its content and of its own metadata as far as they are known."""

    content: Schema | None = None
    metadata: Schema | None = None
    facts: Facts = field(default=NOTHING, compare=False, repr=False)
    kinds = frozenset({Kind.NOTE})


@dataclass(frozen=True, slots=True)
class CollectionShape:
    """A Collection whose items all have one shape, as far as that is known, and the schema of its own metadata."""

    item: Shape = field(default_factory=Unknown)
    metadata: Schema | None = None
    facts: Facts = field(default=NOTHING, compare=False, repr=False)
    kinds = frozenset({Kind.COLLECTION})


@dataclass(frozen=True, slots=True)
class RelationShape:
    """A Relation; nothing is known of what it joins."""

    facts: Facts = field(default=NOTHING, compare=False, repr=False)
    kinds = frozenset({Kind.RELATION})


WRONG = Unknown(Facts(which="wrong"))
"""Stands for a resource that cannot be what is wanted of it, of which a problem was told."""

Shape: TypeAlias = "Unknown | NoteShape | CollectionShape | RelationShape"


class ContentUnfit(Invalid):
    """What a Note has as its content will not do, though its type would."""


def bare(shape: Shape) -> Shape:
    """Return what is known of any resource of a shape: of one that is another."""
    return shape if shape.facts is NOTHING else replace(shape, facts=NOTHING)


def with_identity(shape: Shape, which: object) -> Shape:
    """Return a shape as that of a certain resource."""
    return shape if shape.facts.which is which else replace(shape, facts=replace(shape.facts, which=which))


def part_of(content: Any, parts: Sequence[str | int]) -> Any:
    """Return the part of a Note's content at a path, UNTOLD where that is not known; raises PathNotFound.

    A path that does not begin in the content is another matter.
    """
    if parts and str(parts[0]).startswith("@"):
        return UNTOLD
    for index, part in enumerate(parts):
        match content:
            case list() | tuple() if isinstance(part, int) and -len(content) <= part < len(content):
                content = content[part]
            case Mapping() if isinstance(part, str) and part in content:
                content = content[part]
            case list() | tuple() if isinstance(part, int):
                of = f"`{show_parts(tuple(parts[:index]))}`" if index else "the list"
                raise fewer(tuple(parts[: index + 1]), len(content), of)
            case _:
                return UNTOLD
    return content


def _shared(one: Facts, other: Facts) -> Facts:
    """What is known of a resource of which the one or the other is known."""
    if one is other or NOTHING in (one, other):
        return one if one is other else NOTHING
    return Facts(
        one.which if one.which == other.which else None,
        one.content if same(one.content, other.content) else UNTOLD,
        one.size if one.size == other.size else None,
    )


def describe(shape: Shape) -> str:
    """Say what a shape is, in words for a message: `a Collection of Notes`."""
    match shape:
        case NoteShape(content=schema):
            kind = format_types(schema)
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


def place_in(shape: Shape, parts: tuple[str | int, ...]) -> Schema | NoSuchPath | None:
    """Follow a path from a resource by the one rule of paths: content first, then the resource's own.

    None means that nothing is known of the place.
    """
    if not parts:
        return shape.content if isinstance(shape, NoteShape) else None
    first, rest = parts[0], parts[1:]
    if isinstance(first, str) and first.startswith("@"):
        own = shape.metadata if isinstance(shape, (NoteShape, CollectionShape)) else None
        return subschema_at(own, rest) if first == "@metadata" else _own_field(first, rest)
    if isinstance(shape, CollectionShape) and first == "metadata":
        return subschema_at(shape.metadata, rest)
    if not isinstance(shape, NoteShape):
        return None
    subschema = subschema_at(shape.content, parts)
    if not isinstance(subschema, NoSuchPath) or not isinstance(subschema_at(shape.content, parts[:1]), NoSuchPath):
        perhaps = first == "metadata" and not _has_always(shape.content, first)
        return None if perhaps and not isinstance(subschema_at(shape.metadata, rest), NoSuchPath) else subschema
    if first == "metadata":
        return subschema_at(shape.metadata, rest)
    if first == "content" and PLAIN & types_of(shape.content):
        return _plain_part(shape.content) if not rest else subschema_at({"type": "string"}, rest)
    return _with_own_keys(subschema, shape)


PLAIN = frozenset({"string", "integer", "number", "boolean"})
"""Types of contents that are values by themselves: they are at `content`."""


def _plain_part(content: Schema | None) -> Schema | None:
    """The schema of contents that are plain values, where others may be."""
    types = types_of(content)
    return content if types <= PLAIN else {"type": sorted(types & PLAIN)}


def _has_always(schema: Schema | None, key: str) -> bool:
    schema = resolved(schema or {}, schema)
    return types_of(schema) == {"object"} and key in schema.get("required", ())


def _own_field(first: str, rest: tuple[str | int, ...]) -> Schema | NoSuchPath:
    if first == "@tags":
        return subschema_at({"type": "array", "items": {"type": "string"}}, rest) or {}
    return NoSuchPath(rest[0]) if rest else {"type": ["string", "null"] if first == "@name" else "string"}


def _with_own_keys(missing: NoSuchPath, shape: NoteShape) -> NoSuchPath:
    own = ("content",) if PLAIN & types_of(shape.content) else ()
    return NoSuchPath(
        missing.key, (*missing.known, *own, *(() if "metadata" in missing.known else ("metadata",))), missing.assumed
    )


@cache
def shape_of(annotation: Any) -> Shape:
    """Return the shape that a return annotation promises, such as `Collection[SearchResult]` or `Note[int]`."""
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if origin is Note:
        return NoteShape(schema_of(arguments[0]) if arguments and not _is_open(arguments[0]) else None, None)
    if origin is Collection:
        return CollectionShape(_item_shape(arguments[0]) if arguments else Unknown(), NO_METADATA)
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
    """Return a `gives` that says: another resource of the same shape as the one given as this argument."""

    def gives(_arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
        shape = bare(shapes.get(argument, Unknown()))
        return CollectionShape(shape.item, NO_METADATA) if isinstance(shape, CollectionShape) else shape

    return gives


def itself(argument: str) -> Callable[[Mapping[str, Any], Mapping[str, Shape]], Shape]:
    """Return a `gives` that says: the very resource given as this argument."""

    def gives(_arguments: Mapping[str, Any], shapes: Mapping[str, Shape]) -> Shape:
        return shapes.get(argument, Unknown())

    return gives


def is_itself(shape: Shape) -> bool:
    """Whether a resource is known to be no search result, of which the source would be meant."""
    if isinstance(shape, NoteShape):
        return shape.content is not None and source_of(shape) is None
    return not isinstance(shape, Unknown)


def results_by_mode(arguments: Mapping[str, Any], _shapes: Mapping[str, Shape]) -> Shape:
    """Be a `gives` that says: search results, which in the mode `hybrid` have both scores, and none without a query.

    Where `explain` is true they say what their scores are made of.
    """
    mode, explain = arguments.get("mode", "semantic"), arguments.get("explain", False)
    if not isinstance(mode, str) or not isinstance(explain, bool):
        return CollectionShape(NoteShape(None, NO_METADATA), NO_METADATA)
    plain, fused = (ExplainedResult, ExplainedFusedResult) if explain else (SearchResult, FusedResult)
    results = schema_of(fused if mode == "hybrid" else plain)
    if "query" not in arguments:
        results = schema_of(FilteredResult)
    return CollectionShape(NoteShape(results, NO_METADATA), NO_METADATA)


def is_result(shape: Shape) -> bool:
    """Whether a shape is that of a search result."""
    return source_of(shape) is not None


def source_of(shape: Shape) -> Shape | None:
    """Return the shape of what a search result stands for; None for what is no search result."""
    if not isinstance(shape, NoteShape) or shape.content is None:
        return None
    options = shape.content.get("anyOf")
    results = [_source_of(option) for option in (options if isinstance(options, list) else [shape.content])]
    if not any(results):
        return None
    return results[0] if all(source == results[0] for source in results) else Unknown()


def _source_of(content: Schema) -> Shape | None:
    for schemas, source in _result_schemas():
        if content in schemas:
            return source
    return None


@cache
def _result_schemas() -> tuple[tuple[tuple[Schema, Schema], Shape], ...]:
    """The schemas of search results, as they are and written out, and what each stands for; all steps are asked."""
    return tuple(
        ((schema_of(form), inline_refs(schema_of(form))), source)
        for form, source in (
            (CollectionResult, CollectionShape()),
            (SearchResult, NoteShape()),
            (FusedResult, NoteShape()),
            (ExplainedResult, NoteShape()),
            (ExplainedFusedResult, NoteShape()),
            (FilteredResult, NoteShape()),
        )
    )


ALTERNATIVES = 8
"""Schemas that a value may have one of, beyond which nothing is known of it."""


def union(one: Shape, other: Shape) -> Shape:
    """Return what is known of a resource that has one shape or the other."""
    result, facts = _union(one, other), _shared(one.facts, other.facts)
    return result if result.facts is facts else replace(result, facts=facts)


def _union(one: Shape, other: Shape) -> Shape:
    match one, other:
        case CollectionShape(facts=Facts(size=0)), CollectionShape(item=item):
            return CollectionShape(item, _either(one.metadata, other.metadata))
        case CollectionShape(item=item), CollectionShape(facts=Facts(size=0)):
            return CollectionShape(item, _either(one.metadata, other.metadata))
        case _ if one == other:
            return one
        case NoteShape(), NoteShape():
            return NoteShape(_either(one.content, other.content), _either(one.metadata, other.metadata))
        case CollectionShape(), CollectionShape():
            return CollectionShape(union(one.item, other.item), _either(one.metadata, other.metadata))
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
    return list(options) if schema.keys() == {"anyOf"} and isinstance(options, list) else [inline_refs(schema)]


def field_shape(arguments: Mapping[str, Any], shapes: Mapping[str, Shape], name: str) -> Schema | None:
    """Return the schema at the path given as one argument, in the items of `target`; None if not known."""
    target, path = shapes.get("target"), arguments.get(name)
    if not isinstance(target, CollectionShape) or not isinstance(path, Path):
        return None
    subschema = place_in(target.item, path.parts)
    return None if isinstance(subschema, NoSuchPath) else subschema


def collection_of(schemas: Sequence[Schema | None]) -> CollectionShape:
    """Return the shape of a Collection of Notes with contents of these schemas."""
    shapes: list[Shape] = [NoteShape(schema, NO_METADATA) for schema in schemas]
    item: Shape = shapes[0] if shapes else Unknown()
    for shape in shapes[1:]:
        item = union(item, shape)
    return CollectionShape(item, NO_METADATA, facts=Facts(size=len(schemas)))


def collection_in(shape: Shape) -> CollectionShape | None:
    """Return the shape of the Collection that a Note is taken for; None where its content is no list for sure."""
    if not isinstance(shape, NoteShape) or "array" not in types_of(shape.content):
        return None
    element = subschema_at(shape.content, (0,)) if types_of(shape.content) == {"array"} else None
    return CollectionShape(NoteShape(None if isinstance(element, NoSuchPath) else element, NO_METADATA), NO_METADATA)
