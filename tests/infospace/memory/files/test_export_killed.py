"""Writing back in place, killed at every line: the next export, or import, goes on and takes no text for another's."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Invalid, Space, open_space
from infospace.editing.edit import edit
from infospace.files.atomic_write import remove_leftovers, write_atomically
from infospace.files.export import MANIFEST, export, write_back
from tests.infospace.memory.imported import add, notes, write

pytestmark = pytest.mark.usefixtures("warm_processes")

KILLED = """
import hashlib, json, os, re, shutil, signal, sys
from pathlib import Path
from infospace import open_space
from infospace.files import atomic_write as atomic
from infospace.files import export as exporting
from infospace.files.export import write_back
from infospace.files.import_files import import_paths
from infospace.store.sqlite import open_store
from infospace.core.listener import NullListener

base = Path(sys.argv[1])
FILES = {atomic.__file__, exporting.__file__}

def exported(folder, line):
    "Write back; `line` is called before each line, with its number."
    number = 0
    def trace(frame, event, argument):
        nonlocal number
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line":
            line(number)
            number += 1
        return trace
    with open_space(folder / "space.db") as space:
        sys.settrace(trace)
        write_back(space.store)
        sys.settrace(None)
    return number

def killed_at(number, folder):
    exported(folder, lambda line: line < number or os.kill(os.getpid(), signal.SIGKILL))

def disk(folder):
    "What a process that is killed now would leave; what is not written out yet is lost with it."
    there = [one for one in sorted(folder.rglob("*")) if not one.name.endswith("-shm")]
    told = [(str(one), one.stat().st_mode, one.stat().st_mtime_ns, one.is_file() and one.read_bytes()) for one in there]
    return hashlib.sha256(repr(told).encode()).digest()

def state(folder):
    "What a kill has left: as it is, but for the random part of a name."
    files = [(re.sub("[0-9a-f]{12}", "", one.name), one.read_bytes()) for one in (folder / "notes").iterdir()]
    with open_space(folder / "space.db") as space, space.store.reading() as snapshot:
        return repr((sorted(files), snapshot.tracked(), snapshot.links(), [one.status for one in snapshot.runs()]))

shutil.copytree(base / "in", base / "work")
changes, last = [], None
def line(number):
    global last
    now = disk(base / "work")
    if now != last:
        changes.append(number)
        last = now
lines = exported(base / "work", line)

seen = set()
for number in [*changes, lines]:  # between two of these nothing on the disk changes
    shutil.rmtree(base / "work", ignore_errors=True)
    shutil.copytree(base / "in", base / "work")
    child = os.fork()
    if not child:
        killed_at(number, base / "work")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        print(json.dumps({"done": number, "lines": lines, "exit": os.waitstatus_to_exitcode(status)}))
        break
    left = state(base / "work")
    if left in seen:
        continue
    seen.add(left)
    told = {"at": number}
    for first in ("export", "add"):
        shutil.rmtree(base / first, ignore_errors=True)
        shutil.move(base / "work", base / "kept") if first == "export" else None
        shutil.copytree(base / "kept", base / "work")
        with open_space(base / "work" / "space.db") as space:
            added = import_paths(space, [base / "work" / "notes"], NullListener()) if first == "add" else None
            done = write_back(space.store)
            again = import_paths(space, [base / "work" / "notes"], NullListener())
            told[first] = {
                "failed": done.failed,
                "conflicts": [*(added.conflicts if added else []), *again.conflicts],
                "changed": (added.changed if added else 0) + again.changed,
                "check": [str(one) for one in space.store.check()],
                "files": {one.relative_to(base / "work" / "notes").as_posix(): one.read_text()
                          for one in sorted((base / "work" / "notes").rglob("*")) if one.is_file()},
            }
        shutil.rmtree(base / "work")
    shutil.rmtree(base / "kept")
    print(json.dumps(told))
"""

WRITTEN = {
    "a.md": "---\nk: 1\n---\n\n# New\n\n[[b]] #tag\n",
    "b.md": "b\n",
    "j.json": '{"n": 2}',
    "j.metadata.json": '{\n  "of": "j"\n}\n',
    "p.txt": "plainer\n",
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder with notes and a space in which they were edited: Markdown with links, JSON with metadata, text."""
    work = tmp_path / "work"
    folder = write(work / "notes", **{"a.md": "a\n", "b.md": "b\n", "j.json": '{"n": 1}', "p.txt": "plain\n"})
    with open_space(work / "space.db") as space:
        add(space, folder)
        found = notes(space)
        edit(space.store, found["a.md"], "# New\n\n[[b]] #tag\n", {"k": 1}, "edit")
        edit(space.store, found["j.json"], {"n": 2}, {"of": "j"}, "edit")
        edit(space.store, found["p.txt"], "plainer\n", {}, "edit")
    work.rename(tmp_path / "in")
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_export_that_is_killed_at_any_line_is_gone_on_with(base: Path) -> None:
    """By another export, or by an import before: no conflict, every file as it was to be, and nothing left over."""
    command = [sys.executable, "-c", KILLED, str(base)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    *killed, end = map(json.loads, done.stdout.splitlines())
    assert end["exit"] == 0
    assert end["done"] == end["lines"] > 100
    assert len(killed) > 10
    good: dict[str, Any] = {"failed": [], "conflicts": [], "changed": 0, "check": [], "files": WRITTEN}
    for one in killed:
        assert one == {"at": one["at"], "export": good, "add": good}


def test_a_file_that_somebody_changed_is_a_conflict_all_the_same(space: Space, tmp_path: Path) -> None:
    """It says what no version of the Note does; the file stays, and both are kept as versions."""
    folder = write(tmp_path / "in", **{"a.md": "a\n"})
    add(space, folder)
    edit(space.store, notes(space)["a.md"], "ours\n", {}, "edit")
    write(folder, **{"a.md": "theirs\n"})
    assert [one["reason"] for one in write_back(space.store).failed] == [
        "the file has changed since it was read (`infospace add` takes both as versions)"
    ]
    assert (folder / "a.md").read_text() == "theirs\n"
    assert len(add(space, folder).conflicts) == 1


def test_what_was_edited_after_a_kill_is_written(space: Space, tmp_path: Path) -> None:
    """The file says an earlier version than the last, which nobody else wrote; with the line ends of the file."""
    folder = write(tmp_path / "in", **{"a.md": "a\r\n"})
    add(space, folder)
    edit(space.store, notes(space)["a.md"], "one\n", {}, "edit")
    (folder / "a.md").write_bytes(b"one\r\n")
    edit(space.store, notes(space)["a.md"], "two\n", {}, "edit")
    summary = add(space, folder)
    assert (summary.unchanged, summary.conflicts) == (1, [])
    done = write_back(space.store)
    assert (done.written, done.failed) == (1, [])
    assert (folder / "a.md").read_bytes() == b"two\r\n"


def test_an_earlier_text_of_the_note_is_written_over(space: Space, tmp_path: Path) -> None:
    """By the next export, also without an import before."""
    folder = write(tmp_path / "in", **{"a.md": "a\n"})
    add(space, folder)
    for text in ("one\n", "two\n"):
        edit(space.store, notes(space)["a.md"], text, {}, "edit")
    write(folder, **{"a.md": "one\n"})
    done = write_back(space.store)
    assert (done.written, done.failed, (folder / "a.md").read_text()) == (1, [], "two\n")


def test_json_whose_metadata_somebody_changed_is_a_conflict(space: Space, tmp_path: Path) -> None:
    """Though the document is as it was to be written."""
    folder = write(tmp_path / "in", **{"j.json": '{"n": 1}'})
    add(space, folder)
    edit(space.store, notes(space)["j.json"], {"n": 2}, {"of": "j"}, "edit")
    write(folder, **{"j.json": WRITTEN["j.json"], "j.metadata.json": '{"of": "me"}'})
    assert len(write_back(space.store).failed) == 1
    assert (folder / "j.metadata.json").read_text() == '{"of": "me"}'


def test_only_leftovers_of_these_files_are_removed(tmp_path: Path) -> None:
    """Of files that are named, and not while somebody writes them."""
    files = {".a.md.0123456789ab": "x", ".b.md.0123456789ab": "x", ".a.md.012345": "x", "a.md.0123456789ab": "x"}
    write(tmp_path, **files)
    (tmp_path / ".a.md.ba9876543210").mkdir()
    remove_leftovers([tmp_path / "a.md", tmp_path / "nowhere" / "c.md"])
    assert {one.name for one in tmp_path.iterdir()} == {*files, ".a.md.ba9876543210"} - {".a.md.0123456789ab"}
    write_atomically(tmp_path / "a.md", b"new")
    assert (tmp_path / "a.md").read_bytes() == b"new"


@pytest.mark.parametrize(
    ("data", "name", "error", "sentence"),
    [(b"x", "folder", Invalid, "folder' cannot be written: "), ("no bytes", "a.md", TypeError, "a bytes-like object")],
)
def test_a_write_that_fails_leaves_nothing_beside_its_file(
    tmp_path: Path, data: Any, name: str, error: type[Exception], sentence: str
) -> None:
    """Whether the system does not let it, or the writing is broken off otherwise; the file is as it was."""
    write(tmp_path, **{"a.md": "old", "folder/b.md": "x"})
    with pytest.raises(error, match=sentence):
        write_atomically(tmp_path / name, data)
    assert {one.name for one in tmp_path.iterdir()} == {"a.md", "folder"}
    assert (tmp_path / "a.md").read_text() == "old"


LONG = "漢" * 83
"""A name of which the system takes no more than its suffix besides: 249 bytes."""


def test_a_file_of_the_longest_name_is_written(tmp_path: Path) -> None:
    """By one beside it with a shorter name, which is known for a leftover of it."""
    path = write(tmp_path, **{f"{LONG}.md": "old"}) / f"{LONG}.md"
    with pytest.MonkeyPatch.context() as killed:
        killed.setattr(Path, "replace", _killed)
        killed.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(KeyboardInterrupt):
            write_atomically(path, b"new")
    assert len(list(tmp_path.iterdir())) == 2
    remove_leftovers([path])
    assert list(tmp_path.iterdir()) == [path]
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def _killed(*_: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.md/b.md", "Not a directory"),
        ("nowhere/b.md", "No such file or directory (make its folder first)"),
        ("x" * 300, "File name too long (choose a shorter name)"),
        ("loop", "Too many levels of symbolic links"),
    ],
)
def test_what_the_system_does_not_let_is_one_sentence(tmp_path: Path, name: str, said: str) -> None:
    """With a hint where there is one: not all of it is a matter of rights."""
    write(tmp_path, **{"a.md": "old"})
    (tmp_path / "loop").symlink_to("loop")
    path = tmp_path / name
    with pytest.raises(Invalid) as refusal:
        write_atomically(path, b"new")
    assert str(refusal.value) == f"{str(path)!r} cannot be written: {said}"


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.EACCES, " (look at its rights)"), (errno.EPERM, " (look at its rights)"), (errno.EROFS, "")],
)
def test_rights_are_named_where_they_are_the_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    """Also where the file beside cannot be removed for the same reason."""

    def refused(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    for one in ("replace", "unlink"):
        monkeypatch.setattr(Path, one, refused)
    with pytest.raises(Invalid) as refusal:
        write_atomically(tmp_path / "a.md", b"new")
    assert str(refusal.value).endswith(f"cannot be written: {os.strerror(number)}{said}")


def test_a_file_that_cannot_be_written_does_not_keep_the_others_from_it(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in place nor in a folder, whatever the system says of it."""
    folder = write(tmp_path / "in", **{"a.md": "a", "m/b.md": "b", f"{LONG}.md": "long", "z.md": "z"})
    add(space, folder)
    for note in notes(space).values():
        edit(space.store, note, f"{note.content}, edited", {}, "edit")
    real = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if target.name == "b.md":
            raise OSError(errno.EROFS, "Read-only file system")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    done = write_back(space.store)
    assert (done.written, [Path(one["path"]).name for one in done.failed]) == (3, ["b.md"])
    assert (folder / "z.md").read_text() == "z, edited"
    made = Path.mkdir

    def mkdir(self: Path, *arguments: Any, **options: Any) -> None:
        if self.name == "m":
            raise OSError(errno.EROFS, "Read-only file system")
        made(self, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    done = export(space.store, tmp_path / "out")
    assert (done.written, [Path(one["path"]).name for one in done.failed]) == (3, ["b.md"])
    assert "Read-only file system" in done.failed[0]["reason"]


@pytest.mark.skipif(os.name == "nt", reason="locks of POSIX")
def test_what_is_being_written_is_no_leftover(tmp_path: Path) -> None:
    """It is locked by whoever writes it."""
    import fcntl

    beside = tmp_path / ".a.md.0123456789ab"
    with beside.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        remove_leftovers([tmp_path / "a.md"])
        assert beside.exists()
    remove_leftovers([tmp_path / "a.md"])
    assert not beside.exists()


def test_an_export_to_a_folder_removes_what_a_killed_one_left(space: Space, tmp_path: Path) -> None:
    """Beside the files that it writes, and its manifest."""
    add(space, write(tmp_path / "in", **{"x/a.md": "a"}))
    out = write(tmp_path / "out", **{"x/.a.md.0123456789ab": "half", f".{MANIFEST}.0123456789ab": "{", ".mine": ""})
    export(space.store, out)
    assert {one.relative_to(out).as_posix() for one in out.rglob("*")} == {"x", "x/a.md", MANIFEST, ".mine"}
