"""Search results made real: the text is read from the version of the source that was found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast
from unicodedata import category

from infospace.core.errors import StoreError
from infospace.core.resources import Location, PassageOfResult, SearchResult
from infospace.data.json_text import dump
from infospace.data.titles import headings_at, title_of
from infospace.store.changes import Evidence
from infospace.store.sqlite.codec import COLLECTION, EVIDENCE, KINDS, NOTE, PLAIN, gone, id_of, key_of, keys_json, read
from infospace.store.sqlite.connection import Connection
from infospace.store.sqlite.read import batches

TITLE = 80
"""Characters of a title that is a Note's first line, its ellipsis counted in."""

_TYPES = tuple(kind.value for kind in KINDS)

_FIRST_LINE = re.compile(r"\S.*")

_SOURCES = """SELECT key, version, form, name, metadata, content FROM resources
    WHERE key IN (SELECT value FROM json_each(?))"""

_EARLIER = """SELECT h.key, h.version, h.form, r.name, h.metadata, h.content FROM history h JOIN resources r USING (key)
    WHERE h.key = ? AND h.version = ?"""

_PLACES = (
    "SELECT note, root, path, part, created, modified FROM files"
    " WHERE note IN (SELECT value FROM json_each(?)) ORDER BY root, path, part"
)

MEMBERS = """SELECT item, info FROM members WHERE collection = ? AND since <= ? AND (until IS NULL OR until > ?)
    ORDER BY position"""


class Reference(NamedTuple):
    """What is stored of a search result. `source` is a key; `passage` is stored only when it is true."""

    source: int
    version: int
    score: float | None
    start: int | None
    end: int | None
    extra: dict[str, Any]
    passage: bool = False


class _Source(NamedTuple):
    key: int
    version: int
    form: int
    name: str | None
    metadata: str | None
    content: str | None


def reference_of(evidence: Evidence) -> Reference:
    """Return evidence as it is stored."""
    start, end = evidence.start, evidence.end
    extra = dict(evidence.extra)
    return Reference(key_of(evidence.source), evidence.version, evidence.score, start, end, extra, evidence.passage)


def stored_reference(content: str | None, address: str) -> Reference:
    """Read what is stored of a search result; StoreError when the file is damaged."""
    value = read(content, address)
    most = len(Reference._fields)
    if not isinstance(value, list) or not most - 1 <= len(value) <= most:
        raise StoreError(
            f"the space {address!r} is damaged: a search result refers to nothing", hint="restore a copy of it"
        )
    return Reference(*value)


def results(connection: Connection, references: Sequence[Reference]) -> list[SearchResult]:
    """Return the contents of search results; NotFound for a source's version that is not there.

    A deleted source stays readable.
    """
    keys = [reference.source for reference in references]
    current, files = _current(connection, keys), _files(connection, keys)
    earlier: dict[tuple[int, int], _Source] = {}
    result = []
    for reference in references:
        source = current.get(reference.source)
        if source is None or source.version != reference.version:
            place = (reference.source, reference.version)
            source = earlier.get(place) or _earlier(connection, *place)
            earlier[place] = source
        result.append(_result(connection, reference, source, files.get(source.key)))
    return result


def _current(connection: Connection, keys: Sequence[int]) -> dict[int, _Source]:
    results = {row[0]: _Source(*row) for row in connection.all(_SOURCES, (keys_json(keys),))}
    # What a step is just making of a Note of a batch: once that is stored, the Note has a row.
    others = [key >> 2 for key in keys if key & 3 == NOTE and key not in results]
    for number, note in batches.notes(connection, others).items():
        results[number * 4] = _Source(number * 4, 1, PLAIN, None, None, dump(note.content))
    return results


def _files(connection: Connection, keys: Iterable[int]) -> dict[int, Location]:
    """Return where the files of Notes are now; of a Note that was imported twice, the first of them."""
    notes = keys_json({key >> 2 for key in keys if key & 3 == NOTE})
    places: dict[int, Location] = {}
    for note, *place in connection.all(_PLACES, (notes,)):
        places.setdefault(note << 2 | NOTE, Location(*place))
    return places


def _earlier(connection: Connection, key: int, version: int) -> _Source:
    row = connection.fetch_one(_EARLIER, (key, version))
    if row is None:
        raise gone(f"version {version} of {id_of(key)}")
    return _Source(*row)


def _result(connection: Connection, reference: Reference, source: _Source, file: Location | None) -> SearchResult:
    text, form = _text(connection, source)
    own = read(source.metadata, connection.address)
    uri = own.get("uri")
    if not isinstance(uri, str):
        uri = None if file is None else (Path(file.root) / file.path).as_uri()
    passage: PassageOfResult | None = None
    if reference.start is not None and reference.end is not None:
        start, end = reference.start, reference.end
        headings = list(headings_at(text, start)) if form == "text" else []
        passage = {"start": start, "end": end, "text": text[start:end], "headings": headings}
    metadata = {
        "source_id": id_of(source.key),
        "uri": uri,
        "score": reference.score,
        "type": _TYPES[source.key & 3],
        "title": _title(source, own, text, file),
        "passage": passage,
        "source": own,
        **reference.extra,
    }
    return cast("SearchResult", {"text": text, "format": form, "metadata": metadata, "char_count": len(text)})


def _text(connection: Connection, source: _Source) -> tuple[str, str]:
    """A source's text and its format: of a Collection its items' titles, a line each; of a Relation its JSON."""
    kind = source.key & 3
    if kind == NOTE:
        return text_of_column(source.content, connection.address)
    if kind == COLLECTION:
        version = source.version
        keys = [item for item, _ in connection.all(MEMBERS, (source.key, version, version))]
        items = _current(connection, keys)
        return "\n".join(_item_title(connection, items[key]) for key in keys if key in items), "text"
    return dump(arrow(connection, source.key)), "json"


def text_of_column(content: str | None, address: str) -> tuple[str, str]:
    """Return the text that stored content stands for, and its format: what is no text is its compact JSON."""
    if content is None or not content.startswith('"'):
        return content or "", "json"
    return read(content, address), "text"


def arrow(connection: Connection, key: int) -> dict[str, str]:
    """Return source, target and label of a Relation."""
    row = connection.fetch_one("SELECT source, target, relation FROM relations WHERE key = ?", (key,))
    if row is None:
        raise gone(id_of(key))
    return {"source": id_of(row[0]), "target": id_of(row[1]), "relation": row[2]}


def _item_title(connection: Connection, item: _Source) -> str:
    """A member's title, of a search result its source's; an id where there is none."""
    if item.form == EVIDENCE:
        source = stored_reference(item.content, connection.address).source
        results = _current(connection, [source]).get(source)
        return id_of(source) if results is None or results.form == EVIDENCE else _item_title(connection, results)
    text = text_of_column(item.content, connection.address)[0] if item.key & 3 == NOTE else ""
    return _title(item, read(item.metadata, connection.address), text, None) or id_of(item.key)


def _title(source: _Source, metadata: dict[str, Any], text: str, file: Location | None) -> str | None:
    """The title that a source goes by; of what has none but its text, at most `TITLE` characters."""
    content = text
    if source.content is not None and source.content.startswith("{"):
        content = json.loads(text)
    title = title_of(metadata, source.name, content, file)
    if title is None:
        line = _FIRST_LINE.search(text)
        title = None if line is None or isinstance(content, str) else line[0].rstrip()
    return title if title is None or title in (metadata.get("title"), source.name) else shortened(title)


def shortened(line: str, most: int = TITLE) -> str:
    """Return a line of at most `most` characters: a longer one is cut between words, and ends in an ellipsis.

    Where the last blank comes so early that more than half would go, as in scripts without blanks, the line is
    cut at the limit, but not between a letter and the marks upon it.
    """
    if len(line) <= most:
        return line
    end = next((at for at in range(most - 1, most // 2, -1) if line[at].isspace()), 0)
    if not end:
        end = most - 1
        while end > 1 and category(line[end]).startswith("M"):
            end -= 1
    return f"{line[:end].rstrip()}…"
