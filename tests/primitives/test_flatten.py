"""`flatten`: many into one."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(("separator", "text"), [(None, "a\n\nb"), (", ", "a, b"), ("", "ab"), ("\n", "a\nb")])
def test_texts_are_joined_in_order(run: Any, separator: str | None, text: str) -> None:
    """A blank line stands between them unless a separator is given."""
    given = {} if separator is None else {"separator": separator}
    ran = run(
        {"type": "create-collection", "value": ["a", "b"], "out": "$list"},
        {"type": "flatten", "target": "$list", "out": "$text", **given},
    )
    assert ran.content("text") == text


def test_what_is_no_text_is_its_compact_json_and_a_collection_its_items(run: Any) -> None:
    """Keys stay in stored order; the items of a Collection have a blank line between them."""
    ran = run(
        {"type": "create-collection", "value": ["x", "y"], "out": "$inner"},
        {"type": "create-collection", "value": ["a", {"b": [1, None], "a": "é"}, 2, "$inner"], "out": "$list"},
        {"type": "flatten", "target": "$list", "separator": "|", "out": "$text"},
    )
    assert ran.content("text") == 'a|{"b":[1,null],"a":"é"}|2|x\n\ny'


@pytest.mark.parametrize("separator", [None, "\n\n"])
def test_nothing_becomes_an_empty_text_or_collection(run: Any, separator: str | None) -> None:
    """Empty is success."""
    ran = run(
        {"type": "create-collection", "value": [], "out": "$list"},
        {"type": "flatten", "target": "$list", "separator": separator, "out": "$x"},
    )
    assert ran.content("x") == ([] if separator is None else "")


def test_with_a_null_separator_collections_become_one_a_level_less_deep(run: Any) -> None:
    """The items are the same resources; what is no Collection stays; only one level goes."""
    ran = run(
        {"type": "create-collection", "value": [1, 2], "out": "$a"},
        {"type": "create-collection", "value": ["$a", 3], "out": "$b"},
        {"type": "create-collection", "value": ["$a", "$b", 4, "$a"], "out": "$all"},
        {"type": "flatten", "target": "$all", "separator": None, "out": "$flat"},
    )
    assert ran.content("flat") == [1, 2, [1, 2], 3, 4, 1, 2]
    assert [item.id for item in ran.items("flat")[:2]] == [item.id for item in ran.items("a")]


def test_a_search_result_gives_its_sources_whole_text(search: Any) -> None:
    """Not the passage that was found, and not the result's JSON."""
    ran = search(
        {"type": "discover-notes", "query": "a cat falls asleep on a table", "where": "topic = 'work'", "out": "$hits"}
        | {"where": "metadata.topic = 'work'", "threshold": 0.0},
        {"type": "flatten", "target": "$hits", "out": "$text"},
    )
    text = ran.content("text")
    assert text == ran.space.context().get("long").content
    assert len(text) > 5_000
