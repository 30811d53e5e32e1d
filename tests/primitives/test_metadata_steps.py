"""`get-metadata` and `set-metadata`: what is known of a resource, of any kind."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

NOTE = {"type": "create-note", "value": "text", "metadata": {"kind": "memo", "tags": ["a", "b"]}, "out": "$x"}
LIST = {"type": "create-collection", "value": [1], "metadata": {"kind": "memo", "tags": ["a", "b"]}, "out": "$x"}
ARROW = [
    {"type": "create-note", "value": 1, "out": "$n"},
    {"type": "create-relation", "source": "$n", "target": "$n", "relation": "is", "out": "$x"},
]


def get(**arguments: Any) -> dict[str, Any]:
    """A step that reads the metadata of `$x`."""
    return {"type": "get-metadata", "target": "$x", "out": "$got", **arguments}


def put(value: Any, **arguments: Any) -> dict[str, Any]:
    """A step that sets metadata of `$x`."""
    return {"type": "set-metadata", "target": "$x", "value": value, "out": "$put", **arguments}


@pytest.mark.parametrize("make", [NOTE, LIST])
def test_all_of_it_or_one_field_becomes_a_note(run: Any, make: dict[str, Any]) -> None:
    """Of Notes and Collections alike; a path goes into it."""
    ran = run(make, get(), get(field="tags[-1]", out="$last"), get(field="@metadata.kind", out="$kind"))
    assert ran.content("got") == {"kind": "memo", "tags": ["a", "b"]}
    assert (ran.content("last"), ran.content("kind")) == ("b", "memo")


@pytest.mark.parametrize("make", [[NOTE], [LIST], ARROW])
def test_what_is_set_is_there_for_later_steps_and_the_rest_stays(run: Any, make: list[dict[str, Any]]) -> None:
    """In place, as a new version; of a Relation too. Given is a Note of all the metadata."""
    ran = run(*make, put({"kind": "note", "n": None}), get(field="kind"), get(field="n", out="$null"))
    x = ran.resource("x")
    assert x.metadata == {**(make[-1].get("metadata") or {}), "kind": "note", "n": None}
    assert (ran.content("got"), ran.content("null"), x.version) == ("note", None, 2)
    assert ran.content("put") == x.metadata
    with ran.space.store.reading() as snapshot:
        assert snapshot.get(x.id, 1).metadata == make[-1].get("metadata", {})


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(st.tuples(st.dictionaries(st.sampled_from("abc"), st.integers(0, 3)), st.booleans()), max_size=4))
def test_setting_is_pythons_update_or_replacement(shared: Any, steps: list[tuple[dict[str, int], bool]]) -> None:
    """One after the other."""
    expected: dict[str, int] = {}
    for value, merge in steps:
        expected = {**expected, **value} if merge else value
    sets = [put(value, merge=merge) for value, merge in steps]
    ran = shared({"type": "create-note", "value": 1, "out": "$x"}, *sets, get())
    assert ran.content("got") == expected


def test_content_that_has_metadata_is_read_by_the_rule_of_paths(run: Any) -> None:
    """As `$x.metadata` is; what is set is the resource's own, which `@metadata` reads."""
    ran = run(
        {"type": "create-note", "value": {"metadata": {"score": 1}}, "out": "$x"},
        put({"score": 2}),
        get(field="score"),
        get(field="@metadata.score", out="$own"),
    )
    assert (ran.content("got"), ran.content("own")) == (1, 2)


def test_of_a_search_result_its_content_is_read_and_its_source_is_changed(search: Any) -> None:
    """The evidence stays as it was."""
    ran = search(
        {"type": "discover-notes", "query": "bake bread", "limit": 1, "out": "$hits"},
        {"type": "get-metadata", "target": "$hits[0]", "field": "source.topic", "out": "$topic"},
        {"type": "set-metadata", "target": "$hits[0]", "value": {"topic": "baking"}},
        {"type": "load", "target": "$hits[0]", "out": "$x"},
        get(field="topic"),
    )
    assert (ran.content("topic"), ran.content("got")) == ("food", "baking")
    assert ran.content("hits")[0]["metadata"]["source"]["topic"] == "food"


def test_an_absent_field_fails_and_says_what_there_is(run: Any) -> None:
    """Where the check cannot know; where it can, it refuses, with what mends it."""
    ran = run(
        NOTE,
        {"type": "create-collection", "value": ["$x", 1], "out": "$c"},
        get(target="$c[1]", field="kind"),
        status="failed",
    )
    assert "`metadata.kind` does not exist" in ran.reason
    ran = run(NOTE, get(field="kinds"), status="refused")
    problem = ran.result.problems[0]
    assert (problem.code, problem.pointer, problem.hint) == (
        "unknown-field",
        "/steps/1/field",
        "did you mean `metadata.kind`?",
    )
    assert problem.fix == [{"op": "replace", "path": "/steps/1/field", "value": "kind"}]


def test_a_version_that_moved_on_is_a_conflict(run: Any) -> None:
    """And changes nothing."""
    ran = run(NOTE, put({"a": 1}), put({"a": 2}, if_version=1), status="failed")
    assert "is at version 2, not 1" in ran.reason
    assert ran.resource("x").metadata["a"] == 1


@pytest.mark.parametrize("value", ["text", ["a"], 1])
def test_metadata_is_an_object(run: Any, value: Any) -> None:
    """Anything else is refused where it stands."""
    ran = run(NOTE, put(value), status="refused")
    assert [p.pointer for p in ran.result.problems if p.severity == "error"] == ["/steps/1/value"]
