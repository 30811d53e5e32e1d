"""Links in notes that plans write: to what they lead at once, and after the run is undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from infospace import Space
from infospace.core.listener import NullListener
from infospace.editing.undo import undo
from infospace.files.import_files import import_paths

LINKS = 'SELECT l.target_text, n.title FROM links l JOIN notes n ON n."@id" = l.target ORDER BY 1, 2'


def rows(run: Any) -> Any:
    result = run({"type": "query", "sql": LINKS, "out": "$r"})
    assert result.result is not None, result.reason
    return result.result.data


def test_a_plan_that_writes_notes_finds_their_links(run: Any, space: Space) -> None:
    """Also a step of the same plan; undone, nothing is left of them."""
    made = run(
        {"type": "create-note", "value": "# Kiln\n\nHot.", "name": "kiln", "out": "$a"},
        {
            "type": "create-note",
            "value": "- [ ] book the [[Kiln]]\n- made by [[Mira]]",
            "metadata": {"title": "To do", "of": "[[kiln|it]]"},
            "name": "todo",
            "out": "$b",
        },
        {"type": "related", "target": "$b", "out": "$r"},
    )
    assert [one["text"] if isinstance(one, dict) else one for one in made.result.data] == ["# Kiln\n\nHot."]
    assert rows(run) == [
        {"target_text": "Kiln", "title": "kiln"},
        {"target_text": "kiln", "title": "kiln"},
    ]
    undo(space.store, made.run)
    assert rows(run) == []
    assert space.store.check() == []


def test_an_imported_note_that_a_plan_changes(run: Any, space: Space, tmp_path: Path) -> None:
    """It links to another file and to a note of the plan; an undo takes both back, and an import changes nothing."""
    (tmp_path / "Day.md").write_text("Today.\n")
    (tmp_path / "Ann Berg.md").write_text("A person.\n")
    import_paths(space, [tmp_path], NullListener())
    written = run(
        {"type": "create-note", "value": "Short.", "metadata": {"title": "Summary"}, "name": "summary"},
        {"type": "discover-notes", "where": "@file = 'Day.md'", "out": "$day"},
        {"type": "for-each", "target": "$day", "do": [
            {"type": "update-note", "target": "$item", "value": "Met [[ann berg]], see [[Summary]].", "out": "$n"},
        ]},
    )  # fmt: skip
    found = [{"target_text": "Summary", "title": "Summary"}, {"target_text": "ann berg", "title": "Ann Berg"}]
    assert rows(run) == found, written.reason
    import_paths(space, [tmp_path], NullListener())
    assert rows(run) == found
    undo(space.store, written.run)
    assert rows(run) == []
    assert space.store.check() == []
