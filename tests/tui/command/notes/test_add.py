"""`infospace add`: what a person sees, and what a program reads."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

KEYS = {
    "added",
    "changed",
    "moved",
    "unchanged",
    "removed",
    "vanished",
    "failed",
    "conflicts",
    "passages_embedded",
    "skipped",
}


HEEDING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""Before the code of a process that is to be interrupted: tests may run where Ctrl-C is ignored."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a page, a table and a note that links to nothing yet."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\nSee [[later]] and [[b]].")
    (notes / "b.html").write_text("<title>B</title><p>A heron at the river.")
    (notes / "t.csv").write_text("bird,n\nheron,1\nduck,2\n")
    return notes


def test_the_document_has_the_documented_fields(cli: Any, folder: Path, model: Any) -> None:
    """Numbers, but for what failed and what disagrees."""
    document = cli("add", str(folder), "--json").json
    assert set(document) == {*KEYS, "seconds", "run", "warnings", "restored", "left_out"}
    assert (document["added"], document["failed"], document["conflicts"]) == (4, [], [])
    assert document["passages_embedded"] == 4


def test_links_and_backlinks_are_shown(cli: Any, folder: Path, model: Any) -> None:
    """Also those that lead nowhere yet; a row is shown by its number."""
    cli("add", str(folder))
    shown = cli("show", "a.md", "--json").json
    assert [(one["title"], one["relation"]) for one in shown["links"]] == [("B", "links-to")]
    assert shown["unresolved_links"] == ["later"]
    assert shown["file"] == str((folder / "a.md").resolve())
    said = cli("show", "b.html")
    assert "← links-to  Note_1  A" in said.err
    assert "→ later: no such note yet" in cli("show", "a.md").err


def test_a_link_of_a_file_to_a_note_of_a_plan_is_no_unresolved_one(cli: Any, folder: Path, tmp_path: Path) -> None:
    """Written back into the file it leads there as before."""
    cli("add", str(folder))
    plan = tmp_path / "plan.json"
    steps: list[dict[str, Any]] = [
        {"type": "create-note", "value": "# Kiln", "name": "kiln"},
        {"type": "discover-notes", "where": "@file = 'a.md'", "out": "$a"},
        {"type": "for-each", "target": "$a", "do": [
            {"type": "set-metadata", "target": "$item", "value": {"see": "[[Kiln]]"}, "out": "$n"},
        ]},
    ]  # fmt: skip
    plan.write_text(json.dumps(steps))
    assert cli("run", str(plan), "--json").json["status"] == "success"
    cli("export", "--in-place")
    assert "[[Kiln]]" in (folder / "a.md").read_text()
    shown = cli("show", "a.md", "--json").json
    assert shown["unresolved_links"] == ["later"]
    assert "kiln" in [one["title"] for one in shown["links"]]
    assert cli("show", "t.csv#2", "--json").json["content"] == {"bird": "duck", "n": "2"}
    assert "did you mean" in cli("show", "t.csv#9").err
    rows = cli("show", "t.csv", "--version", "1")
    assert (rows.code, rows.err) == (1, "infospace: 't.csv' is 2 notes, one a row (name a row, as in 't.csv#1')\n")
    assert cli("show", "t.csv#2", "--version", "1", "--json").json["content"] == {"bird": "duck", "n": "2"}


def test_of_a_long_table_the_first_rows_are_shown(
    cli: Any, folder: Path, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them as JSON; each with its number and note."""
    cli("add", str(folder))
    monkeypatch.setattr("tui.command.notes.show.SHOWN", 1)
    said = cli("show", "t.csv")
    assert ("heron" in said.out, "duck" in said.out) == (True, False)
    assert said.err.splitlines() == [
        f"{folder}/t.csv: 2 rows, each a note",
        "and 1 more; --json gives all 2",
    ]
    told = cli("show", "t.csv", "--json").json
    assert (told["size"], [(one["row"], one["content"]["bird"]) for one in told["rows"]]) == (
        2,
        [(1, "heron"), (2, "duck")],
    )


def test_prune_deletes_and_says_so(cli: Any, folder: Path, model: Any) -> None:
    """Without it, the sentence says that there would be something to do."""
    cli("add", str(folder))
    (folder / "b.html").unlink()
    (folder / "t.csv").write_text("bird,n\nduck,2\n")
    said = cli("add", str(folder))
    assert (said.code, "2 notes' files or rows are gone" in said.err) == (0, True)
    (folder / "b.html").write_text("<title>B</title><p>A heron at the river.")
    assert "\n1 note's file or row is gone; the note stays" in f"\n{cli('add', str(folder)).err}"
    (folder / "b.html").unlink()
    assert "2 removed" in cli("add", str(folder), "--prune").out
    assert cli("notes", "--json").json["total"] == 2
    assert cli("undo", "run_2").code == 0
    assert cli("notes", "--json").json["total"] == 4


def test_what_was_removed_here_comes_back_when_its_file_changes(cli: Any, folder: Path, model: Any) -> None:
    """With its id; until then it is left out, and that is said."""
    cli("add", str(folder))
    cli("rm", "a.md")
    again = cli("add", str(folder), "--json").json
    assert (again["added"], again["restored"], len(again["left_out"])) == (0, 0, 1)
    (folder / "a.md").write_text("# Another\n")
    changed = cli("add", str(folder), "--json").json
    assert (changed["added"], changed["restored"], changed["left_out"]) == (0, 1, [])
    assert cli("show", "Note_1", "--json").json["content"].strip() == "# Another"


def test_a_pipe_and_a_missing_file_are_no_surprise(cli: Any, folder: Path) -> None:
    """One is reported, the other wrong usage."""
    os.mkfifo(folder / "pipe")
    said = cli("add", str(folder / "pipe"))
    assert (said.code, "not a regular file" in said.err) == (1, True)
    assert cli("add", "nowhere").code == 2
    assert cli("add", "-", "--watch").code == 2


def _watch(folder: Path, tmp_path: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "INFOSPACE_SPACE": str(tmp_path / "space.db"), "INFOSPACE_CACHE": str(tmp_path / "no")}
    code = f"{HEEDING}import sys; from tui.command import main; sys.exit(main(sys.argv[1:]))"
    arguments = [sys.executable, "-c", code, "add", str(folder), "--watch", "--json"]
    return subprocess.Popen(
        arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=tmp_path
    )


def test_watch_adds_what_changes_until_it_is_interrupted(folder: Path, tmp_path: Path) -> None:
    """A document a line, each for a change; Ctrl-C ends it with 130."""
    with _watch(folder, tmp_path) as watching:
        assert watching.stdout is not None
        deadline = threading.Timer(60, watching.kill)
        deadline.start()
        assert json.loads(watching.stdout.readline())["added"] == 4
        (folder / "later.md").write_text("now")
        assert json.loads(watching.stdout.readline())["added"] == 1
        (folder / "a.md").write_text("changed")
        assert json.loads(watching.stdout.readline())["changed"] == 1
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 130
        deadline.cancel()


def test_an_interrupted_import_keeps_what_it_has(folder: Path, tmp_path: Path, cli: Any) -> None:
    """Its run is cancelled; adding again takes the rest."""
    for at in range(3_000):
        (folder / f"{at}.md").write_text(f"# Note {at}\n\n" + "text " * 50)
    code = (
        f"{HEEDING}import os, sys\nimport infospace.files.import_files as importing\n"
        "from tui.command import main\nreal = importing.Import._import_file\nseen = []\n"
        "def take(self, file):\n    seen.append(file)\n"
        "    if len(seen) == 700:\n        os.kill(os.getpid(), signal.SIGINT)\n    real(self, file)\n"
        "importing.Import._import_file = take\nsys.exit(main(['add', 'notes', '--json']))\n"
    )
    environment = {**os.environ, "INFOSPACE_SPACE": str(tmp_path / "space.db"), "INFOSPACE_CACHE": str(tmp_path / "no")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130, done.stderr
    added = json.loads(done.stdout)["added"]
    assert 690 <= added <= 700
    assert cli("notes", "--json").json["total"] == added
    assert cli("runs", "--json").json["runs"][0]["status"] == "cancelled"


def test_embedding_that_is_interrupted_counts_no_passages(
    cli: Any, folder: Path, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many there are is not known then, and none is not said."""

    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("infospace.search.embedding.service.Embedding.catch_up", interrupted)
    said = cli("add", str(folder))
    assert said.code == 130
    assert " added (" in said.out
    assert "embedded" not in said.out


def test_what_is_skipped_is_told_with_the_reason(cli: Any, folder: Path, model: Any) -> None:
    """In a sentence by reason, and one by one in the document; of a folder, how many files it would have been."""
    for name in (".obsidian/a.md", ".obsidian/x/b.md", ".obsidian/c.css", ".git/x.md", "p.png", "q.PNG", "Makefile"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / ".gitignore").write_text("drafts/\nold.md\n")
    (folder / "old.md").write_text("old")
    (folder / "drafts").mkdir()
    (folder / "drafts/d.md").write_text("draft")
    (folder / "link.md").symlink_to(folder / "a.md")
    skipped = cli("add", str(folder), "--json").json["skipped"]
    found = {Path(one["path"]).name: (one["reason"], one["files"]) for one in skipped}
    assert found == {
        ".git": ("is hidden", 0),
        ".gitignore": ("is hidden", 1),
        ".obsidian": ("is hidden", 2),
        "Makefile": ("has no suffix", 1),
        "drafts": ("is git-ignored", 1),
        "link.md": ("is a symbolic link to what is read at its own place", 1),
        "old.md": ("is git-ignored", 1),
        "p.png": ("is .png, which is not read", 1),
        "q.PNG": ("is .png, which is not read", 1),
    }
    said = cli("add", str(folder)).err
    assert (
        "skipped: 3 files are hidden (.gitignore, .obsidian); 1 file has no suffix (Makefile); 2 files are git-ignored "
        "(drafts, old.md); 1 file is a symbolic link to what is read at its own place (link.md); 2 files are .png, "
        "which is not read (p.png, q.PNG)"
    ) in " ".join(said.split())


def test_what_is_no_command_says_how_one_gets_it(cli: Any, tmp_path: Path) -> None:
    """The commands that are named run, and list what was asked for."""
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "a.md").write_text("---\ntags: TAG\n---\n[[b]]\n\n- [ ] call her 📅 2026-05-01\n")
    assert cli("add", str(tmp_path / "v")).code == 0
    for word, listed in (("links", "b"), ("tasks", "call her"), ("tags", "tags")):
        said = cli(word)
        assert said.code == 2
        named = re.findall(r"`infospace (.*?)`", said.err.partition(" (`infospace --help`")[0])
        answers = [cli(*shlex.split(command.replace("NOTE", "a.md"))) for command in named]
        assert [answer.code for answer in answers] == [0] * len(named), said.err
        assert listed in answers[0].out
