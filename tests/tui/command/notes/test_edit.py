"""`infospace edit`: a new version by hand, or nothing at all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import open_space
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from infospace.store.changes import MakeNote, Revise


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """A space with a Markdown note from a file, a JSON note and a text."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("---\nstatus: open\n---\n\n# A\n\nSee [[b]].")
    (folder / "b.json").write_text('{"n": 1}')
    with open_space(tmp_path / "space.db") as space:
        import_paths(space, [folder], NullListener())
        space.store.commit([MakeNote(space.store.new_id("Note"), "a\r\n", {"k": 1}, kept=True)])  # type: ignore[arg-type]
    return folder


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make the user's editor a program of ours: `path` is the file that it edits."""

    def use(code: str) -> None:
        script = tmp_path / "my editor.py"
        script.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n{code}\n")
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", f"{sys.executable} {json.dumps(str(script))}")

    return use


def test_the_editor_gets_text_and_metadata_and_gives_both_back(cli: Any, known: Path, editor: Any) -> None:
    """A new version, made in a run that can be undone; the earlier one stays."""
    editor("path.write_text(path.read_text().replace('open', 'done').replace('See', 'Look at'))")
    said = cli("edit", "a.md", "--json")
    assert (said.code, said.json) == (0, {"id": "Note_1", "version": 2, "changed": True, "run": "run_2"})
    shown = cli("show", "Note_1", "--json").json
    assert (shown["content"], shown["metadata"]) == ("# A\n\nLook at [[b]].", {"status": "done", "title": "A"})
    assert shown["provenance"] == {"run": "run_2", "step": None, "by": "edit"}
    assert [one["version"] for one in shown["versions"]] == [1, 2]
    assert cli("show", "Note_1", "--version", "1", "--json").json["metadata"]["status"] == "open"
    assert cli("undo", "run_2").code == 0
    assert cli("show", "Note_1", "--json").json["metadata"]["status"] == "open"


def test_no_editor_is_begun_where_nobody_chose_one_and_there_is_no_terminal(
    cli: Any, known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`vi` would write its commands for a terminal into what is read as JSON."""
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    said = cli("edit", "a.md", "--json")
    assert (said.code, said.json["reason"]) == (2, "there is no terminal for an editor")
    assert said.json["hint"] == "set EDITOR, or give --value or --metadata"


def test_a_version_is_shown_among_the_others_also_of_what_was_deleted(cli: Any, known: Path) -> None:
    """The one that is shown is marked; of what is gone the latest is told."""
    cli("edit", "b.json", "--value", "-", stdin="[2]")
    for version, text in ((1, '{"n":1}'), (2, "[2]")):
        said = cli("show", "Note_2", "--version", str(version))
        assert "".join(said.out.split()) == text
        head, first, second, *_ = said.err.splitlines()
        assert head.startswith(f"Note_2  version {version} of 2, ")
        assert [line[:12] for line in (first, second)] == [
            f" {'*' if version == number else ' '} version {number}" for number in (1, 2)
        ]
    cli("rm", "Note_2")
    assert "`infospace show Note_2 --version 2` shows what it was" in cli("show", "Note_2").err


def test_an_editor_that_changes_nothing_makes_no_version(cli: Any, known: Path, editor: Any) -> None:
    """Nor does one that only ends the last line."""
    editor("path.write_bytes(path.read_bytes() + b'\\n')")
    assert "unchanged" in cli("edit", "a.md").out
    assert cli("show", "a.md", "--json").json["version"] == 1
    assert [run["kind"] for run in cli("runs", "--json").json["runs"]] == ["import"]


@pytest.mark.parametrize("name", ["a.md", "b.json", "Note_3"])
def test_an_editor_that_fails_changes_nothing(cli: Any, known: Path, editor: Any, name: str) -> None:
    """Whatever it wrote before."""
    editor("path.write_text('[1]'); sys.exit(3)")
    said = cli("edit", name)
    assert said.code == 1
    assert "ended with 3: nothing was changed" in said.err
    assert cli("show", name, "--json").json["version"] == 1


def test_what_cannot_be_read_back_is_kept_for_another_try(cli: Any, known: Path, editor: Any) -> None:
    """The sentence says where the work lies."""
    editor("path.write_text('{broken')")
    said = cli("edit", "b.json")
    assert said.code == 1
    draft = Path(said.err.split("'")[-2])
    assert draft.read_text() == "{broken"
    assert cli("show", "b.json", "--json").json["content"] == {"n": 1}


def test_a_change_in_between_is_not_overwritten(cli: Any, known: Path, editor: Any, tmp_path: Path) -> None:
    """Who saves last does not win unseen."""
    editor(
        f"import subprocess; path.write_text('mine'); subprocess.run([sys.executable, {str(tmp_path / 'other.py')!r}])"
    )
    (tmp_path / "other.py").write_text(
        "from infospace import open_space\nfrom infospace.store.changes import Revise\n"
        f"with open_space({str(tmp_path / 'space.db')!r}) as space: space.store.commit([Revise('Note_1', 'theirs')])\n"
    )
    said = cli("edit", "a.md")
    assert said.code == 1
    assert "at version 2, not 1" in said.err
    assert Path(said.err.split("'")[-2]).read_text() == "mine"
    assert cli("show", "a.md", "--json").json["content"] == "theirs"


def test_json_and_odd_texts_are_edited_as_json(cli: Any, known: Path, editor: Any) -> None:
    """Types stay, and so does the metadata."""
    editor("path.write_text(path.read_text().replace('1', '2').replace('a', 'b'))")
    assert cli("edit", "b.json").code == 0
    assert cli("show", "b.json", "--json").json["content"] == {"n": 2}
    assert cli("edit", "Note_3").code == 0
    shown = cli("show", "Note_3", "--json").json
    assert (shown["content"], shown["metadata"]) == ("b\r\n", {"k": 1})


def test_values_and_fields_come_from_the_command_line(cli: Any, known: Path, tmp_path: Path) -> None:
    """Text for a text, JSON for the rest; a field is JSON where it can be."""
    (tmp_path / "new.txt").write_text("new [[nobody]]")
    assert cli("edit", "a.md", "--value", "new.txt", "--metadata", "n=3", "--metadata", "s=a b").code == 0
    shown = cli("show", "a.md", "--json").json
    assert shown["content"] == "new [[nobody]]"
    assert shown["metadata"] == {"status": "open", "title": "A", "n": 3, "s": "a b"}
    assert cli("edit", "b.json", "--value", "-", stdin="[null]").code == 0
    assert cli("show", "b.json", "--json").json["content"] == [None]
    assert cli("edit", "b.json", "--value", "-", stdin="text").code == 1
    assert cli("edit", "b.json", "--value", "-", stdin="null").code == 0
    assert cli("show", "b.json", "--json").json["content"] is None
    assert "unchanged" in cli("edit", "a.md", "--metadata", "n=3").out
    assert cli("edit", "a.md", "--metadata", "n").code == 2
    assert cli("edit", "a.md", "--value", "nowhere").code == 2


def test_links_follow_an_edit(cli: Any, known: Path) -> None:
    """A link that is written here leads as one in the file would."""
    assert [one["id"] for one in cli("show", "b.json", "--json").json["backlinks"]] == ["Note_1"]
    cli("edit", "a.md", "--value", "-", stdin="no link, [[c]]")
    assert cli("show", "b.json", "--json").json["backlinks"] == []
    assert cli("show", "a.md", "--json").json["unresolved_links"] == ["c"]
    cli("undo", "run_2")
    assert [one["id"] for one in cli("show", "b.json", "--json").json["backlinks"]] == ["Note_1"]


def test_without_an_editor_the_sentence_says_what_to_do(cli: Any, known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is opened."""
    monkeypatch.setenv("VISUAL", "no-such-editor --wait")
    said = cli("edit", "a.md")
    assert said.code == 2
    assert "set EDITOR, or give --value or --metadata" in said.err


def test_a_conflict_with_the_file_is_said_by_add(cli: Any, known: Path, tmp_path: Path, model: Any) -> None:
    """Both are versions."""
    cli("edit", "a.md", "--value", "-", stdin="mine")
    (known / "a.md").write_text("theirs")
    said = cli("add", str(known))
    assert "Note_1 was edited here and in" in said.err
    assert "infospace show Note_1 --version 2" in said.err
    assert cli("show", "Note_1", "--version", "2").out == "mine\n"
    with open_space(tmp_path / "space.db") as space:
        space.store.commit([Revise("Note_1", "again")])
    (known / "a.md").write_text("more")
    conflict = cli("add", str(known), "--json").json["conflicts"]
    assert [(one["edited_version"], one["version"]) for one in conflict] == [(4, 5)]


def test_a_markdown_file_as_the_value_brings_its_front_matter(cli: Any, tmp_path: Path) -> None:
    """It becomes metadata, and does not stand in the text, where an export would write it a second time."""
    (tmp_path / "notes").mkdir()
    note = tmp_path / "notes" / "a.md"
    note.write_text("---\nstatus: open\n---\n# A\n\nold\n")
    cli("add", "notes")
    (tmp_path / "new.md").write_text("---\nstatus: done\n---\n# A\n\nnew\n")
    assert cli("edit", "notes/a.md", "--value", "new.md").code == 0
    shown = cli("show", "notes/a.md", "--json").json
    assert (shown["content"], shown["metadata"]["status"]) == ("# A\n\nnew\n", "done")
    assert cli("export", "--in-place").code == 0
    assert note.read_text() == "---\nstatus: done\n---\n# A\n\nnew\n"
