"""`filter-structured`: the items that satisfy an SQL condition."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.language.references import literal

VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"])
ITEM = st.fixed_dictionaries({}, optional={"x": VALUES})


@settings(max_examples=30, deadline=None)
@given(items=st.lists(ITEM, max_size=6), bound=st.integers(-3, 3))
def test_the_same_items_pass_as_in_a_plain_model(shared: Any, items: list[Any], bound: int) -> None:
    """Missing, null and other types compare as unknown; only other types are counted."""
    items = [*items, {"x": 0}]
    ran = shared(
        {"type": "create-note", "value": bound, "out": "$bound"},
        {"type": "create-collection", "value": items, "out": "$list"},
        {"type": "filter-structured", "target": "$list", "where": "x >= $bound", "out": "$some"},
    )
    numbers = [isinstance(item.get("x"), int) and not isinstance(item.get("x"), bool) for item in items]
    expected = [item for item, is_number in zip(items, numbers, strict=True) if is_number and item["x"] >= bound]
    assert ran.content("some") == expected
    others = sum(item.get("x") is not None and not number for item, number in zip(items, numbers, strict=True))
    assert ran.last.extra["mismatches"] == others


def test_the_items_are_the_same_resources_in_their_order(run: Any) -> None:
    """No copies."""
    ran = run(
        {"type": "create-collection", "value": [{"n": 3}, {"n": 1}, {"n": 2}], "out": "$list"},
        {"type": "filter-structured", "target": "$list", "where": "n <> 1", "out": "$some"},
    )
    before = ran.items("list")
    assert [item.id for item in ran.items("some")] == [before[0].id, before[2].id]


@pytest.mark.parametrize("text", ["O'Hara", '" OR 1 = 1 --', "100%", "$x", "${x}"])
def test_a_parameter_is_a_value_and_never_text_of_the_condition(run: Any, text: str) -> None:
    """Quotes in it mean nothing."""
    ran = run(
        {"type": "create-note", "value": {"t": literal(text)}, "out": "$x"},
        {"type": "create-collection", "value": ["$x", {"t": "other"}], "out": "$list"},
        {"type": "filter-structured", "target": "$list", "where": "t = $x.t", "out": "$some"},
    )
    assert ran.content("some") == [{"t": text}]


def test_a_parameter_keeps_its_type(run: Any) -> None:
    """The text "3" is not the number 3; the mismatch is counted."""
    ran = run(
        {"type": "create-note", "value": "3", "out": "$n"},
        {"type": "create-collection", "value": [{"n": 3}, {"n": "3"}], "out": "$list"},
        {"type": "filter-structured", "target": "$list", "where": "n = $n", "out": "$some"},
    )
    assert ran.content("some") == [{"n": "3"}]
    assert ran.last.extra["mismatches"] == 1


def test_a_name_that_no_item_has_is_told_in_the_text(run: Any) -> None:
    """A bare word is one; where something satisfies the condition nothing is told."""
    made = {"type": "create-note", "value": '[{"n": "Ann"}]', "out": "$text"}
    read = {"type": "coerce", "target": "$text", "coercion": "json", "out": "$json"}
    split = {"type": "split", "target": "$json", "out": "$all"}
    for where, value in (("n = Ann", "0 items (no item has `Ann`)"), ("n = 'Bob'", "0 items")):
        assert (
            run(made, read, split, {"type": "filter-structured", "target": "$all", "where": where}).last.value == value
        )


def test_fields_of_the_items_themselves_can_be_asked(run: Any) -> None:
    """`@name` and `metadata` mean the resource where the content has no such key."""
    ran = run(
        {"type": "create-note", "value": "a", "metadata": {"k": 1}, "name": "first", "out": "$a"},
        {"type": "create-collection", "value": ["$a", "b"], "out": "$list"},
        {"type": "filter-structured", "target": "$list", "where": "metadata.k = 1", "out": "$one"},
        {"type": "filter-structured", "target": "$list", "where": "@name IS NULL", "out": "$two"},
    )
    assert (ran.content("one"), ran.content("two")) == (["a"], ["b"])


def test_no_match_is_success(run: Any) -> None:
    """Empty is success."""
    ran = run(
        {"type": "create-collection", "value": [1], "out": "$list"},
        {"type": "filter-structured", "target": "$list", "where": "FALSE", "out": "$none"},
    )
    assert ran.content("none") == []


@pytest.mark.parametrize("where", ["", "x >", "x = 1; DROP TABLE notes", "x = ${y}", 3, None])
def test_what_is_not_of_the_language_is_refused_at_its_place(run: Any, where: Any) -> None:
    """One problem, at the `where`."""
    ran = run(
        {"type": "create-note", "value": 1, "out": "$y"},
        {"type": "create-collection", "value": ["$y"], "out": "$list"},
        {"type": "filter-structured", "target": "$list", "where": where, "out": "$some"},
        status="refused",
    )
    assert [(problem.code, problem.pointer) for problem in ran.result.problems if problem.severity == "error"] == [
        ("bad-where", "/steps/2/where")
    ]


def test_complete_of_all_asks_for_the_fields_that_any_item_has(run: Any) -> None:
    """Null and missing are gaps alike."""
    rows = [{"a": 1, "b": 2}, {"a": 1, "b": None}, {"a": 1}, {"a": 1, "b": 3}]
    ran = run({"type": "filter-structured", "target": rows, "where": "complete(*)", "out": "$full"})
    assert ran.content("full") == [rows[0], rows[3]]
