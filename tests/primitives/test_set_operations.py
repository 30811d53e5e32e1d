"""`union`, `intersection`, `difference`, `distinct`: sets by identity or content, in the order of the first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

LISTS = st.lists(st.integers(0, 5), max_size=7)
NOTES = [{"type": "create-note", "value": {"n": i}, "out": f"$n{i}"} for i in range(6)]


def once(items: list[Any]) -> list[Any]:
    """The first of each."""
    return list(dict.fromkeys(items))


def collection(name: str, items: list[int]) -> dict[str, Any]:
    """A Collection of Notes by number."""
    return {"type": "create-collection", "value": [f"$n{i}" for i in items], "out": f"${name}"}


@settings(max_examples=60, deadline=None)
@given(a=LISTS, b=LISTS)
def test_the_algebra_of_sets_holds_by_identity(shared: Any, a: list[int], b: list[int]) -> None:
    """As Python's sets have it, with the order of the first; and the laws that join the operations."""
    ran = shared(
        *NOTES,
        collection("a", a),
        collection("b", b),
        {"type": "union", "target": "$a", "value": "$b", "out": "$either"},
        {"type": "intersection", "target": "$a", "value": "$b", "out": "$both"},
        {"type": "difference", "target": "$a", "value": "$b", "out": "$only"},
        {"type": "distinct", "target": "$a", "out": "$once"},
        {"type": "union", "target": "$both", "value": "$only", "out": "$again"},
    )
    found = {name: [item.content["n"] for item in ran.items(name)] for name in ("either", "both", "only", "once")}
    assert found["either"] == once([*a, *b])
    assert found["both"] == [i for i in once(a) if i in b]
    assert found["only"] == [i for i in once(a) if i not in b]
    assert found["once"] == once(a)
    assert {item.id for item in ran.items("again")} == {item.id for item in ran.items("a")}


VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 0.0, -0.0, 1, 1.0, 2.5, "", "1", "true", 2**53 + 1, float(2**53)]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None)
@given(a=st.lists(VALUES, max_size=5), b=st.lists(VALUES, max_size=5))
def test_by_content_equal_json_is_equal(shared: Any, a: list[Any], b: list[Any]) -> None:
    """1 and 1.0 are one value, true is not 1, `"1"` is not 1, the order of keys is no matter."""
    from infospace.data.json_text import same

    ran = shared(
        {"type": "create-collection", "value": a, "out": "$a"},
        {"type": "create-collection", "value": b, "out": "$b"},
        {"type": "union", "target": "$a", "value": "$b", "by": "content", "out": "$either"},
        {"type": "intersection", "target": "$a", "value": "$b", "by": "content", "out": "$both"},
        {"type": "difference", "target": "$a", "value": "$b", "by": "content", "out": "$only"},
        {"type": "distinct", "target": "$a", "by": "content", "out": "$once"},
    )
    expected: dict[str, list[Any]] = {"either": [], "both": [], "only": [], "once": []}
    for name, among in (("either", [*a, *b]), ("both", a), ("only", a), ("once", a)):
        for value in among:
            there = any(same(value, other) for other in b)
            wanted = {"both": there, "only": not there}.get(name, True)
            if wanted and not any(same(value, earlier) for earlier in expected[name]):
                expected[name].append(value)
    for name, values in expected.items():
        assert same(ran.content(name), values)


@pytest.mark.parametrize(
    ("by", "left"),
    [
        ("@id", [0, 1, 2, 3, 4]),
        ("content", [0, 1, 2, 3]),
        ("title", [0, 2, 3]),
        ("id", [0, 1]),
        (["id", "title"], [0, 1, 2, 3]),
    ],
)
def test_distinct_keeps_the_first_by_identity_content_or_path(run: Any, by: Any, left: list[int]) -> None:
    """A path that is missing counts as null; `id` is a key as any other, identity is `@id`."""
    values: list[Any] = [{"title": 1, "id": 7}, {"title": 1.0}, {"title": "1"}, {"title": None}, {"title": None}]
    ran = run(
        {"type": "create-collection", "value": values, "out": "$c"},
        {"type": "distinct", "target": "$c", "by": by, "out": "$d"},
    )
    ids = [item.id for item in ran.items("c")]
    assert [ids.index(item.id) for item in ran.items("d")] == left
    assert ran.last.extra["excluded"] == 5 - len(left)


def test_search_results_are_compared_by_their_sources(search: Any) -> None:
    """What two searches both found is there, whatever the scores; by content they differ."""
    find = {"type": "discover-notes", "limit": "all", "threshold": -1}
    ran = search(
        {**find, "query": "cat", "out": "$a"},
        {**find, "query": "dog", "out": "$b"},
        {"type": "intersection", "target": "$a", "value": "$b", "out": "$both"},
        {"type": "difference", "target": "$a", "value": "$b", "out": "$only"},
        {"type": "intersection", "target": "$a", "value": "$b", "by": "content", "out": "$same"},
        {"type": "map", "target": "$a", "operation": "load", "out": "$sources"},
        {"type": "difference", "target": "$a", "value": "$sources", "out": "$none"},
    )
    assert [len(ran.items(name)) for name in ("a", "both", "only", "same", "none")] == [7, 7, 0, 0, 0]
    assert [item.id for item in ran.items("both")] == [item.id for item in ran.items("a")]


def test_membership_is_by_the_same_identity(search: Any) -> None:
    """The condition `contains` finds a search result by its source."""
    ran = search(
        {"type": "discover-notes", "query": "a sleepy cat", "limit": 2, "out": "$hits"},
        {"type": "load", "target": "$hits[0]", "out": "$source"},
        {
            "type": "if",
            "condition": {"type": "contains", "target": "$hits", "value": "$source"},
            "then": [{"type": "create-note", "value": "in", "out": "$said"}],
            "else": [{"type": "create-note", "value": "out", "out": "$said"}],
        },
    )
    assert ran.content("said") == "in"


def test_the_items_themselves_are_given(run: Any) -> None:
    """No copies; and a Collection as an item counts as itself, by content as its list of contents."""
    ran = run(
        {"type": "create-collection", "value": [1], "out": "$x"},
        {"type": "create-collection", "value": [1.0], "out": "$y"},
        {"type": "create-collection", "value": ["$x", "$y"], "out": "$c"},
        {"type": "distinct", "target": "$c", "out": "$ids"},
        {"type": "distinct", "target": "$c", "by": "content", "out": "$contents"},
    )
    assert [item.id for item in ran.items("ids")] == [ran.resource("x").id, ran.resource("y").id]
    assert [item.id for item in ran.items("contents")] == [ran.resource("x").id]


@pytest.mark.parametrize("type_", ["union", "intersection", "difference"])
def test_two_ways_to_compare_there_are_and_a_third_is_refused(run: Any, type_: str) -> None:
    """With the nearest in the hint."""
    made = {"type": "create-collection", "value": [1], "out": "$c"}
    ran = run(made, {"type": type_, "target": "$c", "value": "$c", "by": "contents", "out": "$d"}, status="refused")
    assert [(p.pointer, p.hint) for p in ran.result.problems] == [("/steps/1/by", 'did you mean "content"?')]
