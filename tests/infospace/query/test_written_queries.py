"""Queries over a few rows, with the rows that they give, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.resources import Note
from infospace.expressions.query.columns import Element, Rows
from infospace.expressions.query.duckdb_engine import run_query
from infospace.expressions.query.parse import parse_query

TABLES: dict[str, list[Any]] = {
    "t": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
    "u": [{"k": 2}, {"k": 3}],
    "e": [],
    "n": [{"a": 1, "b": "x", "v": 1.5}, {"a": 2, "b": "y", "v": 2.0}, {"a": None, "b": "z", "v": 2.5}],
}


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


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT a FROM $t UNION ALL SELECT null AS a FROM $u", [(1,), (2,), (None,), (None,)]),
        ("SELECT null AS a FROM $t UNION ALL SELECT b FROM $t", [(None,), (None,), ("x",), ("y",)]),
        ("SELECT null AS a FROM $u UNION SELECT v FROM $n", [(None,), (1.5,), (2.0,), (2.5,)]),
        ("SELECT a + null AS n FROM $t UNION ALL SELECT k FROM $u", [(None,), (None,), (2,), (3,)]),
        ("SELECT a FROM $t UNION ALL SELECT a FROM $e", [(1,), (2,)]),
        ("SELECT a FROM $t LIMIT 9223372036854775808", [(1,), (2,)]),
        ("SELECT a FROM $t LIMIT 1 OFFSET 9223372036854775808", []),
        ("SELECT a FROM $t LIMIT 1 OFFSET 1", [(2,)]),
        ("SELECT lag(a) OVER (ORDER BY b) AS r, lead(b, 1) OVER (ORDER BY b) AS s FROM $t", [(None, "y"), (1, None)]),
        ("SELECT b FROM $n ORDER BY a DESC NULLS FIRST", [("z",), ("y",), ("x",)]),
        ("SELECT b FROM $n ORDER BY a DESC", [("y",), ("x",), ("z",)]),
        ("SELECT t.b, u.k FROM $t t JOIN $u u ON t.a = u.k", [("y", 2)]),
        ("SELECT t.b, u.k FROM $t t LEFT JOIN $u u ON t.a = u.k", [("x", None), ("y", 2)]),
        ("SELECT t.b, u.k FROM $t t RIGHT JOIN $u u ON t.a = u.k", [("y", 2), (None, 3)]),
        ("SELECT t.b, u.k FROM $t t FULL JOIN $u u ON t.a = u.k", [("x", None), ("y", 2), (None, 3)]),
        ("SELECT count(null) AS n, count(a) AS m, count(*) AS o FROM $n", [(0, 2, 3)]),
        ("SELECT max(a) AS m, sum(a) AS s, count(a) AS n, list(b) AS l FROM $e", [(None, None, 0, [])]),
        ("SELECT sum(a) AS s, avg(v) AS w, sum(v) AS x FROM $n", [(3, 2.0, 6.0)]),
        ("SELECT a IS NULL AS y, count(*) AS n FROM $n GROUP BY a IS NULL HAVING count(*) > 1", [(False, 2)]),
        ("SELECT DISTINCT v > 2 AS y FROM $n ORDER BY y", [(False,), (True,)]),
        ("WITH w AS (SELECT k * 2 AS d FROM $u) SELECT d FROM w WHERE d > 4", [(6,)]),
        ("SELECT CASE WHEN a = 1 THEN 'one' ELSE b END AS r FROM $n", [("one",), ("y",), ("z",)]),
    ],
)
def test_a_query_gives_its_rows(sql: str, found: list[tuple[JSON, ...]]) -> None:
    """Whole numbers stay whole, also beside a null."""
    given = [tuple(row.values()) for row in rows(sql)]
    assert repr(given) == repr(found)


def test_metadata_is_read_where_an_item_has_some() -> None:
    """A field of the content that is called so goes before it."""
    noted = [Note(id="Note_1", content={"a": 1}, metadata={"k": "x"}), Note(id="Note_2", content={"a": 2})]
    found = list(run_query(parse_query("SELECT a, metadata.k AS k FROM $n"), {"$n": Rows(noted)}, {}))
    assert found == [{"a": 1, "k": "x"}, {"a": 2, "k": None}]


@pytest.mark.parametrize("count", ["-1", "true", "'x'", "2000000", "a"])
def test_a_distance_between_rows_is_a_whole_number(count: str) -> None:
    with pytest.raises(Invalid, match="lag takes a whole number that stands there"):
        rows(f"SELECT lag(a, {count}) OVER (ORDER BY a) AS r FROM $t")


def test_what_is_ordered_by_is_told_by_its_place() -> None:
    with pytest.raises(Invalid, match=r"no function 'nofunc' \(character 29\)"):
        rows("SELECT a FROM $t ORDER BY a, nofunc(a)")
