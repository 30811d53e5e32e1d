"""Where the file of an imported Note lies, in paths, conditions and references; and titles of files without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.contract.arguments import BoundCondition
from infospace.core.ids import Kind
from infospace.core.resources import Location, Note
from infospace.editing.edit import edit
from infospace.expressions import parse_where
from infospace.search.note_filter import NoteFilter, misplaced_in
from tests.infospace.memory.imported import add, notes, write


@pytest.fixture
def folder(space: Space, tmp_path: Path) -> Path:
    """A folder of notes, which the space has."""
    files: dict[str, str | bytes] = {
        "a.md": "# *A* title\n\nHello",
        "x/README.md": "<p align='center'>\n\n## Second\n",
        "x/y/plain.txt": "#first line\n",
        "j.json": '{"title": "In JSON", "k": 1}',
        "k.json": '{"k": 2}',
        "t.csv": "who,n\nAda,1\nBob,2\n",
    }
    made = write(tmp_path / "in", **files)
    add(space, made)
    return made


def satisfying(space: Space, where: str) -> tuple[list[str], str | None]:
    """Return the paths of the Notes that discovery chooses, and the hint."""
    with space.store.reading() as snapshot:
        among = snapshot.discoverable()
        numbers, hint = NoteFilter().satisfying(snapshot, among, len(among), BoundCondition(parse_where(where)))
        paths = {one.note: one.path for one in snapshot.tracked()}
    return [paths.get(f"Note_{number}", "") for number in numbers.tolist()], hint


def test_a_note_says_where_its_file_lies(space: Space, folder: Path) -> None:
    """Now, at an earlier version, and in a list; after it was edited, and for each row of a table."""
    found = notes(space)
    note = found["x/y/plain.txt"]
    assert note.location == Location(str(folder), "x/y/plain.txt")
    assert (note.location.folder, found["a.md"].location.folder) == ("x/y", "")
    assert {found[f"t.csv#{part}"].location for part in (1, 2)} == {
        Location(str(folder), "t.csv", 1),
        Location(str(folder), "t.csv", 2),
    }
    edit(space.store, note, "other", {}, "edit")
    with space.store.reading() as snapshot:
        assert snapshot.get(note.id).location == snapshot.get(note.id, 1).location == note.location
        assert snapshot.briefs([note.id])[0].location == note.location
        assert [one.location for one in snapshot.get_many([note.id])] == [note.location]


def test_what_was_not_imported_lies_nowhere(space: Space, folder: Path) -> None:
    """Though a Collection or Relation has the number of a Note that was."""
    view = space.context()
    made = [view.note("made"), view.collection(())]
    space.store.commit(view.changes)
    with space.store.reading() as snapshot:
        assert [snapshot.get(one.id).location for one in made] == [None, None]
        assert snapshot.get("Collection_1").location is None


@pytest.mark.parametrize(
    ("where", "paths"),
    [
        ("@folder = 'x'", ["x/README.md"]),
        ("@folder LIKE 'x%'", ["x/README.md", "x/y/plain.txt"]),
        ("@path = 'a.md'", ["a.md"]),
        ("@path LIKE '%.json' AND k = 2", ["k.json"]),
        ("@root LIKE '%/in' AND @folder = ''", ["a.md", "j.json", "k.json", "t.csv", "t.csv"]),
        ("@path IS NULL", [""]),
    ],
)
def test_a_condition_asks_where_a_file_lies(space: Space, folder: Path, where: str, paths: list[str]) -> None:
    """A Note that was not imported has no such place, which is null in a condition."""
    view = space.context()
    view.keep(view.note("made"))
    space.store.commit(view.changes)
    assert satisfying(space, where) == (paths, None)


@pytest.mark.parametrize(
    ("where", "hint"),
    [
        ("foldr = 'x'", "no note has `foldr`; did you mean `@folder`?"),
        ("metadata.titel = 'x'", "no note has `metadata.titel`; did you mean `metadata.title`?"),
        ("zzz = 1", "no note has `zzz`"),
        ("tittle = 1", "no note has `tittle`; did you mean `title`?"),
        ("title = 'A title' AND @metadata.zzz = 1", "no note has `@metadata.zzz`"),
        ("who.first = 'Ada'", "no note has `who.first`; did you mean `who`?"),
        ("k = 3", None),
        ("@folder = 'nowhere'", None),
    ],
)
def test_a_field_that_no_note_has_is_told(space: Space, folder: Path, where: str, hint: str | None) -> None:
    """With the one that was perhaps meant; a field that some note has is no mistake."""
    assert satisfying(space, where) == ([], hint and f"nothing satisfies `where`; {hint}")


def test_a_place_of_files_is_no_mistake_unless_nothing_was_imported() -> None:
    """Then it is said."""
    note = Note(id="Note_1", content="text")
    where = BoundCondition(parse_where("@folder = 'x'"))
    assert misplaced_in(where, []) is None
    assert misplaced_in(where, [note]) == (
        "nothing satisfies `where`; no item has `@folder`: none was imported from a file"
    )


def test_a_title_is_never_markup(space: Space, folder: Path) -> None:
    """The heading, or a JSON file's own; else the name of the file."""
    from infospace.data.result import display_name

    found: dict[str, Any] = {path: display_name(note) for path, note in notes(space).items()}
    assert found == {
        "a.md": "A title",
        "x/README.md": "README",
        "x/y/plain.txt": "plain",
        "j.json": "In JSON",
        "k.json": "k",
        "t.csv#1": '{"who":"Ada","n":"1"}',
        "t.csv#2": '{"who":"Bob","n":"2"}',
    }
    with space.store.reading() as snapshot:
        briefs = snapshot.briefs([note.id for note in snapshot.listing(Kind.NOTE)])
    assert [one.title for one in briefs][:5] == ["A title", "In JSON", "k", None, None]
