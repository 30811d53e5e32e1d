"""`persist`: what a plan made stays."""

from __future__ import annotations

from typing import Any

from infospace import Context, Space


def test_a_note_is_kept_in_place(run: Any) -> None:
    """The same id, and nothing else changes."""
    ran = run({"type": "create-note", "value": 1, "out": "$x"}, {"type": "persist", "target": "$x", "out": "$y"})
    assert ran.resource("y").id == ran.resource("x").id
    assert (ran.resource("y").kept, ran.resource("y").version) == (True, 1)


def test_keeping_again_changes_nothing(run: Any) -> None:
    """Idempotent: no new version, no new generation."""
    ran = run({"type": "create-note", "value": 1, "out": "$x"}, {"type": "persist", "target": "$x"})
    with ran.space.store.reading() as snapshot:
        before = snapshot.generation
    again = run({"type": "persist", "target": ran.resource("x").id, "out": "$x"})
    with ran.space.store.reading() as snapshot:
        assert snapshot.generation == before
    assert again.resource("x") == ran.resource("x")


def test_keeping_a_collection_keeps_members_at_any_depth(run: Any) -> None:
    """And what is made later is not kept with it."""
    ran = run(
        {"type": "create-note", "value": 1, "out": "$deep"},
        {"type": "create-collection", "value": ["$deep"], "out": "$inner"},
        {"type": "create-collection", "value": ["$inner", 2], "out": "$outer"},
        {"type": "create-note", "value": 3, "out": "$other"},
        {"type": "persist", "target": "$outer"},
    )
    assert all(ran.resource(name).kept for name in ("deep", "inner", "outer"))
    assert all(item.kept for item in ran.items("outer"))
    assert not ran.resource("other").kept


def test_relations_between_members_are_kept_and_others_are_not(run: Any, space: Space) -> None:
    """A Relation to something outside the Collection stays transient."""
    ran = run(
        {"type": "create-note", "value": "a", "out": "$a"},
        {"type": "create-note", "value": "b", "out": "$b"},
        {"type": "create-note", "value": "outside", "out": "$c"},
        {"type": "create-collection", "value": ["$a", "$b"], "out": "$list"},
    )
    view: Context = space.context()
    inner = view.relation(ran.resource("a"), ran.resource("b"), "cites")
    outer = view.relation(ran.resource("a"), ran.resource("c"), "cites")
    space.store.commit(view.changes)
    run({"type": "persist", "target": ran.resource("list").id})
    assert space.context().get(inner.id).kept
    assert not space.context().get(outer.id).kept
    assert not space.context().get(ran.resource("c").id).kept


def test_a_name_is_given_with_it(run: Any) -> None:
    """The step's `name` goes to what is kept."""
    ran = run(
        {"type": "create-note", "value": 1, "out": "$x"},
        {"type": "persist", "target": "$x", "name": "one", "out": "$y"},
    )
    assert ran.resource("x").name == "one"


def test_a_taken_name_is_refused_unless_replaced(run: Any) -> None:
    """The earlier holder loses the name and stays."""
    run({"type": "create-note", "value": 1, "name": "one"})
    make = {"type": "create-note", "value": 2, "out": "$x"}
    run(make, {"type": "persist", "target": "$x", "name": "one"}, status="refused")
    ran = run(make, {"type": "persist", "target": "$x", "name": "one", "replace": True})
    assert ran.space.context().get("one").content == 2


def test_what_is_kept_is_found_and_what_is_not_is_not(search: Any) -> None:
    """Keeping is what makes a Note discoverable."""
    make = {"type": "create-note", "value": "Violins and cellos play in an orchestra.", "out": "$x"}
    look = {"type": "discover-notes", "query": "orchestra music", "limit": 1, "threshold": 0.4, "out": "$hits"}
    assert search(make, look).content("hits") == []
    ran = search(make, {"type": "persist", "target": "$x"}, look)
    assert [hit["metadata"]["source_id"] for hit in ran.content("hits")] == [ran.resource("x").id]


def test_kept_search_results_stay_as_they_were(search: Any) -> None:
    """Evidence is neither indexed nor changed when its source changes."""
    from infospace.store.changes import Revise

    look = {"type": "discover-notes", "query": "bake bread", "limit": 1, "out": "$hits"}
    ran = search(look, {"type": "persist", "target": "$hits", "name": "evidence"})
    before = ran.content("hits")
    source = ran.space.context().get("bread")
    ran.space.store.commit([Revise(source.id, content="Nothing about food any more.")])
    assert search({"type": "load", "target": "evidence", "out": "$e"}).content("e") == before
    assert search(look | {"limit": "all", "threshold": -1}).last.extra["certificate"]["notes"] == 8
