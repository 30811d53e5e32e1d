"""A SELECT in a primitive of one's own: reading, typing and running it; imported within functions, being heavy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from infospace.contract.arguments import BoundQuery, WrittenQuery
from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.expressions.query.analyse import analyse, unknown_table
from infospace.expressions.query.columns import Rows
from infospace.expressions.query.parse import ParsedQuery, parse_query
from infospace.expressions.query.space_tables import SCHEMAS

if TYPE_CHECKING:
    from infospace.expressions import Clock, ItemMismatches

__all__ = [
    "BoundQuery",
    "ParsedQuery",
    "Rows",
    "WrittenQuery",
    "analyse",
    "columns_by_table",
    "compute_in_store",
    "parse_query",
    "run_query",
    "unknown_table",
]


def columns_by_table() -> Mapping[str, Sequence[str]]:
    """Return the columns of the space's own tables, by name."""
    return {name: tuple(columns) for name, columns in SCHEMAS.items()}


def compute_in_store(
    parsed: ParsedQuery,
    own: Mapping[str, Rows],
    parameters: Mapping[str, JSON | PathNotFound],
    clock: Clock,
    most: int,
) -> list[dict[str, JSON]] | str | None:
    """Run a query where the space's own tables lie, at most `most` + 1 rows of it.

    Return its rows; what of it does not mean the same there; or None where nothing could be computed there anyway.
    """
    from infospace.store.compute_query import compute

    return compute(parsed.query, own, parameters, clock, most)


def run_query(
    parsed: ParsedQuery,
    tables: Mapping[str, Rows],
    parameters: Mapping[str, JSON | PathNotFound],
    clock: Clock,
    most: int,
    tallies: list[ItemMismatches],
    absent: list[str] | None = None,
) -> Iterator[dict[str, JSON]]:
    """Run a query over rows by table; see `infospace.expressions.query.duckdb_engine`."""
    try:
        from infospace.expressions.query.duckdb_engine import run_query as run
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(("duckdb", "_duckdb")):
            raise
        raise Invalid("`query` needs DuckDB, which is not installed here", hint="pip install duckdb") from error
    return run(parsed, tables, parameters, clock, most, tallies, absent)
