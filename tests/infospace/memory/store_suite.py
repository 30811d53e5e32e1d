"""What every store must do with resources: a test module subclasses these, and has a fixture `store`.

Helpers that the other suites use stand first.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import pytest

from infospace.errors import Conflict, Invalid, NotFound
from infospace.ids import Kind
from infospace.jsonvalue import JSON
from infospace.memory.changes import (
    AddMembers,
    Delete,
    GiveName,
    Keep,
    MakeCollection,
    MakeNote,
    MakeRelation,
    Null,
    RemoveMembers,
    Revise,
)
from infospace.memory.store import Store
from infospace.resources import Collection, Made, Member, Note, Relation, Resource


def get(store: Store, identifier: str, version: int | None = None) -> Any:
    """Return a resource, read in a snapshot of its own."""
    with store.reading() as snapshot:
        return snapshot.get(identifier, version)


def note(store: Store, content: JSON = "text", *, kept: bool = False, **metadata: JSON) -> str:
    """Make a Note; return its id."""
    identifier = store.new_id(Kind.NOTE)
    store.commit([MakeNote(identifier, content, metadata, kept)])
    return identifier


def collection(store: Store, members: Sequence[str], *, kept: bool = False) -> str:
    """Make a Collection of ids; return its id."""
    identifier = store.new_id(Kind.COLLECTION)
    store.commit([MakeCollection(identifier, [Member(member) for member in members], kept=kept)])
    return identifier


def relation(store: Store, source: str, target: str, label: str = "cites", *, kept: bool = False) -> str:
    """Make a Relation; return its id."""
    identifier = store.new_id(Kind.RELATION)
    store.commit([MakeRelation(identifier, source, target, label, kept=kept)])
    return identifier


def ids(resource: Resource) -> list[str]:
    """Return the ids of a Collection's members."""
    assert isinstance(resource, Collection)
    return [member.id for member in resource.members]


def kept(store: Store, *identifiers: str) -> list[bool]:
    """Return of each whether it is kept."""
    with store.reading() as snapshot:
        return [resource.kept for resource in snapshot.many(identifiers)]


class Making:
    """What was made is read as it was made."""

    @pytest.mark.parametrize(
        "content",
        [None, True, 0, 1.0, -0.0, 10**30, "", "a\u0000b", "naïve 🎈", [], {}, {"b": 1, "a": [None, {"x": "y"}]}],
        ids=repr,
    )
    def test_a_note_keeps_its_json_value_and_type(self, store: Store, content: JSON) -> None:
        """Numbers stay numbers, null stays null, keys keep their order."""
        found = get(store, note(store, content))
        assert repr(found.content) == repr(content)

    def test_a_resource_comes_with_everything_it_was_made_with(self, store: Store) -> None:
        """Id, metadata, version, times and provenance are there, and it is transient."""
        identifier = store.new_id(Kind.NOTE)
        made = Made("run_1", "4.do[3].2", "create-note")
        store.commit([MakeNote(identifier, "x", {"uri": "file:x"}, made=made)])
        found = get(store, identifier)
        assert (found.id, found.metadata, found.version) == (identifier, {"uri": "file:x"}, 1)
        assert (found.kept, found.name, found.made, found.evidence) == (False, None, made, False)
        assert found.created == found.updated
        assert found.created.endswith("Z")

    def test_a_collection_keeps_order_repetitions_and_what_membership_records(self, store: Store) -> None:
        """Members are places: the same Note may have two, each with its own info."""
        a, b = note(store, "a"), note(store, "b")
        identifier = store.new_id(Kind.COLLECTION)
        members = (Member(b, {"index": 0}), Member(a), Member(b, {}))
        store.commit([MakeCollection(identifier, members, {"title": "t"})])
        found = get(store, identifier)
        assert found.members == members
        assert found.metadata == {"title": "t"}

    def test_a_relation_has_its_ends_and_label(self, store: Store) -> None:
        """A Relation is an arrow with metadata of its own."""
        a, b = note(store), collection(store, [])
        identifier = store.new_id(Kind.RELATION)
        store.commit([MakeRelation(identifier, a, b, "part of", {"since": 2020})])
        found = get(store, identifier)
        assert isinstance(found, Relation)
        assert (found.source, found.target, found.relation) == (a, b, "part of")
        assert found.metadata == {"since": 2020}

    def test_a_change_may_name_what_an_earlier_change_makes(self, store: Store) -> None:
        """One list makes a Note, puts it in a Collection, relates and names it."""
        a, b = store.new_id(Kind.NOTE), store.new_id(Kind.NOTE)
        c, r = store.new_id(Kind.COLLECTION), store.new_id(Kind.RELATION)
        store.commit(
            [
                MakeNote(a, "a"),
                MakeNote(b, "b"),
                MakeRelation(r, a, b, "before"),
                MakeCollection(c, [Member(a), Member(b), Member(r)]),
                GiveName(c, "both"),
            ]
        )
        assert kept(store, a, b, c, r) == [True] * 4

    def test_a_commit_is_all_or_nothing(self, store: Store) -> None:
        """When the last change does not fit, nothing of the earlier ones is there."""
        a = note(store, "a")
        fresh = store.new_id(Kind.NOTE)
        with pytest.raises(NotFound):
            store.commit([MakeNote(fresh, "b"), Revise(a, "changed"), GiveName(a, "n"), Keep("Note_999")])
        assert get(store, a).content == "a"
        with store.reading() as snapshot:
            assert snapshot.named("n") is None
        with pytest.raises(NotFound):
            get(store, fresh)
        store.commit([MakeNote(fresh, "later")])
        assert get(store, fresh).content == "later"

    def test_many_notes_at_once_are_all_there_in_order(self, store: Store) -> None:
        """A batch is written and read as single ones are, by number and only the wanted kind."""
        made = [store.new_id(Kind.NOTE) for _ in range(1_234)]
        store.commit([MakeNote(identifier, index, kept=index % 2 == 0) for index, identifier in enumerate(made)])
        collection(store, made[:3], kept=True)
        with store.reading() as snapshot:
            assert [found.content for found in snapshot.many(made)] == list(range(1_234))  # type: ignore[union-attr]
            assert [found.id for found in snapshot.listing(Kind.NOTE, kept=None)] == made
            assert [found.id for found in snapshot.listing(Kind.NOTE, kept=None, after=4, limit=2)] == made[4:6]
            every_other = [found.id for found in snapshot.listing(Kind.NOTE, after=4, limit=600)]
            assert every_other == [identifier for identifier in made[4:] if int(identifier[5:]) % 2][:600]
            assert snapshot.count(Kind.NOTE) == 618
            assert snapshot.count(Kind.NOTE, kept=None) == 1_234
            assert snapshot.count(Kind.NOTE, kept=False) == len(list(snapshot.listing(Kind.NOTE, kept=False))) == 616

    def test_an_id_is_used_once(self, store: Store) -> None:
        """A second thing under the same id is refused, alone or in a batch."""
        a, b = note(store), store.new_id(Kind.NOTE)
        for changes in ([MakeNote(a, 1)], [MakeNote(b, 1), MakeNote(a, 1)], [MakeNote(b, 1), MakeNote(b, 2)]):
            with pytest.raises(Conflict, match=r"Note_\d+ exists already"):
                store.commit(changes)

    def test_an_id_that_was_never_given_out_is_refused(self, store: Store) -> None:
        """Else `new_id` would give it to somebody later."""
        note(store)
        with pytest.raises(Invalid, match="Note_500 was not given out"):
            store.commit([MakeNote("Note_500", 1)])
        store.new_id(Kind.NOTE)
        with pytest.raises(Invalid, match="Note_3 was not given out"):
            store.commit([MakeNote("Note_3", 1)])
        with pytest.raises(Invalid, match="cannot be the id of a Note"):
            store.commit([MakeNote(store.new_id(Kind.COLLECTION), 1)])

    @pytest.mark.parametrize(
        "identifier", ["Note_7", "Note_0", "Note_07", "Node_1", "Note_", "Note", "", "Note_١", "Note_" + "9" * 30]
    )
    def test_what_is_no_id_or_names_nothing_is_not_found(self, store: Store, identifier: str) -> None:
        """The error is NotFound whatever the text, and says it."""
        note(store)
        with pytest.raises(NotFound, match=identifier or "''"):
            get(store, identifier)
        with pytest.raises(NotFound), store.reading() as snapshot:
            snapshot.many([identifier])

    def test_members_and_ends_must_exist(self, store: Store) -> None:
        """A Collection or Relation of what does not exist is refused with the id."""
        a = note(store)
        with pytest.raises(NotFound, match="Note_77"):
            store.commit([MakeCollection(store.new_id(Kind.COLLECTION), [Member(a), Member("Note_77")])])
        with pytest.raises(NotFound, match="Note_78"):
            store.commit([MakeRelation(store.new_id(Kind.RELATION), a, "Note_78", "x")])
        with pytest.raises(Invalid, match="empty label"):
            store.commit([MakeRelation(store.new_id(Kind.RELATION), a, a, " ")])

    def test_what_json_has_no_form_for_is_invalid(self, store: Store) -> None:
        """NaN, lone surrogates and odd metadata are refused before anything is written."""
        for content in (float("nan"), "\ud800", {1, 2}):
            with pytest.raises(Invalid):
                store.commit([MakeNote(store.new_id(Kind.NOTE), content)])  # type: ignore[arg-type]
        with pytest.raises(Invalid, match="metadata"):
            store.commit([MakeNote(store.new_id(Kind.NOTE), 1, {1: 2})])  # type: ignore[dict-item]
        with pytest.raises(Invalid, match="UTF-8"):
            store.commit([MakeRelation(store.new_id(Kind.RELATION), note(store), note(store), "\ud800")])

    def test_relations_are_found_by_end_and_label(self, store: Store) -> None:
        """Any combination of source, target and label selects, by number."""
        a, b, c = (note(store) for _ in range(3))
        ab, ac, bc = relation(store, a, b), relation(store, a, c, "likes"), relation(store, b, c)
        with store.reading() as snapshot:
            assert snapshot.relations() == [ab, ac, bc]
            assert snapshot.relations(source=a) == [ab, ac]
            assert snapshot.relations(target=c) == [ac, bc]
            assert snapshot.relations(source=a, relation="likes") == [ac]
            assert snapshot.relations(source=c) == []


class Revising:
    """Changing makes a version; earlier ones stay readable."""

    def test_every_version_of_a_note_stays_readable(self, store: Store) -> None:
        """Content, metadata, time and maker belong to the version."""
        a = note(store, "one", tag=1)
        store.commit([Revise(a, "two", made=Made("run_1", "1", "update-note"))])
        store.commit([Revise(a, metadata={"tag": 3})])
        store.commit([Revise(a, Null())])
        contents = [get(store, a, version).content for version in (1, 2, 3, 4)]
        assert contents == ["one", "two", "two", None]
        assert [get(store, a, version).metadata for version in (1, 2, 3)] == [{"tag": 1}, {"tag": 1}, {"tag": 3}]
        assert get(store, a, 2).made == Made("run_1", "1", "update-note")
        assert get(store, a).version == 4
        assert get(store, a, 1).created == get(store, a).created
        with store.reading() as snapshot:
            versions = snapshot.versions(a)
        assert [number for number, _ in versions] == [1, 2, 3, 4]
        assert versions[0][1] == get(store, a).created
        assert versions[3][1] == get(store, a).updated

    def test_a_version_that_never_was_is_not_found(self, store: Store) -> None:
        """The error says which versions there are."""
        a = note(store)
        store.commit([Revise(a, "two")])
        for version in (0, 3, -1):
            with pytest.raises(NotFound, match=r"no version .* \(it has versions 1 to 2\)"):
                get(store, a, version)

    def test_a_collection_has_the_members_of_each_version(self, store: Store) -> None:
        """Adding appends, removing takes all places of an id, and neither touches an earlier version."""
        a, b, c = (note(store, text) for text in "abc")
        group = collection(store, [a, b, a])
        store.commit([AddMembers(group, [Member(c, {"why": "late"})])])
        store.commit([RemoveMembers(group, [a, "Note_999"])])
        store.commit([AddMembers(group, [Member(a)])])
        store.commit([Revise(group, metadata={"title": "t"})])
        assert [ids(get(store, group, version)) for version in range(1, 6)] == [
            [a, b, a],
            [a, b, a, c],
            [b, c],
            [b, c, a],
            [b, c, a],
        ]
        assert get(store, group, 2).members[3].info == {"why": "late"}
        assert [get(store, group, version).metadata for version in (4, 5)] == [{}, {"title": "t"}]

    def test_what_changes_nothing_makes_no_version(self, store: Store) -> None:
        """Adding nobody, removing who is not in, revising neither part."""
        a = note(store)
        group = collection(store, [a])
        store.commit([AddMembers(group, []), RemoveMembers(group, [note(store)]), Revise(a), Revise(group)])
        assert (get(store, group).version, get(store, a).version) == (1, 1)

    def test_a_version_that_has_moved_on_is_a_conflict(self, store: Store) -> None:
        """`if_version` protects; the error says the current version, and nothing is written."""
        a, group = note(store, "one"), collection(store, [])
        store.commit([Revise(a, "two", if_version=1), AddMembers(group, [Member(a)], if_version=1)])
        for change in (
            Revise(a, "three", if_version=1),
            AddMembers(group, [Member(a)], if_version=1),
            RemoveMembers(group, [a], if_version=3),
        ):
            with pytest.raises(Conflict, match=f"{change.id} is at version 2, not {change.if_version}"):
                store.commit([change])
        assert get(store, a).content == "two"

    def test_each_kind_is_changed_in_its_own_way(self, store: Store) -> None:
        """Relations have one version, Collections no content, Notes no members."""
        a = note(store)
        arrow, group = relation(store, a, a), collection(store, [])
        for change, says in (
            (Revise(arrow, metadata={"x": 1}), "Relation"),
            (Revise(group, "text"), "Collection"),
            (AddMembers(a, [Member(a)]), "not a Collection"),
            (RemoveMembers(a, [a]), "not a Collection"),
        ):
            with pytest.raises(Invalid, match=says):
                store.commit([change])

    def test_a_snapshot_stays_as_it_was(self, store: Store) -> None:
        """A reader sees one state, whatever is written meanwhile, and a new one sees the new state."""
        a = note(store, "one", kept=True)
        with store.reading() as before:
            generation = before.generation
            store.commit([Revise(a, "two"), GiveName(a, "n")])
            fresh = note(store, kept=True)
            assert before.get(a).version == 1
            assert before.named("n") is None
            assert before.count(Kind.NOTE) == 1
            with store.reading() as after:
                assert after.get(a).version == 2
                assert after.get(fresh).kept
                assert after.generation > generation
            assert before.generation == generation
            assert before.discoverable().tolist() == [1]
        assert get(store, a).name == "n"

    def test_a_snapshot_answers_nothing_after_its_end(self, store: Store) -> None:
        """Its connection is another reader's by then."""
        from infospace.errors import StoreError

        a = note(store)
        with store.reading() as snapshot:
            snapshot.get(a)
        with pytest.raises(StoreError, match="ended"):
            snapshot.get(a)


class Deleting:
    """A deleted resource is gone for all but history."""

    def test_a_deleted_resource_is_not_found_by_any_door(self, store: Store) -> None:
        """The error says that it was deleted, when and by whom; its versions stay readable by number."""
        a, b = note(store, "x", kept=True), note(store, kept=True)
        store.commit([Revise(a, "y"), Delete(a, Made("run_3", "2", "remove"))])
        with pytest.raises(NotFound, match=rf"{a} was deleted at \S+Z by remove, run_3, step 2"):
            get(store, a)
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
                snapshot.many([b, a])
            assert [found.id for found in snapshot.listing(Kind.NOTE)] == [b]
            assert snapshot.count(Kind.NOTE, kept=None) == 1
            assert [snapshot.get(a, version).content for version in (1, 2)] == ["x", "y"]  # type: ignore[union-attr]
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

    def test_a_collection_outlives_its_items_and_they_it(self, store: Store) -> None:
        """Deleting either changes nothing about the other."""
        a, b = note(store), note(store)
        group = collection(store, [a, b])
        store.commit([Delete(a)])
        assert ids(get(store, group)) == [a, b]
        store.commit([Delete(group)])
        assert get(store, b).id == b


class Naming:
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
        """Unless it is taken over: then the earlier holder loses the name and nothing else."""
        a, b = note(store), note(store)
        store.commit([GiveName(a, "n")])
        with pytest.raises(Conflict, match=rf"the name 'n' belongs to {a} .*replace"):
            store.commit([GiveName(b, "n")])
        store.commit([GiveName(a, "n")])
        store.commit([GiveName(b, "n", replace=True)])
        assert get(store, b).name == "n"
        assert (get(store, a).name, get(store, a).kept, get(store, a).version) == (None, True, 1)

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
        with pytest.raises(Conflict):
            store.commit([GiveName(b, composed)])

    @pytest.mark.parametrize(
        ("name", "says"),
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
    def test_what_cannot_be_a_name_is_refused(self, store: Store, name: str, says: str) -> None:
        """The error says why."""
        with pytest.raises(Invalid, match=says):
            store.commit([GiveName(note(store), name)])

    @pytest.mark.parametrize("name", ["x" * 200, "Note", "Note_012", "note_12", "run_x", "a b", "_x", "日記", "a$b"])
    def test_everything_else_can_be_a_name(self, store: Store, name: str) -> None:
        """Names are compared exactly."""
        store.commit([GiveName(note(store), name)])
        with store.reading() as snapshot:
            assert snapshot.names() == [name]


class Keeping:
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
        """A Collection within itself, and a thousand within each other."""
        inner = note(store)
        chain = [collection(store, [inner])]
        changes = []
        for _ in range(1_000):
            made = store.new_id(Kind.COLLECTION)
            changes.append(MakeCollection(made, [Member(chain[-1])]))
            chain.append(made)
        store.commit([*changes, AddMembers(chain[0], [Member(chain[-1])])])
        store.commit([Keep(chain[500])])
        assert kept(store, inner, *chain) == [True] * 1_002

    def test_keeping_again_changes_nothing(self, store: Store) -> None:
        """It is idempotent, and makes neither version nor generation."""
        a = note(store)
        store.commit([Keep(a)])
        with store.reading() as snapshot:
            before = snapshot.generation
        assert store.commit([Keep(a), Keep(a)]) == before
        assert isinstance(get(store, a), Note)
        assert get(store, a).version == 1
