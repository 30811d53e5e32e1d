"""A changed row of a table in the file that it came from: the cells that differ, or the line, and nothing else."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.resources import Note
from infospace.data.json_text import dump, same
from infospace.files.formats import Row, format_of
from infospace.files.formats.csv import delimiter_of
from infospace.files.formats.csv import rows as csv_rows
from infospace.files.formats.jsonl import rows as json_rows
from infospace.files.in_place.splice import Edit
from infospace.files.walk import decode

ROW_FORMS = ("csv", "jsonl")
"""Formats whose rows are written back."""


@dataclass(frozen=True, slots=True)
class RowEdit:
    """A Note that goes to the row of a digest; of several rows of that digest, to the one nearest to `number`."""

    note: Note
    digest: bytes
    number: int


def edited_rows(data: bytes, path: Path, edits: Sequence[RowEdit]) -> tuple[bytes, list[Row | Invalid]]:
    """Return a table's bytes with other contents of some rows, and of each its row then, or why it is left as it was.

    That is where there is no such row any more, and for what a row cannot hold. Raises Invalid where the table cannot
    be read, or not be changed at all.
    """
    read = csv_rows if format_of(path) == "csv" else json_rows
    before = read(data, path.name)
    text = decode(data, path.name)
    head = data[: len(data) - len(text.encode())]
    if head + text.encode() != data:
        raise Invalid(
            f"{path.name!r} is not UTF-8 text", hint="change it in the file, and `infospace add` takes it over"
        )
    places = _Places(before)
    pieces = (_csv_pieces if read is csv_rows else _json_pieces)(text, before)
    results: list[int | Invalid] = []
    to_write: list[Edit] = []
    for edit in edits:
        try:
            at = places.take(edit)
            to_write.append(pieces(at, edit.note.content))
            results.append(at)
        except Invalid as error:
            results.append(error)
    changed = head + _spliced(text, to_write).encode()
    rows = _held(changed, path, len(before), edits, results)
    if rows is not None:
        return changed, rows
    if len(edits) == 1:
        message = f"{path.name!r} cannot hold {edits[0].note.id} in that row"
        return data, [Invalid(message, hint="change it in the file")]
    half = len(edits) // 2
    data, first = edited_rows(data, path, edits[:half])
    data, second = edited_rows(data, path, edits[half:])
    return data, [*first, *second]


def _held(
    data: bytes, path: Path, count: int, edits: Sequence[RowEdit], results: Sequence[int | Invalid]
) -> list[Row | Invalid] | None:
    """Return the rows that a changed table has at the places of the edits; None where it does not hold just these."""
    try:
        after = (csv_rows if format_of(path) == "csv" else json_rows)(data, path.name)
        held = [
            (one, same(after[one].load(), edit.note.content))
            for edit, one in zip(edits, results, strict=True)
            if not isinstance(one, Invalid)
        ]
    except (Invalid, IndexError):
        return None
    if len(after) != count or not all(fits for _, fits in held):
        return None
    return [one if isinstance(one, Invalid) else after[one] for one in results]


class _Places:
    """Where the rows of a table are, by digest; each is given once."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._free: dict[bytes, list[int]] = {}
        for at, row in enumerate(rows):
            self._free.setdefault(row.digest, []).append(at)

    def take(self, edit: RowEdit) -> int:
        """Return the index of the row that an edit is for. Raises Invalid where there is none, or it can hold none."""
        if edit.note.metadata:
            raise Invalid(
                f"{edit.note.id} has metadata, which a row cannot hold", hint="`infospace export FOLDER` has it"
            )
        fits = self._free.get(edit.digest)
        if not fits:
            raise Invalid("the row has changed since it was read", hint="`infospace add` takes both as versions")
        nearest = min(fits, key=lambda at: abs(self._rows[at].number - edit.number))
        fits.remove(nearest)
        return nearest


def _spliced(text: str, edits: Sequence[Edit]) -> str:
    parts, done = [], 0
    for edit in sorted(edits, key=lambda one: one.start):
        parts += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*parts, text[done:]])


def _json_pieces(text: str, rows: Sequence[Row]) -> Callable[[int, JSON], Edit]:
    """Return what makes the change of a row by its index."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def piece(at: int, content: JSON) -> Edit:
        line, start = lines[rows[at].number - 1], starts[rows[at].number - 1]
        return Edit(start + len(line) - len(line.lstrip()), start + len(line.rstrip()), dump(content))

    return piece


def _csv_pieces(text: str, rows: Sequence[Row]) -> Callable[[int, JSON], Edit]:
    """Return what makes the change of a row by its index."""
    delimiter = delimiter_of(text)
    header, *records = _records(text, delimiter) if rows else [(0, 0, ())]
    names = [name.strip() for name in header[2]]

    def piece(at: int, content: JSON) -> Edit:
        start, end, _ = records[at]
        return Edit(start, end, _csv_record(text[start:end], delimiter, names, rows[at].load(), content))

    return piece


def _csv_record(record: str, delimiter: str, names: Sequence[str], old: JSON, content: JSON) -> str:
    """Return a record with another content, of which only the cells that differ are written anew."""
    if not isinstance(content, dict) or not isinstance(old, dict):
        raise Invalid("a row of such a table is an object", hint='{"column": "text", …}')
    if unknown := next((key for key in content if key not in names), None):
        raise Invalid(f"the table has no column {unknown!r}", hint=f"its columns are {', '.join(names)}")
    parts, done = [], 0
    for name, (first, last) in zip(names, _cells(record, delimiter), strict=False):
        value = content.get(name)
        if value == old.get(name):
            continue
        if not isinstance(value, str):
            raise Invalid(
                f"the cell `{name}` would be {dump(value)}, and a cell is text", hint='put it in quotes: "12"'
            )
        quoted = record[first:last].startswith('"') or re.search(rf'["\r\n{re.escape(delimiter)}]', value)
        parts += [record[done:first], '"' + value.replace('"', '""') + '"' if quoted else value]
        done = last
    return "".join(parts) + record[done:]


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
