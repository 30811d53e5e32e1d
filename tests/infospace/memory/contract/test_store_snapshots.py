"""What a reader sees: one state, made of whole transactions."""

from __future__ import annotations

import threading
from contextlib import ExitStack, suppress

import numpy as np
import pytest
from store_tools import Open, collection, get, ids, note, relation, run_all

from infospace.core.errors import InfospaceError, NotFound, StoreError
from infospace.core.ids import Kind
from infospace.core.resources import Member
from infospace.store.changes import AddMembers, Delete, Evidence, GiveName, MakeNote, Revise
from infospace.store.protocol import Store


class TestSnapshots:
    """A reader sees one state, whole."""

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

    def test_a_snapshot_is_of_the_moment_it_was_opened(self, store: Store) -> None:
        """Not of the first question: what is written between the two is not seen."""
        a = note(store, "one", kept=True)
        with store.reading() as snapshot:
            store.commit([Revise(a, "two"), GiveName(a, "n")])
            assert snapshot.names() == []
            assert [text.text for text in snapshot.pending()] == ["one"]

    def test_one_resource_is_read_as_it_is_now(self, store: Store) -> None:
        """Of each kind, as a snapshot opened then gives it; what is gone, or no id, is the same error."""
        a = note(store, {"n": 1}, kept=True, tag="x")
        cited = store.new_id(Kind.NOTE)
        store.commit([MakeNote(cited, Evidence(a, 1, 0.5))])
        made = [a, cited, collection(store, [a, a]), relation(store, a, a)]
        for identifier in made:
            assert store.get(identifier) == get(store, identifier)
        with store.reading():
            store.commit([Revise(a, "two"), GiveName(a, "n")])
            assert (store.get(a).content, store.get(a).name) == ("two", "n")
        store.commit([Delete(a)])
        for identifier in (a, made[3], "Note_99", "Collection_99", "nonsense"):
            with pytest.raises(NotFound) as message:
                store.get(identifier)
            with pytest.raises(NotFound) as expected:
                get(store, identifier)
            assert str(message.value) == str(expected.value)

    def test_many_snapshots_are_open_at_once_each_of_its_own_time(self, store: Store) -> None:
        """More than any pool holds, and they end in any order."""
        a = note(store, 0)
        with ExitStack() as stack:
            snapshots = []
            for value in range(1, 21):
                snapshots.append(stack.enter_context(store.reading()))
                store.commit([Revise(a, value)])
            assert [snapshot.get(a).content for snapshot in snapshots] == list(range(20))
            assert [snapshot.get(a).version for snapshot in reversed(snapshots)] == list(range(20, 0, -1))

    def test_iterating_goes_on_as_it_began(self, store: Store) -> None:
        """What is made and deleted between two items of a listing is not in it, nor is anything left out."""
        made = [store.new_id(Kind.NOTE) for _ in range(1_100)]
        store.commit([MakeNote(identifier, "x", kept=True) for identifier in made])
        with store.reading() as snapshot:
            listing, heads = snapshot.listing(Kind.NOTE), snapshot.heads(own=True)
            first = next(listing).id, next(heads).id
            store.commit([Delete(made[-1]), Revise(made[-2], "y")])
            note(store, kept=True)
            assert [first[0], *(found.id for found in listing)] == made
            assert [first[1], *(head.id for head in heads)] == made

    def test_an_error_leaves_a_snapshot_good(self, store: Store) -> None:
        """Whatever was asked, the next question is answered."""
        a = note(store, "text", kept=True)
        arrays = np.array([1], np.int64)
        with store.reading() as snapshot:
            for ask in (
                lambda: snapshot.get("nonsense"),
                lambda: snapshot.get(a, 10**30),
                lambda: snapshot.get("Note_" + "9" * 18),
                lambda: snapshot.named("\ud800"),
                lambda: snapshot.run("run_7"),
                lambda: snapshot.get_many([a, "Note_7"]),
            ):
                with suppress(InfospaceError):
                    assert ask() is None
                assert snapshot.get(a).content == "text"
                assert snapshot.discoverable(arrays).tolist() == [1]

    def test_readers_see_whole_transactions_while_others_write(self, open_store: Open) -> None:
        """Two writers, each with two Notes and a Collection that change together; no reader sees half of it."""
        one, two = open_store(), open_store()
        pairs = [[note(one, 0), note(one, 0)] for _ in range(2)]
        groups = [collection(one, []) for _ in pairs]
        done = threading.Event()
        seen: list[int] = []

        def write(store: Store, pair: list[str], group: str) -> None:
            for value in range(1, 41):
                store.commit([*(Revise(member, value) for member in pair), AddMembers(group, [Member(pair[0])])])

        def read(store: Store) -> None:
            while not (done.is_set() and seen):
                with store.reading() as snapshot:
                    for pair, group in zip(pairs, groups, strict=True):
                        first, second = (snapshot.get(member).content for member in pair)
                        assert first == second == len(ids(snapshot.get(group)))
                seen.append(1)

        readers = [threading.Thread(target=read, args=(store,)) for store in (one, two)]
        for reader in readers:
            reader.start()
        try:
            run_all(lambda: write(one, pairs[0], groups[0]), lambda: write(two, pairs[1], groups[1]))
        finally:
            done.set()
            for reader in readers:
                reader.join()
        assert seen
        assert [get(one, member).content for pair in pairs for member in pair] == [40] * 4

    def test_a_snapshot_answers_nothing_after_its_end(self, store: Store) -> None:
        """What it read with is another reader's by then."""
        a = note(store)
        with store.reading() as snapshot:
            snapshot.get(a)
        with pytest.raises(StoreError, match="ended"):
            snapshot.get(a)


def test_an_overlay_has_what_is_there_and_keeps_nothing(store: Store) -> None:
    """What is written to it is seen in it alone; the space gives its next ids as if nothing had been."""
    first = note(store, "kept")
    others = [note(store), collection(store, [first]), collection(store, []), relation(store, first, first)]
    others.append(relation(store, first, others[0]))
    with store.overlay() as copy:
        second = note(copy, "thrown away")
        assert copy.new_id(Kind.COLLECTION) not in others
        assert copy.new_id(Kind.RELATION) not in others
        with copy.reading() as snapshot:
            assert [snapshot.get(identifier).content for identifier in (first, second)] == ["kept", "thrown away"]
    with store.reading() as snapshot, pytest.raises(NotFound, match=f"there is no {second}"):
        snapshot.get(second)
    assert store.check() == []
