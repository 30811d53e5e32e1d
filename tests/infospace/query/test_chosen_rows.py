"""Which rows of the space's own tables a query reads at all: those that its conditions choose by a column."""

from __future__ import annotations

from typing import Any

import pytest

from infospace.core.json_types import JSON
from infospace.expressions.query.parse import parse_query
from infospace.expressions.query.preselect import ColumnTest, required_rows
from infospace.store.sqlite.read.tables import testable as choosable


def clock() -> tuple[str, str]:
    return "2026-03-01", "2026-03-01T12:00:00.000Z"


def asked_of(sql: str, **parameters: JSON) -> list[list[Any]]:
    """What is asked of each table, in the order in which a statement names them."""
    wanted = required_rows(parse_query(sql).query, choosable, parameters, clock)
    return [
        [(one.column, one.by, *one.values) if isinstance(one, ColumnTest) else one for one in wanted[start].tests]
        for start in sorted(wanted)
    ]


@pytest.mark.parametrize(
    ("where", "tests"),
    [
        ("folder = 'work'", [("folder", "=", "work")]),
        ("'work' = folder AND path < 'x'", [("folder", "=", "work"), ("path", "<", "x")]),
        ("'a' >= path", [("path", "<=", "a")]),
        ("folder IN ('a', 'b')", [("folder", "=", "a", "b")]),
        ("folder IN ($list)", [("folder", "=", "p", "q")]),
        ("modified BETWEEN '2026' AND '2027'", [("modified", ">=", "2026"), ("modified", "<=", "2027")]),
        ("folder = lower($word)", [("folder", "=", "home")]),
        ("contains(tags, 'work')", [("tags", "has", "work")]),
        ("has(tags, $word)", [("tags", "has", "HOME")]),
        ("n.folder = 'x'", [("folder", "=", "x")]),
        ("folder = 'a' OR path = 'b'", []),
        ("NOT folder = 'a'", []),
        ("folder != 'a'", []),
        ("folder = path", []),
        ("folder = 3", []),
        ("tags = 'work'", []),
        ("contains(tags, $list)", []),
        ("contains(text, 'work')", []),
        ("status = 'open'", []),
    ],
)
def test_what_a_condition_leaves_out_is_not_read(where: str, tests: list[Any]) -> None:
    """Only what a column is compared with that is known beforehand, and only where all of the condition needs it."""
    assert asked_of(f"SELECT n.title FROM notes n WHERE {where}", list=["p", "q"], word="HOME") == [tests]


def test_a_join_that_keeps_what_it_does_not_match_chooses_no_rows_of_the_other() -> None:
    """Of an inner one ON chooses as WHERE does; it may name each table by its alias alone."""
    ends = "SELECT n.title FROM notes n {} JOIN items i ON i.note = n.\"@id\" AND i.due < '2026-04-01'"
    assert asked_of(ends.format("")) == [[], [("due", "<", "2026-04-01")]]
    for kind in ("LEFT", "RIGHT", "FULL"):
        assert asked_of(ends.format(kind)) == [[], []]


def test_a_join_by_an_id_lets_the_rows_of_one_table_follow_from_those_of_another() -> None:
    """Not where a join keeps rows that match nothing."""
    ends = 'SELECT n.title FROM notes n {} JOIN items i ON i.note = n."@id" WHERE i.note = n."@id"'

    def same(kind: str) -> list[list[str]]:
        wanted = required_rows(parse_query(ends.format(kind)).query, choosable, {}, clock)
        return [[f"{column} of {name}" for column, name, _ in wanted[start].same] for start in sorted(wanted)]

    assert same("") == [["@id of items"] * 2, ["note of notes"] * 2]
    for kind in ("LEFT", "RIGHT", "FULL"):
        assert same(kind) == [[], []]
