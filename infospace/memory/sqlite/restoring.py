"""Bringing back: what was deleted, and how things stood at an earlier version."""

from __future__ import annotations

from collections.abc import Sequence

from infospace.errors import NotFound
from infospace.memory.changes import LetGo, Restore
from infospace.memory.sqlite.effects import log
from infospace.memory.sqlite.evidence import MEMBERS
from infospace.memory.sqlite.notes import advance
from infospace.memory.sqlite.rows import COLLECTION, gone, key_of
from infospace.memory.sqlite.work import Work


def restore(work: Work, changes: Sequence[Restore]) -> None:
    """Undo deletions, and make new versions that are like earlier ones."""
    for change in changes:
        key = key_of(change.id)
        row = work.engine.one("SELECT deleted, version, found FROM resources WHERE key = ?", (key,))
        if row is None:
            raise gone(change.id)
        if row[0] is not None:
            _revive(work, key)
        if change.version is not None and change.version != row[1]:
            _go_back(work, change, key, row[1])


def _revive(work: Work, key: int) -> None:
    work.engine.run(
        """UPDATE resources SET deleted = NULL, deleted_run = NULL, deleted_step = NULL, deleted_by = NULL
        WHERE key = ?""",
        (key,),
    )
    log(work, [(key, "alive", False, True)])
    work.rediscover([key])


def _go_back(work: Work, change: Restore, key: int, latest: int) -> None:
    engine = work.engine
    earlier = engine.one(
        "SELECT form, hash, metadata, content FROM history WHERE key = ? AND version = ?", (key, change.version)
    )
    if earlier is None:
        raise NotFound(f"{change.id} has no version {change.version}", hint="it may have been purged")
    advance(work, key, change.made)
    engine.run("UPDATE resources SET form = ?, hash = ?, metadata = ?, content = ? WHERE key = ?", (*earlier, key))
    if key & 3 == COLLECTION:
        _members_of(work, key, change.version or 1, latest)
    work.rediscover([key])
    if engine.value("SELECT found FROM resources WHERE key = ?", (key,)):
        engine.run("UPDATE resources SET generation = ? WHERE key = ?", (work.stamp(), key))
        work.wait_for_embedding([key >> 2])


def _members_of(work: Work, key: int, version: int, latest: int) -> None:
    engine = work.engine
    wanted, present = (engine.all(MEMBERS, (key, at, at)) for at in (version, latest))
    if wanted == present:
        return
    engine.run("UPDATE members SET until = ? WHERE collection = ? AND until IS NULL", (latest + 1, key))
    last = engine.value("SELECT max(position) FROM members WHERE collection = ?", (key,))
    rows = [(key, at, item, latest + 1, info) for at, (item, info) in enumerate(wanted, start=(last or 0) + 1)]
    engine.many("INSERT INTO members (collection, position, item, since, info) VALUES (?, ?, ?, ?, ?)", rows)


def let_go(work: Work, changes: Sequence[LetGo]) -> None:
    """Make resources transient again."""
    for change in changes:
        live = work.live(change.id)
        if live.kept:
            work.engine.run("UPDATE resources SET kept = 0 WHERE key = ?", (live.key,))
            log(work, [(live.key, "kept", True, False)])
            work.rediscover([live.key])
