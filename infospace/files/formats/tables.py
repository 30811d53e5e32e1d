"""Tables in files: rows read by a JSON Schema of theirs, and rows written, each by the file's ending."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.data.json_text import dump, read_json
from infospace.schema.infer import TYPES, NoSuchPath, subschema_at, types_of
from infospace.schema.value_text import describe_schema, shown

MAX_BYTES = 100 * 2**20
"""Bytes of a file that is read as a table."""

DELIMITERS: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}

SHARED = 20_000
"""Texts of a column that are held once, however many rows have them: most columns have fewer."""

ENDINGS = (".csv", ".tsv", ".json", ".jsonl")
"""What the name of a table's file ends with."""


def read_table(path: Path, schema: Mapping[str, Any] | None = None) -> list[JSON]:
    """Return the rows of a table, in the order of the file; `schema` is that of one row.

    Of `.csv` and `.tsv` the first line is the header, and each row an object of its cells: texts, unless the schema
    says number, integer or boolean. Of `.json` the elements of a list, of `.jsonl` the values of its lines; blank
    lines count for nothing. The text is never held as a whole, but that of a `.json`. Whoever binds the rows holds them
    against the whole schema. Raises Invalid for cells that do not fit, with row and column, and OSError.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise Invalid(f"{path.name!r} is not known to be a table", hint=f"a name that ends in {', '.join(ENDINGS)}")
    if path.stat().st_size > MAX_BYTES:
        raise Invalid(f"{path.name!r} is too long", hint=f"at most {MAX_BYTES // 2**20} MB are read")
    try:
        if ending == ".json":
            return _json_rows(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            if ending == ".jsonl":
                return list(_json_lines(file, path.name))
            return list(_cells(file, path.name, ending, schema))
    except UnicodeDecodeError as error:
        raise Invalid(f"{path.name!r} is not UTF-8 text", hint="save it as UTF-8") from error


def _json_rows(path: Path) -> list[JSON]:
    rows = read_json(path.read_bytes(), what=repr(path.name), max_bytes=MAX_BYTES)
    if not isinstance(rows, list):
        raise Invalid(f"{path.name!r} holds {shown(rows)}, not a list", hint='[{"name": "value"}, …]')
    return rows


def _json_lines(file: Iterator[str], name: str) -> Iterator[JSON]:
    for at, line in enumerate(file, start=1):
        if line.strip():
            yield read_json(line, what=f"line {at} of {name!r}", max_bytes=MAX_BYTES)


# Cells


def _cells(file: Any, name: str, ending: str, schema: Mapping[str, Any] | None) -> Iterator[JSON]:
    """Iterate over the rows of a table of cells."""
    csv.field_size_limit(MAX_BYTES)
    first = file.readline()
    delimiter = _delimiter(first, DELIMITERS[ending])
    file.seek(0)
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    number, header, columns = 0, list[str](), list[Callable[[str], JSON]]()
    known: list[dict[str, JSON]] = []
    try:
        for record in reader:
            if not record:
                continue
            if not header:
                header = _header(record, name, schema)
                columns = [_column(key, schema) for key in header]
                known = [dict[str, JSON]() for _ in header]
                continue
            number += 1
            row = _row(record, header, columns, number, name)
            for key, cells in zip(header, known, strict=True):
                value = row[key]
                if type(value) is str and len(cells) < SHARED:
                    row[key] = cells.setdefault(value, value)
                elif type(value) is str:
                    row[key] = cells.get(value, value)
            yield row
    except csv.Error as error:
        hint = 'RFC 4180: a quote inside of a cell is written twice, "…""…"'
        raise Invalid(f"{name!r} is not {ending[1:].upper()} at line {reader.line_num}: {error}", hint=hint) from None


def _delimiter(first: str, usual: str) -> str:
    """The semicolon where a `.csv` has no comma in its header, outside of quotes."""
    plain = "".join(first.split('"')[::2])
    return ";" if usual == "," and "," not in plain and ";" in plain else usual


def _header(record: Sequence[str], name: str, schema: Mapping[str, Any] | None) -> list[str]:
    header, seen = [cell.strip() for cell in record], set[str]()
    for position, cell in enumerate(header, start=1):
        if not cell:
            raise Invalid(f"column {position} of {name!r} has no name", hint="the first line names every column")
        if cell in seen:
            raise Invalid(f"two columns of {name!r} are called {cell!r}", hint="each name once")
        seen.add(cell)
        if schema is not None and isinstance(subschema_at(schema, (cell,)), NoSuchPath):
            known = ", ".join(map(repr, schema.get("properties", {}))) or "none"
            raise Invalid(f"{name!r} has a column {cell!r}, which its rows may not have", hint=f"they have {known}")
    return header


def _row(
    record: Sequence[str],
    header: Sequence[str],
    columns: Sequence[Callable[[str], JSON]],
    number: int,
    name: str,
) -> dict[str, JSON]:
    if len(record) != len(header):
        more = len(record) > len(header)
        hint = "quote a cell that holds the delimiter" if more else f"there is no cell for {header[len(record)]!r}"
        raise Invalid(
            f"row {number} of {name!r} has {pluralize(len(record), 'cell')}, and the header {len(header)}", hint=hint
        )
    row: dict[str, JSON] = {}
    for key, read_cell, cell in zip(header, columns, record, strict=True):
        try:
            row[key] = read_cell(cell)
        except ValueError as error:
            raise Invalid(f"row {number}, column {key!r} of {name!r}: {error}") from None
    return row


def _column(key: str, schema: Mapping[str, Any] | None) -> Callable[[str], JSON]:
    """Return what reads the cells of a column: the first of its types that fits. Raises ValueError where none does."""
    subschema = None if schema is None else subschema_at(schema, (key,))
    types = frozenset(TYPES) if subschema is None or isinstance(subschema, NoSuchPath) else types_of(subschema)
    if types == frozenset(TYPES):
        return str
    expected = "" if subschema is None or isinstance(subschema, NoSuchPath) else describe_schema(subschema)

    def read_cell(cell: str) -> JSON:
        if not cell:
            if "null" in types:
                return None
            if "string" in types:
                return ""
            raise ValueError(f"the cell is empty, and {expected} is wanted")
        value = _plain(cell)
        kind = "boolean" if isinstance(value, bool) else "number" if isinstance(value, (int, float)) else ""
        if isinstance(value, int) and kind == "number" and types & {"integer", "number"}:
            return value
        if isinstance(value, float) and "number" in types:
            return value
        if kind == "boolean" and "boolean" in types:
            return value
        if "string" in types:
            return cell
        raise ValueError(f"{shown(cell)} is not {expected}")

    return read_cell


_PLAIN: Final = json.JSONDecoder(parse_constant=lambda _name: None)


def _plain(cell: str) -> JSON:
    """A number or a boolean as JSON writes them; None for anything else."""
    if cell[0] not in "-0123456789tf" or cell != cell.strip():
        return None
    try:
        value: JSON = _PLAIN.decode(cell)
    except ValueError:
        return None
    return value if isinstance(value, (bool, int, float)) else None


# Writing


def write_table(data: JSON, ending: str, columns: Sequence[str] = ()) -> bytes:
    """Return what a file of an ending holds of a result: UTF-8, with a line end at its end.

    Rows are the elements of a list. Of `.csv` and `.tsv` the columns are `columns`, which are there without any row
    too, and then the keys of all rows, in order of first appearance; null and a missing key are empty cells, what is
    no text is JSON; a plain value stands in a column `content`. Raises Invalid where the result is no list.
    """
    if ending == ".json":
        return f"{json.dumps(data, ensure_ascii=False, indent=2)}\n".encode("utf-8", "surrogatepass")
    if not isinstance(data, list):
        raise Invalid(f"the result is {shown(data)}, and a {ending} file holds rows", hint="--out FILE.json takes any")
    if ending == ".jsonl":
        return "".join(f"{dump(row)}\n" for row in data).encode("utf-8", "surrogatepass")
    rows: list[Mapping[str, JSON]] = [row if isinstance(row, dict) else {"content": row} for row in data]
    columns = list(dict.fromkeys((*columns, *(key for row in rows for key in row))))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=DELIMITERS[ending], lineterminator="\n")
    if columns:
        writer.writerow(columns)
    for row in rows:
        writer.writerow([_written(row.get(key)) for key in columns])
    return text.getvalue().encode("utf-8", "surrogatepass")


def _written(value: JSON) -> str:
    return "" if value is None else value if isinstance(value, str) else dump(value)
