"""Where a note's file lies, as a place that plans read: in references, templates, and paths of items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync
from tests.infospace.memory.imported import add, notes, write


@pytest.fixture
def imported(space: Space, tmp_path: Path) -> Space:
    """A space with three files in two folders."""
    add(space, write(tmp_path / "in", **{"a.md": "A", "x/b.md": "B", "x/c.md": "C"}))
    return space


def answer(space: Space, *steps: dict[str, Any], status: str = "success") -> Any:
    """Run steps, and return what they answer."""
    ran = run_sync(space, {"steps": list(steps)})
    assert ran.status == status, (ran.reason, ran.problems)
    return ran.reason if status == "failed" else ran.result and ran.result.data


def collection(space: Space) -> dict[str, Any]:
    """A step that binds all of the files' notes."""
    ids = [note.id for note in notes(space).values()]
    return {"type": "create-collection", "value": ids, "out": "$all"}


def test_a_reference_and_a_template_read_where_a_file_lies(imported: Space, tmp_path: Path) -> None:
    """Alone it is a text; within a text it is put in."""
    note = notes(imported)["x/b.md"].id
    steps = [
        {"type": "load", "target": note, "out": "$n"},
        {"type": "create-note", "value": "${n.@folder}: ${n.@path}", "out": "$told"},
        {"type": "create-note", "value": {"told": "$told", "root": "$n.@root"}, "out": "$all"},
    ]
    assert answer(imported, *steps) == {"told": "x: x/b.md", "root": str(tmp_path / "in")}


def test_items_are_chosen_sorted_and_grouped_by_where_they_lie(imported: Space) -> None:
    """As by any other place."""
    chosen = {"type": "filter-structured", "target": "$all", "where": "@folder = 'x'", "out": "$x"}
    assert answer(imported, collection(imported), chosen) == ["B", "C"]
    fields = {"type": "project", "target": "$all", "fields": ["@path", "@folder"], "out": "$p"}
    assert answer(imported, collection(imported), fields)[0] == {"path": "a.md", "folder": ""}
    by = {"type": "sort", "target": "$all", "by": "@path", "order": "desc", "out": "$s"}
    assert answer(imported, collection(imported), by) == ["C", "B", "A"]
    group = {"type": "group", "target": "$all", "by": "@folder", "aggregates": {"n": "count"}, "out": "$g"}
    assert [
        (one["@folder"] if "@folder" in one else one["folder"], one["n"])
        for one in answer(imported, collection(imported), group)
    ] == [("", 1), ("x", 2)]


def test_what_was_not_imported_has_no_such_place(space: Space) -> None:
    """The step fails and says so, and a condition can ask."""
    made = {"type": "create-note", "value": "made", "out": "$n"}
    say = {"type": "create-note", "value": "${n.@path}", "out": "$p"}
    assert "was not imported from a file" in answer(space, made, say, status="failed")
    asked = {
        "type": "if",
        "condition": {"type": "bound", "target": "$n.@path"},
        "then": [say],
        "else": [{"type": "create-note", "value": "nowhere", "out": "$p"}],
    }
    assert answer(space, made, asked) == "nowhere"


@pytest.mark.parametrize(("place", "codes"), [("@folder", False), ("@folder.x", True), ("@fold", True)])
def test_the_check_knows_the_places(space: Space, place: str, codes: bool) -> None:
    """A place inside of one is refused, and so is one that nothing has."""
    made = {"type": "create-note", "value": "made", "out": "$n"}
    _, problems = check_plan(space, {"steps": [made, {"type": "say", "value": f"$n.{place}"}]})
    assert problems.ok is not codes
