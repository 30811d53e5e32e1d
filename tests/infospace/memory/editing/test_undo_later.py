"""Undoing a run with others after it: those that cancel each other out are no obstacle, and nobody is run over."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Space
from infospace.core.clock import now
from infospace.core.errors import Conflict
from infospace.core.ids import Kind, number_of
from infospace.core.resources import Collection, CreatedBy, Member, Note
from infospace.editing.edit import edit
from infospace.editing.undo import undo
from infospace.journal.rows import CloseRun, OpenRun
from infospace.store.changes import (
    AddMembers,
    Change,
    Delete,
    Expect,
    GiveName,
    Keep,
    MakeCollection,
    MakeNote,
    MakeRelation,
    Restore,
    Revise,
    Unkeep,
)
from infospace.store.sqlite import open_store

sys.path.insert(0, str(Path(__file__).parents[1]))

from imported import Overtaken, add, counts, notes, sound, write


def everything(space: Space) -> Any:
    """Return all that lives or did, with versions, names, members, files and links."""
    with space.store.reading() as snapshot:
        things = [
            (one.id, one.version, one.content, dict(one.metadata), one.name, one.kept)
            + (tuple(one.members) if isinstance(one, Collection) else ())
            for kind in Kind
            for one in snapshot.listing(kind, kept=None)
        ]
        return things, snapshot.tracked(), snapshot.links(), [run.run for run in snapshot.runs()]


def kept(space: Space) -> Any:
    """Return what is kept, without version numbers."""
    with space.store.reading() as snapshot:
        things = [
            (one.id, one.content, dict(one.metadata), one.name) for kind in Kind for one in snapshot.listing(kind)
        ]
        return things, snapshot.tracked(), snapshot.links()


def run_of(space: Space, make: Callable[[CreatedBy], list[Change]]) -> str:
    """Make changes as a run of its own."""
    run = space.store.new_id("run")
    opened = OpenRun(run, "edit", "test", None, {}, now(), "")
    space.store.commit(make(CreatedBy(run, None, "test")), [opened, CloseRun(run, "success", now())])
    return run


def edited(space: Space, path: str, text: str) -> str:
    """Edit the Note of a file; return the run."""
    run = edit(space.store, notes(space)[path], text, {}, "edit")
    assert run is not None
    return run


@pytest.fixture
def imported(space: Space, tmp_path: Path) -> tuple[str, Path]:
    """An import of linked files and rows; its run, and their folder."""
    folder = write(tmp_path / "in", **{"a.md": "[[b]]", "b.md": "b", "c.md": "c", "r.csv": "v\n1\n2\n"})
    return add(space, folder).run or "", folder


def test_an_import_is_undone_through_an_edit_and_its_undoing(space: Space, imported: tuple[str, Path]) -> None:
    """As if the edit had never been; links and their Relations included."""
    run, folder = imported
    before = kept(space)
    later = edited(space, "a.md", "[[c]] mine")
    undo(space.store, later)
    assert kept(space) == before
    undone = undo(space.store, run)
    assert sorted(undone.deleted) == ["Note_1", "Note_2", "Note_3", "Note_4", "Note_5", "Relation_1"]
    assert sound(space) == {}
    undo(space.store, undone.run)
    assert kept(space) == before
    assert counts(add(space, folder)) == {"unchanged": 5}


def test_an_edit_that_was_done_again_stands_in_the_way_by_its_own_name(
    space: Space, imported: tuple[str, Path]
) -> None:
    """Undoing the undoing brings the edit back, which is the run to undo then; nothing else is to be named."""
    run, _ = imported
    later = edited(space, "a.md", "mine")
    undone = undo(space.store, later)
    again = undo(space.store, undone.run)
    before = everything(space)
    with pytest.raises(Conflict, match=rf"^{run} cannot be undone, since Note_1 was changed by {later}") as refused:
        undo(space.store, run)
    assert undone.run not in refused.value.message
    assert again.run not in refused.value.message
    assert everything(space) == before
    undo(space.store, later)
    undo(space.store, run)
    assert sound(space) == {}


def test_an_import_of_a_change_goes_back_to_the_file_before_it(space: Space, imported: tuple[str, Path]) -> None:
    """Through an edit and its undoing on top."""
    _, folder = imported
    before = kept(space)
    write(folder, **{"a.md": "two [[c]]"})
    second = add(space, folder).run or ""
    undo(space.store, edited(space, "a.md", "mine"))
    undo(space.store, second)
    assert kept(space) == before
    summary = add(space, folder)
    assert (counts(summary), summary.conflicts) == ({"changed": 1, "unchanged": 4}, [])


def test_what_is_undone_already_is_not_undone_again(space: Space, imported: tuple[str, Path]) -> None:
    """The undoing is named; once that is undone, it can be."""
    run, _ = imported
    first = undo(space.store, run)
    with pytest.raises(Conflict, match=f"{run} is undone already, by {first.run}"):
        undo(space.store, run)
    second = undo(space.store, first.run)
    with pytest.raises(Conflict, match=f"{first.run} is undone already, by {second.run}"):
        undo(space.store, first.run)
    third = undo(space.store, run)
    assert sound(space) == {}
    undo(space.store, third.run)
    assert len(sound(space)) == 5


def test_a_removal_and_a_name_that_were_taken_back_are_seen_through(space: Space) -> None:
    """And so is a pair around which another pair lies."""
    a, b = (space.store.new_id(Kind.NOTE) for _ in range(2))
    made = run_of(space, lambda made: [MakeNote(one, one, kept=True, created_by=made) for one in (a, b)])
    named = run_of(space, lambda _: [GiveName(a, "x")])
    removed = run_of(space, lambda made: [Delete(a, made)])
    with pytest.raises(Conflict, match=f"{a} was deleted or restored by {removed}"):
        undo(space.store, named)
    undo(space.store, removed)
    with pytest.raises(Conflict, match=f"{made} cannot be undone, since {a} was named by {named} \\("):
        undo(space.store, made)
    undo(space.store, named)
    assert undo(space.store, made).deleted == [a, b]


def test_an_undoing_of_an_earlier_run_is_a_run_like_others(space: Space) -> None:
    """It cancels nothing that came after the run in question."""
    a = space.store.new_id(Kind.NOTE)
    run_of(space, lambda made: [MakeNote(a, "one", {"k": 1}, kept=True, created_by=made)])
    named = run_of(space, lambda _: [GiveName(a, "x")])
    revised = run_of(space, lambda made: [Revise(a, "two", created_by=made)])
    freed = undo(space.store, named).run
    with pytest.raises(Conflict, match=f"{revised} cannot be undone, since {a} was named by {freed}"):
        undo(space.store, revised)


MEANWHILE: dict[str, Callable[[CreatedBy], list[Change]]] = {
    "was changed by": lambda made: [Revise("Note_1", "theirs", created_by=made)],
    "was deleted or restored by": lambda made: [Delete("Note_2", made)],
    "was named by": lambda _: [GiveName("Note_3", "theirs")],
    "Collection_1 holds Note_3 now": lambda made: [
        MakeCollection("Collection_1", [Member("Note_3")], kept=True, created_by=made)
    ],
    "Relation_2 holds Note_4 now": lambda made: [
        MakeRelation("Relation_2", "Note_4", "Note_6", "cites", kept=True, created_by=made)
    ],
}


@pytest.mark.parametrize("message", MEANWHILE)
def test_what_somebody_does_while_a_run_is_being_undone_refuses_it(
    space: Space, imported: tuple[str, Path], message: str
) -> None:
    """After all was read and before it is committed: nothing is undone, and who was in between is named."""
    run, _ = imported
    other = space.store.new_id(Kind.NOTE)
    space.store.commit([MakeNote(other, "other", kept=True)])
    for kind in (Kind.COLLECTION, Kind.RELATION):
        assert number_of(space.store.new_id(kind)) in (1, 2)
    then: list[Any] = []

    def meanwhile(number: int) -> None:
        if number == 1:
            run_of(space, MEANWHILE[message])
            then.append(everything(space))

    store: Any = Overtaken(space.store, meanwhile)
    with pytest.raises(Conflict, match=message):
        undo(store, run)
    assert [everything(space)] == then
    assert space.store.check() == []


def test_an_edit_by_nobody_in_between_refuses_an_undoing_of_an_edit(space: Space, imported: tuple[str, Path]) -> None:
    """A change without a run is one too: it is not written over."""
    run = edited(space, "b.md", "mine")
    store: Any = Overtaken(
        space.store, lambda number: space.store.commit([Revise("Note_2", "theirs")]) if number == 1 else None
    )
    with pytest.raises(Conflict, match=rf"{run} cannot be undone, since Note_2 was changed by somebody \(version 3\)"):
        undo(store, run)
    assert notes(space)["b.md"].content == "theirs"


def test_a_removal_without_a_run_in_between_is_not_taken_back(space: Space, imported: tuple[str, Path]) -> None:
    """The Note stays deleted, though its edit is not undone then."""
    run = edited(space, "a.md", "[[c]]")
    store: Any = Overtaken(space.store, lambda number: space.store.commit([Delete("Note_1")]) if number == 1 else None)
    with pytest.raises(Conflict, match=f"{run} cannot be undone, since Note_1 was deleted at "):
        undo(store, run)
    assert "a.md" not in notes(space)
    assert space.store.check() == []


def test_what_was_restored_and_changed_since_is_not_deleted_again(space: Space) -> None:
    """By whatever run; until that is undone."""
    a = space.store.new_id(Kind.NOTE)
    space.store.commit([MakeNote(a, "one", kept=True)])
    restored = undo(space.store, run_of(space, lambda made: [Delete(a, made)])).run
    later = run_of(space, lambda made: [Revise(a, "two", created_by=made)])
    with pytest.raises(Conflict, match=rf"{restored} cannot be undone, since {a} was changed by {later}"):
        undo(space.store, restored)
    undo(space.store, later)
    assert undo(space.store, restored).deleted == [a]


@pytest.mark.parametrize("clock", ["stands", "goes back"])
def test_what_somebody_changed_since_is_known_by_its_version(
    space: Space, monkeypatch: pytest.MonkeyPatch, clock: str
) -> None:
    """Not by the time, which may be that of the undoing, or before it where the clock was set."""
    times = (f"2026-04-01T09:30:{second:02d}.000Z" for second in range(59, 0, -1))
    monkeypatch.setattr(
        "infospace.core.clock._written", lambda _: next(times) if clock == "goes back" else "2026-04-01T09:30:00.123Z"
    )
    a = space.store.new_id(Kind.NOTE)
    space.store.commit([MakeNote(a, "one", kept=True), Revise(a, "two")])
    restored = undo(space.store, run_of(space, lambda made: [Delete(a, made)])).run
    assert undo(space.store, undo(space.store, restored).run).deleted == []
    space.store.commit([Revise(a, "three")])
    with pytest.raises(Conflict, match=rf"{restored} cannot be undone, since {a} was changed by somebody"):
        undo(space.store, restored)


def test_what_an_import_made_and_somebody_deleted_is_no_obstacle(space: Space, imported: tuple[str, Path]) -> None:
    """It is gone already, with its links."""
    space.store.commit([Delete("Note_1")])
    assert undo(space.store, imported[0]).deleted == ["Note_2", "Note_3", "Note_4", "Note_5"]
    assert sound(space) == {}


def test_a_file_that_is_another_note_by_now_stays_that(space: Space, imported: tuple[str, Path]) -> None:
    """Restoring a note does not take the file from the one that was made of it since, also when it is made just now."""
    _, folder = imported
    run = run_of(space, lambda made: [Delete("Note_2", made)])
    store: Any = Overtaken(space.store, lambda number: add(space, folder) if number == 1 else None)
    with pytest.raises(Conflict, match=r"b.md' is Note_6 now"):
        undo(store, run)
    with pytest.raises(Conflict, match=r"b.md' is Note_6 now"):
        undo(space.store, run)
    assert notes(space)["b.md"].id == "Note_6"
    assert len(sound(space)) == 5


def test_a_kept_collection_and_what_it_kept_are_let_go_together(space: Space) -> None:
    """Neither stands in the way of the other."""
    store = space.store
    inner, outer = (store.new_id(Kind.COLLECTION) for _ in range(2))
    a = store.new_id(Kind.NOTE)
    store.commit([MakeNote(a, "a"), MakeCollection(inner, [Member(a)]), MakeCollection(outer, [Member(inner)])])
    run = run_of(space, lambda _: [Keep(outer)])
    undo(store, run)
    with store.reading() as snapshot:
        assert [snapshot.get(one).kept for one in (a, inner, outer)] == [False] * 3
    with pytest.raises(Conflict, match=f"{outer} holds {inner} now"):
        store.commit([Keep(outer), Unkeep(inner)])


def test_collections_that_hold_each_other_in_any_order_are_undone(space: Space) -> None:
    """The one that was made first holds the later one."""
    store = space.store
    first, second = (store.new_id(Kind.COLLECTION) for _ in range(2))
    a = store.new_id(Kind.NOTE)
    run = run_of(
        space,
        lambda made: [
            MakeNote(a, "a", kept=True, created_by=made),
            MakeCollection(first, [Member(a)], kept=True, created_by=made),
            MakeCollection(second, [Member(a)], kept=True, created_by=made),
            AddMembers(first, [Member(second)], created_by=made),
        ],
    )
    assert sorted(undo(store, run).deleted) == [first, second, a]
    assert store.check() == []


def test_a_commit_is_refused_when_things_do_not_stand_as_expected(space: Space) -> None:
    """By name, by being kept, by being alive, by version; then nothing of it is done."""
    store = space.store
    a, b, c = (store.new_id(Kind.NOTE) for _ in range(3))
    store.commit([MakeNote(a, "a", kept=True), GiveName(a, "x"), MakeNote(b, "b"), Delete(b)])
    stands = Expect(a, 1, "x", kept=True, alive=True)
    fits = [stands, Expect(b, 1, None, kept=False, alive=False), Restore(b, if_version=1)]
    refused: list[Change] = [
        replace(stands, version=2),
        replace(stands, name=None),
        replace(stands, kept=False),
        replace(stands, alive=False),
        replace(stands, id="Note_99"),
        Expect(b, 1, None, kept=False, alive=True),
        Restore(b, if_version=2),
    ]
    before = everything(space)
    for change in refused:
        with pytest.raises(Conflict, match="read it again"):
            store.commit([GiveName(a, "x"), MakeNote(c, "c"), change])
    assert everything(space) == before
    store.commit(fits)
    with store.reading() as snapshot:
        assert snapshot.get(b).content == "b"


def test_what_was_revised_and_deleted_at_once_comes_and_goes(space: Space) -> None:
    """By any number of undoings."""
    a = space.store.new_id(Kind.NOTE)
    space.store.commit([MakeNote(a, "one", kept=True)])
    before = kept(space)
    run = run_of(space, lambda made: [Revise(a, "two", created_by=made), Delete(a, made)])
    for _ in range(2):
        run = undo(space.store, run).run
        assert kept(space) == before
        run = undo(space.store, run).run
        assert kept(space)[0] == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["revise", "name", "rm", "undo", "undo", "undo"]), st.integers(0, 7))))
def test_undoing_whatever_can_be_undone_leads_back_to_the_state_before_each_run(acts: list[tuple[str, int]]) -> None:
    """A run that is not refused takes away its own effect alone: what is left is what the others come to."""
    with Space(open_store(":memory:", create=True)) as space:
        a, b = (space.store.new_id(Kind.NOTE) for _ in range(2))
        space.store.commit([MakeNote(one, "0", kept=True) for one in (a, b)])
        model: dict[str, Callable[[dict[str, Any]], None]] = {}
        undone: dict[str, str] = {}

        def effective(run: str) -> bool:
            return not any(effective(by) for by, of in undone.items() if of == run)

        def expected() -> dict[str, Any]:
            found: dict[str, Any] = {one: ["0", None] for one in (a, b)}
            for run, change in model.items():
                if effective(run):
                    change(found)
            return found

        for what, number in acts:
            one = (a, b)[number % 2]
            with space.store.reading() as snapshot:
                known = {note.id for note in snapshot.listing(Kind.NOTE) if isinstance(note, Note)}
            if what == "undo" and (model or undone):
                runs = [*model, *undone]
                run = runs[number % len(runs)]
                try:
                    undone[undo(space.store, run).run] = run
                except Conflict:
                    continue
            elif what == "revise" and one in known:
                run = run_of(space, lambda made, one=one, n=number: [Revise(one, str(n + 1), created_by=made)])  # type: ignore[misc]
                model[run] = lambda found, one=one, n=number: found[one].__setitem__(0, str(n + 1))  # type: ignore[misc]
            elif what == "name" and one in known and expected()[one][1] is None:
                run = run_of(space, lambda _, one=one, n=number: [GiveName(one, f"{one} {n}")])  # type: ignore[misc]
                model[run] = lambda found, one=one, n=number: found[one].__setitem__(1, f"{one} {n}")  # type: ignore[misc]
            elif what == "rm" and one in known:
                run = run_of(space, lambda made, one=one: [Delete(one, made)])  # type: ignore[misc]
                model[run] = lambda found, one=one: found.__setitem__(one, None)  # type: ignore[misc]
            with space.store.reading() as snapshot:
                there = {note.id: [note.content, note.name] for note in snapshot.listing(Kind.NOTE)}
            assert {one: there.get(one) for one in (a, b)} == expected()
            assert space.store.check() == []


@pytest.mark.parametrize("status", ["suspended", "running"])
def test_a_run_that_has_not_ended_is_not_undone(space: Space, status: Any) -> None:
    """It may go on with what it made; once it has ended, it can be."""
    run, note = space.store.new_id("run"), space.store.new_id(Kind.NOTE)
    opened = OpenRun(run, "plan", "", {}, {}, now(), "")
    space.store.commit([MakeNote(note, "made", kept=True, created_by=CreatedBy(run, "1"))], [opened])
    if status == "suspended":
        space.store.commit([], [CloseRun(run, status, now())])
    with pytest.raises(Conflict, match=f"{run} has not ended: it is {status} .*infospace cancel {run}"):
        undo(space.store, run)
    assert space.store.get(note).kept
    space.store.commit([], [CloseRun(run, "cancelled", now())])
    assert undo(space.store, run).deleted == [note]
