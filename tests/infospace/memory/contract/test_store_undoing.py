"""What undoing needs of a store: bringing back, letting go, and knowing what a run did."""

from __future__ import annotations

from dataclasses import replace

import pytest
from store_tools import AT, collection, embed, get, ids, kept, note, open_run, relation, searched, waiting

from infospace.core.errors import Conflict, NotFound
from infospace.core.ids import Kind, number_of
from infospace.core.resources import CreatedBy, Member
from infospace.journal.rows import CloseRun
from infospace.store.changes import (
    AddMembers,
    Delete,
    Expect,
    FreeName,
    GiveName,
    Keep,
    Linked,
    MakeNote,
    RemoveMembers,
    Restore,
    Revise,
    SetLinks,
    Track,
    Unkeep,
    Untrack,
)
from infospace.store.protocol import Effect, Store


def gone(store: Store, identifier: str) -> bool:
    """Whether a resource was deleted."""
    with store.reading() as snapshot:
        return identifier not in [found.id for found in snapshot.listing(Kind.NOTE, kept=None)]


class TestRestoring:
    """Undoing a deletion, going back to a version."""

    def test_a_deleted_note_comes_back_as_it_was(self, store: Store) -> None:
        """Kept, at its version, and searched; its name stays free."""
        a = note(store, "text", kept=True)
        store.commit([GiveName(a, "n")])
        embed(store, a)
        store.commit([Delete(a)])
        store.commit([Restore(a)])
        found = get(store, a)
        assert (found.content, found.kept, found.version, found.name) == ("text", True, 1, None)
        assert searched(store) == waiting(store) == [number_of(a)]

    def test_an_earlier_version_becomes_a_new_one(self, store: Store) -> None:
        """Content, metadata and members; by whom, and what lies between stays readable."""
        a, b = note(store, "one", tag=1), note(store)
        group = collection(store, [a, b, a])
        store.commit([Revise(a, "two", {"tag": 2}), AddMembers(group, [Member(b)])])
        store.commit([Restore(a, 1, CreatedBy("run_1", None, "undo")), Restore(group, 1)])
        found = get(store, a)
        assert (found.content, found.metadata, found.version, found.created_by.by) == ("one", {"tag": 1}, 3, "undo")
        assert [ids(get(store, group, version)) for version in (1, 2, 3)] == [[a, b, a], [a, b, a, b], [a, b, a]]
        assert get(store, a, 2).content == "two"

    def test_what_never_was_cannot_come_back(self, store: Store) -> None:
        """Neither a resource nor a version."""
        a = note(store)
        for change, message in ((Restore("Note_99"), "there is no Note_99"), (Restore(a, 7), f"{a} has no version 7")):
            with pytest.raises(NotFound, match=message):
                store.commit([change])

    def test_what_is_let_go_is_transient_again(self, store: Store) -> None:
        """And out of discovery; letting go twice is once."""
        a = note(store, kept=True)
        store.commit([Unkeep(a), Unkeep(a)])
        assert (kept(store, a), searched(store), waiting(store)) == ([False], [], [])

    def test_what_something_kept_holds_is_not_let_go(self, store: Store) -> None:
        """A Conflict; what holds it must be let go, or leave it out, before."""
        a = note(store)
        group = collection(store, [a], kept=True)
        with pytest.raises(Conflict, match=f"{group} holds {a}"):
            store.commit([Unkeep(a)])
        store.commit([Unkeep(group), Unkeep(a)])
        assert kept(store, a, group) == [False, False]

    def test_what_does_not_stand_as_it_was_read_is_a_conflict(self, store: Store) -> None:
        """Version, name, whether it is kept, whether it lives: all must be as they were."""
        a = note(store, kept=True)
        right = Expect(a, version=1, name="n", kept=True, alive=True)
        store.commit([GiveName(a, "n"), right])
        for wrong in (
            replace(right, version=2),
            replace(right, name=None),
            replace(right, kept=False),
            replace(right, alive=False),
        ):
            with pytest.raises(Conflict, match="read it again"):
                store.commit([wrong, Delete(a)])
        store.commit([Delete(a)])
        store.commit([replace(right, name=None, alive=False)])
        assert gone(store, a)

    def test_deleting_can_ask_for_a_version_and_for_nobody_to_hold_it(self, store: Store) -> None:
        """Else it is a Conflict, and the resource lives. Who is not kept counts as nobody."""
        a = note(store, "one")
        arrow = relation(store, a, a, kept=True)
        relation(store, a, a)
        store.commit([Revise(a, "two")])
        for change, message in (
            (Delete(a, if_version=1), f"{a} is at version 2, not 1"),
            (Delete(a, unless_held=True), f"{arrow} holds {a} now"),
        ):
            with pytest.raises(Conflict, match=message):
                store.commit([change])
        store.commit([Delete(arrow)])
        store.commit([Delete(a, if_version=2, unless_held=True)])
        with pytest.raises(Conflict, match="is at version"):
            store.commit([Restore(a, if_version=1)])
        store.commit([Restore(a, if_version=2)])
        assert get(store, a).content == "two"

    def test_a_name_can_be_taken_away(self, store: Store) -> None:
        """The resource stays kept; a hidden one shows; of a resource without a name it is nothing."""
        a = note(store, kept=True)
        store.commit([GiveName(a, "_a")])
        store.commit([FreeName(a), FreeName(a)])
        with store.reading() as snapshot:
            assert snapshot.names() == []
        assert (kept(store, a), searched(store)) == ([True], [number_of(a)])


class TestWhatRunsDid:
    """Effects, lineages and holders."""

    def test_a_run_is_remembered_for_what_no_version_shows(self, store: Store) -> None:
        """In its order, with what was before and after; work of no run is not."""
        run = open_run(store)
        a, b = note(store), note(store)
        made = CreatedBy(run, "1", "test")
        changes = [
            GiveName(a, "n"),
            Track("/r", "a.md", a, b"\x01", 1),
            SetLinks(a, [Linked("b.md", wiki=False, to=b)]),
            Untrack("/r", "a.md"),
            FreeName(a),
            Delete(b, made),
        ]
        store.commit(changes, [CloseRun(run, "success", AT)])
        file = {"root": "/r", "path": "a.md", "note": a, "version": 1, "digest": "01", "part": 0, "title": None}
        file |= {"created": None, "modified": None, "aliases": [], "lines": 0, "reader": 0}
        link = {"target": "b.md", "wiki": False, "to": b, "relation": None}
        with store.reading() as snapshot:
            assert snapshot.effects(run) == [
                Effect(a, "name", None, "n"),
                Effect(a, "kept", False, True),
                Effect(a, "file", None, file),
                Effect(a, "links", [], [link]),
                Effect(a, "file", file, None),
                Effect(a, "name", "n", None),
                Effect(b, "alive", True, False),
            ]
            assert snapshot.effects("run_1") == snapshot.effects(run)

    def test_of_what_a_run_restored_the_version_is_remembered(self, store: Store) -> None:
        """What came after it is known by that."""
        run, a = open_run(store), note(store)
        store.commit([Revise(a, 2), Delete(a)])
        store.commit([Restore(a, None, CreatedBy(run, None, "test"))], [CloseRun(run, "success", AT)])
        with store.reading() as snapshot:
            assert snapshot.effects(run) == [Effect(a, "alive", False, 2)]

    def test_a_lineage_says_who_made_which_version_and_what_came_later(self, store: Store) -> None:
        """Of what the run made, changed or affected, by kind and number."""
        first, second = open_run(store), open_run(store)
        old, new = note(store), store.new_id(Kind.NOTE)
        group = collection(store, [])
        store.commit(
            [
                MakeNote(new, 1, created_by=CreatedBy(first, "1", "test")),
                Revise(old, 2, created_by=CreatedBy(first)),
                AddMembers(group, [Member(old)], created_by=CreatedBy(first)),
            ]
        )
        store.commit(
            [Revise(old, 3, created_by=CreatedBy(second)), GiveName(new, "n")], [CloseRun(second, "success", AT)]
        )
        store.commit([Delete(group, CreatedBy(second, "4", "remove"))])
        with store.reading() as snapshot:
            found = {lineage.id: lineage for lineage in snapshot.lineages(first)}
        assert list(found) == [old, new, group]
        assert list(found[old].versions) == [(1, None), (2, first), (3, second)]
        assert (found[new].name, found[new].kept, found[new].gone) == ("n", True, None)
        assert list(found[new].later) == [(second, "kept"), (second, "name")]
        gone = found[group].gone
        assert gone is not None
        assert gone.endswith(f"by remove, {second}, step 4")

    def test_holders_are_the_living_collections_and_relations(self, store: Store) -> None:
        """Pairs of who is held and who holds; a member that was taken out is held no more."""
        a, b = note(store), note(store)
        arrow, group, dead = relation(store, a, b), collection(store, [a, a]), collection(store, [a])
        left = collection(store, [a, b])
        store.commit([Delete(dead), RemoveMembers(left, [a, b])])
        with store.reading() as snapshot:
            assert sorted(snapshot.holders([a, b])) == sorted([(a, arrow), (b, arrow), (a, group)])
            assert snapshot.holders([]) == []

    def test_the_work_of_a_commit_is_its_runs(self, store: Store) -> None:
        """Told by a change's maker where no entry names the run."""
        run = open_run(store)
        a = store.new_id(Kind.NOTE)
        store.commit([MakeNote(a, 1, created_by=CreatedBy(run)), Keep(a)])
        with store.reading() as snapshot:
            assert snapshot.effects(run) == [Effect(a, "kept", before=False, after=True)]
