"""Links lead where they say in the commit that writes them, or that brings what they call.

What the text and properties of a Note say of links is listed already (`mentions`). Of those that no import has
settled (`links`), `settled_links` says where they lead, also where that is nowhere yet; each two Notes and label have
one Relation. What is written, and what calls something that came, went, or is called otherwise now, is settled anew,
and nothing else is read. The Relations belong to no run: whatever is undone or deleted, the same commit makes them fit.

Who imports a file or sets links says where these lead; its Notes are settled only where they were before, or where it
says so (`SettleLinks`): then what leads to no file leads to a Note without one.
"""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from infospace.core.ids import Kind
from infospace.core.resources import CreatedBy
from infospace.store.changes import SETTLED_BY, Delete, Linked, MakeRelation, SettleLinks
from infospace.store.link_targets import LinkTargets, link_name
from infospace.store.sqlite.codec import NOTE, id_of, key_of, keys_json
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.transaction import Transaction
from infospace.store.sqlite.write import collections, link_names, notes

TABLES: Final = (
    """CREATE TABLE settled_links (
        note INTEGER NOT NULL, target TEXT NOT NULL, wiki INTEGER NOT NULL, label TEXT NOT NULL, name TEXT NOT NULL,
        leads INTEGER, PRIMARY KEY (note, target, wiki, label)) WITHOUT ROWID""",
    "CREATE INDEX settled_links_name ON settled_links (name)",
    "CREATE INDEX settled_links_leads ON settled_links (leads) WHERE leads IS NOT NULL",
)

_MADE: Final = CreatedBy(None, None, SETTLED_BY)

_AMONG: Final = "IN (SELECT value FROM json_each(?))"

_CALLING: Final = "SELECT DISTINCT note FROM settled_links WHERE name IN (SELECT value AS name FROM json_each(?))"
_LEADING: Final = "SELECT DISTINCT note FROM settled_links WHERE leads IN (SELECT value * 4 FROM json_each(?))"
_LED_BY_FILE: Final = """SELECT DISTINCT note FROM links l WHERE leads IN (SELECT value * 4 FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM files f WHERE f.note = l.leads >> 2)"""
_CALLED: Final = "SELECT DISTINCT note FROM link_names WHERE name IN (SELECT value AS name FROM json_each(?))"

_SAID: Final = f"""SELECT DISTINCT m.note, m.target, m.wiki, m.relation, EXISTS (SELECT 1 FROM links k
        WHERE k.note = m.note AND k.target = m.target AND k.wiki = m.wiki AND k.label = m.relation) FROM mentions m
    LEFT JOIN links l ON l.note = m.note AND l.target = m.target AND l.wiki = m.wiki AND l.label = m.relation
        AND EXISTS (SELECT 1 FROM files f WHERE f.note = l.leads >> 2)
    WHERE m.note {_AMONG} AND l.note IS NULL ORDER BY 1, 2, 3, 4"""
"""What Notes say of links, but for those that an import has settled; and whether an import is to settle it."""

_RELATIONS: Final = f"""SELECT x.source >> 2, x.target, x.relation, x.key, coalesce(r.made_by, '') = '{SETTLED_BY}'
        AND NOT EXISTS (SELECT 1 FROM links l WHERE l.note = x.source >> 2 AND l.relation = x.key)
    FROM relations x JOIN resources r ON r.key = x.key
    WHERE r.deleted IS NULL AND x.source IN (SELECT value * 4 FROM json_each(?)) ORDER BY x.key"""


class _Row(NamedTuple):
    note: int
    target: str
    wiki: int
    label: str
    name: str
    leads: int | None


@dataclass(frozen=True, slots=True)
class _Relation:
    key: int
    is_ours: bool


_UNSAID: Final = f"""SELECT l.note, l.target, l.wiki, l.label, l.relation FROM links l
    WHERE l.note {_AMONG} AND EXISTS (SELECT 1 FROM outlines o WHERE o.note = l.note) AND NOT EXISTS (
        SELECT 1 FROM mentions m
        WHERE m.note = l.note AND m.target = l.target AND m.wiki = l.wiki AND m.relation = l.label)
    ORDER BY 1, 2, 3, 4"""
"""Links that an import settled, and that their Notes, which live, do not say."""

_OF_LINKS: Final = f"""SELECT r.key FROM resources r WHERE r.key {_AMONG} AND r.deleted IS NULL
    AND r.step IS NULL AND r.made_by IN ('add', 'edit', 'export', '{SETTLED_BY}')
    AND NOT EXISTS (SELECT 1 FROM relations x JOIN links l ON l.note = x.source >> 2 AND l.relation = x.key
        WHERE x.key = r.key)
    ORDER BY r.key"""
"""Those of Relations that were made for links, and that no link has any more."""

_UNSETTLED: Final = f"""SELECT DISTINCT m.note FROM mentions m
    LEFT JOIN links l ON l.note = m.note AND l.target = m.target AND l.wiki = m.wiki AND l.label = m.relation
        AND EXISTS (SELECT 1 FROM files f WHERE f.note = l.leads >> 2)
    LEFT JOIN settled_links s
        ON s.note = m.note AND s.target = m.target AND s.wiki = m.wiki AND s.label = m.relation
    WHERE m.note {_AMONG} AND l.note IS NULL AND s.note IS NULL"""


def unsettled(connection: Connection, notes: Iterable[str]) -> set[str]:
    """Return those of the Notes with links that lead to no file, and are not settled."""
    listed = keys_json(key_of(note) >> 2 for note in notes)
    return {id_of(number * 4) for number in _numbers(connection, _UNSETTLED, listed)}


def settle(work: Transaction, changes: Sequence[SettleLinks]) -> None:
    """Have links settled that lead to no file."""
    keys = [key_of(change.note) for change in changes]
    work.must_live(keys, id_of)
    work.to_settle.update(key >> 2 for key in keys)


def settle_links(work: Transaction) -> None:
    """Bring links and their Relations in line with what the transaction has changed."""
    changed = {key >> 2 for key in work.describe() if key & 3 == NOTE}
    if not (changed or work.to_settle):
        return
    connection, renamed = work.connection, link_names.index(work.connection, changed)
    by_hand = {key >> 2 for key in work.linked_by_hand}
    _remove_unwritten_links(work, changed - by_hand)
    sources = _numbers(
        connection, f"SELECT DISTINCT note FROM mentions WHERE note {_AMONG}", keys_json(changed - by_hand)
    )
    sources |= work.to_settle
    if connection.fetch_one("SELECT 1 FROM settled_links LIMIT 1") is not None:
        own = keys_json(changed | by_hand)
        sources |= _numbers(connection, f"SELECT DISTINCT note FROM settled_links WHERE note {_AMONG}", own)
        sources |= _numbers(connection, _CALLING, _names(renamed.gained))
        sources |= _numbers(connection, _LEADING, keys_json(renamed.lost))
    if renamed.lost:
        sources |= _numbers(connection, _LED_BY_FILE, keys_json(renamed.lost)) - by_hand
    if sources:
        run, work.run = work.run, None  # what follows from the text is no run's doing
        try:
            _settle(work, sources)
        finally:
            work.run = run


def _remove_unwritten_links(work: Transaction, notes_: Collection[int]) -> None:
    """Forget the links that an import settled and that their Notes say no more, with the Relations made for them."""
    gone = work.connection.all(_UNSAID, (keys_json(notes_),)) if notes_ else []
    if gone:
        sql = "DELETE FROM links WHERE note = ? AND target = ? AND wiki = ? AND label = ?"
        work.connection.execute_many(sql, [row[:4] for row in gone])
        relations = {(relation,) for *_, relation in gone if relation is not None}
        doomed = [key for (key,) in work.connection.all(_OF_LINKS, (keys_json(key for (key,) in sorted(relations)),))]
        _delete(work, doomed)


def _delete(work: Transaction, relations: Iterable[int]) -> None:
    """Delete Relations of links, in no run: what follows from the text is no run's doing."""
    run, work.run = work.run, None
    try:
        notes.delete(work, [Delete(id_of(key), _MADE) for key in relations])
    finally:
        work.run = run


def _settle(work: Transaction, sources: Collection[int]) -> None:
    connection, listed = work.connection, keys_json(sources)
    columns = "note, target, wiki, label, name, leads"
    before = {
        _Row(*row) for row in connection.all(f"SELECT {columns} FROM settled_links WHERE note {_AMONG}", (listed,))
    }
    now = _settled(connection, sources, before)
    _relate(work, listed, before, now)
    gone = [row[:4] for row in sorted(before - now, key=lambda row: row[:4])]
    connection.execute_many("DELETE FROM settled_links WHERE note = ? AND target = ? AND wiki = ? AND label = ?", gone)
    new = sorted(now - before, key=lambda row: row[:4])
    connection.execute_many(f"INSERT INTO settled_links ({columns}) VALUES (?, ?, ?, ?, ?, ?)", new)


def _settled(connection: Connection, sources: Collection[int], before: Collection[_Row]) -> set[_Row]:
    """Return what Notes say of links, with where each leads now.

    What an import is to settle leads to Notes without a file alone: it is the import that leads it to a file, in its
    run. One that led to a file before goes on until then.
    """
    rows = connection.all(_SAID, (keys_json(sources),))
    asked = {link_name(target) for _, target, *_ in rows}
    called = _numbers(connection, _CALLED, _names(asked))
    places = [*link_names.places(connection, called | {*sources})]
    targets, loose = LinkTargets(places), {place.note for place in places if not place.root}
    results = set()
    for note, target, wiki, label, is_imported in rows:
        to = targets.leads(id_of(note * 4), Linked(target, wiki == 1, label=label))
        row = _Row(note, target, wiki, label, link_name(target), None if to is None else key_of(to))
        if is_imported and to is not None and to not in loose and row not in before:
            row = row._replace(leads=None)
        results.add(row)
    return results


def _relate(work: Transaction, listed: str, before: Iterable[_Row], now: Iterable[_Row]) -> None:
    """Make the Relations that links lack, and delete those that they have no more.

    One that somebody deleted stays away as long as its link leads where it did.
    """
    there: dict[tuple[int, int, str], _Relation] = {}
    for note, target, label, key, is_ours in work.connection.all(_RELATIONS, (listed,)):
        there.setdefault((note, target, label), _Relation(key, bool(is_ours)))
    expected = _ends(now)
    doomed = [one.key for ends, one in there.items() if one.is_ours and ends not in expected]
    notes.delete(work, [Delete(id_of(key), _MADE) for key in doomed])
    missing = sorted(expected - _ends(before) - there.keys())
    ids = work.new_ids(Kind.RELATION, len(missing)) if missing else []
    collections.make_relations(
        work,
        [
            MakeRelation(relation, id_of(note * 4), id_of(to), label, kept=True, created_by=_MADE)
            for relation, (note, to, label) in zip(ids, missing, strict=True)
        ],
    )


def _ends(rows: Iterable[_Row]) -> set[tuple[int, int, str]]:
    """Return what Relations stand for links: a link to its own Note leads there by none."""
    return {(row.note, row.leads, row.label) for row in rows if row.leads is not None and row.leads != row.note * 4}


def _numbers(connection: Connection, sql: str, listed: str) -> set[int]:
    return {number for (number,) in connection.all(sql, (listed,))}


def _names(names: Iterable[str]) -> str:
    return json.dumps(sorted(names), ensure_ascii=False)
