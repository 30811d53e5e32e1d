"""`head`: the first items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=40, deadline=None)
@given(length=st.integers(0, 6), count=st.integers(0, 9))
def test_the_first_items_are_those_of_python(shared: Any, length: int, count: int) -> None:
    """All of them when there are fewer than `count`."""
    ran = shared(
        {"type": "create-collection", "value": list(range(length)), "out": "$list"},
        {"type": "head", "target": "$list", "count": count, "out": "$first"},
    )
    assert ran.content("first") == list(range(length))[:count]


def test_by_default_it_is_one_item_in_a_new_collection(run: Any) -> None:
    """The items are the same resources; the Collection is another."""
    ran = run(
        {"type": "create-collection", "value": ["a", "b"], "out": "$list"},
        {"type": "head", "target": "$list", "out": "$first"},
    )
    assert [item.id for item in ran.items("first")] == [ran.items("list")[0].id]
    assert ran.resource("first").id != ran.resource("list").id


@pytest.mark.parametrize("count", [-1, 2.5, "3", True, None])
def test_a_count_is_a_whole_number_from_0(call: Callable[..., Any], count: Any) -> None:
    """One sentence says what was given and what fits, as the author wrote it."""
    shown = {True: "true", None: "null"}.get(count, f'"{count}"' if isinstance(count, str) else f"{count}")
    answer = call("head", target=None, count=count)
    assert f"`count` is {shown}, not a whole number from 0" in [fault.message for fault in _faults(call, count)]
    assert answer.status == "failed"


def _faults(call: Callable[..., Any], count: Any) -> Any:
    from infospace import Catalogue, Collection
    from infospace.contract.catalogue import installed
    from infospace.contract.decorator import ArgumentsInvalid

    catalogue: Catalogue = installed()
    with pytest.raises(ArgumentsInvalid) as raised:
        catalogue.get("head").validate({"target": Collection(id="Collection_1"), "count": count})
    assert len(raised.value.faults) == 1
    return raised.value.faults


def test_a_count_written_with_a_point_is_whole_all_the_same(run: Any) -> None:
    """JSON has one kind of number: 2.0 is 2."""
    ran = run(
        {"type": "create-collection", "value": ["a", "b", "c"], "out": "$list"},
        {"type": "head", "target": "$list", "count": 2.0, "out": "$first"},
    )
    assert ran.content("first") == ["a", "b"]
