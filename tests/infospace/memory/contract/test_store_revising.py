"""Changing makes a version."""

from __future__ import annotations

import pytest
from store_tools import (
    collection,
    get,
    ids,
    note,
    relation,
)

from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.core.resources import CreatedBy, Member
from infospace.store.changes import (
    AddMembers,
    JsonNull,
    RemoveMembers,
    Revise,
)
from infospace.store.protocol import Store


class TestRevising:
    """Changing makes a version; earlier ones stay readable."""

    def test_every_version_of_a_note_stays_readable(self, store: Store) -> None:
        """Content, metadata, time and maker belong to the version."""
        a = note(store, "one", tag=1)
        store.commit([Revise(a, "two", created_by=CreatedBy("run_1", "1", "update-note"))])
        store.commit([Revise(a, metadata={"tag": 3})])
        store.commit([Revise(a, JsonNull())])
        contents = [get(store, a, version).content for version in (1, 2, 3, 4)]
        assert contents == ["one", "two", "two", None]
        assert [get(store, a, version).metadata for version in (1, 2, 3)] == [{"tag": 1}, {"tag": 1}, {"tag": 3}]
        assert get(store, a, 2).created_by == CreatedBy("run_1", "1", "update-note")
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
        """Relations keep their ends, Collections have no content, Notes no members."""
        a = note(store)
        arrow, group = relation(store, a, a), collection(store, [])
        for change, message in (
            (Revise(arrow, "text"), "Relation"),
            (Revise(group, "text"), "Collection"),
            (AddMembers(a, [Member(a)]), "not a Collection"),
            (RemoveMembers(a, [a]), "not a Collection"),
        ):
            with pytest.raises(Invalid, match=message):
                store.commit([change])
