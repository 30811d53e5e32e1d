"""Several processes, and processes that are killed: real ones, each with a store of its own."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from infospace.core.ids import Kind
from infospace.core.resources import Collection, Member
from infospace.store.changes import AddMembers, MakeCollection, MakeNote
from infospace.store.sqlite import open_store

pytestmark = pytest.mark.usefixtures("warm_processes")

WRITER = """
import sys
from infospace.core.ids import Kind
from infospace.store.changes import AddMembers, MakeNote, Revise
from infospace.store.sqlite import open_store
from infospace.core.resources import Member
from infospace.journal.rows import OpenRun, StepRow, Use

path, count, at = sys.argv[1], int(sys.argv[2]), "2026-04-01T09:30:00.123Z"
store = open_store(path, create=True)
print("open", flush=True)
sys.stdin.readline()
run = store.new_id("run")
store.commit([], [OpenRun(run, "plan", "", {}, {}, at, "me")])
for index in range(1, count + 1):
    note = store.new_id(Kind.NOTE)
    print("given", note, flush=True)
    store.commit(
        [
            MakeNote(note, f"{run} {index} " * 40, kept=index % 2 == 0),
            AddMembers("Collection_1", [Member(note)]),
            Revise("Note_1", f"{run} {index}"),
        ],
        [StepRow(run, index, "1", "create-note", "success", at, 0.1, resource=note, version=1, uses=[Use(note, 1)])],
    )
    print("done", note, run, index, flush=True)
store.close()
"""

OPENER = """
import sys
from infospace.store.sqlite import open_store

print("ready", flush=True)
for path in sys.stdin:
    store = open_store(path.strip(), create=True)
    print(store.new_id("run"), store.check(), flush=True)
    store.close()
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    """Start Python on a script; its first line of output is read."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def prepare(path: Path) -> None:
    """Make a space with a Note and a Collection for all to change."""
    with contextlib.closing(open_store(path, create=True)) as store:
        note, group = store.new_id(Kind.NOTE), store.new_id(Kind.COLLECTION)
        store.commit([MakeNote(note, "first"), MakeCollection(group, [])])


def words(output: str, kind: str) -> list[list[str]]:
    """Return the words after `kind` of the whole lines that begin with it."""
    return [line.split()[1:] for line in output.splitlines(keepends=True) if line.startswith(kind) and line[-1] == "\n"]


def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    """500 commits each, to the same Note and Collection: each has its own ids, and every change is there."""
    path = tmp_path / "x"
    prepare(path)
    writers = [start(WRITER, path, 500) for _ in range(2)]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    outputs = [writer.communicate()[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    given = [note for output in outputs for (note,) in words(output, "given")]
    assert len(given) == len(set(given)) == 1_000
    with contextlib.closing(open_store(path, create=False)) as store:
        assert store.check() == []
        with store.reading() as snapshot:
            group = snapshot.get("Collection_1")
            assert isinstance(group, Collection)
            assert {member.id for member in group.members} == set(given)
            assert (group.version, snapshot.get("Note_1").version) == (1_001, 1_001)
            assert snapshot.generation == 500
            assert [run.steps for run in snapshot.runs()] == [500, 500]
            for number, output in enumerate(outputs):
                own = [note for (note,) in words(output, "given")]
                members = [member.id for member in group.members if member.id in set(own)]
                assert members == own, number


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """Fifteen kills in the midst of commits: consistent each time, nothing acknowledged lost, no id given twice."""
    path = tmp_path / "x"
    prepare(path)
    chance = random.Random(1)  # noqa: S311
    given: list[str] = []
    done: dict[str, str] = {}
    for _ in range(15):
        writer = start(WRITER, path, 10_000)
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
        read = "".join(writer.stdout.readline() for _ in range(chance.randrange(1, 120)))
        writer.send_signal(signal.SIGKILL)
        output = read + writer.communicate()[0]
        assert writer.returncode == -signal.SIGKILL
        given += [note for (note,) in words(output, "given")]
        done |= {note: f"{run} {index} " * 40 for note, run, index in words(output, "done")}
        with contextlib.closing(open_store(path, create=False)) as store:
            assert store.check() == []
            given.append(store.new_id(Kind.NOTE))
            store.commit([MakeNote(given[-1], "between"), AddMembers("Collection_1", [Member(given[-1])])])
            done[given[-1]] = "between"
    assert len(done) > 200
    assert len(given) == len(set(given))
    with contextlib.closing(open_store(path, create=False)) as store, store.reading() as snapshot:
        found = {note.id: note.content for note in snapshot.get_many(list(done))}
        assert found == done
        members = snapshot.get("Collection_1")
        assert isinstance(members, Collection)
        assert {member.id for member in members.members} >= set(done)


def test_a_file_that_many_make_at_once_is_one_space(tmp_path: Path) -> None:
    """Whoever comes first makes it; the others wait, and use the same. Ten files, three processes."""
    openers = [start(OPENER) for _ in range(3)]
    for index in range(10):
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.write(f"{tmp_path / str(index)}\n")
            opener.stdin.flush()
    outputs = [opener.communicate()[0].splitlines() for opener in openers]
    assert [opener.returncode for opener in openers] == [0, 0, 0]
    assert [len(lines) for lines in outputs] == [10, 10, 10]
    assert all(line.endswith(" []") for lines in outputs for line in lines)


def test_a_file_that_is_opened_twice_in_a_process_keeps_its_locks(tmp_path: Path) -> None:
    """Another process that closes it does not take the log away, and what is written afterwards is there."""
    path = tmp_path / "space.db"
    with contextlib.closing(open_store(str(path), create=True)) as store:
        with contextlib.closing(open_store(str(path), create=True)) as again:
            again.check()
        command = [sys.executable, "-c", OPENER]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.communicate(f"{path}\n", timeout=120)
        assert path.with_name("space.db-wal").exists()
        note = store.new_id(Kind.NOTE)
        store.commit([MakeNote(note, "written afterwards")])
    with contextlib.closing(open_store(str(path), create=False)) as later:
        assert later.get(note).content == "written afterwards"
