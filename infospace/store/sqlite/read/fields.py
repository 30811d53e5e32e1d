"""The fields of Notes as they are now: read for the full text and for embedding, and compared with what is embedded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from infospace.core.json_types import JSON
from infospace.store.note_fields import Field, fields_of, text_digest
from infospace.store.sqlite.codec import keys_json, read
from infospace.store.sqlite.connection import Connection

PAGE = 1_000
"""Notes that are read at a time."""

PATH = "(SELECT min(path) FROM files WHERE note = key >> 2 AND part = 0)"
"""The path of the file that a resource is as a whole; of several the first."""

_FIELDS = f"SELECT key >> 2, metadata, content, {PATH} FROM resources WHERE key IN (SELECT value * 4 FROM json_each(?))"  # noqa: S608

_EMBEDDED = """SELECT note, start, "end", digest FROM passages WHERE start < 0
    AND note IN (SELECT value FROM json_each(?)) ORDER BY note, sequence"""

_WITH_PASSAGES = "SELECT DISTINCT note FROM passages WHERE note IN (SELECT value FROM json_each(?))"


def fields(connection: Connection, numbers: Iterable[int]) -> dict[int, list[Field]]:
    """Return the fields of Notes by their numbers; Notes without any have none."""
    results: dict[int, list[Field]] = {}
    for batch in connection.batches(_FIELDS, (keys_json(numbers),)):
        for number, metadata, content, path in batch:
            results[number] = fields_of(read(metadata, connection.address), titled(content, connection.address), path)
    return results


def titled(content: str | None, address: str) -> JSON:
    """Return stored content where it may have a title: an object of JSON. A text is not read for that."""
    return read(content, address) if content is not None and content.startswith("{") else None


def changed(connection: Connection, numbers: Collection[int]) -> Iterator[int]:
    """Give those of the Notes with passages whose fields are not those that are embedded."""
    embedded = [number for (number,) in connection.all(_WITH_PASSAGES, (keys_json(numbers),))]
    if not embedded:
        return
    stored: dict[int, list[tuple[int, int, bytes]]] = {}
    for number, *row in connection.all(_EMBEDDED, (keys_json(embedded),)):
        stored.setdefault(number, []).append((row[0], row[1], row[2]))
    now = fields(connection, embedded)
    for number in embedded:
        if stored.get(number, []) != spans_of(now.get(number, ())):
            yield number


def changed_of_all(connection: Connection) -> list[int]:
    """Return the numbers of all Notes with passages whose fields are not those that are embedded."""
    numbers = [number for (number,) in connection.all("SELECT DISTINCT note FROM passages ORDER BY note")]
    pages = (numbers[start : start + PAGE] for start in range(0, len(numbers), PAGE))
    return [number for page in pages for number in changed(connection, page)]


def spans_of(found: Iterable[Field]) -> list[tuple[int, int, bytes]]:
    """Return start, end and digest of fields, as passages have them."""
    return [(*field.bounds, text_digest(field.text)) for field in found]
