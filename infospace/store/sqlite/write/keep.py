"""Keeping and naming: what makes a resource more than its run's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from infospace.core import names
from infospace.core.errors import Conflict
from infospace.store.changes import FreeName, GiveName, Keep
from infospace.store.sqlite.codec import COLLECTION, NOTE, RELATION, id_of, keys_json
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.transaction import Live, Transaction
from infospace.store.sqlite.write.batch_rows import give_all_rows
from infospace.store.sqlite.write.effects import is_held, log

_MEMBERS = """SELECT DISTINCT item FROM members JOIN resources ON key = item
    WHERE collection IN (SELECT value FROM json_each(?)) AND until IS NULL AND deleted IS NULL"""

_ENDS = "SELECT source, target FROM relations WHERE key IN (SELECT value FROM json_each(?))"

_TRANSIENT_RELATIONS = """SELECT key, source, target FROM relations JOIN resources USING (key)
    WHERE kept = 0 AND deleted IS NULL
    AND (source IN (SELECT value FROM json_each(?)) OR target IN (SELECT value FROM json_each(?)))"""


def keep_all(work: Transaction, changes: Sequence[Keep]) -> None:
    """Keep resources with what belongs to them."""
    for change in changes:
        key = work.live(change.id).key
        if change.alone:
            give_all_rows(work.connection, [key])
            _mark(work, [key])
        else:
            keep(work, [key])


def keep(work: Transaction, keys: Iterable[int]) -> None:
    """Keep resources; the members of Collections, and the Relations between these; the ends of Relations.

    Members of members are members. Whoever was deleted stays so.
    """
    keys = list(keys)
    give_all_rows(work.connection, keys)
    reached, members = _spread(work.connection, keys)
    reached |= _between(work.connection, members, members)
    _mark(work, reached)


def keep_added(work: Transaction, collection: int, items: Collection[int]) -> None:
    """Keep what was put into a kept Collection, and the Relations between that and its members.

    Looks at the whole Collection only when one of the new items has a Relation that is not kept.
    """
    give_all_rows(work.connection, items)
    reached, members = _spread(work.connection, items)
    members.update(items)
    if _loose_relations(work.connection, members):
        reached |= _between(work.connection, members, _spread(work.connection, [collection])[1])
    _mark(work, reached)


def _spread(connection: Connection, keys: Iterable[int]) -> tuple[set[int], set[int]]:
    """What keeping the keys reaches, themselves included, and which of it is a member of a Collection reached."""
    reached = set(keys)
    members: set[int] = set()
    frontier = reached
    while frontier:
        collections = [key for key in frontier if key & 3 == COLLECTION]
        relations = [key for key in frontier if key & 3 == RELATION]
        items = {item for (item,) in connection.all(_MEMBERS, (keys_json(collections),))} if collections else set()
        ends = {end for row in connection.all(_ENDS, (keys_json(relations),)) for end in row} if relations else set()
        members |= items
        frontier = (items | ends) - reached
        reached |= frontier
    return reached, members


def _loose_relations(connection: Connection, keys: Iterable[int]) -> list[tuple[int, int, int]]:
    """Key, source and target of the Relations that end at the keys and are not kept."""
    ends = keys_json(keys)
    return [(key, source, target) for key, source, target in connection.all(_TRANSIENT_RELATIONS, (ends, ends))]


def _between(connection: Connection, some: Collection[int], members: Collection[int]) -> set[int]:
    """Relations that are not kept, with an end among `some` and both among `members`."""
    if not some:
        return set()
    return {
        key for key, source, target in _loose_relations(connection, some) if source in members and target in members
    }


def _mark(work: Transaction, keys: Iterable[int]) -> None:
    fresh = work.connection.all(
        "SELECT key FROM resources WHERE key IN (SELECT value FROM json_each(?)) AND kept = 0 AND deleted IS NULL",
        (keys_json(keys),),
    )
    if fresh:
        work.connection.execute_many("UPDATE resources SET kept = 1 WHERE key = ?", fresh)
        log(work, ((key, "kept", False, True) for (key,) in fresh))
        work.rediscover(key for (key,) in fresh)


def give_names(work: Transaction, changes: Sequence[GiveName]) -> None:
    """Name resources, and so keep them; whoever loses its name for that is let go unless something else holds it."""
    connection = work.connection
    for change in changes:
        key = work.live(change.id).key
        name = names.validate_name(change.name)
        holder = connection.value("SELECT key FROM resources WHERE name = ?", (name,))
        if holder != key:
            if holder is not None and not change.replace:
                raise Conflict(
                    f"the name {name!r} belongs to {id_of(holder)}",
                    hint="take another name, or pass `replace: true` to take it from there",
                )
            if holder is not None:
                _rename(work, holder, None)
            _rename(work, key, name)
        elif change.replace:
            log(work, [(key, "name", name, name)])
        if change.alone:
            _mark(work, [key])
        else:
            keep(work, [key])
        work.rediscover([key] if holder is None else [holder, key])
        if holder not in (None, key) and not is_held(connection, id_of(holder)):
            release(work, work.live(id_of(holder)))


def release(work: Transaction, live: Live) -> None:
    """Make a resource transient again."""
    if live.kept:
        work.connection.run("UPDATE resources SET kept = 0 WHERE key = ?", (live.key,))
        log(work, [(live.key, "kept", True, False)])
        work.rediscover([live.key])


def free_names(work: Transaction, changes: Sequence[FreeName]) -> None:
    """Remove the names of resources, which stay kept."""
    for change in changes:
        key = work.live(change.id).key
        _rename(work, key, None)
        work.rediscover([key])


def _rename(work: Transaction, key: int, name: str | None) -> None:
    before = work.connection.value("SELECT name FROM resources WHERE key = ?", (key,))
    work.connection.run("UPDATE resources SET name = ? WHERE key = ?", (name, key))
    log(work, [(key, "name", before, name)])
    if key & 3 == NOTE:
        work.outline([key])  # links can call it by its name
