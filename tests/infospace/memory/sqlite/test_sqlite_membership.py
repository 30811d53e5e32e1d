"""The members of a Collection's version are read from the file once, and what is kept of them is bounded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from infospace.core.errors import NotFound
from infospace.core.ids import Kind
from infospace.core.resources import Collection, Member
from infospace.store.changes import AddMembers, Delete, MakeCollection, MakeNote, RemoveMembers
from infospace.store.sqlite import open_store
from infospace.store.sqlite.codec import key_of
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read import membership_cache as membership
from infospace.store.sqlite.read.search_results import MEMBERS
from infospace.store.sqlite.read.snapshot import SqliteSnapshot
from infospace.store.sqlite.store import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """An empty space."""
    opened = open_store(tmp_path / "space.db", create=True)
    yield opened
    opened.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the file was asked for the members of."""
    found: list[object] = []
    every = Connection.all

    def all_(self: Connection, sql: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        if sql == MEMBERS:
            found.append(values)
        return every(self, sql, values)

    monkeypatch.setattr(Connection, "all", all_)
    return found


def collection(store: SqliteStore, members: list[Member]) -> str:
    """Make a Collection; return its id."""
    identifier = store.new_id(Kind.COLLECTION)
    store.commit([MakeCollection(identifier, members)])
    return identifier


def notes(store: SqliteStore, count: int) -> list[Member]:
    """Make Notes, as members of something."""
    made = [store.new_id(Kind.NOTE) for _ in range(count)]
    store.commit([MakeNote(identifier, "text") for identifier in made])
    return [Member(identifier) for identifier in made]


def members(store: SqliteStore, identifier: str, version: int | None = None) -> tuple[Member, ...]:
    """Read the members of a Collection."""
    with store.reading() as snapshot:
        found = snapshot.get(identifier, version)
    assert isinstance(found, Collection)
    return found.members


def test_members_of_a_version_are_asked_for_once(store: SqliteStore, asked: list[object]) -> None:
    """Each version has its own, and another process's new one is seen."""
    a, b, c = notes(store, 3)
    listed = collection(store, [a, b])
    assert members(store, listed) == members(store, listed) == (a, b)
    assert len(asked) == 1
    with open_store(store.address, create=False).reading() as earlier:
        store.commit([AddMembers(listed, [c])])
        store.commit([RemoveMembers(listed, [a.id])])
        assert [members(store, listed, version) for version in (1, 2, None)] == [(a, b), (a, b, c), (b, c)]
        assert len(asked) == 3
        found = earlier.get(listed)
        assert isinstance(found, Collection)
        assert found.members == (a, b)


def test_what_a_membership_records_is_nobody_elses(store: SqliteStore) -> None:
    """Whoever changes what they read changes it for themselves."""
    (a,) = notes(store, 1)
    listed = collection(store, [Member(a.id, {"index": 0})])
    (read,) = members(store, listed)
    read.info["index"] = 7  # type: ignore[index]
    assert members(store, listed) == (Member(a.id, {"index": 0}),)


def test_no_more_are_kept_than_there_is_room_for(
    store: SqliteStore, asked: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were read longest ago go first; what is larger than the room is read each time."""
    monkeypatch.setattr(membership, "MAX_CACHED_MEMBERS", 5)
    some = notes(store, 6)
    first, second, third, large = (collection(store, part) for part in (some[:2], some[2:4], some[4:], some))
    for listed in (first, second, first, third, first, large, large, second):
        members(store, listed)
    keys = [values[0] // 4 for values in asked]  # type: ignore[index]
    assert keys == [1, 2, 3, 4, 4, 2]


def test_a_collection_whose_members_are_known_is_read_by_one_statement(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is as it is now, whoever changed it; one with unknown members, or that was deleted, as a snapshot has it."""
    a, b = notes(store, 2)
    listed = collection(store, [a])
    assert store.get(listed) == store.get(listed)
    opened: list[object] = []
    begin = SqliteStore.reading

    def reading(self: SqliteStore) -> AbstractContextManager[SqliteSnapshot]:
        opened.append(self)
        return begin(self)

    monkeypatch.setattr(SqliteStore, "reading", reading)
    found = store.get(listed)
    assert isinstance(found, Collection)
    assert (list(found.members), found.version, opened) == ([a], 1, [])
    other = open_store(store.address, create=False)
    other.commit([AddMembers(listed, [b])])
    changed = store.get(listed)
    assert isinstance(changed, Collection)
    assert (list(changed.members), changed.version, opened) == ([a, b], 2, [store])
    assert store.get(listed) == changed
    assert opened == [store]
    other.commit([Delete(listed)])
    other.close()
    with pytest.raises(NotFound, match="was deleted at"):
        store.get(listed)
    assert len(opened) == 2


def test_of_a_collection_that_is_let_go_nothing_is_known(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version is forgotten with its members."""
    monkeypatch.setattr(membership, "MAX_CACHED_MEMBERS", 3)
    first, second = (collection(store, notes(store, 2)) for _ in range(2))
    known = membership.Membership()
    with store.rows() as engine:
        for identifier in (first, second):
            known.of(engine, key_of(identifier), 1)
    assert [known.kept(key_of(identifier)) for identifier in (first, second)] == [False, True]
    assert known.known(key_of(second), 1) is not None
    assert known.known(key_of(second), 2) is None
