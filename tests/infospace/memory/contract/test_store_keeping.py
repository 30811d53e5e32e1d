"""Deleting, naming and keeping."""

from __future__ import annotations

import unicodedata

import pytest
from store_tools import (
    collection,
    get,
    ids,
    kept,
    note,
    relation,
)

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.ids import Kind
from infospace.core.resources import CreatedBy, Member, Note
from infospace.store.changes import (
    AddMembers,
    Delete,
    GiveName,
    Keep,
    MakeCollection,
    RemoveMembers,
    Revise,
    Track,
    Unkeep,
)
from infospace.store.protocol import Store


class TestDeleting:
    """A deleted resource is gone for all but history."""

    def test_a_deleted_resource_is_not_found_by_any_door(self, store: Store) -> None:
        """The error says that it was deleted, when and by whom; its versions stay readable by number."""
        a, b = note(store, "x", kept=True), note(store, kept=True)
        store.commit([Revise(a, "y"), Delete(a, CreatedBy("run_3", "2", "remove"))])
        with pytest.raises(NotFound, match=rf"{a} was deleted at \S+Z by remove, run_3, step 2"):
            get(store, a)
        others = {note(store): CreatedBy("run_3"), note(store): CreatedBy(by="rm"), note(store): CreatedBy()}
        store.commit([Delete(other, made) for other, made in others.items()])
        for other, by in zip(others, (" by run_3", " by rm", ""), strict=True):
            with pytest.raises(NotFound, match=rf"{other} was deleted at \S+Z{by} \("):
                get(store, other)
        for change in (
            Revise(a, "z"),
            Keep(a),
            GiveName(a, "n"),
            Delete(a),
            AddMembers(collection(store, []), [Member(a)]),
        ):
            with pytest.raises(NotFound, match="was deleted"):
                store.commit([change])
        with store.reading() as snapshot:
            with pytest.raises(NotFound, match="was deleted"):
                snapshot.get_many([b, a])
            assert [found.id for found in snapshot.listing(Kind.NOTE)] == [b]
            assert snapshot.count(Kind.NOTE, kept=None) == 1
            notes = [snapshot.get(a, version) for version in (1, 2)]
            assert [note.content for note in notes if isinstance(note, Note)] == ["x", "y"]
            assert len(snapshot.versions(a)) == 2

    def test_deleting_frees_the_name(self, store: Store) -> None:
        """Somebody else can have it."""
        a, b = note(store), note(store)
        store.commit([GiveName(a, "n"), Delete(a), GiveName(b, "n")])
        with store.reading() as snapshot:
            assert snapshot.named("n") == b

    def test_relations_go_with_their_ends(self, store: Store) -> None:
        """Also Relations between Relations, and only those."""
        a, b, c = (note(store) for _ in range(3))
        ab, bc = relation(store, a, b), relation(store, b, c)
        about, other = relation(store, c, ab, "about"), relation(store, c, c)
        store.commit([Delete(a)])
        with store.reading() as snapshot:
            assert snapshot.relations() == [bc, other]
            with pytest.raises(NotFound, match="was deleted"):
                snapshot.get(about)

    def test_a_collection_goes_on_without_a_deleted_item(self, store: Store) -> None:
        """It gets a new version; the earlier one still says what was in it."""
        a, b = note(store), note(store)
        group, other = collection(store, [a, b, a]), collection(store, [b])
        store.commit([Delete(a, CreatedBy("run_3", "2", "remove"))])
        found = get(store, group)
        assert (ids(found), found.version, found.created_by.run) == ([b], 2, "run_3")
        assert ids(get(store, group, 1)) == [a, b, a]
        assert get(store, other).version == 1
        assert store.check() == []

    def test_items_outlive_their_collection(self, store: Store) -> None:
        """Deleting a Collection deletes nothing else."""
        a = note(store)
        group = collection(store, [a])
        store.commit([Delete(group)])
        assert get(store, a).id == a

    def test_the_file_of_a_deleted_note_is_forgotten(self, store: Store) -> None:
        """So that the next import brings it in anew."""
        a, b = note(store), note(store)
        store.commit([Track("/notes", "a.md", a, b"1", 1), Track("/notes", "b.md", b, b"2", 1), Delete(a)])
        with store.reading() as snapshot:
            assert [(file.path, file.note) for file in snapshot.tracked()] == [("b.md", b)]


class TestNaming:
    """A name belongs to one resource, and keeps it."""

    def test_a_named_resource_is_kept_and_found_by_its_name(self, store: Store) -> None:
        """Whatever its kind; names come sorted."""
        a, group = note(store), collection(store, [note(store)])
        store.commit([GiveName(group, "zeta"), GiveName(a, "alpha")])
        with store.reading() as snapshot:
            assert snapshot.names() == ["alpha", "zeta"]
            assert snapshot.named("zeta") == group
            assert snapshot.get(group).name == "zeta"
        assert kept(store, a, group) == [True, True]

    def test_a_taken_name_is_a_conflict_that_says_who_has_it(self, store: Store) -> None:
        """Unless it is taken over: then the earlier holder loses the name, and is let go."""
        a, b = note(store), note(store)
        store.commit([GiveName(a, "n")])
        with pytest.raises(Conflict, match=rf"the name 'n' belongs to {a} .*replace"):
            store.commit([GiveName(b, "n")])
        store.commit([GiveName(a, "n")])
        store.commit([GiveName(b, "n", replace=True)])
        assert get(store, b).name == "n"
        assert (get(store, a).name, get(store, a).kept, get(store, a).version) == (None, False, 1)

    def test_a_new_name_takes_the_place_of_the_old_one(self, store: Store) -> None:
        """A resource has one name."""
        a = note(store)
        store.commit([GiveName(a, "old"), GiveName(a, "new")])
        with store.reading() as snapshot:
            assert snapshot.names() == ["new"]

    def test_names_are_compared_in_nfc(self, store: Store) -> None:
        """However an accent is written, it is the same name."""
        a, b = note(store), note(store)
        composed, decomposed = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))
        store.commit([GiveName(a, decomposed)])
        with store.reading() as snapshot:
            assert snapshot.names() == [composed]
            assert snapshot.named(decomposed) == snapshot.named(composed) == a
        with pytest.raises(Conflict, match="belongs to Note"):
            store.commit([GiveName(b, composed)])

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("", "empty"),
            (" \u00a0", "empty"),
            ("Note_12", "form of an id"),
            ("run_3", "form of an id"),
            ("$x", "begins with"),
            ("a\nb", "control character"),
            ("a\ud800", "control character"),
            ("x" * 201, "201 characters"),
        ],
    )
    def test_what_cannot_be_a_name_is_refused(self, store: Store, name: str, message: str) -> None:
        """The error says why."""
        with pytest.raises(Invalid, match=message):
            store.commit([GiveName(note(store), name)])

    @pytest.mark.parametrize("name", ["x" * 200, "Note", "Note_012", "note_12", "run_x", "a b", "_x", "日記", "a$b"])
    def test_everything_else_can_be_a_name(self, store: Store, name: str) -> None:
        """Names are compared exactly."""
        store.commit([GiveName(note(store), name)])
        with store.reading() as snapshot:
            assert snapshot.names() == [name]


class TestKeeping:
    """What belongs to a kept thing is kept with it."""

    def test_keeping_a_collection_keeps_members_and_relations_between_them(self, store: Store) -> None:
        """Members of members too; a Relation that leads out is not kept."""
        a, b, c, out = (note(store) for _ in range(4))
        inner = collection(store, [b, c])
        group = collection(store, [a, inner])
        between, leaving = relation(store, a, c), relation(store, a, out)
        to_inner, to_group = relation(store, b, inner), relation(store, b, group)
        store.commit([Keep(group)])
        assert kept(store, group, inner, a, b, c, between, to_inner) == [True] * 7
        assert kept(store, out, leaving, to_group) == [False] * 3

    def test_only_present_members_are_kept(self, store: Store) -> None:
        """Who was removed before, or deleted, is not."""
        a, b, c = (note(store) for _ in range(3))
        group = collection(store, [a, b, c])
        store.commit([RemoveMembers(group, [a]), Delete(b), Keep(group)])
        assert kept(store, a, c) == [False, True]

    def test_what_is_put_into_a_kept_collection_is_kept(self, store: Store) -> None:
        """With what belongs to it, and the Relations to those who are in already."""
        a, b, c, other = (note(store) for _ in range(4))
        group = collection(store, [a], kept=True)
        to_a, between, out = relation(store, b, a), relation(store, c, b), relation(store, b, other)
        late = relation(store, a, a)
        store.commit([AddMembers(group, [Member(b), Member(collection(store, [c]))])])
        assert kept(store, b, c, to_a, between) == [True] * 4
        assert kept(store, other, out, late) == [False] * 3
        store.commit([Keep(group)])
        assert kept(store, late) == [True]

    def test_a_transient_collection_keeps_nothing(self, store: Store) -> None:
        """Nor does a transient Relation."""
        a, b = note(store), note(store)
        group, arrow = collection(store, [a]), relation(store, a, b)
        store.commit([AddMembers(group, [Member(b)])])
        assert kept(store, a, b, group, arrow) == [False] * 4

    def test_a_kept_relation_keeps_its_ends(self, store: Store) -> None:
        """Made kept, or kept later; of an end that is a Collection the members too."""
        a, b, c = (note(store) for _ in range(3))
        group = collection(store, [c])
        relation(store, a, group, kept=True)
        later = relation(store, b, b)
        assert kept(store, a, group, c, b) == [True, True, True, False]
        store.commit([Keep(later)])
        assert kept(store, b) == [True]

    def test_cycles_and_depth_end(self, store: Store) -> None:
        """A Collection that holds a Relation to what holds it, and a thousand within each other."""
        inner = note(store)
        chain = [collection(store, [inner])]
        changes = []
        for _ in range(1_000):
            made = store.new_id(Kind.COLLECTION)
            changes.append(MakeCollection(made, [Member(chain[-1])]))
            chain.append(made)
        store.commit(changes)
        arrow = relation(store, inner, chain[-1])
        store.commit([AddMembers(chain[0], [Member(arrow)])])
        store.commit([Keep(chain[500])])
        assert kept(store, inner, arrow, *chain) == [True] * 1_003

    def test_keeping_again_changes_nothing(self, store: Store) -> None:
        """It is idempotent, and makes neither version nor generation."""
        a = note(store)
        store.commit([Keep(a)])
        with store.reading() as snapshot:
            before = snapshot.generation
        assert store.commit([Keep(a), Keep(a)]) == before
        assert isinstance(get(store, a), Note)
        assert get(store, a).version == 1


def test_what_something_kept_holds_or_a_file_gave_is_not_let_go_with_its_name(store: Store) -> None:
    """Nor by `if_free`, which also leaves what has a name; what only something transient holds is let go."""
    held, imported, loose, named = (note(store, kept=True) for _ in range(4))
    collection(store, [held], kept=True)
    collection(store, [loose])
    store.commit([Track("/r", "a.md", imported, b"d", 1), GiveName(named, "name")])
    store.commit([Unkeep(one, if_free=True) for one in (held, imported, loose, named)])
    assert kept(store, held, imported, loose, named) == [True, True, False, True]
    store.commit([Keep(loose)])
    for place, one in enumerate((held, imported, loose)):
        store.commit([GiveName(one, f"n{place}")])
        store.commit([GiveName(note(store), f"n{place}", replace=True)])
    assert kept(store, held, imported, loose) == [True, True, False]
