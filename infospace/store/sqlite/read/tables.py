"""The space's own tables as a snapshot has them: `notes`, `items` and `links`, by the column.

A table is read with tests that its rows pass: what a SELECT asks besides decides which of them count. Rows stand by
Note, then by their place in it; each column is read by the same FROM, WHERE and ORDER BY, and so in the same order.
"""

# ruff: noqa: S608 - statements are put together from constants alone; what is compared with is a parameter

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.core.resources import Location
from infospace.data.json_text import dump
from infospace.data.titles import aliases_of, title_of
from infospace.store.sqlite.codec import id_of, key_of, keys_json, read
from infospace.store.sqlite.connection import Connection, Row

if TYPE_CHECKING:
    from infospace.expressions.query.preselect import ColumnTest

_FILE: Final = """files f ON f.note = o.note AND NOT EXISTS (
        SELECT 1 FROM files g WHERE g.note = f.note AND (g.root, g.path, g.part) < (f.root, f.path, f.part))"""
"""The file of a Note; of one that was imported twice the first."""
_LINES: Final = "coalesce((SELECT max(lines) FROM files WHERE note = {}.note AND part = 0), 0)"
_LEADS: Final = """CASE WHEN EXISTS (SELECT 1 FROM files WHERE files.note = l.leads >> 2) THEN l.leads
    ELSE s.leads END"""
"""Where a link leads: as an import settled it, or else the store itself."""


@dataclass(frozen=True, slots=True)
class _Column:
    """How a column is read: SQL, and what makes JSON of what that gives; by `test` tests compare it."""

    sql: str
    read: Callable[..., JSON] | None = None
    test: str | None = None


def _json(text: str | None) -> JSON:
    return None if text is None else json.loads(text)


def _object(text: str | None) -> JSON:
    return {} if text is None else json.loads(text)


def _text(content: str) -> str:
    return json.loads(content) if content.startswith('"') else content


def _bool(value: int | None) -> bool | None:
    return None if value is None else value == 1


def _note(key: int | None) -> str | None:
    return None if key is None else id_of(key)


def _title(*row: Any) -> str | None:
    title, name, content_title, begins, root, path, part = row
    place = None if path is None else Location(root, path, part)
    result = title_of({"title": title}, name, {"title": content_title}, place)
    return begins if result is None else result


def _aliases(metadata: str | None) -> JSON:
    return list(aliases_of(json.loads(metadata))) or None if metadata and '"alias' in metadata else None


def _plain(sql: str) -> _Column:
    return _Column(sql, None, sql)


_BASENAME = "substr(f.path, length(f.folder) + iif(f.folder = '', 1, 2))"

_NOTES: Final = {
    "@id": _Column("o.note * 4", _note, "o.note"),
    "@name": _plain("r.name"),
    "@created": _plain("r.created"),
    "@updated": _plain("r.updated"),
    "title": _Column("o.title, r.name, o.said, o.begins, f.root, f.path, f.part", _title),
    "path": _plain("f.path"),
    "folder": _plain("f.folder"),
    "root": _plain("f.root"),
    "file": _plain(_BASENAME),
    "created": _plain("coalesce(f.created, r.created)"),
    "modified": _plain("coalesce(f.modified, r.updated)"),
    "tags": _Column("o.tags", _json, "o.tags"),
    "aliases": _Column("r.metadata", _aliases),
    "words": _Column("o.words"),
    "text": _Column("r.content", _text),
    "content": _Column("r.content", _json),
    "metadata": _Column("r.metadata", _object),
}
_ITEMS: Final = {
    "note": _Column("o.note * 4", _note, "o.note"),
    "section": _plain("o.section"),
    "line": _Column(f"o.line + {_LINES.format('o')}"),
    "kind": _plain("o.kind"),
    "text": _plain("o.text"),
    "status": _plain("o.status"),
    "done": _Column("iif(o.kind = 'task', o.status IN ('x', 'X'), NULL)", _bool),
    "due": _plain("o.due"),
    "scheduled": _plain("o.scheduled"),
    "completed": _plain("o.completed"),
    "priority": _plain("o.priority"),
    "tags": _Column("o.tags", _json, "o.tags"),
    "fields": _Column("o.fields", _json),
}
_LINK_END: Final = _LEADS
"""The key, and not the number, of what a link leads to: so that an index is used."""
_LINKS: Final = {
    "source": _Column("o.note * 4", _note, "o.note"),
    "target": _Column(_LEADS, _note, _LINK_END),
    "target_text": _plain("o.target"),
    "heading": _plain("o.heading"),
    "relation": _plain("o.relation"),
    "property": _plain("o.property"),
    "line": _Column(f"o.line + {_LINES.format('o')}"),
}
_TABLES: Final[dict[str, tuple[str, str, dict[str, _Column]]]] = {
    "notes": (f"outlines o JOIN resources r ON r.key = o.note * 4 LEFT JOIN {_FILE}", "o.note", _NOTES),
    "items": ("items o", "o.note, o.sequence", _ITEMS),
    "links": (
        """mentions o LEFT JOIN links l
            ON l.note = o.note AND l.target = o.target AND l.wiki = o.wiki AND l.label = o.relation
        LEFT JOIN settled_links s
            ON s.note = o.note AND s.target = o.target AND s.wiki = o.wiki AND s.label = o.relation""",
        "o.note, o.sequence",
        _LINKS,
    ),
}
_IDS: Final = frozenset({("notes", "@id"), ("items", "note"), ("links", "source"), ("links", "target")})
"""Columns that hold ids, and are tested by their numbers."""
_FEW: Final = 10_000
"""Notes whose rows are found sooner by their numbers than by what they were chosen by."""


class SqliteTable:
    """Some rows of one of the space's own tables; good while the snapshot is open that gave it."""

    def __init__(
        self,
        connection: Connection,
        name: str,
        tests: Iterable[ColumnTest],
        among: Iterable[tuple[str, Collection[int]]],
        seen: Collection[int] | None = None,
    ) -> None:
        self._connection = connection
        self._source, self._order, self._columns = _TABLES[name]
        self._name = name
        self._seen = None if seen is None else frozenset(seen)
        conditions, self._values = [], []
        for column_test in tests:
            sql, values = self._condition(column_test)
            conditions.append(sql)
            self._values += values
        for column, numbers in (*among, *((("", seen),) if seen is not None else ())):
            end = self._columns[column].test if column else "o.note"
            sql, values = _one_of(end, "SELECT value FROM json_each(?)", [keys_json(self._ends(end, numbers))])
            conditions.append(sql)
            self._values += values
        self.is_filtered = bool(conditions)
        self._where = f" WHERE {' AND '.join(conditions)}" if conditions else ""

    @staticmethod
    def _ends(column: str | None, numbers: Iterable[int]) -> list[int]:
        return [number * 4 if column == _LINK_END else number for number in numbers]

    def _condition(self, one: ColumnTest) -> tuple[str, list[Any]]:
        column = self._columns[one.column].test
        values: list[Any] = list(one.values)
        if (self._name, one.column) in _IDS:
            values = self._ends(column, (n for value in one.values if (n := _number(value)) is not None))
        if one.by == "=" and not values:  # none of the texts is an id
            return "1 = 0", []
        if one.by == "=":
            return _one_of(column, ", ".join("?" * len(values)), values)
        if one.by == "has":
            return f"instr({column}, ?)", [dump(value) for value in values]
        return f"{column} {one.by} ?", values

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def numbers(self) -> list[int]:
        """The number of the Note of each row."""
        return [number for (number,) in self._rows("o.note", self._where, self._values)]

    @cached_property
    def _chosen(self) -> tuple[str, list[Any]]:
        """WHERE and its values, as columns are read by it: of few Notes by their numbers besides.

        The tests may have no index, and then each column would look at all rows again.
        """
        if not self.is_filtered or len(notes := set(self.numbers)) > _FEW:
            return self._where, self._values
        return f"{self._where} AND o.note IN (SELECT value FROM json_each(?))", [*self._values, keys_json(notes)]

    def versions(self) -> dict[str, int]:
        """Return the versions of the Notes whose rows these are, by id."""
        keys = keys_json({number * 4 for number in self.numbers})
        sql = "SELECT key, version FROM resources WHERE key IN (SELECT value FROM json_each(?))"
        return {id_of(key): version for key, version in self._connection.all(sql, (keys,))}

    @property
    def computes(self) -> bool:
        """Whether the engine computes queries over these rows as the language means them: a database, unscoped."""
        return self._connection.dialect == "postgresql" and self._seen is None

    def selected(self, columns: Sequence[str]) -> tuple[str, list[Any]]:
        """Return a SELECT of the rows: `n` and `q` order them, `c0` and so on are columns of `query_pushdown`."""
        place = "o.note AS n, 0::bigint AS q" if self._name == "notes" else "o.note AS n, o.sequence AS q"
        parts = [place]
        for at, name in enumerate(columns):
            sql = self._columns[name].sql
            if (self._name, name) in _IDS:
                sql = f"""('Note_' || (({sql}) >> 2)) COLLATE "C\""""
            parts.append(f"{sql} AS c{at}")
        return f"SELECT {', '.join(parts)} FROM {self._source}{self._where}", list(self._values)

    def compute(self, sql: str, values: Sequence[Any]) -> list[Row]:
        """Return the rows of a query over what `selected` gives. Raises OutOfTime where the step has no time left."""
        return self._connection.all_in_time(sql, values)

    def column(self, name: str) -> list[JSON]:
        """Return a column of the table by its name."""
        how = self._columns[name]
        rows = self._select(how.sql)
        if name == "target" and self._seen is not None:
            rows = [(key if key is not None and key >> 2 in self._seen else None,) for (key,) in rows]
        if how.read is None:
            return [value for (value,) in rows]
        return [how.read(*row) for row in rows]

    def property(self, key: str) -> list[JSON]:
        """Return a key of each Note's metadata, null where it has none. Of `notes` alone."""
        if '"' in key or "\\" in key:
            address = self._connection.address
            return [read(metadata, address).get(key) for (metadata,) in self._select("r.metadata")]
        known: dict[str | None, JSON] = {None: None}
        results: list[JSON] = []
        path = f'$."{key}"'
        for (text,) in self._select("r.metadata -> ?", path):
            if text not in known:
                known[text] = json.loads(text)
            results.append(known[text])
        return results

    def properties(self) -> list[str]:
        """Return the keys of the metadata of all Notes that are seen, in the order in which they first come."""
        if self._seen is not None:
            return list(dict.fromkeys(key for metadata in self._seen_metadata() for key in metadata))
        sql = """SELECT j.key FROM outlines o JOIN resources r ON r.key = o.note * 4, json_each(r.metadata) j
            GROUP BY 1 ORDER BY min(o.note), min(j.id)"""
        return [key for (key,) in self._connection.all(sql)]

    def has_property(self, key: str) -> bool:
        """Whether any Note has a key in its metadata."""
        if self._seen is not None:
            return any(key in metadata for metadata in self._seen_metadata())
        sql = """SELECT EXISTS (SELECT 1 FROM outlines o JOIN resources r ON r.key = o.note * 4
            WHERE instr(r.metadata, ?1) AND EXISTS (SELECT 1 FROM json_each(r.metadata) j WHERE j.key = ?2))"""
        return bool(self._connection.value(sql, (json.dumps(key, ensure_ascii=False), key)))

    def _seen_metadata(self) -> list[dict[str, JSON]]:
        """Return the metadata of the Notes that are seen: names of properties tell of no others."""
        sql = """SELECT metadata FROM resources WHERE found = 1 AND key IN (SELECT value * 4 FROM json_each(?))
            ORDER BY key"""
        rows = self._connection.all(sql, (keys_json(sorted(self._seen or ())),))
        return [read(metadata, self._connection.address) for (metadata,) in rows]

    def _select(self, sql: str, *values: object) -> list[Row]:
        where, compared = self._chosen
        return self._rows(sql, where, [*values, *compared])

    def _rows(self, sql: str, where: str, values: list[Any]) -> list[Row]:
        return self._connection.all(f"SELECT {sql} FROM {self._source}{where} ORDER BY {self._order}", values)


def _one_of(column: str | None, listed: str, values: list[Any]) -> tuple[str, list[Any]]:
    """Compare a column with a list; where links lead stands in two tables, each of which has an index for it."""
    if column != _LINK_END:
        return f"{column} IN ({listed})", values
    leading = " UNION ".join(
        f"SELECT note FROM {table} WHERE leads IN ({listed})" for table in ("links", "settled_links")
    )
    return f"(o.note IN ({leading}) AND {column} IN ({listed}))", values * 3


def _number(identifier: JSON) -> int | None:
    try:
        key = key_of(str(identifier))
    except NotFound:
        return None
    return None if key & 3 else key >> 2


def testable(name: str) -> frozenset[str]:
    """Return the columns of a table by which its rows can be chosen; none of what is no such table."""
    columns = _TABLES[name][2] if name in _TABLES else {}
    return frozenset(column for column, how in columns.items() if how.test is not None)
