"""A SELECT within a query: what it gives as a value, a list of values, a table, or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.core.errors import Invalid
from infospace.expressions.query.columns import Element, Rows
from infospace.expressions.query.duckdb_engine import run_query
from infospace.expressions.query.parse import parse_query

TABLES: dict[str, list[Any]] = {"t": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], "u": [{"k": 2}, {"k": 3}], "e": []}


def rows(sql: str) -> list[Any]:
    known = {f"${name}": Rows([Element(item) for item in items]) for name, items in TABLES.items()}
    return list(run_query(parse_query(sql), known, {}))


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("EXISTS (SELECT k FROM $u WHERE k = 3)", [1, 2]),
        ("EXISTS (SELECT k FROM $u WHERE k = 4)", []),
        ("NOT EXISTS (SELECT k FROM $u WHERE k = 4)", [1, 2]),
        ("NOT EXISTS (SELECT k FROM $u)", []),
        ("EXISTS (SELECT null AS n FROM $u)", [1, 2]),
        ("EXISTS (SELECT k FROM $e) OR a = 1", [1]),
        ("a IN (SELECT k FROM $u)", [2]),
        ("a NOT IN (SELECT k FROM $u)", [1]),
        ("a NOT IN (SELECT k FROM $e)", [1, 2]),
        ("a = (SELECT min(k) AS m FROM $u)", [2]),
        ("a < (SELECT k FROM $u ORDER BY k DESC LIMIT 1)", [1, 2]),
        ("(SELECT k FROM $e) IS NULL", [1, 2]),
    ],
)
def test_a_condition_asks_what_a_select_gives(condition: str, found: list[int]) -> None:
    assert [row["a"] for row in rows(f"SELECT a FROM $t WHERE {condition} ORDER BY a")] == found


def test_one_value_is_one_row() -> None:
    with pytest.raises(Invalid, match="a subselect that is used as one value gives several") as refused:
        rows("SELECT a FROM $t WHERE (SELECT k FROM $u) = 2")
    assert refused.value.hint == "LIMIT 1, or an aggregate"


def test_a_field_that_no_row_of_an_open_table_has_is_null() -> None:
    """Also where a table stands beside it that gives what its SELECT names and nothing else."""
    assert rows("SELECT s.z, s.a FROM (SELECT * FROM $t) s LIMIT 1") == [{"z": None, "a": 1}]
    assert rows("SELECT v.k, q FROM $t, (SELECT k FROM $u) v WHERE a = 1") == [{"k": 2, "q": None}, {"k": 3, "q": None}]
