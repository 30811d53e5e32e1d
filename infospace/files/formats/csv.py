"""CSV (RFC 4180; also with semicolons or tabs): each row is a Note, an object of texts under the header's names."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import partial

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.data.json_text import dump
from infospace.files.formats import Row, row_digest
from infospace.files.walk import MAX_BYTES, decode


def rows(data: bytes, name: str) -> list[Row]:
    """Return the rows below the header, numbered from 1; blank lines count for nothing.

    Raises Invalid when the file is not text, has no header of names that differ, or a quote that never ends.
    """
    text = decode(data, name)
    csv.field_size_limit(MAX_BYTES)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    try:
        records = [record for record in reader if record]
    except csv.Error as error:
        raise Invalid(f"{name!r} is not CSV at line {reader.line_num}: {error}", hint="RFC 4180") from None
    if not records:
        return []
    header = [cell.strip() for cell in records[0]]
    _check_header(header, name)
    return [
        Row(number, row_digest(dump([header, record])), partial(_object, header, record, number, name))
        for number, record in enumerate(records[1:], start=1)
    ]


def delimiter_of(text: str) -> str:
    """Whichever of comma, semicolon and tab stands most often in the first line, outside of quotes."""
    first = "".join(text.lstrip("\r\n").partition("\n")[0].split('"')[::2])
    return max(",;\t", key=first.count)


def _check_header(header: Sequence[str], name: str) -> None:
    seen: set[str] = set()
    for position, cell in enumerate(header, start=1):
        if not cell:
            raise Invalid(f"column {position} of {name!r} has no name", hint="the first line names every column")
        if cell in seen:
            raise Invalid(f"two columns of {name!r} are called {cell!r}", hint="each name once")
        seen.add(cell)


def _object(header: Sequence[str], record: Sequence[str], number: int, name: str) -> JSON:
    if len(record) > len(header):
        message = f"row {number} of {name!r} has {pluralize(len(record), 'cell')}, and the header {len(header)}"
        raise Invalid(message, hint="quote a cell that holds the delimiter")
    return dict(zip(header, record, strict=False))
