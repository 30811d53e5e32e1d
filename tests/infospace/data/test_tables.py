"""Tables in files: cells are read by the schema of a row, refusals name row and column, and rows are written."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from infospace.core.errors import InfospaceError, Invalid
from infospace.files.formats.tables import read_table, write_table

ROW = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "count": {"type": ["integer", "null"]},
        "paid": {"type": "boolean"},
        "any": {"type": ["integer", "string"]},
        "free": {},
    },
    "additionalProperties": False,
}


def table(tmp_path: Path, text: str | bytes, schema: Any = None, name: str = "t.csv") -> Any:
    """Read a table that is written first."""
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, schema)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,x\n", [{"a": "1", "b": "x"}]),
        ('\ufeffa,b\r\n"Doe, Jane","say ""hi"""\r\n', [{"a": "Doe, Jane", "b": 'say "hi"'}]),
        ('a\n"two\nlines"\n', [{"a": "two\nlines"}]),
        ("a,b\n\n,\n", [{"a": "", "b": ""}]),
        ("a;b\n1,5;x\n", [{"a": "1,5", "b": "x"}]),
        ("a\n", []),
        ("", []),
    ],
)
def test_cells_are_texts(tmp_path: Path, text: str, rows: list[Any]) -> None:
    """With quotes, a mark at the beginning, line ends of either kind, and blank lines that count for nothing."""
    assert table(tmp_path, text) == rows


@pytest.mark.parametrize(
    ("column", "cell", "value"),
    [
        ("name", "12", "12"),
        ("name", "true", "true"),
        ("name", "", ""),
        ("price", "1.50", 1.5),
        ("price", "2", 2),
        ("price", "-1e3", -1000.0),
        ("count", "7", 7),
        ("count", "", None),
        ("paid", "true", True),
        ("paid", "false", False),
        ("any", "7", 7),
        ("any", "7.5", "7.5"),
        ("any", "007", "007"),
        ("any", "", ""),
        ("any", "NaN", "NaN"),
        ("free", "3", "3"),
    ],
)
def test_a_cell_is_what_its_schema_says(tmp_path: Path, column: str, cell: str, value: Any) -> None:
    """As JSON writes numbers and booleans; of several types the first that fits."""
    [row] = table(tmp_path, f"{column},name2\n{cell},x\n".replace("name2", "free" if column != "free" else "name"), ROW)
    assert (row[column], type(row[column])) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,price\na,1\nb,x\n", "row 2, column 'price' of 't.csv': \"x\" is not a number"),
        ("name,price\na,\n", "row 1, column 'price' of 't.csv': the cell is empty, and a number is wanted"),
        ("name,price\na, 1\n", "row 1, column 'price' of 't.csv': \" 1\" is not a number"),
        ("name,price\na,01\n", "row 1, column 'price' of 't.csv': \"01\" is not a number"),
        ("name,count\na,1.5\n", "row 1, column 'count' of 't.csv'"),
        ("name,price\na\n", "row 1 of 't.csv' has 1 cell, and the header 2 (there is no cell for 'price')"),
        ("name\na,b\n", "row 1 of 't.csv' has 2 cells, and the header 1 (quote a cell that holds the delimiter)"),
        ("name,name\na,b\n", "two columns of 't.csv' are called 'name'"),
        ("name,\na,b\n", "column 2 of 't.csv' has no name"),
        ("name,prize\na,b\n", "'t.csv' has a column 'prize', which its rows may not have"),
        ('name\n"a\n', "'t.csv' is not CSV at line"),
        (b"name\n\xff\n", "'t.csv' is not UTF-8 text"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    """Nothing is guessed, and nothing is shifted."""
    with pytest.raises(Invalid) as error:
        table(tmp_path, text, ROW)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("t.tsv", "a\tb\n1,5\tx\n", [{"a": "1,5", "b": "x"}]),
        ("t.json", '[{"a": 1}, "x"]', [{"a": 1}, "x"]),
        ("t.jsonl", '{"a": 1}\n\n[2]\n', [{"a": 1}, [2]]),
        ("T.CSV", "a\n1\n", [{"a": "1"}]),
    ],
)
def test_a_table_is_read_by_its_ending(tmp_path: Path, name: str, text: str, rows: list[Any]) -> None:
    assert table(tmp_path, text, None, name) == rows


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.xlsx", "", "is not known to be a table"),
        ("t.json", '{"a": 1}', "'t.json' holds {\"a\": 1}, not a list"),
        ("t.json", "[1,", "'t.json'"),
        ("t.jsonl", '1\n{"a"\n', "line 2 of 't.jsonl'"),
    ],
)
def test_what_is_no_table_says_so(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InfospaceError) as error:
        table(tmp_path, text, None, name)
    assert message in str(error.value)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Columns stand in order of first appearance; what is no text is JSON, and what is missing is empty."""
    rows: list[Any] = [{"b": 'x "y", z', "a": 1}, {"a": None, "c": [1, "é"], "b": "two\nlines"}, "plain"]
    assert write_table(rows, ".csv").decode().splitlines()[0] == "b,a,c,content"
    read = table(tmp_path, write_table(rows, ".csv"))
    assert read == [
        {"b": 'x "y", z', "a": "1", "c": "", "content": ""},
        {"b": "two\nlines", "a": "", "c": '[1,"é"]', "content": ""},
        {"b": "", "a": "", "c": "", "content": "plain"},
    ]
    assert table(tmp_path, write_table(rows, ".tsv"), None, "t.tsv") == read
    assert table(tmp_path, write_table(rows, ".jsonl"), None, "t.jsonl") == rows
    assert table(tmp_path, write_table(rows, ".json"), None, "t.json") == rows
    assert json.loads(write_table("text", ".json")) == "text"
    assert write_table([], ".csv") == b""
    assert list(csv.reader(write_table([{"a": True}], ".csv").decode().splitlines())) == [["a"], ["true"]]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_what_has_no_rows_is_no_table(ending: str) -> None:
    with pytest.raises(Invalid, match=f"the result is .*3.*, and a {ending} file holds rows"):
        write_table(3, ending)
