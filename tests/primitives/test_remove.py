"""`remove`: out of a Collection, or out of the space."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

NOTES = [{"type": "create-note", "value": i, "out": f"$n{i}"} for i in range(4)]
LISTS = st.lists(st.integers(0, 3), max_size=6)


def collection(name: str, items: list[int]) -> dict[str, Any]:
    """A Collection of Notes by number."""
    return {"type": "create-collection", "value": [f"$n{i}" for i in items], "out": f"${name}"}


@settings(max_examples=40, deadline=None)
@given(there=LISTS, going=LISTS)
def test_what_is_taken_out_is_gone_from_the_collection_and_the_rest_stays(
    shared: Any, there: list[int], going: list[int]
) -> None:
    """In place and in order, every time it occurs; what was not in it changes nothing."""
    ran = shared(
        *NOTES,
        collection("c", there),
        collection("going", going),
        {"type": "remove", "target": "$c", "value": "$going", "out": "$left"},
    )
    left = [i for i in there if i not in going]
    assert (ran.content("c"), ran.content("left")) == (left, left)
    assert ran.resource("c").id == ran.resource("left").id
    assert ran.resource("c").version == (1 if left == there else 2)
    assert ran.last.extra["removed"] == len(there) - len(left)


def test_taken_out_is_not_deleted(run: Any) -> None:
    """The Note stays, and the earlier version of the Collection has it."""
    ran = run(*NOTES, collection("c", [1, 2]), {"type": "remove", "target": "$c", "value": "$n1", "out": "$d"})
    assert (ran.content("n1"), ran.content("c")) == (1, [2])
    with ran.space.store.reading() as snapshot:
        assert len(snapshot.get(ran.resource("c").id, 1)) == 2


def test_a_collection_that_is_an_item_goes_itself_and_any_other_takes_its_items(run: Any) -> None:
    """By what is in the Collection it is taken out of."""
    ran = run(
        *NOTES,
        collection("inner", [1]),
        {"type": "create-collection", "value": ["$inner", "$n1", "$n2"], "out": "$c"},
        {"type": "remove", "target": "$c", "value": "$inner"},
        {"type": "size", "target": "$c", "out": "$after_itself"},
        {"type": "remove", "target": "$c", "value": "$inner"},
    )
    assert (ran.content("after_itself"), ran.content("c")) == (2, [2])


def test_a_search_result_takes_out_its_source(search: Any) -> None:
    """And the source takes out its results."""
    ran = search(
        {"type": "discover-notes", "query": "a sleepy cat", "limit": 2, "out": "$hits"},
        {"type": "map", "target": "$hits", "operation": "load", "out": "$sources"},
        {"type": "remove", "target": "$sources", "value": "$hits[0]"},
        {"type": "remove", "target": "$hits", "value": "$sources"},
    )
    assert [len(ran.items(name)) for name in ("sources", "hits")] == [1, 1]


def test_deleted_leaves_every_collection_and_takes_its_relations_along(run: Any) -> None:
    """The name is free, the id says when and by whom it was deleted, and the other end stays."""
    ran = run(
        *NOTES,
        {"type": "name", "target": "$n1", "value": "one"},
        collection("c", [0, 1]),
        {"type": "create-relation", "source": "$n0", "target": "$n1", "relation": "to", "out": "$r"},
        {"type": "remove", "target": "one"},
        {"type": "create-note", "value": "new", "name": "one", "out": "$new"},
        {"type": "find-relations", "source": "$n0", "out": "$arrows"},
    )
    assert (ran.content("c"), ran.items("arrows")) == ([0], [])
    assert "n1" not in ran.result.bindings
    assert "r" not in ran.result.bindings
    gone = run({"type": "load", "target": "one", "out": "$x"})
    assert gone.content("x") == "new"


def test_what_reads_it_afterwards_fails_and_says_who_deleted_it(run: Any) -> None:
    """With the run and the step."""
    alias = {"type": "bind", "target": "$n1", "out": "$same"}
    gone = {"type": "remove", "target": "$held[0]"}
    held = {"type": "create-collection", "value": ["$n1"], "out": "$held"}
    ran = run(*NOTES[:-1], alias, held, gone, {"type": "say", "value": "${same}"}, status="failed")
    assert "was deleted at" in ran.reason
    assert "by remove, run_1, step 6" in ran.reason


def test_a_plan_whose_last_value_was_deleted_answers_what_it_was(run: Any) -> None:
    """The step gave it; that it is gone since changes no answer."""
    ran = run({"type": "create-note", "value": 1, "out": "$n"}, {"type": "remove", "target": "$n"})
    assert ran.result.result is not None
    assert ran.result.result.data == 1


def test_of_a_search_result_the_source_is_deleted(search: Any) -> None:
    """The result stays as evidence; the next search does not find the source."""
    look = {"type": "discover-notes", "query": "bake bread", "limit": 1, "threshold": -1}
    ran = search({**look, "out": "$hits"}, {"type": "remove", "target": "$hits[0]"}, {**look, "out": "$again"})
    first, again = (ran.content(name)[0]["metadata"]["source_id"] for name in ("hits", "again"))
    assert first != again
    assert search({"type": "load", "target": first, "out": "$x"}, status="refused")


def test_within_map_what_was_deleted_is_gone_for_the_items_after_it(run: Any) -> None:
    """Each item sees what the ones before it did."""
    ran = run(
        *NOTES,
        collection("c", [0, 1, 0]),
        {"type": "map", "target": "$c", "operation": "remove", "on_fail": "continue", "out": "$none"},
    )
    assert [failed["index"] for failed in ran.last.extra["failed"]] == [2]
    assert "deleted" in ran.last.extra["failed"][0]["reason"]
    assert {"n0", "n1"}.isdisjoint(ran.result.bindings)
    assert "n2" in ran.result.bindings


@pytest.mark.parametrize("value", [{}, {"value": "$n1"}])
def test_a_version_that_moved_on_is_a_conflict(run: Any, value: dict[str, str]) -> None:
    """Of the Collection that is taken out of, or deleted."""
    ran = run(
        *NOTES, collection("c", [1]), {"type": "remove", "target": "$c", "if_version": 2, **value}, status="failed"
    )
    assert "is at version 1, not 2" in ran.reason
    assert ran.content("c") == [1]


@pytest.mark.parametrize(
    ("step", "pointer", "code"),
    [
        ({"type": "remove", "target": "$n1", "out": "$x"}, "/steps/4/out", "unwanted-out"),
        ({"type": "remove", "target": "$n1", "name": "x"}, "/steps/4/name", "unwanted-out"),
        ({"type": "remove", "target": "$n1", "value": "$n2"}, "/steps/4/target", "wrong-kind"),
    ],
)
def test_the_check_knows_which_of_the_two_it_is(run: Any, step: dict[str, str], pointer: str, code: str) -> None:
    """Without `value` it gives nothing; with it, it wants a Collection."""
    ran = run(*NOTES, step, status="refused")
    assert [(p.pointer, p.code) for p in ran.result.problems] == [(pointer, code)]
