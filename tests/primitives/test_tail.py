"""`tail`: the last items."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=40, deadline=None)
@given(length=st.integers(0, 6), count=st.integers(0, 9))
def test_the_last_items_are_those_of_python(shared: Any, length: int, count: int) -> None:
    """In their order; all of them when there are fewer than `count`; none of them for 0."""
    values = list(range(length))
    ran = shared(
        {"type": "create-collection", "value": values, "out": "$list"},
        {"type": "tail", "target": "$list", "count": count, "out": "$last"},
        {"type": "head", "target": "$list", "count": max(0, length - count), "out": "$others"},
    )
    assert ran.content("last") == (values[-count:] if count else [])
    assert ran.content("others") + ran.content("last") == values


def test_by_default_it_is_the_last_item_in_a_new_collection(run: Any) -> None:
    """The item is the same resource; the Collection is another."""
    ran = run(
        {"type": "create-collection", "value": ["a", "b"], "out": "$list"},
        {"type": "tail", "target": "$list", "out": "$last"},
    )
    assert [item.id for item in ran.items("last")] == [ran.items("list")[1].id]
    assert ran.resource("last").id != ran.resource("list").id


def test_a_negative_count_is_refused(run: Any) -> None:
    """One sentence says what fits."""
    made = {"type": "create-collection", "value": [1], "out": "$list"}
    ran = run(made, {"type": "tail", "target": "$list", "count": -1, "out": "$x"}, status="refused")
    assert ran.result.problems[0].message == "`count` is -1, not a whole number from 0"
