"""Several stores open on one space, several threads in one store: nothing is lost, and no id is given twice."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from store_tools import AT, LATER, MODEL, Open, collection, get, ids, note, open_run, run_all

from infospace.core.errors import Conflict, NotFound, StoreError
from infospace.core.ids import Kind, number_of
from infospace.core.resources import Member
from infospace.journal.rows import ClaimRun, Heartbeat
from infospace.store.changes import AddMembers, Delete, GiveName, Keep, MakeNote, Query, Revise
from infospace.store.protocol import Store


class TestShared:
    """Two stores of one space."""

    def test_what_one_commits_the_other_reads(self, open_store: Open) -> None:
        """At once, with its generation; both know that they are the same space."""
        one, two = open_store(), open_store()
        assert one.identity == two.identity
        assert one.writable
        assert two.writable
        a = note(one, "one", kept=True)
        with two.reading() as snapshot:
            assert snapshot.get(a).content == "one"
            before = snapshot.generation
        after = two.commit([Revise(a, "two")])
        with one.reading() as snapshot:
            assert (snapshot.get(a).content, snapshot.generation) == ("two", after)
            assert snapshot.moved(before).touched == {number_of(a)}

    def test_the_second_of_two_with_one_version_is_a_conflict(self, open_store: Open) -> None:
        """Whoever read before the other wrote must read again."""
        one, two = open_store(), open_store()
        a, group = note(one, 0), collection(one, [])
        one.commit([Revise(a, 1, if_version=1), AddMembers(group, [Member(a)], if_version=1)])
        for change in (Revise(a, 2, if_version=1), AddMembers(group, [Member(a)], if_version=1)):
            with pytest.raises(Conflict, match="is at version 2, not 1"):
                two.commit([change])

    def test_a_name_goes_to_one_of_those_who_want_it(self, open_store: Open) -> None:
        """Of many at once, in two stores, each name has one holder, and all others a Conflict."""
        stores = open_store(), open_store()
        won: list[tuple[str, str]] = []
        lost: list[str] = []

        def claim(store: Store) -> None:
            for index in range(20):
                mine = note(store)
                try:
                    store.commit([GiveName(mine, f"name {index}")])
                    won.append((f"name {index}", mine))
                except Conflict:
                    lost.append(mine)

        run_all(*(lambda store=store: claim(store) for store in stores))  # type: ignore[misc]
        assert len(lost) == 20
        with stores[0].reading() as snapshot:
            assert {name: snapshot.named(name) for name in snapshot.names()} == dict(won)

    def test_a_run_that_two_would_take_goes_to_one(self, open_store: Open) -> None:
        """The other's attempt is a Conflict, and so is the heart of the earlier owner."""
        one, two = open_store(), open_store()
        run = open_run(one)
        two.commit([], [ClaimRun(run, "you", "me", LATER)])
        for entry in (ClaimRun(run, "third", "me", LATER), Heartbeat(run, "me", LATER)):
            with pytest.raises(Conflict, match="belongs to 'you'"):
                one.commit([], [entry])

    def test_changes_to_the_same_thing_at_once_are_all_made(self, open_store: Open) -> None:
        """With `if_version` and reading again, or without: a version for each, and members in each one's order."""
        stores = open_store(), open_store()
        counter, group = note(stores[0], 0), collection(stores[0], [])

        def count(store: Store) -> None:
            left = 15
            while left:
                found = get(store, counter)
                with suppress(Conflict):
                    store.commit([Revise(counter, found.content + 1, if_version=found.version)])
                    left -= 1

        def put(store: Store) -> None:
            for _ in range(15):
                member = store.new_id(Kind.NOTE)
                store.commit([MakeNote(member, "x"), AddMembers(group, [Member(member)])])

        run_all(*(lambda store=store, work=work: work(store) for store in stores for work in (count, put)))  # type: ignore[misc]
        assert (get(stores[1], counter).content, get(stores[1], counter).version) == (30, 31)
        members = ids(get(stores[1], group))
        assert (len(members), len(set(members)), get(stores[1], group).version) == (30, 30, 31)

    def test_generations_of_two_writers_leave_no_change_unseen(self, open_store: Open) -> None:
        """Who follows `moved` from generation to generation, while both write, has seen every Note at the end."""
        stores = open_store(), open_store()

        def write(store: Store) -> None:
            for _ in range(30):
                note(store, kept=True)

        def follow() -> None:
            at = 0
            while len(seen) < 60:
                with stores[0].reading() as snapshot:
                    moved = snapshot.moved(at)
                    assert moved.complete
                    assert snapshot.generation >= at
                    seen.update(moved.touched)
                    at = snapshot.generation

        seen: set[int] = set()
        run_all(follow, *(lambda store=store: write(store) for store in stores))  # type: ignore[misc]
        with stores[1].reading() as snapshot:
            assert sorted(seen) == snapshot.discoverable().tolist()
            assert snapshot.generation == 60

    def test_both_may_do_the_same_work(self, open_store: Open) -> None:
        """Deleting what the other deleted is NotFound; remembering the same query twice is nothing."""
        one, two = open_store(), open_store()
        a = note(one)
        row = np.ones(3, np.float32)
        one.commit([Delete(a), Query(MODEL, b"q", row)])
        two.commit([Query(MODEL, b"q", row)])
        with pytest.raises(NotFound, match="was deleted"):
            two.commit([Delete(a)])


class TestIds:
    """No id is given twice, whoever asks and whatever goes wrong."""

    def test_ids_go_on_where_a_closed_store_left_off(self, open_store: Open) -> None:
        """Nothing is lost of what was reserved, for any kind."""
        for opening in range(3):
            store = open_store()
            for kind in (*Kind, "run"):
                given = [store.new_id(kind) for _ in range(5)]  # type: ignore[arg-type]
                assert given == [f"{kind}_{opening * 5 + index}" for index in range(1, 6)]
            store.close()

    def test_an_id_of_a_commit_that_failed_is_not_given_again(self, open_store: Open) -> None:
        """Neither at once nor after reopening."""
        store = open_store()
        lost = store.new_id(Kind.NOTE)
        with pytest.raises(NotFound, match="there is no Note"):
            store.commit([MakeNote(lost, 1), Keep("Note_99")])
        assert store.new_id(Kind.NOTE) != lost
        store.close()
        assert open_store().new_id(Kind.NOTE) == "Note_3"

    def test_two_stores_never_give_the_same_id(self, open_store: Open) -> None:
        """What one gives back is not what another has taken after it."""
        one, two = open_store(), open_store()
        given = [store.new_id(Kind.NOTE) for _ in range(60) for store in (one, two)]
        one.close()
        given += [two.new_id(Kind.NOTE) for _ in range(100)]
        two.close()
        third = open_store()
        given += [third.new_id(Kind.NOTE) for _ in range(100)]
        third.commit([MakeNote(identifier, 1) for identifier in given])
        assert len(set(given)) == len(given)

    def test_a_store_that_is_never_closed_takes_its_ids_with_it(self, open_store: Open) -> None:
        """As when its process was killed: what it was given and did not use is nobody's."""
        given: list[str] = []
        for _ in range(4):
            store = open_store()
            given += [store.new_id(Kind.NOTE) for _ in range(3)]
        assert len(set(given)) == len(given)

    def test_an_id_that_another_store_was_given_can_be_used_by_it_alone(self, open_store: Open) -> None:
        """One number beyond what anybody was given is refused in both."""
        one, two = open_store(), open_store()
        theirs, mine = two.new_id(Kind.NOTE), one.new_id(Kind.NOTE)
        two.commit([MakeNote(theirs, "theirs")])
        one.commit([MakeNote(mine, "mine")])
        with pytest.raises(Conflict, match="exists already"):
            one.commit([MakeNote(theirs, "mine too")])

    def test_threads_share_a_store(self, store: Store) -> None:
        """Ids are distinct, commits all there, and each thread reads what it wrote."""
        given: list[str] = []

        def work() -> None:
            for _ in range(30):
                identifier = note(store)
                given.append(get(store, identifier).id)

        run_all(*[work] * 5)
        assert len(set(given)) == 150


class TestClosing:
    """A store that was closed."""

    def test_closing_is_final_and_may_be_repeated(self, open_store: Open) -> None:
        """Everything after is a StoreError; a snapshot that is open stays good until it ends."""
        store = open_store()
        identifier = note(store)
        with store.reading() as snapshot:
            store.close()
            store.close()
            assert snapshot.get(identifier).content == "text"
        with pytest.raises(StoreError, match="is closed"):
            store.commit([Keep(identifier)])
        with pytest.raises(StoreError, match="is closed"), store.reading():
            pass

    def test_what_was_committed_is_there_when_it_is_opened_again(self, open_store: Open) -> None:
        """Resources, runs, and what tells the space from others."""
        store = open_store()
        identifier, run = note(store, {"a": [1]}), open_run(store)
        known = store.identity
        store.close()
        again = open_store()
        assert again.identity == known
        assert get(again, identifier).content == {"a": [1]}
        with again.reading() as snapshot:
            assert snapshot.run(run).started == AT

    def test_every_space_has_an_identity_of_its_own(self, fresh: Open) -> None:
        """What is derived from one is not taken for another's."""
        assert len({fresh().identity for _ in range(3)}) == 3
