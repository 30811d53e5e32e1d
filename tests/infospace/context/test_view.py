"""A step's view: what is made through it is one transaction, and what is read through it is noted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from infospace import BudgetExceeded, Collection, Context, NotFound, Relation, Space
from infospace.core.bounds import Bounds, Room
from infospace.core.resources import CreatedBy
from infospace.search.query import Hit
from infospace.store.changes import Delete, Revise


def made(space: Space, *contents: object) -> Sequence[str]:
    """Ids of Notes that are there."""
    view = space.context()
    notes = [view.note(content) for content in contents]  # type: ignore[arg-type]
    space.store.commit(view.changes)
    return [note.id for note in notes]


def test_what_is_made_is_seen_at_once_by_the_step_alone(space: Space) -> None:
    """Others see it when the step is committed."""
    view = space.context(CreatedBy("run_1", "2", "make"))
    note = view.note({"a": 1}, metadata={"m": 2})
    list_ = view.collection([note], metadata={"title": "One"})
    arrow = view.relation(note, list_, "in")
    assert view.items(list_) == [note]
    assert (view.get(note.id), view.get(arrow.id)) == (note, arrow)
    with pytest.raises(NotFound, match="there is no Note"):
        space.context().get(note.id)


def test_a_commit_stores_what_the_view_showed(space: Space) -> None:
    """Content, metadata, members, ends and maker."""
    view = space.context(CreatedBy(None, "2", "make"))
    note = view.note({"a": 1}, metadata={"m": 2})
    list_ = view.collection([note], metadata={"title": "One"})
    arrow = view.relation(note, list_, "in")
    space.store.commit(view.changes)
    later = space.context()
    stored = later.get(note.id)
    assert (stored.content, stored.metadata, stored.created_by) == ({"a": 1}, {"m": 2}, CreatedBy(None, "2", "make"))
    collection = later.get(list_.id)
    assert isinstance(collection, Collection)
    assert (collection.members, collection.metadata) == (list_.members, {"title": "One"})
    relation = later.get(arrow.id)
    assert isinstance(relation, Relation)
    assert relation.content == {"source": note.id, "target": list_.id, "relation": "in"}


def test_ids_are_never_used_twice_even_when_nothing_is_committed(space: Space) -> None:
    """Not by another view, and not after closing."""
    first = space.context().note(1).id
    assert space.context().note(2).id != first


def test_a_scratch_view_takes_no_ids_of_the_space(space: Space) -> None:
    """For what is only looked at."""
    scratch = space.context(scratch=True).note(1).id
    assert int(scratch.removeprefix("Note_")) > 10**17
    assert int(space.context().note(1).id.removeprefix("Note_")) < 10**6


def test_reads_are_noted_with_their_versions_and_drafts_are_not(space: Space) -> None:
    """The first version read counts, whatever comes later."""
    a, b = made(space, "a", "b")
    space.store.commit([Revise(b, content="B")])
    view = space.context()
    draft = view.note("c")
    assert [r.content for r in view.resources([b, draft.id, a, b])] == ["B", "c", "a", "B"]
    assert dict(view.uses.items()) == {a: 1, b: 2}


def test_a_preview_is_no_use_of_what_it_shows(space: Space) -> None:
    """Looking at a result makes it depend on nothing."""
    view = space.context()
    list_ = view.collection([space.context().get(identifier) for identifier in made(space, "a", "b")])
    assert view.preview(list_) == "2 notes: a; b"
    assert not view.uses


def test_what_is_not_there_is_told_with_the_nearest_name(space: Space) -> None:
    """By id, by name, and among several."""
    view = space.context()
    view.name(view.note(1), "reading list")
    space.store.commit(view.changes)
    with pytest.raises(NotFound, match=r"nothing here has the name 'readinglist' \(did you mean 'reading list'\?\)"):
        space.context().get("readinglist")
    with pytest.raises(NotFound, match="there is no Note_999"):
        space.context().get("Note_999")
    (gone,) = made(space, "x")
    space.store.commit([Delete(gone)])
    with pytest.raises(NotFound, match=f"{gone} was deleted"):
        space.context().resources([gone])


def test_the_results_of_a_step_are_read_at_once_and_once(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, for a preview and for their content, in the order that they are asked for."""
    (identifier,) = made(space, "some text")
    view = space.context()
    found = view.collection([view.search_result(Hit(identifier, 1, at / 100, at, at + 1)) for at in range(9)])
    reading, opened = space.store.reading, []
    monkeypatch.setattr(space.store, "reading", lambda: opened.append(1) or reading())
    assert view.preview(found).startswith("9 items: some text (0.00); some text (0.01)")
    contents: Any = view.content(found)
    assert [one["metadata"]["passage"]["text"] for one in contents] == list("some text")
    assert view.content(found) == contents
    assert len(opened) == 2
    space.store.commit(view.changes)
    assert space.context().content(found) == contents


def test_contents_and_texts_of_every_kind(space: Space) -> None:
    """A Collection is the list of its contents; as text its items with a blank line between."""
    view: Context = space.context()
    text, data = view.note("text"), view.note({"b": 1, "a": [None]})
    arrow = view.relation(text, data, "cites")
    list_ = view.collection([text, view.collection([data, text]), arrow])
    assert view.content(list_) == ["text", [{"b": 1, "a": [None]}, "text"], arrow.content]
    assert view.text(list_).startswith('text\n\n{"b":1,"a":[null]}\n\ntext\n\n{"source":')
    assert view.source(text) is text


def test_texts_are_joined_as_long_as_there_is_room(space: Space) -> None:
    """The separators count too, but for one behind the last."""
    view = space.context()
    view.room = Room(Bounds(characters=6))
    assert view.joined(["ab", "cd"], "--") == "ab--cd"
    with pytest.raises(BudgetExceeded, match="it would make 7 or more"):
        view.joined(["ab", "cde"], "--")
    assert view.joined([], "--") == ""


def test_one_view_takes_over_what_another_made(space: Space) -> None:
    """Changes, drafts and uses."""
    (a,) = made(space, "a")
    inner, outer = space.context(), space.context()
    note = inner.note(inner.get(a).content)
    outer.merge(inner)
    assert outer.get(note.id) == note
    assert (dict(outer.uses.items()), len(outer.changes)) == ({a: 1}, 1)
