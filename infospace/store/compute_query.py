"""A query that the database of a space computes, where it means the same there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from infospace.core.errors import PathNotFound
from infospace.core.json_types import JSON
from infospace.expressions.query.space_tables import SpaceRows
from infospace.expressions.query.tree import clean
from infospace.store.query_pushdown import NotAlike, push
from infospace.store.sqlite.read.tables import SqliteTable

if TYPE_CHECKING:
    from infospace.expressions.mismatch import Clock
    from infospace.expressions.query.columns import Rows
    from infospace.expressions.query.tree import Query, Table


def compute(
    query: Query, own: Mapping[str, Rows], parameters: Mapping[str, JSON | PathNotFound], clock: Clock, most: int
) -> list[dict[str, JSON]] | str | None:
    """Return the rows of a query over the space's own tables, at most `most` + 1 of them.

    Else what of it does not mean the same in the database, or None where the tables lie in none, or are seen in part.
    """
    tables = [rows.stored for rows in own.values() if isinstance(rows, SpaceRows)]
    known = [table for table in tables if isinstance(table, SqliteTable) and table.computes]
    if not known or len(known) < len(tables):
        return None

    def table_of(source: Table) -> SqliteTable:
        name = source.name.lower()
        rows = own.get(f"{name}@{source.start}", own[name])
        return cast("SqliteTable", cast("SpaceRows", rows).stored)

    try:
        pushed = push(query, table_of, parameters, clock, most)
    except NotAlike as reason:
        return clean(str(reason))
    rows = known[0].compute(pushed.sql, pushed.values)
    return [dict(zip(pushed.names, row, strict=True)) for row in rows]
