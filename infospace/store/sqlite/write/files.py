"""Imported files: which Note each of them is, and the links in it."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from infospace.core.errors import Conflict, Invalid
from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from infospace.store.changes import ExpectedFile, ExpectLinks, Linked, SetLinks, Track, Untrack
from infospace.store.protocol import TrackedFile
from infospace.store.sqlite.codec import NOTE, id_of, key_of, keys_json
from infospace.store.sqlite.connection import Connection, Row
from infospace.store.sqlite.transaction import Transaction
from infospace.store.sqlite.write.effects import log

LABEL = "links-to"
"""The label of a link that says none."""

_COLUMNS = "root, path, part, note, version, digest, title, created, modified, aliases, lines, reader"
_AT = f"SELECT {_COLUMNS} FROM files WHERE root = ? AND path = ? AND part = ?"

_AT_ONCE = 500
"""Paths that one statement asks for: fewer than a statement may have parameters, in SQLite and PostgreSQL."""

# Steps from root to root by the primary key, since a space has few roots and many files.
_ROOTS = """WITH RECURSIVE every (root) AS (
        SELECT min(root) FROM files
        UNION ALL SELECT (SELECT min(root) FROM files WHERE root > every.root) FROM every WHERE every.root IS NOT NULL
    ) SELECT root FROM every WHERE root IS NOT NULL"""


def track(work: Transaction, changes: Sequence[Track]) -> None:
    """Remember files; a place that is known gets the new Note, version and digest."""
    notes = {change.note: key_of(change.note) for change in changes}
    for identifier, key in notes.items():
        if key & 3 != NOTE:
            raise Invalid(f"{identifier} is not a Note", hint="a file is imported into a Note")
    work.must_live(notes.values(), id_of)
    nested = {
        root: _nested(work.connection, root)
        for root in {change.root for change in changes if change.was == ExpectedFile()}
    }
    rows: dict[tuple[str, str, int], Row] = {}
    known = _known(work.connection, changes)
    done: list[tuple[int, str, JSON, JSON]] = []
    for change in changes:
        key, place = notes[change.note], (change.root, change.path, change.part)
        before = rows.get(place) or known.get(place)
        _expect(work.connection, change, before, nested.get(change.root, ()))
        aliases = dump(list(change.aliases)) if change.aliases else None
        rows[place] = (
            *(*place, key >> 2, change.version, change.digest, change.title),
            *(change.created, change.modified, aliases, change.lines, change.reader),
        )
        done.append((key, "file", _json(before), _json(rows[place])))
    marks = ", ".join("?" * (_COLUMNS.count(",") + 1))
    work.connection.execute_many(f"INSERT OR REPLACE INTO files ({_COLUMNS}) VALUES ({marks})", rows.values())
    work.outline(notes.values())
    work.linked_by_hand.update(notes.values())
    log(work, done)


def _known(connection: Connection, changes: Sequence[Track]) -> dict[tuple[str, str, int], Row]:
    """Return the rows that are there for the places of changes."""
    paths: dict[str, set[str]] = {}
    for change in changes:
        paths.setdefault(change.root, set()).add(change.path)
    results: dict[tuple[str, str, int], Row] = {}
    for root, of_root in paths.items():
        names = sorted(of_root)
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            sql = f"SELECT {_COLUMNS} FROM files WHERE root = ? AND path IN ({', '.join('?' * len(some))})"
            results |= {row[:3]: row for row in connection.all(sql, (root, *some))}
    return results


def _expect(connection: Connection, change: Track | Untrack, row: Row | None, others: Collection[str] = ()) -> None:
    """Raise Conflict for a place that is not as it was, or whose file is known by one of the `others` of the roots."""
    now = _was(row)
    if others and change.was == now == ExpectedFile():
        path = Path(change.root) / change.path
        for root in others:
            if path.is_relative_to(root) and now == ExpectedFile():
                now = _was(connection.fetch_one(_AT, (root, path.relative_to(root).as_posix(), change.part)))
    if change.was not in (None, now):
        path = Path(change.root) / change.path
        is_now = "not known any more" if now.note is None else f"known as {now.note} at version {now.version}"
        what = f"{str(path)!r}, row {change.part}," if change.part else repr(str(path))
        raise Conflict(f"{what} is {is_now}: it was imported meanwhile", hint="import it again")


def _was(row: Row | None) -> ExpectedFile:
    return ExpectedFile() if row is None else ExpectedFile(id_of(row[3] * 4), row[4])


def _nested(connection: Connection, root: str) -> list[str]:
    """Return the known roots inside a root, or around it."""
    known = [(other, Path(other)) for (other,) in connection.all(_ROOTS)]
    path = Path(root)
    return [other for other, at in known if at in path.parents or path in at.parents]


def untrack(work: Transaction, changes: Sequence[Untrack]) -> None:
    """Forget files; one that is not known is forgotten already."""
    for change in changes:
        place = (change.root, change.path, change.part)
        before = work.connection.fetch_one(_AT, place)
        _expect(work.connection, change, before)
        if before is not None:
            work.connection.run("DELETE FROM files WHERE root = ? AND path = ? AND part = ?", place)
            work.outline([before[3] * 4])
            log(work, [(before[3] * 4, "file", _json(before), None)])


def forget_notes(work: Transaction, keys: Iterable[int]) -> None:
    """Forget the files of some resources."""
    notes = keys_json(key >> 2 for key in keys if key & 3 == NOTE)
    rows = work.connection.all(f"SELECT {_COLUMNS} FROM files WHERE note IN (SELECT value FROM json_each(?))", (notes,))
    if rows:
        work.connection.run("DELETE FROM files WHERE note IN (SELECT value FROM json_each(?))", (notes,))
        log(work, ((row[3] * 4, "file", _json(row), None) for row in rows))


def _json(row: Row | None) -> JSON:
    if row is None:
        return None
    root, path, part, note, version, digest, title, created, modified, aliases, lines, reader = row
    return {
        "root": root,
        "path": path,
        "note": id_of(note * 4),
        "version": version,
        "digest": digest.hex(),
        "part": part,
        "title": title,
        "created": created,
        "modified": modified,
        "aliases": _aliases(aliases),
        "lines": lines,
        "reader": reader,
    }


def tracked(connection: Connection, root: str | None) -> list[TrackedFile]:
    """Return imported files by root, path and part."""
    rows = connection.all(
        f"SELECT {_COLUMNS} FROM files WHERE ?1 IS NULL OR root = ?1 ORDER BY root, path, part", (root,)
    )
    return [
        TrackedFile(
            at, path, id_of(note * 4), version, digest, part, title, created, modified, (*_aliases(aliases),), *of
        )
        for at, path, part, note, version, digest, title, created, modified, aliases, *of in rows
    ]


_REMOVED = """SELECT e.before FROM effects e JOIN resources r ON r.key = e.key
    WHERE e.what = 'file' AND e.after = 'null' AND r.deleted IS NOT NULL
    AND (r.deleted_by = 'rm' OR r.deleted_step IS NOT NULL) ORDER BY e.sequence"""


def removed(connection: Connection) -> list[TrackedFile]:
    """Return the files of Notes that were deleted by hand or by a step, latest last."""
    rows = (json.loads(before) for (before,) in connection.all(_REMOVED))
    return [
        TrackedFile(**{**row, "digest": bytes.fromhex(row["digest"]), "aliases": (*row.get("aliases", ()),)})
        for row in rows
        if row is not None
    ]


def _aliases(text: str | None) -> list[str]:
    return [] if text is None else json.loads(text)


def expect_links(work: Transaction, changes: Sequence[ExpectLinks]) -> None:
    """Raise Conflict for the first Note whose links are not as they were read."""
    now = _links_of(work.connection, [key_of(change.note) for change in changes])
    for change in changes:
        if set(now.get(key_of(change.note), ())) != set(change.links):
            raise Conflict(f"the links of {change.note} were changed meanwhile", hint="read them again")


def set_links(work: Transaction, changes: Sequence[SetLinks]) -> None:
    """Put Notes' links in the place of those they had."""
    keys = [key_of(change.note) for change in changes]
    work.must_live(keys, id_of)
    work.linked_by_hand.update(keys)
    before = _links_of(work.connection, keys)
    after = {key: sorted(dict.fromkeys(change.links), key=_called) for key, change in zip(keys, changes, strict=True)}
    _write_links(work.connection, before, after)
    log(
        work,
        (
            (key, "links", [*map(_link_json, before.get(key, ()))], [*map(_link_json, new)])
            for key, new in after.items()
        ),
    )


def _write_links(
    connection: Connection, before: Mapping[int, Sequence[Linked]], after: Mapping[int, Sequence[Linked]]
) -> None:
    """Write the links of Notes; of those that are called as before, only where they lead now."""
    new: list[Row] = []
    led: list[Row] = []
    gone: list[Row] = []
    for key, links in after.items():
        old = before.get(key, ())
        if [*map(_called, old)] != [*map(_called, links)]:
            new += (_columns(key >> 2, link) for link in links)
            if old:
                gone.append((key >> 2,))
        else:
            rows = (_columns(key >> 2, link) for link, was in zip(links, old, strict=True) if link != was)
            led += ((*row[4:], *row[:4]) for row in rows)
    connection.execute_many("DELETE FROM links WHERE note = ?", gone)
    connection.execute_many(_LEAD, led)
    connection.execute_many(
        "INSERT OR IGNORE INTO links (note, target, wiki, label, leads, relation) VALUES (?, ?, ?, ?, ?, ?)", new
    )


def _called(link: Linked) -> tuple[str, bool, str]:
    return link.target, link.wiki, link.label


def lose_relations(work: Transaction, relations: Iterable[int]) -> None:
    """Have links lead where they do by no Relation, since somebody deleted these."""
    rows = work.connection.all(
        """SELECT DISTINCT links.note, links.relation FROM relations JOIN links ON links.note = source >> 2
        AND links.relation = relations.key WHERE relations.key IN (SELECT value FROM json_each(?))""",
        (keys_json(relations),),
    )
    keys = {note * 4 for note, _ in rows}
    before = _links_of(work.connection, keys) if keys else {}
    work.connection.execute_many("UPDATE links SET relation = NULL WHERE note = ? AND relation = ?", rows)
    after = _links_of(work.connection, keys) if keys else {}
    log(work, ((key, "links", [*map(_link_json, before[key])], [*map(_link_json, after[key])]) for key in sorted(keys)))


_LEAD = "UPDATE links SET leads = ?, relation = ? WHERE note = ? AND target = ? AND wiki = ? AND label = ?"

_LINKS = """SELECT note, target, wiki, label, leads, relation,
        EXISTS (SELECT 1 FROM files WHERE files.note = leads >> 2)
    FROM links WHERE note IN ({}) ORDER BY note, target, wiki, label"""


def _links_of(connection: Connection, keys: Iterable[int]) -> dict[int, list[Linked]]:
    return _read_links(connection, "SELECT value >> 2 FROM json_each(?1)", (keys_json(keys),))


def _read_links(connection: Connection, notes: str, values: Sequence[Any] = ()) -> dict[int, list[Linked]]:
    """Return the links of Notes, which a SELECT lists, by key."""
    results: dict[int, list[Linked]] = {}
    for row in connection.all(_LINKS.format(notes), values):
        results.setdefault(row[0] * 4, []).append(_linked(row))
    return results


def _columns(note: int, link: Linked) -> tuple[Any, ...]:
    to, relation = (link.to, link.relation) if link.to is not None else link.lost or (None, None)
    leads = None if to is None else key_of(to)
    return note, link.target, int(link.wiki), link.label, leads, None if relation is None else key_of(relation)


def _linked(row: Row) -> Linked:
    _, target, wiki, label, leads, relation, is_there = row
    if leads is None:
        return Linked(target, wiki == 1, label=label)
    to, by = id_of(leads), None if relation is None else id_of(relation)
    if not is_there:
        return Linked(target, wiki == 1, None, None, (to, by), label)
    return Linked(target, wiki == 1, to, by, None, label)


def _link_json(link: Linked) -> JSON:
    to, relation = (link.to, link.relation) if link.to is not None else link.lost or (None, None)
    label = {} if link.label == LABEL else {"label": link.label}
    return {"target": link.target, "wiki": link.wiki, "to": to, "relation": relation, **label}


def links(connection: Connection, note: str | None) -> dict[str, list[Linked]]:
    """Return the links of a Note, or of all that still have a file."""
    if note is not None:
        return {id_of(key): links for key, links in _links_of(connection, [key_of(note)]).items()}
    return {id_of(key): links for key, links in _read_links(connection, "SELECT note FROM files").items()}
