"""Folders and tags as trees, what is in them, and tasks on lines."""

from __future__ import annotations

from tui.tables.note_places import NotePlaces, NotesFilter, PlaceRows
from tui.tables.task_rows import Task, due_of, in_list, sign_of

PLACES = NotePlaces(
    7,
    [
        (1, "", ("a", "a/b")),
        (2, "work", ("a",)),
        (3, "work/old", ("c",)),
        (4, "workshop", ()),
        (5, None, ("a", "c")),
    ],
)
TASK = Task("Note_1", 3, "call Ada", " ", False, "2026-01-02", None, None, "Today")
COLOURS = {"error": "red", "accent": "blue", "success": "green"}


def test_a_folder_has_what_is_below_it_and_no_namesake() -> None:
    assert PLACES.within(NotesFilter("work")) == {2, 3}
    assert PLACES.within(NotesFilter("")) == {1, 2, 3, 4}
    assert PLACES.within(NotesFilter(None, "a")) == {1, 2, 5}
    assert PLACES.within(NotesFilter("work", "a")) == {2}


def test_folders_and_tags_are_counted_with_those_below_them() -> None:
    """Each among what the other leaves."""
    assert PLACES.folders(None) == {"": 4, "work": 2, "work/old": 1, "workshop": 1}
    assert PLACES.folders("a") == {"": 2, "work": 1}
    assert PLACES.tags(None) == {"a": 3, "a/b": 1, "c": 2}
    assert PLACES.tags("work") == {"a": 1, "c": 1}


def test_lines_are_a_tree_and_whole_paths_while_they_are_filtered() -> None:
    rows = PlaceRows(PLACES, NotesFilter("work"))

    def told() -> list[str]:
        return [" ".join(str(cell) for cell in rows.cells(at, [])) for at in range(len(rows))]

    assert told() == [
        "  all notes 5",
        "  all files 4",
        "●   work/ 2",
        "      old/ 1",
        "    workshop/ 1",
        "  #a 1",
        "  #c 1",
    ]
    rows.filter("old")
    assert told() == ["  work/old/ 1"]
    assert rows.choose(0) == NotesFilter("work/old")
    rows.filter("o")
    assert [row.lstrip("● ").split()[0] for row in told()] == ["all", "work/", "work/old/", "workshop/"]
    rows.filter("sh o")
    assert told() == ["  workshop/ 1"]
    rows.filter("#c")
    assert rows.choose(0) == NotesFilter("work", "c")
    rows.filter("")
    assert rows.choose(2) == NotesFilter()
    assert rows.choose(0) == NotesFilter()


def test_what_begins_with_what_is_typed_comes_first() -> None:
    rows = PlaceRows(NotePlaces(1, [(1, "area 17/part 13", ()), (2, "area 7/part 3", ())]), NotesFilter())
    rows.filter("area 7/part 3")
    assert rows.choose(0) == NotesFilter("area 7/part 3")


def test_a_filter_is_told_in_a_few_words() -> None:
    assert str(NotesFilter()) == ""
    assert not NotesFilter()
    assert str(NotesFilter("work/old", "a/b")) == "work/old/ #a/b"
    assert str(NotesFilter("")) == "files"


def test_a_task_is_a_box_a_text_and_when_it_is_due() -> None:
    """What is late stands out, unless it is done or given up."""
    assert [str(cell) for cell in in_list(TASK, COLOURS, "2026-01-03")] == ["☐", "call Ada", "2026-01-02", ""]
    assert str(due_of(TASK, COLOURS, "2026-01-03").style) == "red"
    assert str(due_of(TASK, COLOURS, "2026-01-02").style) == "dim"
    done = Task("Note_1", 3, "call Ada", "x", True, "2026-01-02", None, None, None)
    given_up = Task("Note_1", 3, "call Ada", "-", False, None, "2026-01-01", None, None)
    other = Task("Note_1", 3, "", "?", False, None, None, None, None)
    assert [(task.open, task.turned) for task in (TASK, done, given_up, other)] == [
        (True, "x"),
        (False, " "),
        (False, "x"),
        (True, "x"),
    ]
    assert [str(sign_of(task, COLOURS)) for task in (done, given_up, other)] == ["☑", "☒", "?"]
    assert str(due_of(done, COLOURS, "2026-01-03").style) == "dim"
    assert str(due_of(given_up, COLOURS, "2026-01-03")) == "(2026-01-01)"
