"""Imported files: which Note each of them is, and the links in it."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from infospace.errors import Invalid
from infospace.jsonvalue import JSON
from infospace.memory.changes import Linked, SetLinks, Track, Untrack
from infospace.memory.sqlite.effects import log
from infospace.memory.sqlite.engine import Engine, Row
from infospace.memory.sqlite.rows import NOTE, id_of, key_of, keys_json
from infospace.memory.sqlite.work import Work
from infospace.memory.store import Tracked

_COLUMNS = "root, path, part, note, version, digest, title"
_AT = f"SELECT {_COLUMNS} FROM files WHERE root = ? AND path = ? AND part = ?"


def track(work: Work, changes: Sequence[Track]) -> None:
    """Remember files; a place that is known gets the new Note, version and digest."""
    for change in changes:
        live = work.live(change.note)
        if live.key & 3 != NOTE:
            raise Invalid(f"{change.note} is not a Note", hint="a file is imported into a Note")
        place = (change.root, change.path, change.part)
        row = (*place, live.key >> 2, change.version, change.digest, change.title)
        before = work.engine.one(_AT, place)
        work.engine.run(f"INSERT OR REPLACE INTO files ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        log(work, [(live.key, "file", _json(before), _json(row))])


def untrack(work: Work, changes: Sequence[Untrack]) -> None:
    """Forget files; one that is not known is forgotten already."""
    for change in changes:
        place = (change.root, change.path, change.part)
        before = work.engine.one(_AT, place)
        if before is not None:
            work.engine.run("DELETE FROM files WHERE root = ? AND path = ? AND part = ?", place)
            log(work, [(before[3] * 4, "file", _json(before), None)])


def forget_notes(work: Work, keys: Iterable[int]) -> None:
    """Forget the files of some resources."""
    notes = keys_json(key >> 2 for key in keys if key & 3 == NOTE)
    rows = work.engine.all(f"SELECT {_COLUMNS} FROM files WHERE note IN (SELECT value FROM json_each(?))", (notes,))
    if rows:
        work.engine.run("DELETE FROM files WHERE note IN (SELECT value FROM json_each(?))", (notes,))
        log(work, ((row[3] * 4, "file", _json(row), None) for row in rows))


def _json(row: Row | None) -> JSON:
    if row is None:
        return None
    root, path, part, note, version, digest, title = row
    return {
        "root": root,
        "path": path,
        "note": id_of(note * 4),
        "version": version,
        "digest": digest.hex(),
        "part": part,
        "title": title,
    }


def tracked(engine: Engine, root: str | None) -> list[Tracked]:
    """Return imported files by root, path and part."""
    rows = engine.all(f"SELECT {_COLUMNS} FROM files WHERE ?1 IS NULL OR root = ?1 ORDER BY root, path, part", (root,))
    return [
        Tracked(at, path, id_of(note * 4), version, digest, part, title)
        for at, path, part, note, version, digest, title in rows
    ]


def set_links(work: Work, changes: Sequence[SetLinks]) -> None:
    """Put a Note's links in the place of those it had."""
    for change in changes:
        key = work.live(change.note).key
        rows = [_columns(key >> 2, link) for link in change.links]
        before = work.engine.all(f"{_LINKS} WHERE note = ? ORDER BY target, wiki", (key >> 2,))
        work.engine.run("DELETE FROM links WHERE note = ?", (key >> 2,))
        work.engine.many(
            "INSERT OR IGNORE INTO links (note, target, wiki, leads, relation) VALUES (?, ?, ?, ?, ?)", rows
        )
        log(work, [(key, "links", [_link_json(row) for row in before], [_link_json(row) for row in sorted(rows)])])


_LINKS = "SELECT note, target, wiki, leads, relation FROM links"


def _columns(note: int, link: Linked) -> tuple[Any, ...]:
    leads = None if link.to is None else key_of(link.to)
    return note, link.target, int(link.wiki), leads, None if link.relation is None else key_of(link.relation)


def _linked(row: Row) -> Linked:
    _, target, wiki, leads, relation = row
    return Linked(
        target, wiki == 1, None if leads is None else id_of(leads), None if relation is None else id_of(relation)
    )


def _link_json(row: Row) -> JSON:
    link = _linked(row)
    return {"target": link.target, "wiki": link.wiki, "to": link.to, "relation": link.relation}


def links(engine: Engine) -> dict[str, list[Linked]]:
    """Return the links of Notes that still have a file."""
    found: dict[str, list[Linked]] = {}
    for row in engine.all(f"{_LINKS} WHERE note IN (SELECT note FROM files) ORDER BY note, target, wiki"):
        found.setdefault(id_of(row[0] * 4), []).append(_linked(row))
    return found
