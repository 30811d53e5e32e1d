"""`infospace run -` while its plan is still being written, in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from infospace import open_space
from infospace.core.clock import later
from planner.execute.start import run_sync

LIST = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
SIZE = {"type": "size", "target": "$c", "out": "$n"}
KEEP = {"type": "create-note", "value": "${n} of them", "name": "kept"}


class Running:
    """The command at work, with its standard input in hand."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.stdin: IO[str] = process.stdin
        self.stdout: IO[str] = process.stdout
        self.stderr: IO[str] = process.stderr

    def write(self, text: str) -> None:
        """Write a part of the plan; it need not end with a line."""
        self.stdin.write(text)
        self.stdin.flush()

    def until(self, words: str) -> str:
        """Read what it says up to a line with these words."""
        said = ""
        while words not in said:
            line = self.stderr.readline()
            assert line, said
            said += line
        return said

    def end(self, text: str = "") -> tuple[int, str, str]:
        """Write the last part; return exit code, standard output, and what else it said."""
        out, err = self.process.communicate(text, timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """A space that is there."""
    with open_space(tmp_path / "space.db") as space:
        run_sync(space, [{"type": "create-note", "value": "earlier", "name": "earlier"}])
    return tmp_path / "space.db"


@contextmanager
def running(path: Path, *arguments: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "tui.command", "run", "-", "--space", str(path), *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


def journal(path: Path) -> tuple[list[Any], list[str]]:
    """The runs but the first, latest first, and the names."""
    with open_space(path, create=False) as space, space.store.reading() as snapshot:
        return snapshot.runs()[:-1], list(snapshot.names())


def test_steps_are_shown_as_they_end_while_the_plan_is_written(where: Path) -> None:
    """Over a slow pipe, without a line's end: nothing has an effect before the whole is there, then all has."""
    with running(where) as command:
        command.write('{"goal": "slow", "steps": [' + json.dumps(LIST))
        assert "run_2  slow" in command.until("✓ 1 create-collection → $c")
        command.write("," + json.dumps(SIZE) + "," + json.dumps(KEEP) + "," + json.dumps(SIZE))
        command.until("✓ 2 size → $n  2")
        [run], names = journal(where)
        assert (run.status, run.document, run.steps, names) == ("running", None, 0, ["earlier"])
        code, out, err = command.end("]}")
    assert (code, out) == (0, "2\n")
    assert [line.split("  ")[1] for line in err.splitlines() if "✓" in line] == ["✓ 3 create-note", "✓ 4 size → $n"]
    [run], names = journal(where)
    assert (run.status, run.steps, names) == ("success", 4, ["earlier", "kept"])


@pytest.mark.parametrize(
    ("end", "code", "message"),
    [
        (', {"type": "sya", "value": 1}]', "unknown-type", "there is no step type 'sya'"),
        (', {"type": "sa', "unreadable", "cut off"),
    ],
)
def test_a_plan_that_ends_wrong_is_refused_as_json(where: Path, end: str, code: str, message: str) -> None:
    """In the shape of any refused plan; what ran ahead is told as skipped, and nothing is kept."""
    with running(where, "--json") as command:
        command.write("[" + json.dumps(LIST))
        wait_for(lambda: bool(journal(where)[0]))
        exit_code, out, err = command.end("," + json.dumps({**KEEP, "value": "x"}) + end)
    found = json.loads(out)
    assert (exit_code, err, found["status"], found["run"]) == (3, "", "refused", "run_2")
    assert (found["result"], found["bindings"], found["pending"]) == (None, {}, [])
    assert [(step["step"], step["status"]) for step in found["steps"]] == [("1", "skipped")]
    assert [problem["code"] for problem in found["problems"] if problem["severity"] == "error"] == [code]
    assert message in found["problems"][0]["message"]
    [run], names = journal(where)
    assert (run.status, names) == ("refused", ["earlier"])


def test_a_refused_plan_says_that_nothing_was_done(where: Path) -> None:
    """After the steps that were shown."""
    with running(where) as command:
        command.write("[" + json.dumps(LIST))
        command.until("✓ 1")
        code, out, err = command.end(', {"type": "sya", "value": 1}]')
    assert (code, out) == (3, "")
    assert "· 1 create-collection  the document was refused; what it had done ahead is dropped" in err
    assert "the plan is refused, and nothing of it was done: 1 error" in err


def wait_for(happened: Callable[[], bool]) -> None:
    """Wait until something is so; it is looked at again and again."""
    while not happened():
        pass


def test_inputs_are_read_as_the_plan_declares_them(where: Path, tmp_path: Path) -> None:
    """Before the steps or after them: what is text there is text, what is a number a number."""
    (tmp_path / "more.json").write_text('{"m": 3}')
    declared = '"inputs": {"n": {"type": "integer"}, "t": {"type": "string"}, "m": {"type": "integer"}}'
    steps = '"steps": [' + json.dumps({"type": "create-note", "value": ["$n", "$t", "$m"]}) + "]"
    for first, last in ((declared, steps), (steps, declared)):
        with running(where, "--input", "n=1", "--input", "t=2", "--input-file", str(tmp_path / "more.json")) as command:
            command.write("{" + first)
            code, out, err = command.end("," + last + "}")
        assert (code, json.loads(out)) == (0, [1, "2", 3]), err


def test_a_plan_whose_process_is_killed_before_it_was_whole_never_runs(cli: Any, where: Path) -> None:
    """`resume` says so in a sentence, and closes its run; of what ran ahead nothing is found."""
    with running(where) as command:
        command.write("[" + json.dumps(LIST) + "," + json.dumps(SIZE) + "," + json.dumps(KEEP))
        command.until("✓ 2 size")
        command.process.send_signal(signal.SIGKILL)
        command.process.wait()
    [run], names = journal(where)
    assert (run.status, run.document, run.steps, names) == ("running", None, 0, ["earlier"])
    for _ in range(2):
        said = cli("resume", "run_2")
        assert said.code == 1
        assert "the plan of run_2 never arrived whole: nothing of it was done" in said.err
    [run], names = journal(where)
    assert (run.status, run.reason) == ("cancelled", "its process ended before its plan had arrived whole")
    assert names == ["earlier"]
    with open_space(where) as space:
        assert space.store.check() == []


def test_a_plan_whose_process_is_killed_after_it_was_whole_is_resumed(
    cli: Any, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As any: what ran ahead is not repeated, and what came after it is done once."""
    steps = [SIZE, KEEP, {"type": "wait", "seconds": 60}, {"type": "create-note", "value": "end", "name": "end"}]
    with running(where) as command:
        command.write("[" + json.dumps(LIST))
        command.until("✓ 1")
        command.write("," + json.dumps(steps)[1:])
        command.stdin.close()
        command.until("✓ 3 create-note")
        command.process.send_signal(signal.SIGKILL)
        command.process.wait()
    monkeypatch.setattr("planner.execute.wait.now", lambda: later(4000))
    done = cli("resume", "run_2", "--json")
    assert done.code == 0, done.err
    assert [(step["step"], step["status"]) for step in done.json["steps"]] == [
        (str(number), "success") for number in range(1, 6)
    ]
    assert journal(where)[1] == ["earlier", "end", "kept"]


def test_ctrl_c_while_it_is_written_ends_it(where: Path) -> None:
    """With exit code 130, though nobody closes the pipe; there is nothing that could be gone on with."""
    with running(where) as command:
        command.write("[" + json.dumps(LIST))
        command.until("✓ 1")
        command.process.send_signal(signal.SIGINT)
        said = command.until("cancelled: interrupted before the document had arrived whole")
        command.process.wait(timeout=60)
        assert "Traceback" not in said + command.stderr.read()
    assert command.process.returncode == 130
    [run], names = journal(where)
    assert (run.status, names) == ("cancelled", ["earlier"])


def test_without_a_space_a_plan_is_read_to_its_end(tmp_path: Path) -> None:
    """So that a refused one makes none, however slowly it comes."""
    with running(tmp_path / "none.db") as command:
        command.write("[" + json.dumps(LIST) + ",\n")
        command.write(json.dumps(SIZE) + ",\n")
        code, _, err = command.end('{"type": "sya", "value": 1}]')
    assert (code, "nothing was run" in err) == (3, True)
    assert not (tmp_path / "none.db").exists()


def test_a_pipe_that_never_waits_is_waited_for(where: Path) -> None:
    """Some programs hand on a standard input that answers at once that nothing is there yet."""
    outer, inner = os.pipe()
    os.set_blocking(outer, False)
    command = [sys.executable, "-m", "tui.command", "run", "-", "--space", str(where)]
    with subprocess.Popen(command, stdin=outer, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        os.close(outer)
        os.write(inner, b"[" + json.dumps(LIST).encode())
        assert process.stderr is not None
        while "✓ 1" not in process.stderr.readline():
            pass
        os.write(inner, b"]")
        os.close(inner)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
