"""Undoing a run brings everything back to how it was before it, and undoing that, forth again."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Space
from infospace.core.clock import now
from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.ids import Kind
from infospace.core.listener import NullListener
from infospace.core.resources import Collection, CreatedBy, Member
from infospace.editing.undo import undo
from infospace.files.import_files import import_paths
from infospace.files.tracked_files import was_of
from infospace.journal.rows import CloseRun, OpenRun
from infospace.store.changes import (
    AddMembers,
    Change,
    Delete,
    GiveName,
    Keep,
    MakeCollection,
    MakeNote,
    MakeRelation,
    RemoveMembers,
    Revise,
    Track,
    Untrack,
)
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parents[1]))

from imported import ACTS, IMPORT, Act, done, kept_things


def state(space: Space) -> Any:
    """Return all there is that somebody keeps, without version numbers."""
    with space.store.reading() as snapshot:
        return kept_things(snapshot), snapshot.tracked(), snapshot.links()


def run_of(space: Space, make: Callable[[CreatedBy], list[Change]]) -> str:
    """Make changes as a run of its own."""
    run = space.store.new_id("run")
    opened = OpenRun(run, "edit", "test", None, {}, now(), "")
    space.store.commit(make(CreatedBy(run, None, "test")), [opened, CloseRun(run, "success", now())])
    return run


def note(space: Space, content: str = "text") -> str:
    """Make a kept Note in a run of its own."""
    identifier = space.store.new_id(Kind.NOTE)
    run_of(space, lambda made: [MakeNote(identifier, content, kept=True, created_by=made)])
    return identifier


def check_both_ways(space: Space, act: Callable[[], str | None]) -> None:
    """Act; undo it; undo that: each leaves what was there before."""
    before = state(space)
    run = act()
    after = state(space)
    if run is None or before == after:
        return
    undone = undo(space.store, run)
    assert state(space) == before
    assert space.store.check() == []
    undo(space.store, undone.run)
    assert state(space) == after
    assert space.store.check() == []


@settings(max_examples=80, deadline=None)
@given(st.lists(ACTS, max_size=10))
def test_any_import_edit_or_removal_can_be_undone_and_that_too(acts: list[Act]) -> None:
    """Whatever was before it: resources, files and links are as they were."""
    with tempfile.TemporaryDirectory() as name, Space(open_store(":memory:", create=True)) as space:
        (Path(name) / "a.md").write_text("[[b]] [[c]]")
        for act in (*acts, IMPORT):
            check_both_ways(space, partial(done, space, Path(name), act))


def test_collections_names_and_relations_come_back(space: Space) -> None:
    """Also what a deletion took along, in its place."""
    a, b, c = note(space, "a"), note(space, "b"), note(space, "c")
    group, arrow = space.store.new_id(Kind.COLLECTION), space.store.new_id(Kind.RELATION)
    run_of(
        space,
        lambda made: [
            MakeCollection(group, [Member(a, {"n": 1}), Member(b), Member(c)], {"k": 1}, kept=True, created_by=made),
            MakeRelation(arrow, a, b, "cites", kept=True, created_by=made),
            GiveName(b, "bee"),
        ],
    )
    check_both_ways(space, lambda: run_of(space, lambda made: [Delete(b, made)]))
    check_both_ways(
        space, lambda: run_of(space, lambda made: [RemoveMembers(group, [a], created_by=made), Delete(a, made)])
    )
    check_both_ways(space, lambda: run_of(space, lambda made: [Delete(group, made), Delete(c, made)]))


def test_names_that_were_taken_go_back(space: Space) -> None:
    """To whoever had them."""
    a, b = note(space), note(space)
    run_of(space, lambda _: [GiveName(a, "x"), GiveName(b, "y")])
    check_both_ways(space, lambda: run_of(space, lambda _: [GiveName(b, "x", replace=True), GiveName(a, "y")]))


def test_what_was_kept_becomes_transient_again(space: Space) -> None:
    """And what a Collection was given is taken out."""
    group, *loose = space.store.new_id(Kind.COLLECTION), *(space.store.new_id(Kind.NOTE) for _ in range(2))
    run_of(
        space,
        lambda made: [*(MakeNote(one, "x", created_by=made) for one in loose), MakeCollection(group, [], kept=True)],
    )
    check_both_ways(space, lambda: run_of(space, lambda _: [Keep(loose[0])]))
    check_both_ways(space, lambda: run_of(space, lambda made: [AddMembers(group, [Member(loose[1])], created_by=made)]))


def test_a_holder_that_nobody_kept_does_not_stand_in_the_way(space: Space) -> None:
    """It goes on without what is undone, and has it again when that comes back."""
    a = note(space, "a")
    group = space.store.new_id(Kind.COLLECTION)
    space.store.commit([MakeCollection(group, [Member(a)])])
    undone = undo(space.store, "run_1")
    assert undone.deleted == [a]
    undo(space.store, undone.run)
    assert [one.id for one in cast("Collection", space.store.get(group)).members] == [a]
    assert space.store.check() == []


def test_a_later_change_stands_in_the_way_and_is_named(space: Space) -> None:
    """Versions, deletions, names, and new holders alike; nothing is done then."""
    a = note(space)
    later = run_of(space, lambda made: [Revise(a, "more", created_by=made)])
    before = state(space)
    with pytest.raises(Conflict, match=rf"run_1 cannot be undone, since {a} was changed by {later} \(version 2\)"):
        undo(space.store, "run_1")
    b, group = note(space), space.store.new_id(Kind.COLLECTION)
    made_by = "run_3"
    run_of(space, lambda made: [MakeCollection(group, [Member(b)], kept=True, created_by=made)])
    with pytest.raises(Conflict, match=f"{group} holds {b} now"):
        undo(space.store, made_by)
    undo(space.store, "run_4")
    undo(space.store, made_by)
    assert state(space) == before
    with pytest.raises(Conflict, match=r"run_3 is undone already, by run_6 \(undo run_6 to have it again\)"):
        undo(space.store, made_by)


def test_a_run_that_goes_on_or_wrote_nothing_is_not_undone(space: Space) -> None:
    """Nor one that does not exist."""
    with pytest.raises(NotFound, match="there is no run"):
        undo(space.store, "run_9")
    run = space.store.new_id("run")
    space.store.commit([], [OpenRun(run, "import", "", None, {}, now(), "")])
    with pytest.raises(Conflict, match="has not ended"):
        undo(space.store, run)
    space.store.commit([], [CloseRun(run, "success", now())])
    with pytest.raises(Invalid, match="wrote nothing"):
        undo(space.store, run)


def test_a_place_goes_back_from_a_note_that_goes_to_the_one_that_had_it(space: Space, tmp_path: Path) -> None:
    """What is deleted is in nobody's way."""
    (tmp_path / "a.md").write_text("one")
    import_paths(space, [tmp_path], NullListener())
    before = state(space)
    with space.store.reading() as snapshot:
        (file,) = snapshot.tracked()
    other = space.store.new_id(Kind.NOTE)
    run = run_of(
        space,
        lambda by: [
            Untrack(file.root, file.path, file.part, was_of(file)),
            MakeNote(other, "two", kept=True, created_by=by),
            Track(file.root, file.path, other, b"", 1),
        ],
    )
    with space.store.reading() as snapshot:
        assert [one.note for one in snapshot.tracked()] == [other]
    undo(space.store, run)
    assert state(space) == before
    assert space.store.check() == []


def test_an_import_that_was_undone_can_be_done_again(space: Space, tmp_path: Path) -> None:
    """A change that was undone is no edit of one's own: adding again takes the file without a conflict."""
    (tmp_path / "a.md").write_text("one")
    import_paths(space, [tmp_path / "a.md"], NullListener())
    (tmp_path / "a.md").write_text("two")
    second = import_paths(space, [tmp_path / "a.md"], NullListener())
    undo(space.store, second.run or "")
    third = import_paths(space, [tmp_path / "a.md"], NullListener())
    assert (third.changed, third.conflicts) == (1, [])
    with space.store.reading() as snapshot:
        assert [snapshot.get("Note_1", at).content for at in (1, 2, 3, 4)] == ["one", "two", "one", "two"]
