"""`project`: some fields of each item."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROWS = [
    {"t": "a", "m": {"s": 1, "u": {"v": None}}, "tags": ["x", "y", "z"], "odd key": 0},
    {"t": "b", "m": {"s": 2.5}, "tags": []},
]


def made(run: Any, rows: list[Any], fields: Any) -> tuple[list[Any], dict[str, Any]]:
    ran = run(
        {"type": "create-collection", "value": [*rows, ROWS[0]], "out": "$list"},
        {"type": "project", "target": "$list", "fields": fields, "out": "$some"},
    )
    return ran.content("some"), ran.last.extra


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        (["t"], {"t": "a"}),
        (["m.s"], {"m": {"s": 1}}),
        (["m.u.v", "t", "m.s"], {"m": {"u": {"v": None}, "s": 1}, "t": "a"}),
        (["m", "m.s"], {"m": {"s": 1, "u": {"v": None}}}),
        (["m.s", "m"], {"m": {"s": 1, "u": {"v": None}}}),
        (['["odd key"]'], {"odd key": 0}),
        (["tags[-1]", "tags[0]"], {"tags": ["z", "x"]}),
        (["t", "t"], {"t": "a"}),
        ("m.s", {"m": {"s": 1}}),
    ],
)
def test_nesting_is_kept(run: Any, fields: list[str], first: Any) -> None:
    """Keys stand in the order in which they are named, elements too."""
    assert made(run, ROWS, fields)[0][0] == first


def test_items_that_miss_a_field_are_left_out_and_counted(run: Any) -> None:
    """Also one whose value is taken with the whole around it; a null is a value."""
    rows, extra = made(run, ROWS, ["m", "m.u.v"])
    assert (rows, extra) == ([{"m": ROWS[0]["m"]}] * 2, {"excluded": 1})


def test_what_belongs_to_the_resource_stands_without_its_sign(run: Any) -> None:
    """So that a later path can read it; the new Note has no metadata of its own."""
    ran = run(
        {"type": "create-note", "value": "text", "metadata": {"k": 1}, "name": "first", "out": "$a"},
        {"type": "create-collection", "value": ["$a"], "out": "$list"},
        {"type": "project", "target": "$list", "fields": ["@id", "@name", "@metadata.k", "content"], "out": "$some"},
        {"type": "pluck", "target": "$some", "field": "id", "out": "$ids"},
    )
    [row] = ran.content("some")
    assert row == {"id": ran.resource("a").id, "name": "first", "metadata": {"k": 1}, "content": "text"}
    assert ran.content("ids") == [ran.resource("a").id]
    assert [dict(item.metadata) for item in ran.items("some")] == [{}]


@pytest.mark.parametrize(
    ("fields", "pointer", "message"),
    [
        ([], "/steps/1/fields", "list should have at least 1 item"),
        (["a", "b..c"], "/steps/1/fields/1", "is not a path"),
        (["tags[0]", "tags.x"], "/steps/1/fields", "`tags` is an object in `tags.x`, and a list in another field"),
        (["[0]", "t"], "/steps/1/fields", "the item is an object in `t`, and a list in another field"),
        (["id", "@id"], "/steps/1/fields", "`id` and `@id` would stand in one place"),
        (["@metadata", "metadata.k"], "/steps/1/fields", "`@metadata` and `metadata.k` would stand in one place"),
        (["metadata.k", "@metadata"], "/steps/1/fields", "`metadata.k` and `@metadata` would stand in one place"),
        (3, "/steps/1/fields", "`fields` is 3, not a path, a list of paths or an object"),
        ({}, "/steps/1/fields", "at least 1 item"),
        ({"x": "a +"}, "/steps/1/fields/x", "`fields.x`: the expression ends where a value was expected, after '+'"),
        ({"x": "sum(a)"}, "/steps/1/fields/x", "'sum' (character 0), which is made of many items"),
        ({"x": 3}, "/steps/1/fields/x", "`fields.x` is 3, not an expression of SQL"),
        ({"x": "a", "y": "'${a}'"}, "/steps/1/fields/y", "text is never pasted into it"),
    ],
)
def test_fields_that_cannot_stand_together_are_refused(run: Any, fields: Any, pointer: str, message: str) -> None:
    """At their place, before anything runs."""
    ran = run(
        {"type": "load", "target": "rows", "on_fail": "continue", "out": "$list"},
        {"type": "project", "target": "$list", "fields": fields, "out": "$some"},
        status="refused",
    )
    problems = [problem for problem in ran.result.problems if problem.pointer.startswith("/steps/1")]
    problem = next(problem for problem in problems if problem.severity == "error")
    assert problem.pointer == pointer
    assert message in problem.message


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 2) | st.none()), max_size=5),
    fields=st.lists(st.sampled_from("abc"), min_size=1, max_size=3),
)
def test_the_fields_of_a_projection_are_those_of_the_item(shared: Any, rows: list[Any], fields: list[str]) -> None:
    """No more and no fewer."""
    rows = [*rows, {"a": 1, "b": 2, "c": 3}]
    ran = shared(
        {"type": "create-collection", "value": rows, "out": "$list"},
        {"type": "project", "target": "$list", "fields": fields, "out": "$some"},
    )
    whole = [row for row in rows if set(fields) <= row.keys()]
    assert ran.content("some") == [{field: row[field] for field in fields} for row in whole]
    assert ran.last.extra["excluded"] == len(rows) - len(whole)


def test_nothing_gives_nothing(run: Any) -> None:
    """Empty is success."""
    ran = run(
        {"type": "create-collection", "value": [], "out": "$list"},
        {"type": "project", "target": "$list", "fields": ["x"], "out": "$some"},
    )
    assert (ran.content("some"), ran.last.extra["excluded"]) == ([], 0)


ORDERS = [
    {"price": 2, "quantity": 3, "day": "2026-11-23", "tags": ["x"]},
    {"price": 0.1, "quantity": 3, "total": 7},
    {"quantity": 1, "day": None},
]


def projected(run: Any, rows: list[Any], fields: Any, status: str = "success", **arguments: Any) -> Any:
    """What `project` makes of rows; `$rate` is 1.5."""
    return run(
        {"type": "create-note", "value": 1.5, "out": "$rate"},
        {"type": "create-collection", "value": rows, "out": "$list"},
        {"type": "project", "target": "$list", "fields": fields, **arguments, "out": "$some"},
        status=status,
    )


def test_names_have_what_expressions_give(run: Any) -> None:
    """In their order; a missing value is null; `$x` is a value; names are keys as they are written."""
    fields = {"sum": "round(price * quantity * $rate, 2)", "m.d": "substr(day, 6)", "rate": "$rate", "id": "tags[0]"}
    ran = projected(run, ORDERS, fields)
    assert ran.content("some") == [
        {"sum": 9, "m.d": "11-23", "rate": 1.5, "id": "x"},
        {"sum": 0.45, "m.d": None, "rate": 1.5, "id": None},
        {"sum": None, "m.d": None, "rate": 1.5, "id": None},
    ]
    assert ran.last.extra == {}
    assert [list(row) for row in ran.content("some")] == [list(fields)] * 3


def test_keep_adds_to_the_own_fields_which_expressions_read_as_they_were(run: Any) -> None:
    """What is named replaces a field of that name; what is no object is under `content`."""
    fields = {"total": "price * quantity", "price": "price + 1", "was": "total"}
    rows = projected(run, ORDERS, fields, keep=True).content("some")
    assert rows == [
        {"price": 3, "quantity": 3, "day": "2026-11-23", "tags": ["x"], "total": 6, "was": None},
        {"price": 1.1, "quantity": 3, "total": 0.1 * 3, "was": 7},
        {"price": None, "quantity": 1, "day": None, "total": None, "was": None},
    ]
    plain = projected(run, [2, "a", [1]], {"n": "length(CAST(content AS text))"}, keep=True).content("some")
    assert plain == [{"content": 2, "n": 1}, {"content": "a", "n": 1}, {"content": [1], "n": None}]


def test_keep_adds_places_of_the_resource_to_an_item(run: Any) -> None:
    """What the content has is there already, lists and all."""
    value = {"t": "a", "tags": ["x", "y"], "metadata": {"k": 2}}
    fields = ["@id", "tags[0]", "@metadata.j"]
    ran = run(
        {"type": "create-note", "value": value, "metadata": {"k": 1, "j": 3}, "out": "$a"},
        {"type": "create-collection", "value": ["$a", {"t": "b"}], "out": "$list"},
        {"type": "project", "target": "$list", "fields": fields, "keep": True, "out": "$some"},
    )
    [row] = ran.content("some")
    identifier = ran.resource("a").id
    assert row == {"t": "a", "tags": ["x", "y"], "metadata": {"k": 2, "j": 3}, "id": identifier}
    assert ran.last.extra == {"excluded": 1}
    refused = projected(run, [[1, 2]], ["[0]"], "refused", keep=True)
    [problem] = [problem for problem in refused.result.problems if problem.severity == "error"]
    assert "an index at the beginning of a path makes a list" in problem.message


def test_an_operation_without_a_result_fails_the_step_or_gives_null(run: Any) -> None:
    """As `mismatch` says: the sentence names the item, the expression and the values; what is null is counted."""
    rows = [{"price": 1}, {"price": "two"}, {"price": None}, {"price": True}]
    reason = projected(run, rows, {"x": "price * 2"}, "failed").reason
    assert "item 2 (" in reason
    assert '`price * 2` computes with text and number, not with numbers: "two" and 2' in reason
    ran = projected(run, rows, {"x": "price * 2"}, mismatch="null")
    assert ran.content("some") == [{"x": 2}, {"x": None}, {"x": None}, {"x": None}]
    assert ran.last.extra == {"mismatches": 2}
    assert "1 without a result: computes with text and number, not with numbers" in ran.last.value


def test_complete_asks_for_every_key_that_an_item_has(run: Any) -> None:
    """`complete(*)` of the whole Collection, `complete(a, b)` of those named."""
    fields = {"all": "complete(*)", "some": "complete(price, quantity)"}
    rows = projected(run, [{"price": 1, "quantity": 2, "t": "a"}, {"price": 1, "quantity": 2}, {"t": "b"}], fields)
    assert rows.content("some") == [
        {"all": True, "some": True},
        {"all": False, "some": True},
        {"all": False, "some": False},
    ]
