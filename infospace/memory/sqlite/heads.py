"""What conditions read of Notes, without their texts."""

# ruff: noqa: S608 - statements are put together from constants alone

from __future__ import annotations

from collections.abc import Iterable, Iterator

from infospace.memory.sqlite.engine import Engine
from infospace.memory.sqlite.rows import id_of, keys_json, read
from infospace.memory.store import Head

_COLUMNS = {
    True: "key, name, created, updated, metadata, content",
    False: "key, name, created, updated, metadata, CASE WHEN substr(content, 1, 1) <> '\"' THEN content END",
}

_AMONG = " AND key IN (SELECT value * 4 FROM json_each(?))"


def heads(engine: Engine, numbers: Iterable[int] | None, *, text: bool) -> Iterator[Head]:
    """Iterate over the heads of discoverable Notes; `text` reads texts too."""
    among, values = ("", ()) if numbers is None else (_AMONG, (keys_json(numbers),))
    address = engine.address
    sql = f"SELECT {_COLUMNS[text]} FROM resources WHERE found = 1{among} ORDER BY key"
    for batch in engine.batches(sql, values):
        for key, name, created, updated, metadata, content in batch:
            value = "" if content is None else read(content, address)
            yield Head(id_of(key), name, value, {} if metadata is None else read(metadata, address), created, updated)
