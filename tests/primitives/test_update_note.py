"""`update-note`: the same Note, a new version."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

MAKE = {"type": "create-note", "value": {"a": 1, "b": [2]}, "metadata": {"k": 1, "l": {"x": 1}}, "out": "$n"}


def update(**arguments: Any) -> dict[str, Any]:
    """A step that updates `$n`."""
    return {"type": "update-note", "target": "$n", "out": "$m", **arguments}


def test_it_stays_the_same_note_under_every_name_it_has(run: Any) -> None:
    """Id, name and variables stay; the version is a new one, and the earlier one stays readable."""
    ran = run(
        MAKE | {"name": "status"},
        update(value={"c": 3}),
        {"type": "load", "target": "status", "out": "$loaded"},
        {"type": "create-note", "value": "${n.c} ${loaded.c} ${m.c}", "out": "$said"},
    )
    assert ran.content("said") == "3 3 3"
    assert (ran.resource("m").id, ran.resource("n").version) == (ran.resource("n").id, 2)
    assert ran.resource("n").metadata == {"k": 1, "l": {"x": 1}}
    with ran.space.store.reading() as snapshot:
        assert snapshot.get(ran.resource("n").id, 1).content == {"a": 1, "b": [2]}


@pytest.mark.parametrize(
    ("arguments", "content", "metadata"),
    [
        ({"value": "text"}, "text", {"k": 1, "l": {"x": 1}}),
        ({"value": None}, None, {"k": 1, "l": {"x": 1}}),
        ({"metadata": {}}, {"a": 1, "b": [2]}, {}),
        ({"metadata": {"k": 2}, "merge": True}, {"a": 1, "b": [2]}, {"k": 2, "l": {"x": 1}}),
        ({"metadata": {"l": {"y": 2}}, "merge": True}, {"a": 1, "b": [2]}, {"k": 1, "l": {"y": 2}}),
        ({"value": {"b": None}, "merge": True}, {"a": 1, "b": None}, {"k": 1, "l": {"x": 1}}),
        ({"value": {"b": 3}, "metadata": {"m": 0}, "merge": False}, {"b": 3}, {"m": 0}),
    ],
)
def test_what_is_given_takes_the_place_or_is_merged_key_by_key(
    run: Any, arguments: dict[str, Any], content: Any, metadata: Any
) -> None:
    """What is left out stays; null is a value; a key that is given is replaced whole."""
    ran = run(MAKE, update(**arguments))
    assert (ran.content("n"), ran.resource("n").metadata) == (content, metadata)


@settings(max_examples=40, deadline=None)
@given(
    before=st.dictionaries(st.sampled_from("abcd"), st.integers(), max_size=4),
    changes=st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(), max_size=3), max_size=3),
)
def test_merging_is_that_of_python(shared: Any, before: dict[str, int], changes: list[dict[str, int]]) -> None:
    """One update after the other, each upon what the one before wrote."""
    merged = dict(before)
    for change in changes:
        merged |= change
    updates = [{"type": "update-note", "target": "$n", "value": change, "merge": True} for change in changes]
    ran = shared({"type": "create-note", "value": before, "out": "$n"}, *updates)
    assert (ran.content("n"), ran.resource("n").version) == (merged, 1 + len(changes))


def test_within_map_each_update_sees_the_one_before(run: Any) -> None:
    """Though all of them are written as one step."""
    operation = {"type": "update-note", "target": "$n", "value": "$item", "merge": True}
    ran = run(
        MAKE | {"value": {}},
        {"type": "create-collection", "value": [{"a": 1}, {"b": 2}, {"a": 3}], "out": "$c"},
        {"type": "map", "target": "$c", "operation": operation},
    )
    assert (ran.content("n"), ran.resource("n").version) == ({"a": 3, "b": 2}, 4)


def test_of_a_search_result_the_source_is_changed_and_the_result_stays(search: Any) -> None:
    """The evidence shows what was found; the next search finds the new text."""
    look = {"type": "discover-notes", "query": "bake bread", "limit": 1}
    ran = search(
        {**look, "out": "$hits"},
        {"type": "update-note", "target": "$hits[0]", "value": "Stars and galaxies.", "out": "$source"},
        {"type": "load", "target": "bread", "out": "$bread"},
        {**look, "query": "stars and galaxies", "out": "$again"},
    )
    assert ran.resource("source").id == ran.resource("bread").id
    assert ran.content("hits")[0]["text"].startswith("Knead")
    assert ran.content("again")[0]["metadata"]["source_id"] == ran.resource("bread").id


def test_a_version_that_moved_on_is_a_conflict_and_writes_nothing(run: Any) -> None:
    """Without `if_version` the last write wins."""
    ran = run(MAKE, update(value=1), update(value=2, if_version=1), status="failed")
    assert "is at version 2, not 1" in ran.reason
    assert ran.content("n") == 1
    assert run(MAKE, update(value=1), update(value=2, if_version=2)).content("n") == 2


@pytest.mark.parametrize(
    ("content", "value", "message"),
    [("text", {"a": 1}, "the content of Note_"), ({"a": 1}, [1], "`value` is of type list")],
)
def test_only_objects_merge(run: Any, content: Any, value: Any, message: str) -> None:
    """The sentence says which of the two is none."""
    ran = run(MAKE | {"value": content}, update(value=value, merge=True), status="failed")
    assert message in ran.reason
    assert ran.content("n") == content


def test_a_collection_that_was_found_has_no_content_to_update(search: Any) -> None:
    """The check knows what the search results stand for."""
    ran = search(
        {"type": "discover-collections", "query": "anything", "threshold": -1, "out": "$lists"},
        {"type": "update-note", "target": "$lists[0]", "value": 1},
        status="refused",
    )
    assert [(p.code, p.pointer) for p in ran.result.problems] == [("wrong-kind", "/steps/1/target")]


def test_an_update_of_nothing_is_refused(run: Any) -> None:
    """At the step, with what there is to give."""
    ran = run(MAKE, update(), status="refused")
    assert [(p.pointer, p.message) for p in ran.result.problems] == [("/steps/1", "update-note changes nothing")]
