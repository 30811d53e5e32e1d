"""`size`: how many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize("count", [0, 1, 3, 50])
def test_a_collections_items_are_counted(run: Any, count: int) -> None:
    """The Note's content is a number."""
    ran = run(
        {"type": "create-collection", "value": list(range(count)), "out": "$list"},
        {"type": "size", "target": "$list", "out": "$n"},
    )
    assert ran.content("n") == count
    assert type(ran.content("n")) is int


def test_an_item_that_stands_twice_counts_twice_and_a_collection_once(run: Any) -> None:
    """It counts places, at the top level."""
    ran = run(
        {"type": "create-collection", "value": [1, 2, 3], "out": "$inner"},
        {"type": "create-collection", "value": ["$inner", "$inner"], "out": "$list"},
        {"type": "size", "target": "$list", "out": "$n"},
    )
    assert ran.content("n") == 2


def test_the_number_can_be_used_as_one(run: Any) -> None:
    """In a condition, and as an argument."""
    ran = run(
        {"type": "create-collection", "value": ["a", "b", "c"], "out": "$list"},
        {"type": "create-collection", "value": [1, 2], "out": "$two"},
        {"type": "size", "target": "$two", "out": "$n"},
        {"type": "head", "target": "$list", "count": "$n", "out": "$first"},
    )
    assert ran.content("first") == ["a", "b"]


def test_a_note_without_a_list_has_no_size(run: Any) -> None:
    """The check says which kind is wanted, and the run would too."""
    ran = run(
        {"type": "create-note", "value": {"a": [1, 2]}, "out": "$x"},
        {"type": "size", "target": "$x", "out": "$n"},
        status="refused",
    )
    assert ran.result.problems[0].code == "wrong-kind"


def test_called_directly_a_wrong_kind_is_one_sentence(call: Callable[..., Any]) -> None:
    """It says what was given and what fits."""
    assert call("size", target="reading list").reason.startswith('`target` is "reading list", not a Collection')
