"""A Collection never contains itself: whatever would make it so is refused, whole, wherever it comes from."""

from __future__ import annotations

import pytest
from store_tools import collection, get, ids, note, open_run

from infospace.core.errors import Invalid
from infospace.core.ids import Kind
from infospace.core.resources import CreatedBy, Member
from infospace.editing.undo import undo
from infospace.journal.rows import CloseRun
from infospace.store.changes import AddMembers, Change, Delete, MakeCollection, RemoveMembers, Restore
from infospace.store.protocol import Store


def put(store: Store, inner: str, outer: str, made: CreatedBy | None = None) -> None:
    """Put a resource into a Collection."""
    store.commit([AddMembers(outer, [Member(inner)], created_by=made or CreatedBy())])


def test_a_collection_is_not_put_into_itself_or_into_what_it_holds(store: Store) -> None:
    """The sentence names both, and nothing is written; what only stands in two places is no loop."""
    deepest = collection(store, [note(store)])
    middle = collection(store, [deepest])
    outer = collection(store, [middle, deepest])
    for inner, into in ((outer, outer), (outer, middle), (outer, deepest), (middle, deepest)):
        before = ids(get(store, into))
        with pytest.raises(Invalid, match=f"{into} would contain itself"):
            put(store, inner, into)
        assert ids(get(store, into)) == before
        assert get(store, into).version == 1
    put(store, deepest, outer)
    assert ids(get(store, outer)) == [middle, deepest, deepest]


def test_one_that_is_made_around_itself_is_refused(store: Store) -> None:
    """As a first member, and by several changes that only together make it so."""
    new, other = store.new_id(Kind.COLLECTION), store.new_id(Kind.COLLECTION)
    together: list[Change] = [
        MakeCollection(new, []),
        MakeCollection(other, [Member(new)]),
        AddMembers(new, [Member(other)]),
    ]
    with pytest.raises(Invalid, match=f"{new} would contain itself, since {other}"):
        store.commit(together)
    store.commit([*together, RemoveMembers(other, [new])])
    assert (ids(get(store, new)), ids(get(store, other))) == ([other], [])


def test_what_is_brought_back_makes_no_loop(store: Store) -> None:
    """An earlier version, and one that was deleted while the other took it in."""
    one = collection(store, [])
    two = collection(store, [one])
    store.commit([RemoveMembers(two, [one])])
    put(store, two, one)
    with pytest.raises(Invalid, match=f"{two} would contain itself, since {one}"):
        store.commit([Restore(two, 1)])
    store.commit([Delete(one)])
    store.commit([Restore(two, 1)])
    with pytest.raises(Invalid, match=f"{one} would contain itself, since {two}"):
        store.commit([Restore(one)])
    assert ids(get(store, two)) == [one]


def test_undoing_makes_no_loop(store: Store) -> None:
    """A run took one out of the other, and since then the other is in it."""
    one = collection(store, [])
    two = collection(store, [one])
    run = open_run(store)
    store.commit(
        [RemoveMembers(two, [one], created_by=CreatedBy(run, "1"))], [CloseRun(run, "success", "2026-04-01T09:30:00Z")]
    )
    put(store, two, one)
    with pytest.raises(Invalid, match="would contain itself"):
        undo(store, run)
    assert ids(get(store, two)) == []


def test_a_loop_among_many_at_once_is_refused(store: Store) -> None:
    """However many a transaction makes, of which each stands in two others."""
    ring = [store.new_id(Kind.COLLECTION) for _ in range(20)]
    stairs: list[Change] = [MakeCollection(ring[19], []), MakeCollection(ring[18], [Member(ring[19])])]
    stairs += [MakeCollection(ring[at], [Member(ring[at + 1]), Member(ring[at + 2])]) for at in range(17, -1, -1)]
    with pytest.raises(Invalid, match="would contain itself"):
        store.commit([*stairs, AddMembers(ring[19], [Member(ring[7])])])
    store.commit(stairs)
    assert ids(get(store, ring[0])) == [ring[1], ring[2]]
