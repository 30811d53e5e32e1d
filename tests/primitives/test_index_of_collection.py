"""`index`: how many passages the items of a Collection have."""

from __future__ import annotations

from typing import Any


def test_it_counts_the_passages_that_a_search_within_looks_at(search: Any) -> None:
    """Of each source once, of what is in Collections too, and of transient Notes."""
    ran = search(
        {"type": "load", "target": "long", "out": "$long"},
        {"type": "discover-notes", "query": "a sleepy cat", "limit": "all", "threshold": -1, "out": "$hits"},
        {"type": "create-collection", "value": ["$hits", "$long", "A short one."], "out": "$c"},
        {"type": "index", "target": "$c", "out": "$n"},
        {"type": "search-within-collection", "target": "$c", "query": "cat", "limit": 1, "out": "$one"},
    )
    counted, searched = ran.result.steps[3].extra, ran.last.extra["certificate"]
    assert ran.content("n") == searched["passages"] > len(ran.items("hits"))
    assert counted == {"items": searched["items"], "left_out": searched["left_out"]}


def test_of_nothing_with_text_it_is_0(run: Any) -> None:
    """And needs no model."""
    ran = run(
        {"type": "create-note", "value": "", "out": "$a"},
        {"type": "create-relation", "source": "$a", "target": "$a", "relation": "is", "out": "$r"},
        {"type": "create-collection", "value": ["$a", "$r"], "out": "$c"},
        {"type": "index", "target": "$c", "out": "$n"},
    )
    assert (ran.content("n"), ran.last.extra) == (0, {"items": 1, "left_out": 1})
