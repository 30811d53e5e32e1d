"""Collections and Relations: making them, and putting things into and out of Collections.

A member's row says from which version on, and before which, it belongs: a new version copies nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infospace.core import batch_notes
from infospace.core.batch_notes import NoteMembers
from infospace.core.errors import Invalid
from infospace.core.ids import Kind
from infospace.core.resources import Member
from infospace.store.changes import AddMembers, MakeCollection, MakeRelation, RemoveMembers, Revise
from infospace.store.sqlite.codec import COLLECTION, PLAIN, id_of, key_of, keys_json, object_column, provenance_columns
from infospace.store.sqlite.transaction import Live, Transaction
from infospace.store.sqlite.write import notes
from infospace.store.sqlite.write.batch_rows import give_member_rows, pack_members
from infospace.store.sqlite.write.keep import keep, keep_added
from infospace.store.sqlite.write.notes import advance, insert

_ADD = "INSERT INTO members (collection, position, item, since, info) VALUES (?, ?, ?, ?, ?)"


def make_collections(work: Transaction, changes: Sequence[MakeCollection]) -> None:
    """Make Collections with their first members."""
    for change in changes:
        key = work.fresh(change.id, Kind.COLLECTION)
        _insert(work, key, change)
        members = change.members
        if isinstance(members, NoteMembers) and len(members) >= batch_notes.MANY and not change.kept:
            work.notes_must_live(members.numbers)
            pack_members(work.connection, key, members.numbers)
            continue
        _append(work, key, members, position=0, since=1)
        if change.kept:
            keep(work, [key])


def make_relations(work: Transaction, changes: Sequence[MakeRelation]) -> None:
    """Make Relations between things that exist: all at once, but for one that ends at another of them."""
    rows: dict[str, tuple[Any, ...]] = {}
    ends: list[tuple[int, int, int, str]] = []
    kept: list[int] = []

    def flush() -> None:
        insert(work, [*rows.values()])
        work.connection.execute_many("INSERT INTO relations VALUES (?, ?, ?, ?)", ends)
        if kept:
            keep(work, kept)
        rows.clear()
        ends.clear()
        kept.clear()

    alive = work.alive({end for change in changes for end in (change.source, change.target)})
    for change in changes:
        if change.source in rows or change.target in rows or change.id in rows:
            flush()
        key = work.fresh(change.id, Kind.RELATION)
        if not change.relation.strip():
            raise Invalid(f"{change.id} has an empty label", hint="`relation` says how its ends are related")
        source, target = (alive.get(end) or work.live(end).key for end in (change.source, change.target))
        ends.append((key, source, target, change.relation))
        rows[change.id] = _row(work, key, change)
        if change.kept:
            kept.append(key)
    if rows:
        flush()


def _insert(work: Transaction, key: int, change: MakeCollection | MakeRelation) -> None:
    insert(work, [_row(work, key, change)])


def _row(work: Transaction, key: int, change: MakeCollection | MakeRelation) -> tuple[Any, ...]:
    result = provenance_columns(change.created_by)
    metadata = object_column(change.metadata)
    return (key, PLAIN, change.kept, False, None, work.now, work.now, *result, None, metadata, None)


def add_members(work: Transaction, changes: Sequence[AddMembers]) -> None:
    """Put members at the end of Collections; nothing to add makes no version."""
    for change in changes:
        live = _collection(work, change)
        if not change.members:
            continue
        give_member_rows(work.connection, [live.key])
        last = work.connection.value("SELECT max(position) FROM members WHERE collection = ?", (live.key,))
        advance(work, live.key, change.created_by)
        items = _append(
            work, live.key, change.members, position=0 if last is None else last + 1, since=live.version + 1
        )
        if live.kept:
            keep_added(work, live.key, items)


def remove_members(work: Transaction, changes: Sequence[RemoveMembers]) -> None:
    """Take members out of Collections; when none of them is in, there is no new version."""
    for change in changes:
        live = _collection(work, change)
        give_member_rows(work.connection, [live.key])
        items = keys_json(key_of(identifier) for identifier in change.members)
        present = work.connection.all(
            """SELECT position FROM members WHERE collection = ? AND until IS NULL
            AND item IN (SELECT value FROM json_each(?))""",
            (live.key, items),
        )
        if not present:
            continue
        advance(work, live.key, change.created_by)
        work.connection.execute_many(
            "UPDATE members SET until = ? WHERE collection = ? AND position = ?",
            [(live.version + 1, live.key, position) for (position,) in present],
        )


def _collection(work: Transaction, change: AddMembers | RemoveMembers) -> Live:
    live = work.live(change.id)
    work.expect(change.id, live.version, change.if_version)
    if live.key & 3 != COLLECTION:
        raise Invalid(f"{change.id} is not a Collection, so it has no members", hint="name a Collection")
    return live


def revise(work: Transaction, changes: Sequence[Revise]) -> None:
    """Make new versions of Notes and Collections, of these with the members that are given; of a kept one, kept."""
    for change in changes:
        if change.members is not None and key_of(change.id) & 3 != COLLECTION:
            raise Invalid(f"{change.id} is not a Collection, so it has no members", hint="revise its content")
        notes.revise(work, [change])
        if change.members is None:
            continue
        items = [key_of(member.id) for member in change.members]
        work.must_live(items, id_of)
        live = work.live(change.id)
        set_members(work, live.key, list(zip(items, _infos(change.members), strict=True)), live.version)
        if live.kept:
            keep(work, [live.key])


def set_members(work: Transaction, collection: int, rows: Sequence[tuple[int, str | None]], since: int) -> None:
    """Let a Collection have these items, with what their memberships record, from a version on."""
    connection = work.connection
    give_member_rows(connection, [collection])
    connection.run("UPDATE members SET until = ? WHERE collection = ? AND until IS NULL", (since, collection))
    last = connection.value("SELECT max(position) FROM members WHERE collection = ?", (collection,))
    start = 0 if last is None else last + 1
    connection.execute_many(
        _ADD, [(collection, at, item, since, info) for at, (item, info) in enumerate(rows, start=start)]
    )
    work.nested.add(collection)


def _infos(members: Sequence[Member]) -> list[str | None]:
    return [None if member.info is None else object_column(member.info) or "{}" for member in members]


def _append(work: Transaction, collection: int, members: Sequence[Member], *, position: int, since: int) -> list[int]:
    """Insert members from a position on; return their keys. NotFound for what does not exist."""
    items = [key_of(member.id) for member in members]
    if items:
        work.must_live(items, id_of)
        if any(item & 3 == COLLECTION for item in items):
            work.nested.add(collection)
        rows = enumerate(zip(items, _infos(members), strict=True), start=position)
        work.connection.execute_many(_ADD, [(collection, at, item, since, info) for at, (item, info) in rows])
    return items
