"""Completing a SELECT: what may stand at the cursor, the likeliest first."""

from __future__ import annotations

import pytest

from infospace.data.properties import survey
from planner.editor.complete_query import complete_query

TABLES = {
    "notes": ("title", "tags", "text", "words", "path"),
    "items": ("note", "text", "done"),
    "weekly digest": ("week", "n"),
    "$rows": ("price", "tax"),
}
PROPERTIES = survey(
    [{"status": "open", "due date": "2026-01-01", "n": 1}, {"status": "it's late", "tags": ["x"]}, {"status": "open"}]
)


def offers(text: str, after: str = "") -> list[str]:
    """The line as it is with each offer taken."""
    found = complete_query(text + after, len(text), TABLES, PROPERTIES)
    return [text[: found.start] + one for one in found.texts]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("", ["SELECT", "WITH"]),
        ("sel", ["SELECT"]),
        ("SELECT ti", ["SELECT title"]),
        ("SELECT title, te", ["SELECT title, text"]),
        ("SELECT title FROM ", ["SELECT title FROM notes", "SELECT title FROM items"]),
        ("SELECT title FROM notes n, ", ["SELECT title FROM notes n, notes", "SELECT title FROM notes n, items"]),
        ("SELECT title FROM we", ["SELECT title FROM `weekly digest`"]),
        ("SELECT title FROM `we", ["SELECT title FROM `weekly digest`"]),
        ("SELECT w.n FROM `weekly digest` w WHERE w.we", ["SELECT w.n FROM `weekly digest` w WHERE w.week"]),
        ("SELECT price FROM $r", ["SELECT price FROM $rows"]),
        ("SELECT price FROM $rows WHERE t", ["SELECT price FROM $rows WHERE tax"]),
        ("SELECT rows.t", []),
        ("SELECT title FROM notes n LEFT JOIN it", ["SELECT title FROM notes n LEFT JOIN items"]),
        ("SELECT title FROM notes WHERE sta", ["SELECT title FROM notes WHERE status"]),
        ("SELECT title FROM notes WHERE du", ["SELECT title FROM notes WHERE `due date`"]),
        ("SELECT title FROM notes WHERE `du", ["SELECT title FROM notes WHERE `due date`"]),
        ("SELECT @cr", ["SELECT @created"]),
        ("SELECT i.do", []),
        ("SELECT title FROM notes WHERE status = '", ["SELECT title FROM notes WHERE status = 'open'"]),
        ("SELECT 1 AS x FROM notes WHERE status IN ('open', 'it", ["'it''s late'"]),
        ("SELECT 1 AS x FROM notes WHERE n = 'a", []),
        ("SELECT 1 AS x FROM notes WHERE title = 'FROM ", []),
        ("SELECT title FROM notes WHERE status = 'open' ORD", ["ORDER BY"]),
        ("SELECT co", ["SELECT count("]),
    ],
)
def test_what_may_stand_at_the_end(text: str, first: list[str]) -> None:
    """The first offers, or none."""
    found = offers(text)
    assert [one for one, wanted in zip(found, first, strict=False) if one.endswith(wanted)] == found[: len(first)]
    assert len(found) >= len(first)
    assert bool(found) == bool(first)


def test_columns_are_those_of_the_tables_that_stand_behind_the_cursor() -> None:
    """An alias is that of its table; a name that both have stands once."""
    assert offers("SELECT i.", " FROM items i") == ["SELECT i.note", "SELECT i.text", "SELECT i.done"]
    assert offers("SELECT do", " FROM items AS i JOIN notes n ON n.@id = i.note") == ["SELECT done"]
    assert offers("SELECT te", " FROM items i, notes n") == ["SELECT text"]
    assert offers("SELECT n.sta", " FROM notes n WHERE 1 = 1") == ["SELECT n.status"]
    assert offers("SELECT items.n", " FROM items WHERE done") == ["SELECT items.note"]
