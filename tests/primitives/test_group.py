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
    assert ran.last.extra == {}


def test_what_is_no_number_fails_the_step_or_is_null_and_counted(run: Any) -> None:
    """As `mismatch` says: the sentence names the item, the aggregate and the value."""
    rows = [{"n": 1}, {"n": "2"}, {"n": True}]
    aggregates = {"total": "sum(n)", "mean": "avg(n)"}
    reason = grouped(run, rows, "@name", "failed", aggregates=aggregates).reason
    assert "item 2 (" in reason
    assert '`sum(n)` takes numbers, not text: "2"' in reason
    ran = grouped(run, rows, "@name", aggregates=aggregates, mismatch="null")
    assert ran.content("groups") == [{"@name": None, "total": 1, "mean": 1}]
    assert ran.last.extra == {"mismatches": 4}
    assert "2 without a result: takes numbers, not text" in ran.last.value


def test_a_mismatch_between_aggregates_names_the_group(run: Any) -> None:
    """It is about no single item."""
    rows = [{"r": "a", "n": 1, "t": "x"}, {"r": "b", "n": 0, "t": "y"}]
    aggregates = {"x": "count / sum(n)"}
    reason = grouped(run, rows, "r", "failed", aggregates={"x": "count(*) / sum(n)"}).reason
    assert 'the group {"r":"b"}: `count() / sum(n)` divides by zero' in reason
    assert grouped(run, rows, "r", "refused", aggregates=aggregates).result.problems


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ({"month": "substr(day, 1, 7)"}, [{"month": "2026-10", "n": 2}, {"month": "2026-11", "n": 1}]),
        ({"odd": "n % 2 = 1", "r": "upper(r)"}, [{"odd": True, "r": "A", "n": 2}, {"odd": False, "r": "B", "n": 1}]),
        ({"gone": "missing_one"}, [{"gone": None, "n": 3}]),
        ({"late": "n > $limit"}, [{"late": False, "n": 2}, {"late": True, "n": 1}]),
        (None, [{"n": 3}]),
    ],
)
def test_groups_are_of_what_expressions_give(run: Any, by: Any, groups: Any) -> None:
    """Each under its name; without `by` all items are one group."""
    rows = [
        {"day": "2026-10-01", "n": 1, "r": "a"},
        {"day": "2026-11-02", "n": 2, "r": "b"},
        {"day": "2026-10-03", "n": 1, "r": "A", "missing_one": None},
    ]
    limit = {"type": "create-note", "value": 1, "out": "$limit"}
    rows_of = {"type": "create-collection", "value": rows, "out": "$rows"}
    step = {"type": "group", "target": "$rows", "out": "$groups", **({} if by is None else {"by": by})}
    assert run(limit, rows_of, step).content("groups") == groups


def test_without_by_there_is_one_note_also_of_nothing(run: Any) -> None:
    """Counts are 0, lists empty, the rest null."""
    aggregates = {"n": "count", "total": "sum(x)", "all": "list(x)", "sure": "coalesce(sum(x), 0)", "first": "first(x)"}
    nothing = {"type": "create-collection", "value": [], "out": "$rows"}
    step = {"type": "group", "target": "$rows", "aggregates": aggregates, "out": "$groups"}
    assert run(nothing, step).content("groups") == [{"n": 0, "total": None, "all": [], "sure": 0, "first": None}]


def test_aggregates_stand_in_expressions_with_parameters_and_keys_of_the_group(run: Any) -> None:
    """Over expressions, inside them, with `$x` as a value, and with what the group is of."""
    rows = [
        {"r": "a", "p": 2, "q": 3, "who": "Ada", "ok": True},
        {"r": "a", "p": 1.5, "q": 2, "who": "Bo", "ok": False},
    ]
    rows += [{"r": "b", "p": 4, "q": 1, "who": "Ada", "ok": True}]
    aggregates = {
        "total": "round(sum(p * q) * $rate, 1)",
        "label": "r || ': ' || count(DISTINCT who)",
        "middle": "median(p)",
        "most": "quantile(q, 0.9)",
        "any": "bool_or(ok)",
        "every": "bool_and(ok)",
        "from": "first(who)",
        "to": "last(who)",
    }
    step = {"type": "group", "target": "$rows", "by": "r", "aggregates": aggregates, "out": "$groups"}
    rate = {"type": "create-note", "value": 1.5, "out": "$rate"}
    ran = run(rate, {"type": "create-collection", "value": rows, "out": "$rows"}, step)
    assert ran.content("groups") == [
        {"r": "a", "total": 13.5, "label": "a: 2", "middle": 1.75, "most": 2.9, "any": True, "every": False,
         "from": "Ada", "to": "Bo"},
        {"r": "b", "total": 6, "label": "b: 1", "middle": 4, "most": 1, "any": True, "every": True,
         "from": "Ada", "to": "Ada"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "pointer", "message", "hint"),
    [
        ({"aggregates": {"x": "summ(n)"}}, "/aggregates/x", "'summ(n)' is not an aggregate", 'did you mean "sum(n)"?'),
        ({"aggregates": {"x": 3}}, "/aggregates/x", "`aggregates.x` is 3, not an aggregate such as", None),
        ({"aggregates": {"x": "sum"}}, "/aggregates/x", "sum needs a path", "such as sum(metadata.score)"),
        ({"aggregates": ["count"]}, "/aggregates", '`aggregates` is ["count"], not an object', None),
        ({"aggregates": {"r": "count"}}, "", "'r' is both a key of `by` and the key of an aggregate", None),
        (
            {"aggregates": {"x": "sum(n) / n"}},
            "",
            "`n` in the aggregate 'x' is of one item: it stands in no aggregate and not in `by`",
            "`first(n)` is that of the first item; `list(n)` are all of them",
        ),
        ({"by": {"x": "upper(r"}}, "/by/x", "`by.x`: the expression has a `(` (character 5) that is not closed", None),
        ({"by": {"x": "rr"}}, "/by/x", "there is no `rr`", "did you mean `r`?"),
        ({"aggregates": {"x": "sum(upper(r))"}}, "/aggregates/x", "sum takes a number, and `upper(r)` is text", None),
        ({"by": {}}, "/by", "at least 1 item", None),
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
    """With one sentence; or it is null, and counted."""
    values = [{"n": 1e308, "r": 1}, {"n": 1e308, "r": 1}]
    ran = grouped(run, values, "r", "failed", aggregates={"x": "sum(n)"})
    assert "`sum(n)` is beyond what a number holds" in ran.reason
    counted = grouped(run, values, "r", aggregates={"x": "sum(n)"}, mismatch="null")
    assert counted.content("groups") == [{"r": 1, "x": None}]
    assert counted.last.extra["mismatches"] == 1


def test_nothing_has_no_groups(run: Any) -> None:
    """Empty is success."""
    assert grouped(run, [], "r").content("groups") == []
