"""`group`: one Note for each value. What it reckons is held against SQLite elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

ROWS = [
    {"r": "b", "n": 2, "m": {"s": 0.5}},
    {"r": "a", "n": None, "m": {"s": 1}},
    {"r": "b", "n": 3.5, "m": {"s": None}},
    {"n": 7, "m": {"s": 1.0}},
    {"r": None, "n": 2**60, "m": {"s": True}},
]


def grouped(run: Any, rows: list[Any], by: Any, status: str = "success", **arguments: Any) -> Any:
    return run(
        {"type": "create-collection", "value": rows, "out": "$rows"},
        {"type": "group", "target": "$rows", "by": by, "out": "$groups", **arguments},
        status=status,
    )


def test_by_default_the_items_of_each_value_are_counted(run: Any) -> None:
    """In the order of their first items; missing counts as null; no metadata."""
    ran = grouped(run, ROWS, "r")
    assert ran.content("groups") == [{"r": "b", "n": 2}, {"r": "a", "n": 1}, {"r": None, "n": 2}]
    assert [dict(item.metadata) for item in ran.items("groups")] == [{}, {}, {}]


def test_the_keys_are_the_paths_as_written(run: Any) -> None:
    """Of several paths, all; and the first of equal values stands."""
    ran = grouped(run, ROWS, ["m.s", '["r"]'], aggregates={})
    assert ran.content("groups") == [
        {"m.s": 0.5, '["r"]': "b"},
        {"m.s": 1, '["r"]': "a"},
        {"m.s": None, '["r"]': "b"},
        {"m.s": 1, '["r"]': None},
        {"m.s": True, '["r"]': None},
    ]


def test_values_are_equal_as_json(run: Any) -> None:
    """1 and 1.0, 0 and -0.0 are one; true, "1" and lists are others; the order of keys is no matter."""
    values = [1, "1", True, 1.0, [1], [1.0], {"a": 1, "b": 2}, {"b": 2, "a": 1.0}, 0, -0.0, False, 2**53 + 1, 2.0**53]
    ran = grouped(run, [{"v": value} for value in values], "v")
    assert [group["n"] for group in ran.content("groups")] == [2, 1, 1, 2, 2, 2, 1, 1, 1]


def test_every_aggregate_reckons(run: Any) -> None:
    """Nulls are passed over; whole numbers stay exact."""
    aggregates = {
        "all": "count",
        "some": "count(n)",
        "kinds": "count_distinct(m.s)",
        "total": "sum(n)",
        "mean": "avg(n)",
        "low": "min(n)",
        "high": "max(m.s)",
        "each": "list(n)",
    }
    ran = grouped(run, ROWS, "r", aggregates=aggregates)
    assert ran.content("groups")[0] == {
        "r": "b", "all": 2, "some": 2, "kinds": 1, "total": 5.5, "mean": 2.75, "low": 2, "high": 0.5, "each": [2, 3.5],
    }  # fmt: skip
    assert ran.content("groups")[1] == {
        "r": "a", "all": 1, "some": 0, "kinds": 1, "total": None, "mean": None, "low": None, "high": 1, "each": [],
    }  # fmt: skip
    assert ran.content("groups")[2]["total"] == 2**60 + 7
    assert ran.content("groups")[2]["high"] is True
    assert ran.last.extra == {"mismatches": 0}


def test_what_is_no_number_is_counted(run: Any) -> None:
    """And left out of the sum."""
    ran = grouped(run, [{"n": 1}, {"n": "2"}, {"n": True}], "@name", aggregates={"total": "sum(n)", "mean": "avg(n)"})
    assert ran.content("groups") == [{"@name": None, "total": 1, "mean": 1}]
    assert ran.last.extra == {"mismatches": 4}


@pytest.mark.parametrize(
    ("arguments", "pointer", "message", "hint"),
    [
        ({"aggregates": {"x": "summ(n)"}}, "/aggregates/x", "'summ(n)' is no aggregate", 'did you mean "sum(n)"?'),
        ({"aggregates": {"x": 3}}, "/aggregates/x", "`aggregates.x` is 3, not an aggregate such as", None),
        ({"aggregates": {"x": "sum"}}, "/aggregates/x", "sum needs a path", "such as sum(metadata.score)"),
        ({"aggregates": ["count"]}, "/aggregates", '`aggregates` is ["count"], not an object', None),
        ({"aggregates": {"r": "count"}}, "", "'r' is both a path of `by` and the key of an aggregate", None),
        ({"by": []}, "/by", "at least 1 item", None),
        ({"by": ["r", "a b"]}, "/by/1", "'a b' is not a path", None),
    ],
)
def test_what_is_wrong_is_told_at_its_place(
    run: Any, arguments: Any, pointer: str, message: str, hint: str | None
) -> None:
    """Before anything runs."""
    ran = grouped(run, ROWS, **{"by": "r", **arguments}, status="refused")
    [problem] = [problem for problem in ran.result.problems if problem.severity == "error"]
    assert problem.pointer == f"/steps/1{pointer}"
    assert message in problem.message
    assert hint is None or problem.hint == hint


def test_a_sum_that_no_number_holds_fails(run: Any) -> None:
    """With one sentence."""
    ran = grouped(run, [{"n": 1e308, "r": 1}, {"n": 1e308, "r": 1}], "r", "failed", aggregates={"x": "sum(n)"})
    assert "sum(n) is beyond what a number holds" in ran.reason


def test_nothing_has_no_groups(run: Any) -> None:
    """Empty is success."""
    assert grouped(run, [], "r").content("groups") == []
