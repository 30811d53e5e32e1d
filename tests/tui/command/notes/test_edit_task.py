"""`infospace edit --task`: the status of a task, here and in its file, where one byte changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infospace import open_space
from infospace.core.listener import NullListener
from infospace.files.import_files import Summary, import_paths, import_text

TASKS = (
    b"\xef\xbb\xbf---\r\nstatus: open   # [ ] no task\r\naliases: [Jobs, 'To do']\r\n---\r\n\r\n# Tasks\r\n\r\n"
    b"- [ ] same\r\n- [ ] same\r\n\t- [x]\tnested [ ] by a tab\r\n\t\t1.  [-] deeper \xe2\x9c\x85 2026-01-02\r\n"
    b"> * [ ] quoted \xf0\x9f\x93\x85 2026-02-03\r\n\r\n```\r\n- [ ] code\r\n```\r\n"
    b"+\t[>] [[other]] of a tab\n-\r\n  [ ] in the next line\r\n- a bullet\r\n- [ ] last"
)
LINES = (8, 9, 10, 11, 12, 17, 18, 21)
"""Where its tasks are; the ninth is code, and that in the next line belongs to the line of its bullet."""

TASK_ROWS = "SELECT line, status, text FROM items WHERE kind = 'task'"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A space with a file of tasks, one without any, and a text that is no Markdown."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tasks.md").write_bytes(TASKS)
    (folder / "other.md").write_bytes(b"# Other\n\n[[Jobs]]\n")
    (folder / "plain.txt").write_bytes(b"- [ ] a text\n")
    with open_space(tmp_path / "space.db") as space:
        import_paths(space, [folder], NullListener())
    return folder


def tasks(cli: Any) -> dict[int, tuple[str, str]]:
    """Return status and text of all tasks by line, as the table has them."""
    return {row["line"]: (row["status"], row["text"]) for row in rows(cli)}


def rows(cli: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("query", TASK_ROWS, "--json").json["data"]
    return found


def imported(tmp_path: Path, folder: Path) -> Any:
    with open_space(tmp_path / "space.db") as space:
        return import_paths(space, [folder], NullListener())


@pytest.mark.parametrize(("line", "sign"), [*((line, "x") for line in LINES), *((11, sign) for sign in " >é")])
def test_one_byte_of_the_file_changes_and_one_status_of_the_table(
    cli: Any, folder: Path, tmp_path: Path, line: int, sign: str
) -> None:
    """In lines of either end, of tabs, in lists in lists and in quotes; the next import changes nothing."""
    before = tasks(cli)
    assert tuple(before) == LINES
    done = cli("edit", "tasks.md", "--task", str(line), "--status", sign, "--json")
    is_new = before[line][0] != sign
    assert (done.code, done.json["changed"], done.json["version"]) == (0, is_new, 1 + is_new)
    assert tasks(cli) == {**before, line: (sign, before[line][1])}
    assert cli("export", "--in-place").code == 0
    written = (folder / "tasks.md").read_bytes()
    lines = TASKS.split(b"\n")
    at = line - 1 if line != 18 else line
    lines[at] = lines[at].replace(f"[{before[line][0]}]".encode(), f"[{sign}]".encode(), 1)
    assert written == b"\n".join(lines)
    summary = imported(tmp_path, folder)
    assert (summary.changed, summary.unchanged, summary.conflicts, summary.failed) == (0, 3, [], [])
    assert tasks(cli) == {**before, line: (sign, before[line][1])}


def test_it_is_an_edit_that_can_be_undone(cli: Any, folder: Path) -> None:
    """With metadata at once, if one likes."""
    before = rows(cli)
    done = cli("edit", "tasks.md", "--task", "8", "--status", "x", "--metadata", "status=done")
    assert done.out == "Note_3 is version 2 now (run_2)\n"
    assert cli("show", "tasks.md", "--json").json["metadata"]["status"] == "done"
    assert rows(cli) != before
    assert cli("undo", "run_2").code == 0
    assert rows(cli) == before
    assert cli("show", "tasks.md", "--json").json["metadata"]["status"] == "open"


def test_a_note_of_no_file_has_lines_of_its_own(cli: Any, folder: Path, tmp_path: Path) -> None:
    """From its first."""
    with open_space(tmp_path / "space.db") as space:
        import_text(space, b"- [ ] one\n- [ ] two\n", Summary())
    assert cli("edit", "Note_4", "--task", "2", "--status", "x").code == 0
    assert cli("show", "Note_4", "--json").json["content"] == "- [ ] one\n- [x] two\n"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ("tasks.md", "--task", "6", "--status", "x"),
            1,
            "line 6 of Note_3 holds no task (its tasks are in lines 8, 9,",
        ),
        (("tasks.md", "--task", "15", "--status", "x"), 1, "line 15 of Note_3 holds no task"),
        (("tasks.md", "--task", "-1", "--status", "x"), 1, "line -1 of Note_3 holds no task"),
        (("other.md", "--task", "1", "--status", "x"), 1, "line 1 of Note_1 holds no task (it has no tasks)"),
        (("plain.txt", "--task", "1", "--status", "x"), 1, "line 1 of Note_2 holds no task (it has no tasks)"),
        (("tasks.md", "--task", "8", "--status", "done"), 1, "the status 'done' is not one character"),
        (("tasks.md", "--task", "8", "--status", ""), 1, "the status '' is not one character"),
        (("tasks.md", "--task", "8", "--status", "\n"), 1, "is not one character"),
        (("tasks.md", "--task", "8"), 2, "--task and --status go together"),
        (("tasks.md", "--status", "x"), 2, "--task and --status go together"),
        (("tasks.md", "--task", "8", "--status", "x", "--value", "-"), 2, "--value all of it"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(
    cli: Any, folder: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    """And nothing changes."""
    before = rows(cli)
    refused = cli("edit", *words)
    assert (refused.code, message in refused.err) == (code, True), refused.err
    assert len(refused.err.splitlines()) == 1
    assert rows(cli) == before


def test_a_file_that_was_written_back_is_known_as_an_import_would(cli: Any, folder: Path, tmp_path: Path) -> None:
    """With its aliases, by which links find it, its times, and the lines before its text."""
    assert cli("edit", "tasks.md", "--task", "8", "--status", "x").code == 0
    assert cli("export", "--in-place").code == 0
    with open_space(tmp_path / "space.db") as space, space.store.reading() as snapshot:
        written = next(one for one in snapshot.tracked() if one.path == "tasks.md")
    assert imported(tmp_path, folder).run is None
    with open_space(tmp_path / "space.db") as space, space.store.reading() as snapshot:
        assert next(one for one in snapshot.tracked() if one.path == "tasks.md") == written
    assert (written.aliases, written.lines) == (("Jobs", "To do"), 5)
    assert written.modified is not None
    assert cli("show", "tasks.md", "--json").json["backlinks"] != []
