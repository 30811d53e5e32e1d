"""A SELECT in a primitive of one's own: reading, typing and running it; imported within functions, being heavy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from infospace.contract.arguments import BoundQuery, WrittenQuery
from infospace.core.errors import Invalid, PathNotFound
from infospace.core.json_types import JSON
from infospace.expressions.query.analyse import analyse, unknown_table
from infospace.expressions.query.columns import Rows
from infospace.expressions.query.parse import ParsedQuery

if TYPE_CHECKING:
    from infospace.expressions import Clock, ItemMismatches

__all__ = [
    "BoundQuery",
    "ParsedQuery",
    "Rows",
    "WrittenQuery",
    "analyse",
    "run_query",
    "unknown_table",
]


def run_query(
    parsed: ParsedQuery,
    tables: Mapping[str, Rows],
    parameters: Mapping[str, JSON | PathNotFound],
    clock: Clock,
    most: int,
    tallies: list[ItemMismatches],
) -> Iterator[dict[str, JSON]]:
    """Run a query over rows by table; see `infospace.expressions.query.engine`."""
    try:
        from infospace.expressions.query.engine import run_query as run
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(("duckdb", "_duckdb")):
            raise
        raise Invalid("`query` needs DuckDB, which is not installed here", hint="pip install duckdb") from error
    return run(parsed, tables, parameters, clock, most, tallies)
