"""`pluck`: one field of each item."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ITEM = st.fixed_dictionaries({}, optional={"a": st.none() | st.integers(0, 3) | st.lists(st.integers(), max_size=2)})


@settings(max_examples=30, deadline=None)
@given(items=st.lists(ITEM, max_size=5))
def test_values_come_in_order_and_items_without_the_field_are_counted(shared: Any, items: list[Any]) -> None:
    """A null is a value; a missing field is none."""
    ran = shared(
        {"type": "create-collection", "value": [*items, {"a": 9}], "out": "$list"},
        {"type": "pluck", "target": "$list", "field": "a", "out": "$values"},
    )
    there = [item["a"] for item in items if "a" in item] + [9]
    assert ran.content("values") == there
    assert ran.last.extra["excluded"] == len(items) + 1 - len(there)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "T"),
        ("deep.list[1].x", 2),
        ("deep.list[-1].x", 2),
        ('["odd key"]', 3),
        ("metadata.tag", "own"),
        ("@metadata.tag", "own"),
        ("@name", "thing"),
    ],
)
def test_a_path_reads_content_first_and_then_the_notes_own_metadata(run: Any, field: str, value: Any) -> None:
    """One rule for paths everywhere."""
    content = {"title": "T", "deep": {"list": [{"x": 1}, {"x": 2}]}, "odd key": 3}
    ran = run(
        {"type": "create-note", "value": content, "metadata": {"tag": "own"}, "name": "thing", "out": "$x"},
        {"type": "create-collection", "value": ["$x"], "out": "$list"},
        {"type": "pluck", "target": "$list", "field": field, "out": "$values"},
    )
    assert ran.content("values") == [value]


def test_metadata_of_content_goes_before_the_notes_own(run: Any) -> None:
    """`@metadata` always means the resource."""
    ran = run(
        {"type": "create-note", "value": {"metadata": {"a": 1}}, "metadata": {"a": 2}, "out": "$x"},
        {"type": "create-collection", "value": ["$x"], "out": "$list"},
        {"type": "pluck", "target": "$list", "field": "metadata.a", "out": "$content"},
        {"type": "pluck", "target": "$list", "field": "@metadata.a", "out": "$own"},
    )
    assert (ran.content("content"), ran.content("own")) == ([1], [2])


def test_the_values_are_new_notes_without_metadata(run: Any) -> None:
    """Nothing of the item but the value goes over."""
    ran = run(
        {"type": "create-note", "value": {"a": {"b": 1}}, "metadata": {"m": 1}, "out": "$x"},
        {"type": "create-collection", "value": ["$x"], "out": "$list"},
        {"type": "pluck", "target": "$list", "field": "a", "out": "$values"},
    )
    (item,) = ran.items("values")
    assert (item.content, item.metadata) == ({"b": 1}, {})
    assert item.id != ran.resource("x").id


def test_a_field_that_search_results_cannot_have_is_refused_with_the_right_one(search: Any) -> None:
    """The check follows the closed schema of a result."""
    ran = search(
        {"type": "discover-notes", "query": "cats", "out": "$hits"},
        {"type": "pluck", "target": "$hits", "field": "title", "out": "$titles"},
        status="refused",
    )
    problem = ran.result.problems[0]
    assert (problem.code, problem.pointer) == ("unknown-field", "/steps/1/field")
    assert "metadata.title" in (problem.hint or "")


def test_an_expression_gives_a_value_of_each_item(run: Any) -> None:
    """Null where it reads what the item misses; a path as a whole is one, whatever words are in it."""
    ran = run(
        {"type": "create-note", "value": 10, "out": "$more"},
        {"type": "pluck", "target": [{"n": 1, "case": "a"}, {"case": "b"}], "field": "n + $more", "out": "$sums"},
        {"type": "pluck", "target": [{"n": 1, "case": "a"}, {"case": "b"}], "field": "case", "out": "$cases"},
    )
    assert (ran.content("sums"), ran.content("cases")) == ([11, None], ["a", "b"])


def test_an_expression_without_a_result_fails_the_step_and_names_the_item(run: Any) -> None:
    rows = {"type": "create-note", "value": [{"n": 1}, {"n": "x"}], "out": "$rows"}
    ran = run(rows, {"type": "pluck", "target": "$rows", "field": "n * 2", "out": "$twice"}, status="failed")
    assert "item 2" in ran.reason
