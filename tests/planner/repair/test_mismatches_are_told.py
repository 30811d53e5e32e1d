"""Where a condition compares what has no order or another type, the text that people read says so."""

from __future__ import annotations

from typing import Any

from infospace import Space
from planner.execute.start import run_sync
from planner.journal.result import RunResult


def rows(*prices: Any) -> list[dict[str, Any]]:
    return [
        {"type": "create-note", "value": [{"price": price} for price in prices], "out": "$list"},
        {"type": "coerce", "target": "$list", "coercion": "string", "out": "$text"},
        {"type": "coerce", "target": "$text", "coercion": "json", "out": "$read"},
        {"type": "split", "target": "$read", "out": "$rows"},
    ]


def filtered(space: Space, where: str, *prices: Any) -> str:
    """Return the text of a step that filters; what the check knows of the items is nothing."""
    result = ran(space, *rows(*prices), {"type": "filter-structured", "target": "$rows", "where": where, "out": "$o"})
    return result.steps[-1].value


def ran(space: Space, *steps: Any) -> RunResult:
    result = run_sync(space, list(steps))
    assert result.status == "success", (result.reason, result.problems)
    return result


def test_a_filter_that_finds_nothing_for_its_types_says_so(space: Space) -> None:
    """Behind the number of items, before those that are listed."""
    assert filtered(space, "price > 3", "12", "7", "1") == "0 items (3 of 3 compare text with number)"
    assert filtered(space, "price > 3", "12", 7, 1).startswith("1 note (1 of 3 compares text with number): ")
    assert filtered(space, "price > 3", 12, 7).startswith("2 notes: ")


def test_of_an_item_each_kind_counts_once(space: Space) -> None:
    """However often it is met; several kinds are told, and how many more there are."""
    value = filtered(space, "price > 3 OR price LIKE 'a%'", "12", 0.5, True)
    assert value.startswith("0 items (1 of 3 compares text with number, 1 of 3 looks at number, not at text, "), value
    assert value.endswith(", and 1 more)"), value
    assert filtered(space, "price > 3 OR price < 1", "a", "b") == "0 items (2 of 2 compare text with number)"


def test_a_search_says_it_too(space: Space) -> None:
    """Of the Notes that it looked at; and the count is in `extra`."""
    for price in ("12", "7", 3):
        ran(space, {"type": "create-note", "value": "a book", "metadata": {"price": price}, "name": f"book {price}"})
    search = {"type": "discover-notes", "query": "book", "mode": "keyword", "where": "metadata.price > 3", "out": "$h"}
    step = ran(space, search).steps[0]
    assert step.value == "0 items (2 of 3 compare text with number; without `where` 3 notes fit)"
    assert (step.extra["mismatches"], step.extra["mismatched"]) == (2, "2 of 3 compare text with number")
    told = {**search, "where": "metadata.price >= 3", "limit": "all"}
    assert ran(space, told).steps[0].value.startswith("1 note (2 of 3 compare text with number): ")


def test_a_map_says_it_once(space: Space) -> None:
    """What its calls remark stands at the whole."""
    filter_ = {"type": "filter-structured", "target": "$item", "where": "price > 3"}
    steps = [
        *rows("1", "2"),
        {"type": "create-collection", "value": ["$rows", "$rows"], "out": "$both"},
        {"type": "map", "target": "$both", "operation": filter_, "out": "$out"},
    ]
    assert "(2 of 2 compare text with number)" in ran(space, *steps).steps[-1].value


def test_a_long_preview_keeps_it(space: Space) -> None:
    """What is cut is the list of items."""
    prices = [f"{'x' * 200} {number}" for number in range(40)] + [1]
    value = filtered(space, "price > 3 OR price LIKE 'x%'", *prices)
    assert value.startswith("40 items (40 of 41 compare text with number, 1 of 41 looks at number, not at text): ")
    assert len(value) <= 500


def queried(space: Space, sql: str, *prices: Any) -> tuple[str, int]:
    """Return the text and the count of a step that queries."""
    step = ran(space, *rows(*prices), {"type": "query", "sql": sql, "out": "$o"}).steps[-1]
    return step.value, step.extra["mismatches"]


def test_a_query_says_it_of_where(space: Space) -> None:
    """As the filter does, with what AND and OR do not look at left out."""
    sql = "SELECT price FROM $rows WHERE price > 3"
    assert queried(space, sql, "12", "7", "1") == ("0 items (3 of 3 compare text with number)", 3)
    value, count = queried(space, sql, "12", 7, 1)
    assert (value.startswith("1 note (1 of 3 compares text with number): "), count) == (True, 1)
    assert queried(space, sql, 12, None)[1] == 0
    both = "SELECT price FROM $rows WHERE price LIKE '1%' AND price > 3"
    assert queried(space, both, "12", "7") == ("0 items (1 of 2 compares text with number)", 1)
    day = "SELECT price FROM $rows r WHERE year(r.price) = 2026"
    assert queried(space, day, "2026-01-01", "soon", None)[0].startswith("1 note (1 of 3 has year of what is not a d")


def test_a_query_says_it_of_on_and_having(space: Space) -> None:
    """Of ON by pairs of rows, of HAVING by groups, also of a table that WITH makes."""
    joined = "SELECT a.price AS x FROM $rows a JOIN $rows b ON a.price = b.price AND b.price = 7"
    assert queried(space, joined, "7", 7)[0].startswith("1 note (3 of 4 compare ")
    having = "SELECT price AS p, count(*) AS n FROM $rows GROUP BY p HAVING max(price) > 5 AND n > 0"
    assert queried(space, having, "7", 7, 9, "a")[0].startswith("2 notes (2 of 4 compare text with number): ")
    within = "WITH few AS (SELECT price FROM $rows WHERE price < 3) SELECT count(*) AS n FROM few"
    assert queried(space, within, "7", 1)[0].startswith("1 note (1 of 2 compares text with number): ")


def test_what_stands_beside_a_subselect_is_told(space: Space) -> None:
    """The condition with the subselect itself is not counted."""
    sql = "SELECT price FROM $rows WHERE price IN (SELECT price FROM $rows) AND price > 3"
    assert queried(space, sql, "7", 1) == ("0 items (1 of 2 compares text with number)", 1)
