"""Purging: what nothing refers to goes for good, what something refers to stays."""

from __future__ import annotations

import pytest
from store_tools import AT, MODEL, collection, embed, get, ids, note, open_run, relation, searched, step

from infospace.core.errors import NotFound
from infospace.core.ids import Kind
from infospace.journal.rows import CloseRun, Use
from infospace.store.changes import Delete, Evidence, MakeNote, RemoveMembers, Revise, Track
from infospace.store.protocol import PurgeStats, Store


def gone(store: Store, identifier: str, version: int | None = None) -> bool:
    """Whether a version can no longer be read."""
    try:
        get(store, identifier, version)
    except NotFound:
        return True
    return False


class TestPurging:
    """What goes, what stays, what is told."""

    def test_tombstones_and_earlier_versions_go(self, store: Store) -> None:
        """The present stays as it was, and the numbers of what went are told."""
        a, b, arrow_end = note(store, "one"), note(store, kept=True), note(store)
        group = collection(store, [a])
        relation(store, b, arrow_end)
        store.commit([Revise(a, "two"), Revise(a, "three"), Delete(b), Revise(group, metadata={"x": 1})])
        counted = store.purge(really=False)
        assert (counted.tombstones, counted.versions) == (2, 3)
        assert counted.bytes > 0
        assert [get(store, a, version).content for version in (1, 2, 3)] == ["one", "two", "three"]
        assert store.purge(really=True) == counted
        assert (get(store, a).content, get(store, a).version, ids(get(store, group))) == ("three", 3, [a])
        assert gone(store, a, 1)
        assert gone(store, b, 1)
        with pytest.raises(NotFound, match="there is no"):
            get(store, b)
        assert store.purge(really=True) == PurgeStats(0, 0, 0, 0)

    def test_an_id_that_was_purged_is_never_given_again(self, store: Store) -> None:
        """Nor can it be used."""
        a = note(store)
        store.commit([Delete(a)])
        store.purge(really=True)
        assert store.new_id(Kind.NOTE) != a
        with pytest.raises(NotFound, match="there is no Note"):
            store.commit([Revise(a, "x")])

    def test_what_a_search_result_refers_to_stays(self, store: Store) -> None:
        """At its version, also of a source that was deleted."""
        a, cited = note(store, "one"), store.new_id(Kind.NOTE)
        store.commit([MakeNote(cited, Evidence(a, 1, 0.5))])
        store.commit([Revise(a, "two"), Revise(a, "three"), Delete(a)])
        before = get(store, cited)
        store.purge(really=True)
        assert get(store, cited) == before
        assert gone(store, a, 2)

    def test_what_a_present_collection_has_stays(self, store: Store) -> None:
        """What only an earlier version of it had, and was deleted, goes with that."""
        a, b = note(store), note(store)
        group = collection(store, [a, b])
        store.commit([RemoveMembers(group, [a])])
        store.commit([Delete(a)])
        store.purge(really=True)
        assert ids(get(store, group)) == [b]
        assert gone(store, a, 1)

    def test_what_an_imported_file_refers_to_stays(self, store: Store) -> None:
        """The version that the file was imported as."""
        a = note(store, "one")
        store.commit([Track("/r", "a.md", a, b"d", 1), Revise(a, "two"), Revise(a, "three")])
        store.purge(really=True)
        assert get(store, a, 1).content == "one"
        assert gone(store, a, 2)

    def test_what_an_unfinished_run_used_or_made_stays(self, store: Store) -> None:
        """Until it ends."""
        run, a, b = open_run(store), note(store, "one"), note(store, "one")
        store.commit(
            [Revise(a, "two"), Revise(b, "two")], [step(run, uses=(Use(a, 1),)), step(run, 2, resource=b, version=1)]
        )
        store.purge(really=True)
        assert [get(store, made, 1).content for made in (a, b)] == ["one", "one"]
        store.commit([], [CloseRun(run, "success", AT)])
        store.purge(really=True)
        assert gone(store, a, 1)
        assert gone(store, b, 1)

    def test_vectors_of_texts_that_are_gone_go(self, store: Store) -> None:
        """Once nothing waits to be embedded; those of passages stay."""
        a, b = note(store, "first", kept=True), note(store, "second text", kept=True)
        store.use_model(MODEL)
        embed(store, a, b)
        store.commit([Delete(a)])
        assert store.purge(really=True).vectors == 1
        with store.reading() as snapshot:
            assert len(snapshot.rows(MODEL).owners) == 1

    def test_who_follows_what_moved_is_told_to_read_all_again(self, store: Store) -> None:
        """A tombstone that went says nothing of when it was one."""
        a, _ = note(store, kept=True), note(store, kept=True)
        with store.reading() as snapshot:
            before = snapshot.generation
        store.commit([Delete(a)])
        store.purge(really=True)
        with store.reading() as snapshot:
            assert snapshot.generation > before
            assert not snapshot.moved(before).complete
            assert snapshot.moved(snapshot.generation).complete
        assert searched(store) == [2]

    def test_an_open_snapshot_does_not_notice(self, store: Store) -> None:
        """It still reads what is gone for everybody else."""
        a = note(store, "one")
        with store.reading() as snapshot:
            snapshot.get(a)
            store.commit([Revise(a, "two")])
            store.purge(really=True)
            assert (snapshot.get(a).content, snapshot.get(a).version) == ("one", 1)
