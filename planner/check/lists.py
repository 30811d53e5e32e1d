"""Where a JSON list is taken for a Collection, and what is known of the Collection then."""

from __future__ import annotations

from collections.abc import Sequence

from infospace.contract.decorator import Primitive
from infospace.core.ids import Kind
from infospace.schema.shapes import (
    NO_METADATA,
    CollectionShape,
    Facts,
    NoSuchPath,
    NoteShape,
    Schema,
    Shape,
    Unknown,
    subschema_at,
    types_of,
    union,
)

COLLECTION = frozenset({Kind.COLLECTION})


def takes_lists(entry: Primitive, name: str) -> bool:
    """Whether a list is taken for a Collection in an argument: where nothing but a Collection fits.

    What is changed in place is a Collection that there is: a list would be changed and forgotten.
    """
    argument = entry.arguments[name]
    return argument.kinds == COLLECTION and not (entry.effect == "writes" and name == "target")


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
