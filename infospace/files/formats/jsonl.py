"""Reading JSON Lines: each line is a Note, known again by its bytes."""

from __future__ import annotations

from functools import partial

from infospace.data.json_text import read_json
from infospace.files.formats import Row, row_digest
from infospace.files.walk import MAX_BYTES, decode


def rows(data: bytes, name: str) -> list[Row]:
    """Return the lines that are not blank. Raises Invalid when the file is not text."""
    results = []
    for number, line in enumerate(decode(data, name).split("\n"), start=1):
        text = line.strip()
        if text:
            load = partial(read_json, text, what=f"line {number} of {name!r}", max_bytes=MAX_BYTES)
            results.append(Row(number, row_digest(text), load))
    return results
