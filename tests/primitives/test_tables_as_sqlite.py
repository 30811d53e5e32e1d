"""`join`, `group`, `sort` and `filter-structured` agree with SQLite on the same rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

KEYS = st.none() | st.integers(0, 2) | st.sampled_from([1.0, 0.5]) | st.sampled_from(["", "a", "1"])
NUMBERS = st.none() | st.integers(-3, 3) | st.integers(-8, 8).map(lambda n: n / 4)
ROWS = st.lists(st.fixed_dictionaries({"k": KEYS, "x": NUMBERS}), max_size=7)
MIXED = st.lists(st.fixed_dictionaries({"k": KEYS, "x": NUMBERS | st.sampled_from(["é", "B", "a"])}), max_size=7)


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    """Two tables whose columns have no type, so that values keep theirs."""
    connection = sqlite3.connect(":memory:")
    for table in ("one", "two"):
        connection.execute(f"CREATE TABLE {table} (place, k, x)")
    yield connection
    connection.close()


def fill(database: sqlite3.Connection, table: str, rows: list[dict[str, Any]]) -> None:
    """Put rows into a table, numbered; null for what a row does not have."""
    database.execute(f"DELETE FROM {table}")  # noqa: S608 - a name of ours
    values = [(place, row.get("k"), row.get("x")) for place, row in enumerate(rows)]
    database.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", values)  # noqa: S608 - a name of ours


def sparse(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of which every other one leaves its nulls out, which is the same, and a last one that has all keys."""
    some = [row if i % 2 else {key: v for key, v in row.items() if v is not None} for i, row in enumerate(rows)]
    return [*some, {"k": None, "x": None}]


def collection(rows: list[dict[str, Any]], out: str, place: str = "place") -> dict[str, Any]:
    return {"type": "create-collection", "value": [{**row, place: i} for i, row in enumerate(rows)], "out": out}


@settings(max_examples=40, deadline=None)
@given(left=ROWS, right=ROWS, how=st.sampled_from(["inner", "left", "right", "outer"]))
def test_join_gives_the_pairs_that_sqlite_gives(
    shared: Any, database: sqlite3.Connection, left: list[Any], right: list[Any], how: str
) -> None:
    """All four types, in the order of the contract, each pair merged with the right one's values."""
    left, right = sparse(left), sparse(right)
    fill(database, "one", left)
    fill(database, "two", right)
    sql = {"outer": "FULL"}.get(how, how.upper())
    pairs = database.execute(
        f"SELECT one.place, two.place FROM one {sql} JOIN two ON one.k = two.k"  # noqa: S608 - words of ours
        " ORDER BY one.place NULLS LAST, two.place"
    ).fetchall()
    expected = [
        ({} if i is None else {**left[i], "place": i}) | ({} if j is None else {**right[j], "other": j})
        for i, j in pairs
    ]
    ran = shared(
        collection(left, "$left"),
        collection(right, "$right", "other"),
        {"type": "join", "target": "$left", "value": "$right", "on": "k", "join_type": how, "out": "$both"},
    )
    assert ran.content("both") == expected
    clashes = [(left[i], right[j]) for i, j in pairs if i is not None and j is not None]
    assert ran.last.extra["conflicts"] == sum(a[c] != b[c] for a, b in clashes for c in a.keys() & b.keys())


@settings(max_examples=40, deadline=None)
@given(rows=ROWS, by=st.sampled_from([["k"], ["x"], ["k", "x"]]))
def test_group_reckons_what_sqlite_reckons(
    shared: Any, database: sqlite3.Connection, rows: list[Any], by: list[str]
) -> None:
    """Every aggregate, nulls passed over; groups in the order of their first rows."""
    rows = sparse(rows)
    fill(database, "one", rows)
    columns = ", ".join(by)
    found = database.execute(
        f"SELECT min(place), group_concat(place), count(*), count(x), count(DISTINCT x), sum(x), avg(x), min(x),"  # noqa: S608
        f" max(x) FROM one GROUP BY {columns} ORDER BY min(place)"
    ).fetchall()
    names = ["n", "there", "kinds", "total", "mean", "low", "high"]
    reckoned = ["count", "count(x)", "count_distinct(x)", "sum(x)", "avg(x)", "min(x)", "max(x)", "list(x)"]
    expected = []
    for first, places, *values in found:
        here = [rows[place].get("x") for place in sorted(map(int, places.split(",")))]
        listed = [value for value in here if value is not None]
        keys = {column: rows[first].get(column) for column in by}
        expected.append(keys | dict(zip(names, values, strict=True)) | {"all": listed})
    ran = shared(
        collection(rows, "$rows"),
        {"type": "group", "target": "$rows", "by": by, "aggregates": dict(zip([*names, "all"], reckoned, strict=True))}
        | {"out": "$groups"},
    )
    assert ran.content("groups") == expected


@settings(max_examples=25, deadline=None)
@given(rows=MIXED, by=st.sampled_from([["x"], ["k", "x"]]), order=st.sampled_from(["asc", "desc"]), last=st.booleans())
def test_sort_orders_as_sqlite_does(
    shared: Any, database: sqlite3.Connection, rows: list[Any], by: list[str], order: str, last: bool
) -> None:
    """Numbers before strings, strings by code point, null and missing as wanted, equal ones as they were."""
    rows = sparse(rows)
    fill(database, "one", rows)
    nulls = "last" if last else "first"
    words = ", ".join(f"{column} {order} NULLS {nulls}" for column in by)
    places = [place for (place,) in database.execute(f"SELECT place FROM one ORDER BY {words}, place")]  # noqa: S608
    ran = shared(
        collection(rows, "$rows"),
        {"type": "sort", "target": "$rows", "by": by, "order": order, "nulls": nulls, "out": "$sorted"},
    )
    assert [row["place"] for row in ran.content("sorted")] == places


@settings(max_examples=25, deadline=None)
@given(
    rows=ROWS,
    where=st.sampled_from(
        ["x > 0", "NOT x <= 1 OR k IS NULL", "x IN (1, 2.0, -1)", "x BETWEEN -1 AND 1 AND k IS NOT NULL", "x <> x"]
    ),
)
def test_filter_keeps_the_rows_that_sqlite_keeps(
    shared: Any, database: sqlite3.Connection, rows: list[Any], where: str
) -> None:
    """Unknown is not true."""
    rows = sparse(rows)
    fill(database, "one", rows)
    places = [place for (place,) in database.execute(f"SELECT place FROM one WHERE {where} ORDER BY place")]  # noqa: S608
    ran = shared(
        collection(rows, "$rows"), {"type": "filter-structured", "target": "$rows", "where": where, "out": "$kept"}
    )
    assert [row["place"] for row in ran.content("kept")] == places
