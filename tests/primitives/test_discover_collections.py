"""`discover-collections`: by name, metadata and the titles of what is in them. The real model."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from infospace.core.resources import Collection, Member
from infospace.store.changes import AddMembers, Delete, GiveName, RemoveMembers

ABOUT = {"type": "discover-collections", "query": "baking bread and cakes", "out": "$lists"}


def made(*values: str, **more: Any) -> dict[str, Any]:
    """A step that makes a Collection."""
    return {"type": "create-collection", "value": list(values), **more}


@pytest.fixture
def lists(run: Any) -> Any:
    """Run steps in a space of four Collections."""
    ran = run(
        made("Sourdough for beginners", "How to ice a cake", "Rye loaf", name="kitchen"),
        made("A guide to galaxies", "Life of a star", "Telescopes", name="night sky"),
        made("Sourdough", "Cakes", name="_drafts"),
        made("Chocolate cake recipe", "Bread rolls", out="$transient"),
        made(name="empty shelf"),
        {"type": "size", "target": "$transient", "out": "$n"},
    )
    assert ran.space is not None
    return run


def names(ran: Any) -> list[str | None]:
    """The names of the Collections found, in order."""
    return [ran.space.context().get(hit["metadata"]["source_id"]).name for hit in ran.content("lists")]


def test_the_nearest_kept_collection_comes_first(lists: Any) -> None:
    """Transient ones and infrastructure are not searched, though they would fit."""
    ran = lists(ABOUT)
    assert names(ran) == ["kitchen"]
    assert names(lists(ABOUT | {"query": "astronomy", "limit": "all", "threshold": -1}))[0] == "night sky"


def test_a_hit_is_a_search_result_of_type_collection(lists: Any) -> None:
    """Its text is the items' titles, and `load` gives the Collection itself."""
    ran = lists(
        ABOUT,
        {"type": "load", "target": "$lists[0]", "out": "$kitchen"},
        {"type": "size", "target": "$kitchen", "out": "$n"},
    )
    (hit,) = ran.content("lists")
    assert list(hit) == ["text", "format", "metadata", "char_count"]
    assert hit["text"] == "Sourdough for beginners\nHow to ice a cake\nRye loaf"
    about = hit["metadata"]
    assert (about["type"], about["title"], about["passage"]) == ("Collection", "kitchen", None)
    assert ran.content("n") == 3


def test_the_certificate_counts_collections(lists: Any) -> None:
    """Of the three that are kept and not infrastructure."""
    proved = lists(ABOUT | {"limit": 1, "threshold": -1}).last.extra["certificate"]
    assert (proved["collections"], proved["scored"], proved["matched"], proved["returned"]) == (3, 3, 3, 1)
    assert (proved["exhaustive"], proved["method"], "notes" in proved) == (False, "exact", False)
    for threshold in (0, 0.5):
        assert lists(ABOUT | {"threshold": threshold}).last.extra["certificate"]["threshold"] == threshold


def test_new_members_and_names_count_at_once(lists: Any, space: Space) -> None:
    """What it is about is what it holds now."""
    sky = space.context().get("night sky")
    assert isinstance(sky, Collection)
    cakes = lists(made("Wedding cakes", "Brioche", "Bread without flour", out="$more")).resource("more")
    space.store.commit(
        [
            AddMembers(sky.id, [Member(member.id) for member in cakes.members]),
            RemoveMembers(sky.id, [member.id for member in sky.members]),
        ]
    )
    assert set(names(lists(ABOUT))) == {"kitchen", "night sky"}
    space.store.commit([GiveName("Collection_1", "_kitchen"), GiveName(sky.id, "baking bread and cakes")])
    assert names(lists(ABOUT)) == ["baking bread and cakes"]
    space.store.commit([Delete(sky.id)])
    assert names(lists(ABOUT | {"limit": "all"})) == []


def test_metadata_counts(run: Any) -> None:
    """A Collection of nothing is found by what is said of it."""
    run(made(name="c1", metadata={"about": "bread and cakes"}), made(name="c2", metadata={"about": "submarines"}))
    assert names(run(ABOUT)) == ["c1"]


def test_a_kept_search_is_found_by_the_titles_of_what_it_found(search: Any) -> None:
    """Of a search result the title is its source's."""
    search({"type": "discover-notes", "query": "bake bread", "limit": 2, "threshold": -1, "out": "$h", "name": "hits"})
    (hit,) = search(ABOUT | {"threshold": 0.1}).content("lists")
    assert hit["text"].splitlines()[0] == "bread"


def test_without_collections_nothing_is_found(run: Any) -> None:
    """No model is needed for that."""
    ran = run(ABOUT)
    assert (ran.content("lists"), ran.last.extra["certificate"]["exhaustive"]) == ([], True)


@pytest.mark.parametrize("fault", [{"query": " "}, {"limit": 0}, {"threshold": 2}, {"mode": "keyword"}])
def test_wrong_arguments_are_refused(run: Any, fault: dict[str, Any]) -> None:
    """Before anything runs."""
    run(ABOUT | fault, status="refused")


def test_auto_ends_hits_between_the_best_and_chance(lists: Any) -> None:
    """What everyday requests reach among the Collections is said, and so is what counts."""
    ran = lists(ABOUT | {"threshold": "auto", "limit": "all"})
    proved = ran.last.extra["certificate"]
    assert names(ran) == ["kitchen"]
    assert proved["chance"] < proved["threshold"] < ran.content("lists")[0]["metadata"]["score"]
    assert proved["max_below"] < proved["threshold"]
