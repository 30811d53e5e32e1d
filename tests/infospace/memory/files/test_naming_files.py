"""Names of exported files: allowed everywhere, and no two of them one on systems that know no upper and lower case."""

from __future__ import annotations

from pathlib import Path

import pytest

from infospace import Space
from infospace.core.errors import Invalid
from infospace.core.resources import Note
from infospace.editing.undo import undo
from infospace.files import walk as reading
from infospace.files.export_paths import MAX_FILE_NAME_BYTES, UsedPaths, bare_paths
from infospace.files.walk import read_bytes
from infospace.store.protocol import TrackedFile
from tests.infospace.memory.imported import add, arrows, counts, notes, write


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (".hidden", "hidden"),
        ("con", "con_"),
        ("Com1.txt", "Com1.txt_"),
        ("console", "console"),
        ("a/b:c", "a-b-c"),
        ("end. .", "end"),
        ("…", "…"),
        ("a\u2028b\u2029c\x07d\ud800e\u0378f", "a b c d e f"),
        ("..", "Note_1"),
        ("é" * 100, "é" * (MAX_FILE_NAME_BYTES // 2)),
    ],
)
def test_a_name_is_made_one_that_every_system_allows(name: str, path: str) -> None:
    """A name of which nothing is left gives way to the id."""
    assert bare_paths([Note(id="Note_1", content="x", name=name)], {}) == {"Note_1": path}


def test_roots_of_one_name_lie_apart() -> None:
    """Upper and lower case are no matter."""
    files = {
        f"Note_{n}": TrackedFile(root, "a.md", f"Note_{n}", 1, b"") for n, root in enumerate(("/x/In", "/y/in"), 1)
    }
    found = bare_paths([Note(id=one, content="") for one in files], files)
    assert found == {"Note_1": "In/a", "Note_2": "in-2/a"}


@pytest.mark.parametrize(
    ("first", "second", "taken"),
    [
        (("a", ".md"), ("A", ".md"), "A-2"),
        (("a", ".md"), ("a", ".txt"), "a"),
        (("a", ".md"), ("a.md/b", ".md"), "a.md-b"),
        (("a.md/b", ".md"), ("a", ".md"), "a-2"),
        (("x", ".json"), ("x.metadata", ".json"), "x.metadata-2"),
        (("x.metadata", ".json"), ("x", ".json"), "x-2"),
    ],
)
def test_no_path_is_given_out_twice(first: tuple[str, str], second: tuple[str, str], taken: str) -> None:
    """Neither as a file, nor as a folder, nor as the metadata of JSON."""
    paths = UsedPaths()
    assert paths.reserve(*first) == first[0]
    assert paths.reserve(*second) == taken


def test_a_file_of_just_the_largest_size_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that is larger by a byte is not."""
    monkeypatch.setattr(reading, "MAX_BYTES", 3)
    folder = write(tmp_path, **{"a.md": "abc", "b.md": "abcd"})
    assert read_bytes(folder / "a.md") == b"abc"
    with pytest.raises(Invalid, match="at most"):
        read_bytes(folder / "b.md")


def test_of_vanished_files_with_the_same_bytes_each_moves_once(space: Space, tmp_path: Path) -> None:
    """To the file of its name, if there is one; what is left over is new."""
    folder = write(tmp_path / "in", **{"x/n.md": "same", "y/m.md": "same"})
    add(space, folder)
    before = notes(space)
    (folder / "x/n.md").unlink()
    (folder / "y/m.md").unlink()
    write(folder, **{"z/m.md": "same", "z/n.md": "same", "z/o.md": "same"})
    assert counts(add(space, folder)) == {"moved": 2, "added": 1}
    after = notes(space)
    assert (after["z/m.md"].id, after["z/n.md"].id) == (before["y/m.md"].id, before["x/n.md"].id)


def test_what_is_named_twice_is_taken_once(space: Space, tmp_path: Path) -> None:
    """A folder, and a file and a folder in it."""
    folder = write(tmp_path / "in", **{"x/a.md": "a", "b.md": "b"})
    assert counts(add(space, folder / "x", folder / "x/a.md", folder)) == {"added": 2}
    assert counts(add(space, folder, folder / "x/a.md")) == {"unchanged": 2}


def test_a_path_from_the_root_leads_to_its_file_from_any_folder(space: Space, tmp_path: Path) -> None:
    """Where there is none at that path from the folder of the link."""
    files: dict[str, str | bytes] = {"x/b.md": "", "y/a.md": "[b](x/b.md)", "z/a.md": "[b](x/b.md)", "z/x/b.md": ""}
    add(space, write(tmp_path / "in", **files))
    assert arrows(space) == {("y/a.md", "x/b.md"), ("z/a.md", "z/x/b.md")}


def places(space: Space) -> set[tuple[str, str]]:
    """Return the root and path of every imported file."""
    with space.store.reading() as snapshot:
        return {(one.root, one.path) for one in snapshot.tracked()}


def test_a_file_beside_a_folder_moves_none_of_its_paths(space: Space, tmp_path: Path) -> None:
    """What the folder's notes are known by stays."""
    vault = write(tmp_path / "vault", **{"x/a.md": "a", "b.md": "b"})
    add(space, vault)
    before = places(space)
    write(tmp_path, **{"other.md": "[a](vault/x/a.md) and [[b]]"})
    assert counts(add(space, tmp_path / "other.md")) == {"added": 1}
    assert counts(add(space, tmp_path)) == {"unchanged": 3}
    assert places(space) == before | {(str(tmp_path), "other.md")}
    assert arrows(space) == {("other.md", "x/a.md"), ("other.md", "b.md")}
    write(vault, **{"x/c.md": "[[other]], [[b]]"})
    assert counts(add(space, tmp_path)) == {"added": 1, "unchanged": 3}
    assert (str(vault), "x/c.md") in places(space)
    assert {("x/c.md", "other.md"), ("x/c.md", "b.md")} <= arrows(space)


def test_a_file_that_comes_beside_a_folder_is_no_hindrance_to_undoing_its_import(space: Space, tmp_path: Path) -> None:
    """Nothing of the folder's notes was changed by it."""
    first = add(space, write(tmp_path / "vault", **{"x/a.md": "a", "b.md": "[[a]]"})).run
    add(space, write(tmp_path, **{"other.md": "alone"}) / "other.md")
    undo(space.store, str(first))
    assert {path for _, path in places(space)} == {"other.md"}


def test_a_folder_around_an_imported_one_is_the_root_of_what_is_new_alone(space: Space, tmp_path: Path) -> None:
    """Its own files come first for a link, then those of the folders around it and in it."""
    inner = write(tmp_path / "in/sub", **{"a.md": "[[b]] [[c]]", "b.md": ""})
    add(space, inner)
    outer = write(tmp_path / "in", **{"b.md": "[[a]]", "c.md": "", "sub/new.md": ""})
    assert counts(add(space, outer)) == {"added": 3, "unchanged": 2}
    assert places(space) == {
        *((str(inner), path) for path in ("a.md", "b.md", "new.md")),
        *((str(outer), path) for path in ("b.md", "c.md")),
    }
    with space.store.reading() as snapshot:
        at = {one.note: (one.root, one.path) for one in snapshot.tracked()}
        links = {(at[note][1], at[one.to]) for note, some in snapshot.links().items() for one in some if one.to}
    assert links == {
        ("a.md", (str(inner), "b.md")),
        ("a.md", (str(outer), "c.md")),
        ("b.md", (str(inner), "a.md")),
    }
    (inner / "b.md").unlink()
    assert counts(add(space, outer, prune=True)) == {"removed": 1, "unchanged": 4}
