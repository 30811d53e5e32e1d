"""What conditions read of Notes, without their texts."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from infospace.store.protocol import Head
from infospace.store.sqlite.codec import id_of, keys_json, location_of, place_sql, read
from infospace.store.sqlite.connection import Connection

_CONTENT = {True: "content", False: "CASE WHEN substr(content, 1, 1) <> '\"' THEN content END"}

_OWN = {True: f", key, name, created, updated, {place_sql('resources')}", False: ""}

_AMONG = " AND key IN (SELECT value * 4 FROM json_each(?))"


def heads(connection: Connection, numbers: Iterable[int] | None, *, text: bool, own: bool) -> Iterator[Head]:
    """Iterate over the heads of discoverable Notes; `text` reads texts too, `own` what is not in the content."""
    among, values = ("", ()) if numbers is None else (_AMONG, (keys_json(numbers),))
    address = connection.address
    sql = f"SELECT key >> 2, metadata, {_CONTENT[text]}{_OWN[own]} FROM resources WHERE found = 1{among} ORDER BY key"
    for batch in connection.batches(sql, values):
        row, metadata, contents, *rest = zip(*batch, strict=True)
        sizes = [
            len(metadata_text or "") + len(content or "")
            for metadata_text, content in zip(metadata, contents, strict=True)
        ]
        more = [map(id_of, rest[0]), *rest[1:4], map(location_of, rest[4])] if own else []
        yield from map(
            Head, row, sizes, decode_many(metadata, "{}", address), decode_many(contents, '""', address), *more
        )


def decode_many(texts: Sequence[str | None], absent: str, address: str) -> list[Any]:
    """Read many JSON columns; as one document, which takes half the time, unless something is damaged."""
    names = [absent if text is None else text for text in texts]
    try:
        results: list[Any] = json.loads(f"[{','.join(names)}]")
    except ValueError:
        results = []
    return results if len(results) == len(names) else [read(text, address) for text in names]
