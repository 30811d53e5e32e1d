"""What the readers of formats do at their edges."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from infospace.core.errors import Invalid
from infospace.files.formats import csv as tables
from infospace.files.formats import html as hypertext
from infospace.files.formats import json as objects
from infospace.files.formats import jsonl as lines
from infospace.files.formats import markdown_file, text
from infospace.files.formats.row_diff import align
from infospace.files.front_matter import MAX_DEPTH, read_yaml
from infospace.files.in_place.json_edits import edited_json, holds


def test_an_empty_json_file_is_an_empty_text() -> None:
    """So is a blank one."""
    assert objects.read(b"", "a.json").content == objects.read(b" \n", "a.json").content == ""


def test_a_json_file_may_be_larger_than_a_plan() -> None:
    """So may the metadata beside it; what is compared with a file is read like that file."""
    long = "x" * 5_000_000
    data, metadata = f'["{long}"]'.encode(), f'{{"k": "{long}"}}'.encode()
    read = objects.read(data, "a.json", metadata)
    assert (read.content, read.metadata) == ([long], {"k": long})
    assert holds(data, [long])
    assert edited_json(data, "a.json", [long, 1]) == data.replace(b'"]', b'",1]')


@pytest.mark.parametrize(
    ("table", "message", "hint"),
    [
        (b"a,b,a\n", "two columns of 't.csv' are called 'a'", "each name once"),
        (b"a,,b\n", "column 2 of 't.csv' has no name", "the first line names every column"),
        (b'a,b\n"1,2\n', "'t.csv' is not CSV at line 2: unexpected end of data", "RFC 4180"),
    ],
)
def test_what_is_no_table_is_one_sentence(table: bytes, message: str, hint: str) -> None:
    with pytest.raises(Invalid) as refusal:
        tables.rows(table, "t.csv")
    assert (refusal.value.message, refusal.value.hint) == (message, hint)


def test_a_text_has_line_feeds_whatever_its_lines_ended_with() -> None:
    assert text.read(b"a\rb\r\nc\nd", "a.txt").content == "a\nb\nc\nd"


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (b"a,b\n\n1,2\n\n", [{"a": "1", "b": "2"}]),
        (b"a\n1\n", [{"a": "1"}]),
        (b"a;b,c;d\n1;2;3\n", [{"a": "1", "b,c": "2", "d": "3"}]),
        (b"a,b;c\n1,2\n", [{"a": "1", "b;c": "2"}]),
        (b"a,b\n1\n", [{"a": "1"}]),
        (b"a,b\n1;2;3;4,5\n", [{"a": "1;2;3;4", "b": "5"}]),
    ],
)
def test_a_table_is_read_by_its_header(table: bytes, rows: list[dict[str, str]]) -> None:
    """The delimiter is what stands most often in it, of equals the comma; blank lines count for nothing."""
    assert [row.load() for row in tables.rows(table, "t.csv")] == rows


@pytest.mark.parametrize("read", [text.read, markdown_file.read, hypertext.read, objects.read, lines.rows, tables.rows])
def test_what_is_binary_is_refused_by_its_name(read: Callable[[bytes, str], object]) -> None:
    with pytest.raises(Invalid, match=r"'notes/a\.x'"):
        read(b"\x00\xff\x00binary", "notes/a.x")


def test_a_row_of_too_many_cells_is_refused_alone() -> None:
    """It says which; the others are read."""
    good, bad = tables.rows(b"a,b\n1,2\n1,2,3\n", "t.csv")
    assert good.load() == {"a": "1", "b": "2"}
    with pytest.raises(Invalid, match="has 3 cells, and the header 2") as refusal:
        bad.load()
    assert refusal.value.hint == "quote a cell that holds the delimiter"


def test_a_row_is_another_under_another_header() -> None:
    """Its digest has the names of the columns in it."""
    (one,), (other,), (same,) = (tables.rows(b"%b\n1\n" % name, "t.csv") for name in (b"a", b"b", b"a"))
    assert one.digest == same.digest != other.digest


def test_a_line_of_json_ends_at_a_line_feed_alone() -> None:
    """Other separators of lines may stand in a text."""
    (row, last) = lines.rows('"a\u2028b"\n\n2'.encode(), "x.jsonl")
    assert (row.load(), last.number, last.load()) == ("a\u2028b", 3, 2)


def test_html_at_its_edges() -> None:
    """Numbered lists count, links from the root of a site lead nowhere, and Latin-1 is read as browsers do."""
    assert hypertext.read(b"<ol><li>a<li>b</ol>", "x").content == "1. a\n2. b"
    assert hypertext.read(b"<ul><li></ul><p>a", "x").content == "a"
    assert hypertext.read(b"<ul><li><p>a</p><p>b</p></ul>", "x").content == "- a\n\nb"
    assert hypertext.read(b'<a href="/b.html">b</a><a href="c.html">c</a>', "x").content == "b[c](c.html)"
    assert hypertext.read(b'<meta charset="latin1"><p>\x80 \xe9', "x").content == "€ é"


def test_rows_before_a_changed_one_are_known_by_it() -> None:
    """What stands before, or follows, the row that an unmatched old one did is that one."""
    assert align([b"a", b"b", b"c"], [b"x", b"b", b"y"]) == [0, 1, 2]
    assert align([b"a", b"b", b"c"], [b"z", b"y", b"c"]) == [0, 1, 2]
    assert align([b"a"], [b"x", b"y"]) == [0, None]
    assert align([b"a", b"b"], [b"x", b"y", b"z"]) == [0, 1, None]
    assert align([b"a", b"b", b"d"], [b"b", b"a", b"x"]) == [1, 0, 2]
    assert align([b"a", b"b", b"c"], [b"x", b"c"]) == [0, 2]
    assert align([b"a", b"a"], [b"a", b"a", b"a"]) == [0, 1, None]
    assert align([], [b"x"]) == [None]
    assert align([b"a"], []) == []


def test_front_matter_may_nest_as_deep_as_it_says() -> None:
    """And not one deeper."""
    for depth, is_good in ((MAX_DEPTH - 1, True), (MAX_DEPTH + 1, False)):
        block = "a: " + "[" * depth + "]" * depth
        if is_good:
            assert "a" in read_yaml(block)
        else:
            with pytest.raises(Invalid, match="nested too deep"):
                read_yaml(block)
