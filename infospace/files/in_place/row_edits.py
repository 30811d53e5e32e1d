"""A changed row of a table in the file that it came from: the cells that differ, or the line, and nothing else."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.resources import Note
from infospace.data.json_text import dump, same
from infospace.files.formats import Row, format_of
from infospace.files.formats.csv import delimiter_of
from infospace.files.formats.csv import rows as csv_rows
from infospace.files.formats.jsonl import rows as json_rows
from infospace.files.walk import decode

ROW_FORMS = ("csv", "jsonl")
"""Formats whose rows are written back."""


def edited_row(data: bytes, path: Path, note: Note, digest: bytes, number: int) -> tuple[bytes, Row]:
    """Return a table's bytes with another content of the row of a digest, and that row.

    Of several rows of that digest it is the one nearest to `number`. Raises Invalid where there is none any more, and
    for what a row cannot hold.
    """
    if note.metadata:
        raise Invalid(f"{note.id} has metadata, which a row cannot hold", hint="`infospace export FOLDER` has it")
    read = csv_rows if format_of(path) == "csv" else json_rows
    before = read(data, path.name)
    fits = [row for row in before if row.digest == digest]
    if not fits:
        raise Invalid("the row has changed since it was read", hint="`infospace add` takes both as versions")
    at = before.index(min(fits, key=lambda row: abs(row.number - number)))
    text = decode(data, path.name)
    head = data[: len(data) - len(text.encode())]
    if head + text.encode() != data:
        raise Invalid(
            f"{path.name!r} is not UTF-8 text", hint="change it in the file, and `infospace add` takes it over"
        )
    edit = _csv_edit if read is csv_rows else _json_edit
    result = head + edit(text, before[at], at, note.content).encode()
    after = read(result, path.name)
    if len(after) != len(before) or not same(after[at].load(), note.content):
        raise Invalid(f"{path.name!r} cannot hold {note.id} in that row", hint="change it in the file")
    return result, after[at]


def _json_edit(text: str, row: Row, _at: int, content: JSON) -> str:
    lines = text.split("\n")
    line = lines[row.number - 1]
    start, end = len(line) - len(line.lstrip()), len(line.rstrip())
    lines[row.number - 1] = line[:start] + dump(content) + line[end:]
    return "\n".join(lines)


def _csv_edit(text: str, row: Row, at: int, content: JSON) -> str:
    old = row.load()
    if not isinstance(content, dict) or not isinstance(old, dict):
        raise Invalid("a row of such a table is an object", hint='{"column": "text", …}')
    delimiter = delimiter_of(text)
    (_, _, header), *records = _records(text, delimiter)
    start, end, _ = records[at]
    names = [name.strip() for name in header]
    if unknown := next((key for key in content if key not in names), None):
        raise Invalid(f"the table has no column {unknown!r}", hint=f"its columns are {', '.join(names)}")
    spans = _cells(text[start:end], delimiter)
    parts, done = [], 0
    for name, (first, last) in zip(names, spans, strict=False):
        value = content.get(name)
        if value == old.get(name):
            continue
        if not isinstance(value, str):
            raise Invalid(
                f"the cell `{name}` would be {dump(value)}, and a cell is text", hint='put it in quotes: "12"'
            )
        record = text[start:end]
        quoted = record[first:last].startswith('"') or re.search(rf'["\r\n{re.escape(delimiter)}]', value)
        parts += [record[done:first], '"' + value.replace('"', '""') + '"' if quoted else value]
        done = last
    return text[:start] + "".join(parts) + text[start + done :]


def _records(text: str, delimiter: str) -> Iterator[tuple[int, int, Sequence[str]]]:
    """Give where each record that is not blank begins and ends, without its line end, and its cells."""
    lines = io.StringIO(text, newline="").readlines()
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    taken = [0]
    records = []
    for record in reader:
        taken.append(reader.line_num)
        records.append(record)
    for (first, last), record in zip(pairwise(taken), records, strict=True):
        if record:
            whole = text[ends[first] : ends[last]]
            yield ends[first], ends[first] + len(whole.rstrip("\r\n")), record


def _cells(record: str, delimiter: str) -> list[tuple[int, int]]:
    """Return where the cells of a record stand, with their quotes."""
    cell = re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(delimiter)}]*')
    spans, at = [], 0
    while (match := cell.match(record, at)) is not None:
        spans.append(match.span())
        if match.end() >= len(record):
            break
        at = match.end() + 1
    return spans
