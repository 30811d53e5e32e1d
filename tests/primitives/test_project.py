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


def made(run: Any, rows: list[Any], fields: list[str]) -> tuple[list[Any], dict[str, Any]]:
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
        ("t", "/steps/1/fields", '`fields` is "t", not a list of paths'),
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
