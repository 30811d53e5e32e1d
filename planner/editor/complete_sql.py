"""What may stand in the `sql` of a `query`, as the plan around it knows it."""

from __future__ import annotations

from collections.abc import Sequence

from infospace.core.ids import Kind, kind_of
from infospace.schema.infer import types_of
from infospace.schema.shapes import CollectionShape, NoteShape, Shape, collection_in
from planner.editor.complete_query import QueryOffers, complete_query
from planner.editor.context import CursorContext


def complete_sql(text: str, after: str, around: CursorContext) -> QueryOffers:
    """Return what may stand between a text and what follows it: of the space, of what is kept, and of variables."""
    from infospace.authoring.queries import columns_by_table

    tables: dict[str, Sequence[str]] = dict(columns_by_table())
    for name, variable in around.env.variables.items():
        shape = variable.shape if isinstance(variable.shape, CollectionShape) else collection_in(variable.shape)
        tables[f"${name}"] = () if shape is None else _columns(shape.item)
    for name in around.known.names():
        holder = around.known.holder(name)
        if holder is not None and kind_of(holder) is Kind.COLLECTION and name.lower() not in tables:
            tables[name] = ()
    return complete_query(text + after, len(text), tables, around.known.properties())


def _columns(item: Shape) -> Sequence[str]:
    schema = item.content if isinstance(item, NoteShape) else None
    if schema is None:
        return ()
    return tuple(schema.get("properties", {})) if "object" in types_of(schema) else ("content",)
