"""The rows of the place Notes: what each tells, what is to be read of them, how they are called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.text import Text

from infospace import Space
from infospace.core.ids import Kind
from infospace.store.records import ResourceSummary
from planner.execute.start import run_sync
from tui.tables.notes_query import Ids, NotesList, NotesQuery, by_column, causes, label_of, run_notes_query, tags_of
from tui.tables.notes_table import OTHERS, PLAIN, STALE, NoteList

AT = "2026-03-31T23:33:20.000Z"


class Nobody:
    """A listener to nothing."""

    def message(self, kind: Any, text: str) -> None:
        """Say nothing."""

    def progress(self, done: int, total: int, what: str) -> None:
        """Say nothing."""


def brief(identifier: str = "Note_1", **fields: Any) -> ResourceSummary:
    found = ResourceSummary(identifier, 1, None, True, AT, AT, {}, begins="how it begins", size=1_234)
    return replace(found, **fields)


def rows(*ids: str, what: Any = "notes", **more: Any) -> NoteList:
    found = NoteList()
    found.colours = {"error": "red", "secondary": "blue"}
    found.update(NotesList(NotesQuery(what), ids, "", len(ids), **more))
    return found


def cells(found: NoteList, index: int = 0) -> list[str]:
    return [str(cell) for cell in found.cells(index, [])]


def test_what_is_in_sight_is_wanted_until_it_was_read() -> None:
    """What was read before is shown meanwhile."""
    found = rows("Note_2", "Note_1")
    assert cells(found) == ["Note_2", "…", "", "", ""]
    assert found.wanted == {"Note_2"}
    assert found.merge(["Note_2"], [brief("Note_2", metadata={"tags": ["a", "b"], "title": "Two"})])
    assert found.wanted == set()
    assert cells(found)[:4] == ["Note_2", "Two", "a, b", "1,234"]
    assert cells(found)[4].endswith(":33")
    assert not found.wanted
    found.outdate()
    assert cells(found)[1] == "Two"
    assert found.wanted == {"Note_2"}
    assert not found.merge(["Note_2"], [brief("Note_2", metadata={"tags": ["a", "b"], "title": "Two"})])
    assert found.merge(["Note_2"], [brief("Note_2")])
    assert found.brief("Note_2") == brief("Note_2")


def test_what_was_removed_for_good_says_so() -> None:
    found = rows("Note_2")
    assert found.merge(["Note_2"], [])
    assert cells(found)[1] == "(removed for good)"
    assert found.brief("Note_2") is None
    assert not found.merge(["Note_2"], [])


def test_what_is_deleted_or_not_kept_is_told_apart() -> None:
    found = rows("Note_3", "Note_2", "Note_1")
    found.merge([], [brief("Note_3", alive=False), brief("Note_2", kept=False), brief("Note_1")])
    told = [found.cells(index, [])[1] for index in range(3)]
    assert [str(one) for one in told] == ["deleted  how it begins", "how it begins", "how it begins"]
    assert ["italic" in str(one.spans) for one in told] == [False, True, False]  # type: ignore[union-attr]


def test_what_is_deleted_has_the_colour_of_faults_and_what_is_beside_stands_back() -> None:
    """Ids, sizes and times are dim; tags have a colour of their own."""
    found = rows("Note_1", "Note_2")
    found.merge([], [brief("Note_1", alive=False), brief("Note_2")])
    [deleted, *_] = [cell for cell in found.cells(0, []) if "deleted" in str(cell)]
    assert isinstance(deleted, Text)
    assert (str(deleted.style), [str(span.style) for span in deleted.spans][:1]) == ("dim", ["red"])
    styles = [str(cell.style) for cell in found.cells(1, []) if isinstance(cell, Text)]
    assert (styles.count("dim"), styles.count("blue"), len(styles)) == (3, 1, 5)


def test_the_columns_are_those_of_what_is_listed() -> None:
    assert rows("Note_1").columns == PLAIN
    assert rows("Collection_1", what="collections").columns == OTHERS
    assert rows("Relation_1", what="relations").columns == OTHERS
    assert rows("Note_1", what="all notes").columns == PLAIN
    assert rows("Note_1", what="stale", remarks={"Note_1": "a\ncause"}).columns == STALE
    assert cells(rows("Note_1", what="stale", remarks={"Note_1": "a\ncause"}))[2] == "a cause"


def test_the_column_that_is_sorted_by_has_an_arrow() -> None:
    found = rows("Note_2", "Note_1")
    found.sort(["Note_1", "Note_2"], ("size", True))
    assert [column.title for column in found.columns] == ["id", "title", "tags", "size ▼", "updated"]
    assert [found.key(index) for index in range(2)] == ["Note_1", "Note_2"]
    found.sort(found.ids, ("id", False))
    assert found.columns[0].title == "id ▲"
    found.update(NotesList(NotesQuery(), ("Note_3",), "", 1))
    assert found.key(0) == "Note_3"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"metadata": {"title": "A title"}, "name": "name"}, "A title"),
        ({"name": "name"}, "name"),
        ({}, "how it begins"),
        ({"begins": ""}, "(empty)"),
        ({"begins": '{"a": 1, "b'}, "a: 1"),
        ({"metadata": {"title": 7}}, "how it begins"),
        ({"name": "name", "ends": ("Note_1", "cites", "Note_2"), "begins": "A ─ cites → B"}, "A ─ cites → B"),
        ({"name": "name", "source": ("Note_1", 1), "begins": "found"}, "found"),
        ({"name": "x" * 241}, "x" * 240 + "…"),
        ({"name": "x" * 240}, "x" * 240),
        ({"id": "Collection_1", "begins": "", "size": 1}, "(1 item)"),
        ({"id": "Collection_1", "begins": "", "size": 2, "name": "mine"}, "mine"),
    ],
)
def test_a_resource_is_called_by_title_name_or_beginning(fields: dict[str, Any], message: str) -> None:
    assert label_of(replace(brief(), **fields)) == message


def test_tags_are_a_list_or_a_text() -> None:
    assert tags_of(brief(metadata={"tags": ["a", 2]})) == "a, 2"
    assert tags_of(brief(metadata={"tags": "a, b"})) == "a, b"
    assert tags_of(brief(metadata={"tags": {"a": 1}})) == ""
    assert tags_of(brief()) == ""


def test_ids_stand_latest_first_and_are_read_as_a_sequence() -> None:
    ids = Ids(Kind.NOTE, np.array([1, 4, 9]))
    assert list(ids) == ["Note_9", "Note_4", "Note_1"]
    assert (ids[0], ids[-1], ids[1:], len(ids)) == ("Note_9", "Note_1", ["Note_4", "Note_1"], 3)
    assert ids.same(Ids(Kind.NOTE, np.array([1, 4, 9])))
    assert not ids.same(Ids(Kind.NOTE, np.array([1, 4])))
    with pytest.raises(IndexError, match="is out of bounds for axis"):
        ids[3]
    assert not ids.same(Ids(Kind.COLLECTION, np.array([1, 4, 9])))


@pytest.mark.parametrize(
    ("sought", "how", "scored"),
    [
        (NotesQuery(), None, False),
        (NotesQuery(query="  "), None, False),
        (NotesQuery(query="x"), "semantic", True),
        (NotesQuery(query="x", mode="hybrid"), "hybrid", True),
        (NotesQuery(query="x", mode="keyword"), "keyword", False),
        (NotesQuery("all notes", "x"), "keyword", False),
        (NotesQuery("relations", "x"), "keyword", False),
        (NotesQuery("collections", "x"), "semantic", True),
        (NotesQuery("collections", "x", "hybrid"), "keyword", False),
        (NotesQuery("stale", "x"), "keyword", False),
    ],
)
def test_how_something_is_searched_hangs_on_what_it_is(sought: NotesQuery, how: str | None, scored: bool) -> None:
    assert (sought.how, sought.scored) == (how, scored)


def test_kept_notes_are_listed_apart_from_all() -> None:
    assert [NotesQuery(what).kept for what in ("notes", "all notes", "collections", "stale")] == [
        True,
        None,
        None,
        None,
    ]
    assert [str(NotesQuery(what).kind) for what in ("notes", "collections", "relations", "stale")] == [
        "Note",
        "Collection",
        "Relation",
        "Note",
    ]


PLAN = [
    {"type": "create-note", "value": "beta text", "metadata": {"tags": ["z"]}, "out": "$a", "name": "zwei"},
    {"type": "create-note", "value": "Alpha", "out": "$b", "metadata": {"tags": ["a"]}, "name": "Eins"},
    {"type": "create-note", "value": "gamma is not kept", "out": "$c"},
    {"type": "create-collection", "value": ["$a", "$b"], "out": "$all", "name": "both"},
]


@pytest.fixture
def stocked(space: Space) -> Space:
    """Two kept notes, one that is not, and a Collection."""
    assert run_sync(space, PLAN).status == "success"
    return space


def test_everything_of_a_kind_is_listed_and_counted(stocked: Space) -> None:
    found = {
        what: run_notes_query(stocked, NotesQuery(what), Nobody())
        for what in ("notes", "all notes", "collections", "relations")
    }
    assert {what: one.message for what, one in found.items()} == {
        "notes": "2 kept notes",
        "all notes": "3 notes",
        "collections": "1 Collection",
        "relations": "0 Relations",
    }
    assert list(found["all notes"].ids) == ["Note_3", "Note_2", "Note_1"]
    assert found["all notes"].matched == 3


def test_words_are_looked_for_in_id_name_beginning_and_metadata(stocked: Space) -> None:
    """Each of them, whichever case."""
    for query, fits in {
        "ALPHA": ["Note_2"],
        "zwei beta": ["Note_1"],
        "zwei alpha": [],
        "note_3": ["Note_3"],
        '"z"': ["Note_1"],
    }.items():
        found = run_notes_query(stocked, NotesQuery("all notes", query), Nobody())
        assert list(found.ids) == fits, query
        assert found.message == f"{len(fits)} of 3 notes with these words"
        assert found.matched == len(fits)


@pytest.mark.parametrize(
    ("column", "order"),
    [
        ("id", ["Note_1", "Note_2", "Note_3"]),
        ("title", ["Note_2", "Note_3", "Note_1"]),
        ("tags", ["Note_3", "Note_2", "Note_1"]),
        ("size", ["Note_2", "Note_1", "Note_3"]),
    ],
)
def test_a_column_sorts_both_ways(stocked: Space, column: str, order: list[str]) -> None:
    """By what it shows."""
    ids = ["Note_3", "Note_1", "Note_2"]
    assert by_column(stocked, ids, column, downwards=False) == order
    assert by_column(stocked, ids, column, downwards=True) == order[::-1]


class Changed:
    """An input that is not any more what something was made of."""

    def __init__(self, what: str, number: int) -> None:
        self.what = what
        self.origin = self
        self.of = self
        self.id, self.title, self.gone, self.latest = f"Note_{number}", "", "by run_7", 3
        self.latest_made = self
        self.run = ""


def test_causes_are_told_up_to_three() -> None:
    one = [Changed("content", 1), Changed("deleted", 2), Changed("name", 3)]
    assert causes(one).split("; ") == [
        "Note_1 changed its content, now version 3",
        "Note_2 was deleted by run_7",
        "Note_3 changed its name, now version 3",
    ]
    one[0].title, one[0].run = "A\ntitle", "run_9"
    assert causes(one[:1]) == "Note_1 “A title” changed its content, now version 3 by run_9"
    assert causes([*one, *one]).endswith("; and 3 more")
    assert "more" not in causes(one)
