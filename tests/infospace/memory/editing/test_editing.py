"""Changes by hand: each is a run that can be undone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.core.errors import Conflict, NotFound
from infospace.core.ids import Kind
from infospace.core.resources import Collection, CreatedBy, Member, Note
from infospace.editing.edit import edit, give_name, keep, remove, restore
from infospace.editing.undo import undo
from infospace.journal.origin import Use
from infospace.store.changes import AddMembers, MakeCollection, MakeNote
from infospace.store.optimistic import TRIES

sys.path.insert(0, str(Path(__file__).parents[1]))

from imported import Overtaken, add, notes, write


def made(space: Space, content: str = "text", *, kept: bool = True) -> Note:
    """Make a note."""
    identifier = space.store.new_id(Kind.NOTE)
    space.store.commit([MakeNote(identifier, content, {"title": content}, kept=kept)])
    found = space.store.get(identifier)
    assert isinstance(found, Note)
    return found


def test_removing_takes_all_or_none(space: Space) -> None:
    """One that is not there is named, and nothing is deleted."""
    first, second = made(space), made(space)
    with pytest.raises(NotFound, match="Note_99"):
        remove(space.store, [first.id, "Note_99"], "rm")
    run = remove(space.store, [first.id, second.id, first.id], "rm both")
    with pytest.raises(NotFound, match="was deleted at"):
        space.store.get(first.id)
    undo(space.store, run)
    assert space.store.get(first.id).kept
    assert space.store.get(second.id).kept


def test_what_was_done_by_hand_says_what_did_it(space: Space) -> None:
    """Each version, and that something is gone."""
    note = made(space)
    first = edit(space.store, note, "other", note.metadata, "edit")
    second = remove(space.store, [note.id], "rm")
    with space.store.reading() as snapshot:
        [origin] = snapshot.origins([Use(note.id, 2)])
    assert (origin.created_by, origin.latest_made) == (CreatedBy(first, None, "edit"), CreatedBy(second, None, "rm"))


def test_an_edit_whose_links_cannot_be_settled_has_ended_and_can_be_undone(space: Space, tmp_path: Path) -> None:
    """It fails by the reason why not, and is no run that seems to go on."""
    add(space, write(tmp_path / "in", **{"a.md": "one", "b.md": "b"}))

    def meanwhile(number: int) -> None:
        if 1 < number <= 1 + TRIES:
            raise Conflict("somebody was faster")

    store: Any = Overtaken(space.store, meanwhile)
    with pytest.raises(Conflict, match="somebody was faster"):
        edit(store, notes(space)["a.md"], "[[b]]", {}, "edit")
    with space.store.reading() as snapshot:
        run = snapshot.runs(limit=1)[0]
    assert (run.status, run.reason) == ("failed", "somebody was faster")
    undo(space.store, run.run)
    assert notes(space)["a.md"].content == "one"


def test_a_name_keeps_and_is_taken_away(space: Space) -> None:
    """A name that another has is refused; undoing brings back what was."""
    note, other = made(space, kept=False), made(space)
    run = give_name(space.store, note.id, "mine")
    assert (space.store.get(note.id).name, space.store.get(note.id).kept) == ("mine", True)
    with pytest.raises(Conflict, match="mine"):
        give_name(space.store, other.id, "mine")
    undo(space.store, give_name(space.store, note.id, ""))
    assert space.store.get(note.id).name == "mine"
    undo(space.store, run)
    assert (space.store.get(note.id).name, space.store.get(note.id).kept) == (None, False)


def test_keeping_is_undone(space: Space) -> None:
    """The note is of its run again."""
    note = made(space, kept=False)
    undo(space.store, keep(space.store, note.id))
    assert not space.store.get(note.id).kept


def test_an_earlier_version_comes_back(space: Space) -> None:
    """As a new one; of a deleted note too; what is no different makes none."""
    note = made(space, "first")
    edit(space.store, note, "second", {}, "edit")
    restore(space.store, note.id, 1)
    found = space.store.get(note.id)
    assert (found.content, found.metadata, found.version) == ("first", {"title": "first"}, 3)
    assert restore(space.store, note.id, 1) is None
    remove(space.store, [note.id], "rm")
    run = restore(space.store, note.id, 2)
    assert run is not None
    assert space.store.get(note.id).content == "second"
    undo(space.store, run)
    with pytest.raises(NotFound, match="deleted"):
        space.store.get(note.id)
    with pytest.raises(NotFound, match="no version 9"):
        restore(space.store, note.id, 9)


def test_members_come_back(space: Space) -> None:
    """A Collection is as it was; at its own version, nothing is different."""
    first, second = made(space), made(space)
    identifier = space.store.new_id(Kind.COLLECTION)
    space.store.commit([MakeCollection(identifier, [Member(first.id)], kept=True)])
    space.store.commit([AddMembers(identifier, [Member(second.id)])])
    assert restore(space.store, identifier, 2) is None
    restore(space.store, identifier, 1)
    found = space.store.get(identifier)
    assert isinstance(found, Collection)
    assert [member.id for member in found.members] == [first.id]
