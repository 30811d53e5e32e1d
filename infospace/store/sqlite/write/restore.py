"""Bringing back: what was deleted, and how things stood at an earlier version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infospace.core.errors import Conflict, NotFound
from infospace.store.changes import Expect, Restore, Unkeep
from infospace.store.sqlite.codec import COLLECTION, NOTE, gone, key_of, keys_json
from infospace.store.sqlite.read.search_results import MEMBERS
from infospace.store.sqlite.transaction import Transaction
from infospace.store.sqlite.write.batch_rows import give_member_rows, give_rows
from infospace.store.sqlite.write.collections import set_members
from infospace.store.sqlite.write.effects import held, is_held, log
from infospace.store.sqlite.write.keep import release
from infospace.store.sqlite.write.notes import advance

_STANDING = "SELECT key, deleted IS NOT NULL, version FROM resources WHERE key IN (SELECT value FROM json_each(?))"


def expect(work: Transaction, changes: Sequence[Expect]) -> None:
    """Raise Conflict for the first resource that does not stand as it was read."""
    expected = {key_of(change.id): change for change in changes}
    give_rows(work.connection, [key >> 2 for key in expected if key & 3 == NOTE])
    now = {
        key: (version, name, stored == 1, alive == 1)
        for key, version, name, stored, alive in work.connection.all(_STATE, (keys_json(expected),))
    }
    for key, change in expected.items():
        if now.get(key) != (change.version, change.name, change.kept, change.alive):
            raise Conflict(
                f"{change.id} was changed, named, kept, let go, deleted or restored since it was read",
                hint="read it again",
            )


_STATE = "SELECT key, version, name, kept, deleted IS NULL FROM resources WHERE key IN (SELECT value FROM json_each(?))"


def restore(work: Transaction, changes: Sequence[Restore]) -> None:
    """Undo deletions, and make new versions that are like earlier ones."""
    keys = {key_of(change.id): change for change in changes}
    give_rows(work.connection, [key >> 2 for key in keys if key & 3 == NOTE])
    standing = {key: (dead, version) for key, dead, version in work.connection.all(_STANDING, (keys_json(keys),))}
    for key, change in keys.items():
        if key not in standing:
            raise gone(change.id)
        work.expect(change.id, standing[key][1], change.if_version)
    _revive(work, {key: standing[key][1] for key in keys if standing[key][0]})
    back = [key for key, change in keys.items() if change.version not in (None, standing[key][1])]
    for key in back:
        _restore_version(work, keys[key], key, standing[key][1])
    work.rediscover(keys)
    results = [key for (key,) in work.connection.all(_FOUND, (keys_json(back),))]
    if results:
        stamp = work.stamp()
        work.connection.execute_many(
            "UPDATE resources SET generation = ? WHERE key = ?", [(stamp, key) for key in results]
        )
        work.wait_for_embedding(key >> 2 for key in results)


_FOUND = "SELECT key FROM resources WHERE found = 1 AND key IN (SELECT value FROM json_each(?))"


def _revive(work: Transaction, versions: Mapping[int, int]) -> None:
    work.connection.execute_many(
        """UPDATE resources SET deleted = NULL, deleted_run = NULL, deleted_step = NULL, deleted_by = NULL
        WHERE key = ?""",
        [(key,) for key in versions],
    )
    log(work, ((key, "alive", False, version) for key, version in versions.items()))
    work.nested.update(key for key in versions if key & 3 == COLLECTION)


def _restore_version(work: Transaction, change: Restore, key: int, latest: int) -> None:
    connection = work.connection
    give_member_rows(connection, [key])
    earlier = connection.fetch_one(
        "SELECT form, hash, metadata, content FROM history WHERE key = ? AND version = ?", (key, change.version)
    )
    if earlier is None:
        raise NotFound(f"{change.id} has no version {change.version}", hint="it may have been purged")
    advance(work, key, change.created_by)
    connection.run("UPDATE resources SET form = ?, hash = ?, metadata = ?, content = ? WHERE key = ?", (*earlier, key))
    if key & 3 == COLLECTION:
        expected, present = (connection.all(MEMBERS, (key, at, at)) for at in (change.version or 1, latest))
        if expected != present:
            set_members(work, key, expected, latest + 1)


def let_go(work: Transaction, changes: Sequence[Unkeep]) -> None:
    """Make resources transient again."""
    together = {change.id for change in changes}
    for change in changes:
        live = work.live(change.id)
        if change.if_free:
            is_named = work.connection.value("SELECT name FROM resources WHERE key = ?", (live.key,)) is not None
            if is_named or is_held(work.connection, change.id):
                continue
        else:
            held(work.connection, change.id, together)
        release(work, live)
