"""What was made in a store is read as it was made."""

from __future__ import annotations

import pytest
from store_tools import (
    collection,
    get,
    kept,
    note,
    relation,
)

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.core.resources import CreatedBy, Member, Note, Relation
from infospace.store.changes import (
    GiveName,
    Keep,
    MakeCollection,
    MakeNote,
    MakeRelation,
    Revise,
)
from infospace.store.protocol import Store


class TestMaking:
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
        made = CreatedBy("run_1", "4.do[3].2", "create-note")
        store.commit([MakeNote(identifier, "x", {"uri": "file:x"}, created_by=made)])
        found = get(store, identifier)
        assert (found.id, found.metadata, found.version) == (identifier, {"uri": "file:x"}, 1)
        assert (found.kept, found.name, found.created_by, found.evidence) == (False, None, made, False)
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
        with pytest.raises(NotFound, match="there is no Note"):
            store.commit([MakeNote(fresh, "b"), Revise(a, "changed"), GiveName(a, "n"), Keep("Note_999")])
        assert get(store, a).content == "a"
        with store.reading() as snapshot:
            assert snapshot.named("n") is None
        with pytest.raises(NotFound, match="there is no Note"):
            get(store, fresh)
        store.commit([MakeNote(fresh, "later")])
        assert get(store, fresh).content == "later"

    def test_many_notes_at_once_are_all_there_in_order(self, store: Store) -> None:
        """A batch is written and read as single ones are, by number and only the wanted kind."""
        made = [store.new_id(Kind.NOTE) for _ in range(1_234)]
        store.commit([MakeNote(identifier, index, kept=index % 2 == 0) for index, identifier in enumerate(made)])
        collection(store, made[:3], kept=True)
        with store.reading() as snapshot:
            notes = [found for found in snapshot.get_many(made) if isinstance(found, Note)]
            assert [note.content for note in notes] == list(range(1_234))
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
        with pytest.raises(NotFound, match=identifier or "''"), store.reading() as snapshot:
            snapshot.get_many([identifier])

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
        for content, message in (
            (float("nan"), "Out of range float values"),
            ("\ud800", "the lone surrogate"),
            ({1, 2}, "Object of type set"),
        ):
            with pytest.raises(Invalid, match=message):
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
