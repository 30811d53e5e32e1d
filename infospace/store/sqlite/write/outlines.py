"""What Notes say of themselves as rows: their words and tags, their items, the links in them.

The rows hold what discovery finds, and nothing else: they are written in the transaction of the change, from the
version that it makes. Of a file whose format is no Markdown only words and tags are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from infospace.core.json_types import JSON
from infospace.data.json_text import dump, same
from infospace.data.tags import tags_of, with_parents
from infospace.data.titles import first_line, text_of_title
from infospace.store.sqlite.codec import keys_json, read
from infospace.store.sqlite.connection import Connection, Row

if TYPE_CHECKING:
    from infospace.data.markdown.body import Body

LINKS_LEAD = "CREATE INDEX links_leads ON links (leads) WHERE leads IS NOT NULL"

TABLES = (
    # `title` as the metadata say it, `said` as a JSON content does, `begins` the first line of a text.
    """CREATE TABLE outlines (
        note INTEGER PRIMARY KEY, words INTEGER NOT NULL, title TEXT, said TEXT, begins TEXT, tags TEXT)""",
    # line: within the text. tags, fields: JSON, NULL where there are none.
    """CREATE TABLE items (
        note INTEGER NOT NULL, sequence INTEGER NOT NULL, line INTEGER NOT NULL, kind TEXT NOT NULL, section TEXT,
        status TEXT, due TEXT, scheduled TEXT, completed TEXT, priority TEXT, tags TEXT, fields TEXT,
        text TEXT NOT NULL, PRIMARY KEY (note, sequence)) WITHOUT ROWID""",
    "CREATE INDEX items_due ON items (due) WHERE due IS NOT NULL",
    # `target` and `wiki` are those of `links`, which says where it leads. line: NULL in a property.
    """CREATE TABLE mentions (
        note INTEGER NOT NULL, sequence INTEGER NOT NULL, target TEXT NOT NULL, wiki INTEGER NOT NULL, heading TEXT,
        relation TEXT NOT NULL, property TEXT, line INTEGER, PRIMARY KEY (note, sequence)) WITHOUT ROWID""",
    LINKS_LEAD,
)

_MARKDOWN: Final = re.compile(r"\.(?:md|markdown|html?)", re.IGNORECASE)
"""Suffixes of files whose Notes are Markdown, as those without a file are."""

_NOTES = """SELECT key >> 2, metadata, content,
        (SELECT min(path || char(0) || part) FROM files WHERE note = key >> 2)
    FROM resources WHERE found = 1 AND key IN (SELECT value FROM json_each(?))"""

_ALL = "SELECT key FROM resources WHERE found = 1 ORDER BY key"

_ORPHANS = """SELECT note FROM (SELECT note FROM outlines UNION SELECT note FROM items UNION SELECT note FROM mentions)
    WHERE note * 4 NOT IN (SELECT key FROM resources WHERE found = 1)"""

_WIDTHS: Final = {"outlines": 6, "items": 13, "mentions": 8}
"""The tables, and how many columns each has."""

_BATCH = 500


def index(connection: Connection, keys: Collection[int]) -> None:
    """Bring the rows in line with what the resources of these keys are now."""
    listed = keys_json(keys)
    for table in _WIDTHS:
        connection.run(f"DELETE FROM {table} WHERE note IN (SELECT value >> 2 FROM json_each(?))", (listed,))  # noqa: S608
    for table, rows in _rows_by_table(connection, listed).items():
        connection.execute_many(f"INSERT INTO {table} VALUES ({', '.join('?' * _WIDTHS[table])})", rows)  # noqa: S608


def fill(connection: Connection) -> None:
    """Make all rows anew."""
    keys = [key for (key,) in connection.all(_ALL)]
    for start in range(0, len(keys), _BATCH):
        index(connection, keys[start : start + _BATCH])


def strayed(connection: Connection) -> Iterator[int]:
    """Give the numbers of the Notes whose rows are not what their present version says."""
    keys = [key for (key,) in connection.all(_ALL)]
    yield from (number for (number,) in connection.all(_ORPHANS))
    for start in range(0, len(keys), _BATCH):
        listed = keys_json(keys[start : start + _BATCH])
        wrong: set[int] = set()
        for table, expected_rows in _rows_by_table(connection, listed).items():
            select = f"SELECT * FROM {table} WHERE note IN (SELECT value >> 2 FROM json_each(?))"  # noqa: S608
            kept = connection.all(select, (listed,))
            wrong |= {row[0] for row in {*expected_rows} ^ {*kept}}
        yield from sorted(wrong)


def _rows_by_table(connection: Connection, listed: str) -> dict[str, list[Row]]:
    """Make the rows of some Notes by table."""
    result: dict[str, list[Row]] = {table: [] for table in _WIDTHS}
    for batch in connection.batches(_NOTES, (listed,)):
        result["outlines"] += (_rows(row, connection.address, result["items"], result["mentions"]) for row in batch)
    return result


def _rows(row: Row, address: str, items: list[Row], mentions: list[Row]) -> Row:
    """Return a Note's row, and add those of its items and links."""
    number, stored, value, place = row
    metadata: dict[str, JSON] = read(stored, address)
    content = read(value, address)
    text = content if isinstance(content, str) else value
    from infospace.data.markdown.body import Body, read_body

    body = read_body(content) if isinstance(content, str) and _is_markdown(place) else Body()
    items += _item_rows(number, body)
    mentions += _mention_rows(number, body, metadata)
    title = metadata.get("title")
    answer = content.get("title") if isinstance(content, Mapping) else None
    tags = with_parents((*tags_of(metadata.get("tags")), *body.tags))
    return (
        number,
        len(text.split()),
        text_of_title(title),
        text_of_title(answer),
        first_line(content) if isinstance(content, str) else None,
        dump(list(tags)) if tags else None,
    )


def _is_markdown(place: str | None) -> bool:
    if place is None:
        return True
    path, part = place.split("\0")
    return part == "0" and _MARKDOWN.fullmatch(path[path.rfind(".") :]) is not None


def _item_rows(number: int, body: Body) -> Iterator[Row]:
    for sequence, item in enumerate(body.items):
        tags = with_parents(item.tags)
        yield (
            *(number, sequence, item.line, item.kind, item.section, item.status),
            *(item.due, item.scheduled, item.completed, item.priority),
            dump(list(tags)) if tags else None,
            dump(dict(item.fields)) if item.fields else None,
            item.text,
        )


def _mention_rows(number: int, body: Body, metadata: Mapping[str, Any]) -> Iterator[Row]:
    """Give the links of the text and of the properties; what inline fields say stands in the text already."""
    from infospace.data.markdown.body import property_links

    own = body.fields
    others = {key: value for key, value in metadata.items() if key not in own or not same(value, own[key])}
    links = (*body.links, *property_links(others)) if others else body.links
    for sequence, link in enumerate(links):
        line = link.line or None
        target = unicodedata.normalize("NFC", link.target)
        yield number, sequence, target, int(link.wiki), link.heading or None, link.label, link.property, line
