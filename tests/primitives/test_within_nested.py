"""`discover-notes` with `within`, `search-within-collection`, `index`: Collections in Collections, however they lie."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.core.resources import Collection
from planner.execute.start import run_sync

ALL = {"query": "a cat", "limit": "all", "threshold": -1, "out": "$hits"}


def step(type_: str, within: str) -> dict[str, Any]:
    """Search all of a Collection."""
    return ALL | {"type": type_, "within" if type_ == "discover-notes" else "target": within}


def names(ran: Any) -> list[str]:
    """The names of the sources found."""
    found = [ran.space.context().get(hit["metadata"]["source_id"]).name for hit in ran.content("hits")]
    return sorted(set(found))


def nested(*items: str, out: str, **more: Any) -> dict[str, Any]:
    """A step that makes a Collection."""
    return {"type": "create-collection", "value": list(items), "out": out, **more}


LOADED = [{"type": "load", "target": name, "out": f"${name}"} for name in ("star", "bread", "dog")]


@pytest.mark.parametrize("type_", ["discover-notes", "search-within-collection"])
def test_a_search_within_descends(look: Any, type_: str) -> None:
    """Three Collections deep, beside Notes; each once."""
    ran = look(
        *LOADED,
        nested("$star", out="$inner"),
        nested("$inner", "$bread", "$star", out="$middle"),
        nested("$dog", "$middle", "$inner", out="$outer"),
        step(type_, "$outer"),
    )
    assert names(ran) == ["bread", "dog", "star"]
    proved = ran.last.extra["certificate"]
    assert (proved.get("notes", proved.get("items")), proved["exhaustive"]) == (3, True)


@pytest.mark.parametrize("type_", ["discover-notes", "search-within-collection"])
def test_a_search_within_results_descends_into_their_sources(search: Any, type_: str) -> None:
    """A result of `discover-collections` stands for its Collection, and what lies in that."""
    ran = search(
        *LOADED,
        nested("$star", out="$inner"),
        nested("$inner", "$bread", out="$food", name="food and stars"),
        {"type": "discover-collections", "query": "food and stars", "threshold": -1, "out": "$found"},
        step(type_, "$found"),
    )
    assert names(ran) == ["bread", "star"]


@pytest.mark.parametrize("type_", ["discover-notes", "search-within-collection"])
def test_a_result_whose_collection_was_deleted_is_left_out(search: Any, type_: str) -> None:
    """What it held may be found no longer through it."""
    ran = search(
        *LOADED,
        nested("$bread", out="$food", name="food"),
        {"type": "discover-collections", "query": "food", "threshold": -1, "out": "$found"},
        nested("$found", "$dog", out="$mixed"),
        {"type": "remove", "target": "food"},
        step(type_, "$mixed"),
    )
    assert names(ran) == ["dog"]


def test_results_of_tools_have_no_source_here(look: Any) -> None:
    """They are no Notes of the space, and no reason to fail."""
    ran = look(
        {"type": "discover-tools", "query": "find notes by meaning", "out": "$tools"},
        LOADED[0],
        nested("$tools", "$star", out="$mixed"),
        step("discover-notes", "$mixed"),
    )
    assert ran.content("tools")
    assert names(ran) == ["star"]


@pytest.mark.parametrize("type_", ["discover-notes", "search-within-collection", "index"])
def test_a_stored_cycle_has_an_end(search: Any, found: Space, type_: str) -> None:
    """A file of before may hold a Collection that contains itself."""
    made = search(*LOADED, nested("$star", out="$a", name="a"), nested("$a", "$bread", out="$b", name="b"))
    outer = made.resource("b").id
    a, b = (int(made.resource(name).id.partition("_")[2]) * 4 + 1 for name in ("a", "b"))
    with sqlite3.connect(found.store.address) as file:
        file.execute("INSERT INTO members VALUES (?, 1000, ?, 1, NULL, NULL)", (a, b))
    file.close()
    with open_space(found.store.address) as again:
        inner = again.context().get("a")
        assert isinstance(inner, Collection)
        assert outer in [member.id for member in inner.members]
        end = step(type_, "b") if type_ != "index" else {"type": type_, "target": "b", "out": "$hits"}
        result = run_sync(again, [end])
        assert result.status == "success", result.reason
        assert result.result is not None
        data: Any = result.result.data
        if type_ == "index":
            assert data == 2
        else:
            assert {again.context().get(hit["metadata"]["source_id"]).name for hit in data} == {"bread", "star"}


def test_thousands_of_collections_in_one_another_are_searched(tmp_path: Path, model: object) -> None:
    """Each holds the next."""
    from infospace.core.ids import Kind
    from infospace.core.listener import NullListener
    from infospace.core.resources import Member
    from infospace.search.note_filter import numbers_within
    from infospace.search.passages_of_collection import counted_passages
    from infospace.store.changes import MakeCollection, MakeNote

    with open_space(tmp_path / "deep.db") as space:
        store = space.store
        note = store.new_id(Kind.NOTE)
        changes: list[Any] = [MakeNote(note, "A cat.", kept=True)]
        inner = note
        for _ in range(3_000):
            outer = store.new_id(Kind.COLLECTION)
            changes.append(MakeCollection(outer, (Member(inner),)))
            inner = outer
        store.commit(changes)
        view = space.context()
        top = view.get(inner)
        assert isinstance(top, Collection)
        assert numbers_within([top], view.resources).tolist() == [int(note.partition("_")[2])]
        assert counted_passages([top])(space, NullListener()).certificate["items"] == 1
