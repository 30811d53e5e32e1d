"""Changes in place through a view: seen by the step at once, by others when it is committed."""

from __future__ import annotations

import pytest

from infospace import Collection, Conflict, Invalid, Member, NotFound, Space
from infospace.core.resources import CreatedBy
from infospace.store.changes import JsonNull, MakeNote


def stored(space: Space) -> tuple[str, str]:
    """Ids of a Note and of a Collection of it that are there."""
    view = space.context()
    note = view.note({"a": 1})
    list_ = view.collection([note])
    space.store.commit(view.changes)
    return note.id, list_.id


def test_a_change_is_seen_at_once_and_stored_as_it_was_shown(space: Space) -> None:
    """Content, metadata, members, version and maker."""
    note_id, list_id = stored(space)
    view = space.context(CreatedBy(None, "3", "change"))
    note, list_ = view.get(note_id), view.get(list_id)
    assert isinstance(list_, Collection)
    view.revise(note, content=JsonNull(), metadata={"k": 1})  # type: ignore[type-var]
    other = view.note("b")
    view.add(list_, [Member(other.id)])
    assert (view.get(note_id).content, space.context().get(note_id).content) == (None, {"a": 1})
    assert view.content(view.get(list_id)) == [None, "b"]
    space.store.commit(view.changes)
    for identifier in (note_id, list_id):
        shown, now = view.get(identifier), space.context().get(identifier)
        assert (
            (shown.version, shown.created_by, shown.metadata)
            == (now.version, now.created_by, now.metadata)
            == (
                2,
                CreatedBy(None, "3", "change"),
                now.metadata,
            )
        )
    assert space.context().content(space.context().get(list_id)) == [None, "b"]


def test_nothing_to_add_or_to_take_out_makes_no_version(space: Space) -> None:
    note_id, list_id = stored(space)
    view = space.context()
    list_ = view.get(list_id)
    assert isinstance(list_, Collection)
    assert view.add(list_, []) == view.take_out(list_, []) == list_
    assert view.take_out(list_, [Member(note_id)]).version == 2
    space.store.commit(view.changes)
    now = space.context().get(list_id)
    assert isinstance(now, Collection)
    assert (now.version, len(now)) == (2, 0)


def test_what_was_deleted_is_gone_for_the_step_and_its_parts(space: Space) -> None:
    """By its id, and among others; by a name too."""
    note_id, _ = stored(space)
    view = space.context()
    view.name(view.get(note_id), "n")
    space.store.commit(view.changes)
    view = space.context()
    view.delete(view.get("n"))
    for ask in (view, view.inner(CreatedBy())):
        for reference in (note_id, "n"):
            with pytest.raises(NotFound, match=f"{note_id} was deleted by this step"):
                ask.get(reference)
        with pytest.raises(NotFound, match="deleted by this step"):
            ask.resources([note_id])


def test_a_part_of_a_step_sees_the_parts_before_it_once_they_are_absorbed(space: Space) -> None:
    """What a part did that failed is as if it had not been."""
    note_id, _ = stored(space)
    outer = space.context()
    first, failed = outer.inner(CreatedBy()), outer.inner(CreatedBy())
    first.revise(first.get(note_id), content=2)  # type: ignore[type-var]
    failed.revise(failed.get(note_id), content=3)  # type: ignore[type-var]
    assert (failed.get(note_id).content, outer.get(note_id).content) == (3, {"a": 1})
    outer.merge(first)
    assert (outer.get(note_id).content, outer.inner(CreatedBy()).get(note_id).content) == (2, 2)
    assert outer.get(note_id).version == 2


def test_another_version_than_expected_is_a_conflict_at_once(space: Space) -> None:
    """Whatever the change, and nothing is changed."""
    note_id, list_id = stored(space)
    view = space.context()
    note, list_ = view.get(note_id), view.get(list_id)
    assert isinstance(list_, Collection)
    for change in (
        lambda: view.revise(note, content=1, if_version=2),  # type: ignore[type-var]
        lambda: view.add(list_, [], if_version=2),
        lambda: view.take_out(list_, [], if_version=2),
        lambda: view.delete(note, if_version=2),
    ):
        with pytest.raises(Conflict, match="is at version 1, not 2"):
            change()
    assert view.changes == []


def test_evidence_without_a_source_here_cannot_be_acted_on(space: Space) -> None:
    """A tool that was found stays as it was found."""
    content = {"text": "", "metadata": {"source_id": "t", "server": "mail", "tool": "send"}}
    identifier = space.store.new_id("Note")  # type: ignore[arg-type]
    space.store.commit([MakeNote(identifier, content, evidence=True)])
    view = space.context()
    tool = view.get(identifier)
    assert view.source(tool) is tool
    with pytest.raises(Invalid, match="evidence of a search among tools"):
        view.acted_on(tool)
