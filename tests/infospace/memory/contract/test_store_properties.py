"""What must hold in every store for any sequence of changes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_tools import (
    MODEL,
    Open,
    collection,
    embed,
    get,
    ids,
    note,
    relation,
    searched,
    waiting,
)

from infospace.core.errors import Conflict, InfospaceError, Invalid
from infospace.core.ids import is_id
from infospace.core.resources import Collection, Member, Relation
from infospace.store.changes import (
    AddMembers,
    Delete,
    GiveName,
    Keep,
    RemoveMembers,
    Revise,
)
from infospace.store.protocol import Rows, Store

example = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

small = st.integers(0, 5)
edits = st.lists(st.tuples(st.sampled_from(["add", "remove"]), st.lists(small, max_size=4)), max_size=12)
names = st.sampled_from(["a", "é", "e\u0301", "_a", "_é", "x", "Note_1", ""])
doings = st.lists(
    st.tuples(st.sampled_from(["note", "revise", "title", "name", "keep", "delete", "embed", "model"]), small, names),
    max_size=25,
)


def put_in(store: Store, group: str, items: list[str]) -> list[str]:
    """Put into a Collection those of the items that do not hold it, and return them; all together are refused else."""
    outside = [item for item in items if group not in held(store, item)]
    if outside != items:
        with pytest.raises(Invalid, match="would contain itself"):
            store.commit([AddMembers(group, [Member(item) for item in items])])
    store.commit([AddMembers(group, [Member(item) for item in outside])])
    return outside


def held(store: Store, thing: str) -> set[str]:
    """Return a thing with what it holds, at any depth."""
    inside = ids(get(store, thing)) if thing.startswith("Collection_") else []
    return {thing}.union(*(held(store, item) for item in inside))


class TestProperties:
    """Each holds for every example that hypothesis finds."""

    @given(start=st.lists(small, max_size=4), edits=edits)
    @example
    def test_each_version_of_a_collection_is_what_a_list_would_be(
        self, fresh: Open, start: list[int], edits: list[tuple[str, list[int]]]
    ) -> None:
        """A list that is copied at each change agrees with every version, also while changes share a commit."""
        store = fresh()
        notes = [note(store) for _ in range(6)]
        group = collection(store, [notes[index] for index in start])
        lists = [[notes[index] for index in start]]
        for kind, indexes in edits:
            chosen = [notes[index] for index in indexes]
            before = lists[-1]
            after = [*before, *chosen] if kind == "add" else [member for member in before if member not in chosen]
            change = AddMembers(group, [Member(m) for m in chosen]) if kind == "add" else RemoveMembers(group, chosen)
            store.commit([change])
            if after != before:
                lists.append(after)
        assert [ids(get(store, group, version + 1)) for version in range(len(lists))] == lists
        assert get(store, group).version == len(lists)
        assert store.check() == []

    @given(
        groups=st.lists(st.lists(st.integers(0, 11), max_size=4), min_size=1, max_size=4),
        arrows=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=6),
        first=st.integers(0, 11),
        added=st.lists(st.integers(0, 11), max_size=3),
    )
    @example
    def test_what_is_kept_is_the_closure_and_nothing_else(
        self, fresh: Open, groups: list[list[int]], arrows: list[tuple[int, int]], first: int, added: list[int]
    ) -> None:
        """Any graph of Notes, Collections and Relations, also cycles through Relations: keep one, then add to it."""
        store = fresh()
        things = [note(store) for _ in range(4)]
        things += [collection(store, []) for _ in groups]
        for source, target in arrows:
            things.append(relation(store, things[source % len(things)], things[target % len(things)]))
        pick = lambda indexes: [things[index % len(things)] for index in indexes]  # noqa: E731
        for at, members in enumerate(groups):
            put_in(store, things[4 + at], pick(members))
        chosen = things[first % len(things)]
        expected = closure(store, [chosen])
        store.commit([Keep(chosen)])
        assert kept_among(store, things) == expected
        group = things[4]
        items = pick(added)
        items = put_in(store, group, items)
        if group in expected:
            expected |= closure(store, items, inside=group)
        assert kept_among(store, things) == expected
        assert store.check() == []

    @given(doings=st.lists(st.tuples(small, names, st.sampled_from(["give", "take", "delete"])), max_size=20))
    @example
    def test_a_name_has_one_holder_and_a_thing_one_name(self, fresh: Open, doings: list[tuple[int, str, str]]) -> None:
        """A dictionary agrees, whatever is named, renamed, taken over and deleted."""
        store = fresh()
        things = [note(store) if index % 2 else collection(store, []) for index in range(6)]
        holders: dict[str, str] = {}
        alive = set(things)
        for index, name, doing in doings:
            thing, normal = things[index], unicodedata.normalize("NFC", name)
            if thing not in alive:
                continue
            if doing == "delete":
                store.commit([Delete(thing)])
                alive.discard(thing)
            else:
                try:
                    store.commit([GiveName(thing, name, replace=doing == "take")])
                except Conflict:
                    assert doing == "give"
                    assert holders[normal] != thing
                    continue
                except Invalid:
                    assert not name or is_id(name)
                    continue
                assert doing == "take" or holders.get(normal, thing) == thing
            holders = {key: holder for key, holder in holders.items() if holder != thing}
            if doing != "delete":
                holders[normal] = thing
            with store.reading() as snapshot:
                assert snapshot.names() == sorted(holders)
                assert {key: snapshot.named(key) for key in holders} == holders
        assert store.check() == []

    @given(doings=doings)
    @example
    def test_who_follows_what_moved_has_what_all_rows_say(
        self, fresh: Open, doings: list[tuple[str, int, str]]
    ) -> None:
        """A copy that is brought up to date by `moved` agrees after every commit, and so do flags and counts."""
        store = fresh()
        notes = [note(store, f"text {index}", kept=index % 2 == 0) for index in range(6)]
        store.use_model(MODEL)
        copy: dict[int, tuple[int, bytes]] = {}
        seen = 0
        for doing, index, name in doings:
            with suppress(InfospaceError):
                _do(store, notes, doing, index, name)
            with store.reading() as snapshot:
                moved = snapshot.moved(seen)
                assert moved.complete
                for number in moved.touched:
                    copy.pop(number, None)
                copy.update(_rows(snapshot.rows(snapshot.model() or "", moved.touched)))
                assert copy == _rows(snapshot.rows(snapshot.model() or ""))
                seen = snapshot.generation
            assert set(waiting(store)) == set(searched(store)) - set(copy)
        assert store.check() == []


def _do(store: Store, notes: list[str], doing: str, index: int, name: str) -> None:
    chosen = notes[index]
    if doing == "note":
        notes[index] = note(store, name, kept=True)
    elif doing == "revise":
        store.commit([Revise(chosen, name)])
    elif doing == "title":
        store.commit([Revise(chosen, metadata={"title": name})])
    elif doing == "name":
        store.commit([GiveName(chosen, name, replace=True)])
    elif doing == "keep":
        store.commit([Keep(chosen)])
    elif doing == "delete":
        store.commit([Delete(chosen)])
    elif doing == "embed":
        embed(store, chosen, model=MODEL)
    else:
        store.use_model(MODEL if index else "another")


def _rows(rows: object) -> dict[int, tuple[int, bytes]]:

    assert isinstance(rows, Rows)
    vectors = np.ascontiguousarray(rows.vectors)
    return {
        owner: (version, vector.tobytes())
        for owner, version, vector in zip(rows.owners.tolist(), rows.versions.tolist(), vectors, strict=True)
    }


def kept_among(store: Store, things: Iterable[str]) -> set[str]:
    """Return which of the things are kept."""
    return {thing for thing in things if get(store, thing).kept}


def closure(store: Store, start: Iterable[str], inside: str | None = None) -> set[str]:
    """Return what keeping must reach, by the definition, as a fixed point.

    Members of Collections and ends of Relations, and the Relations between members; `inside` is the
    Collection whose members count for the latter, of which one end must be new.
    """
    reached, members = _fixed_point(store, set(start))
    members |= set(start) if inside else set()
    whole = _fixed_point(store, {inside})[1] if inside else members
    with store.reading() as snapshot:
        for arrow in snapshot.get_many(snapshot.relations()):
            assert isinstance(arrow, Relation)
            ends = {arrow.source, arrow.target}
            if ends <= whole and ends & members:
                reached.add(arrow.id)
    return reached


def _fixed_point(store: Store, reached: set[str]) -> tuple[set[str], set[str]]:
    members: set[str] = set()
    while True:
        more: set[str] = set()
        for thing in reached:
            found = get(store, thing)
            if isinstance(found, Collection):
                members.update(ids(found))
                more.update(ids(found))
            elif isinstance(found, Relation):
                more |= {found.source, found.target}
        if more <= reached:
            return reached, members
        reached = reached | more
