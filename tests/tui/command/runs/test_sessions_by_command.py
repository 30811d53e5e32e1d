"""Sessions on the command line: JSON Lines by name, lines that wait, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from infospace import NotFound, open_space
from infospace.core.clock import later
from infospace.core.ids import Kind
from infospace.journal.rows import RunRow, StepRow
from planner.sessions.session_run import is_between_calls

NOTE = {"type": "create-note", "value": "a", "out": "$x"}
ASK = {"type": "ask", "value": "Which year?", "schema": {"type": "integer"}, "out": "$year"}
USE = {"type": "create-note", "value": "${x} ${year}", "out": "$y"}


def lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def test_a_session_by_name_is_gone_on_with(cli: Any) -> None:
    """By lines, by a whole plan, and with what was bound; nothing of it ends the session."""
    assert cli("run", "-", "--session", "work", stdin=lines(NOTE)).out == "a\n"
    failed = cli("run", "-", "--session", "work", stdin=lines({"type": "load", "target": "$x", "slice": "9"}, NOTE))
    assert failed.code == 3
    assert "run_1 stops at a refused step" in failed.err
    plan = json.dumps({"inputs": {"n": {"type": "integer"}}, "steps": [{"type": "create-note", "value": "${x}${n}"}]})
    assert cli("run", "-", "--session", "work", "--input", "n=3", stdin=plan).out == "a3\n"
    more = cli("run", "-", "--session", "work", "--json", stdin=lines({"type": "say", "value": "${x}"})).json
    assert (more["run"], more["status"], [step["step"] for step in more["steps"]]) == ("run_1", "success", ["4"])
    shown = cli("show", "run_1")
    assert "at rest: it takes more steps" in shown.err
    assert cli("replay", "run_1").code == 0
    assert "at rest" in cli("resume", "run_1").err
    assert "is a session" in cli("fork", "run_1", "1", "--json", stdin="[]").err


def test_a_line_that_asks_ends_the_reading_and_is_answered(cli: Any) -> None:
    """Exit code 4, and a word on what becomes of the rest; a session without a name ends with the answer's call."""
    said = cli("run", "-", stdin=lines({"goal": "g"}, NOTE, {"type": "create-note", "value": 1, "name": "n"}, ASK, USE))
    assert said.code == 4
    assert "step 3 waits: Which year?" in said.err
    assert "standard input is read no further; `infospace answer run_1 3 …` goes on with what was read" in said.err
    assert [one["step"] for one in cli("show", "run_1", "--json").json["pending"]] == ["3"]
    done = cli("answer", "run_1", "3", "1984", "--json").json
    assert (done["status"], done["result"]["data"]) == ("success", 1984)
    assert [step["step"] for step in done["steps"]] == ["1", "2", "3"]
    assert cli("runs", "--json").json["runs"][0]["status"] == "success"


def test_a_session_by_name_takes_the_rest_after_the_answer(cli: Any) -> None:
    """While it waits lines are refused with a sentence; nothing of them is done."""
    assert cli("run", "-", "--session", "work", stdin=lines(NOTE, ASK)).code == 4
    refused = cli("run", "-", "--session", "work", "--json", stdin=lines(USE))
    assert (refused.code, refused.json["kind"]) == (1, "conflict")
    assert "step 2 (ask): Which year? (`infospace answer run_1 2 …` goes on" in refused.err
    assert cli("answer", "run_1", "2", "1984").code == 0
    assert cli("run", "-", "--session", "work", stdin=lines(USE)).out == "a 1984\n"


def test_a_name_that_cannot_be_is_told(cli: Any) -> None:
    said = cli("run", "-", "--session", "$work", stdin=lines(NOTE))
    assert said.code == 1
    assert "a session cannot be called '$work'" in said.err
    assert "Traceback" not in said.err


@contextmanager
def running(tmp_path: Path, *arguments: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    """`infospace run - --json` with a pipe to write lines to."""
    environment = {**os.environ, "INFOSPACE_SPACE": str(tmp_path / "space.db"), **env}
    command = [sys.executable, "-m", "tui.command", "run", "-", *arguments]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, text=True, env=environment, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def write(process: subprocess.Popen[str], *values: Any) -> None:
    assert process.stdin is not None
    process.stdin.write(lines(*values))
    process.stdin.flush()


def ended(process: subprocess.Popen[str]) -> tuple[int, Any, str]:
    assert process.stdout is not None
    assert process.stderr is not None
    document = json.loads(process.stdout.read())
    said = process.stderr.read()
    return process.wait(60), document, said


def until(tmp_path: Path, holds: Callable[[RunRow, list[StepRow]], bool]) -> None:
    """Wait until something holds of the first run and its steps."""
    file = tmp_path / "space.db"
    while not file.exists():
        time.sleep(0.02)
    with open_space(file) as space:
        while True:
            with suppress(NotFound), space.store.reading() as snapshot:
                if holds(snapshot.run("run_1"), snapshot.steps("run_1")):
                    return
            time.sleep(0.02)


@pytest.mark.parametrize("name", [None, "work"])
def test_ctrl_c_between_two_lines_ends_the_reading(tmp_path: Path, name: str | None) -> None:
    """With a document of what was run; a session by name stays open."""
    with socket.create_server(("127.0.0.1", 0)) as heard:
        address = f"http://127.0.0.1:{heard.getsockname()[1]}/v1"
        env = {"INFOSPACE_LLM_MODEL": "made", "INFOSPACE_LLM_URL": address, "INFOSPACE_LLM_RETRIES": "0"}
        ask = {"type": "generate-note", "prompt": "say it", "on_fail": "continue"}
        with running(tmp_path, "--json", *(["--session", name] if name else []), **env) as process:
            write(process, NOTE, ask)
            heard.accept()[0].close()
            until(tmp_path, lambda run, rows: len(rows) == 2 and run.status == "suspended" and is_between_calls(run))
            process.send_signal(signal.SIGINT)
            code, found, said = ended(process)
    assert (code, found["status"], [step["step"] for step in found["steps"]]) == (130, "cancelled", ["1", "2"])
    assert "standard input is read no further" in found["reason"]
    assert "Traceback" not in said
    with open_space(tmp_path / "space.db") as space, space.store.reading() as snapshot:
        assert snapshot.run("run_1").status == ("suspended" if name else "cancelled")


def test_ctrl_c_in_a_line_lets_the_step_end_and_the_line_be_resumed(
    tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 130 and the run as JSON; `resume` does the rest of the line, and nothing twice."""
    once, after = ({"type": "create-note", "value": value, "out": "$n"} for value in ("once", "after"))
    each = [once, {"type": "say", "value": "now"}, {"type": "wait", "seconds": 50}, after]
    items = {"type": "create-collection", "value": [1], "out": "$c"}
    with running(tmp_path, "--json") as process:
        write(process, items, {"type": "for-each", "target": "$c", "do": each})
        until(tmp_path, lambda _run, rows: any(row.type == "say" for row in rows))
        process.send_signal(signal.SIGINT)
        code, found, said = ended(process)
    assert (code, found["run"], found["status"]) == (130, "run_1", "suspended")
    assert "infospace resume run_1" in found["reason"]
    assert "Ctrl-C again" in said
    monkeypatch.setattr("planner.execute.wait.now", lambda: later(4000))
    done = cli("resume", "run_1", "--json").json
    assert done["status"] == "success"
    assert sorted(step["step"] for step in done["steps"]) == [
        "1",
        "2",
        *(f"2.do[1].{number}" for number in range(1, 5)),
    ]
    with open_space(tmp_path / "space.db") as space, space.store.reading() as snapshot:
        assert [note.content for note in snapshot.listing(Kind.NOTE, kept=False)] == [1, "once", "after"]


def test_ctrl_c_twice_breaks_a_line_off(tmp_path: Path) -> None:
    """The session is cancelled; a document is printed still."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        env = {"INFOSPACE_LLM_MODEL": "silent", "INFOSPACE_LLM_URL": address}
        with running(tmp_path, "--json", **env) as process:
            write(process, NOTE, {"type": "generate-note", "prompt": "say it"})
            assert process.stderr is not None
            with silent.accept()[0]:
                process.send_signal(signal.SIGINT)
                assert "Ctrl-C again" in process.stderr.readline()
                process.send_signal(signal.SIGINT)
                code, found, said = ended(process)
    assert (code, found["run"], found["status"]) == (130, "run_1", "cancelled")
    assert [step["step"] for step in found["steps"]] == ["1", "2"]
    assert "Traceback" not in said


def test_a_killed_session_is_gone_on_with(tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the line in which it was; as nobody has more lines for it, it ends then."""
    each = [
        {"type": "say", "value": "now"},
        {"type": "wait", "seconds": 60},
        {"type": "create-note", "value": "${i}!", "out": "$m"},
    ]
    loop = {"type": "for-each", "target": "$c", "as": "$i", "do": each, "out": "$all"}
    with running(tmp_path) as process:
        write(process, {"type": "create-collection", "value": [7], "out": "$c"}, loop)
        until(tmp_path, lambda _run, rows: any(row.type == "say" for row in rows))
        process.kill()
        process.wait(60)
    monkeypatch.setattr("planner.execute.wait.now", lambda: later(4000))
    done = cli("resume", "run_1", "--json").json
    assert (done["status"], done["result"]["value"]) == ("success", "1 note: 7!")
    assert {step["step"] for step in done["steps"]} == {"1", "2", "2.do[1].1", "2.do[1].2", "2.do[1].3"}


def test_an_input_of_a_session_is_read_as_its_head_wants_it(cli: Any, tmp_path: Path) -> None:
    """A number is a number, from a file and from standard input."""
    lines = '{"goal": "G", "inputs": {"n": {"type": "integer"}}}\n{"type": "create-note", "value": "$n", "out": "$x"}\n'
    path = tmp_path / "lines.jsonl"
    path.write_text(lines)
    for said in (
        cli("run", str(path), "--input", "n=4", "--json"),
        cli("run", "-", "--input", "n=4", "--json", stdin=lines),
        cli("run", "-", "--session", "s", "--input", "n=4", "--json", stdin=lines),
    ):
        assert (said.code, said.json["result"]["data"]) == (0, 4), said.err
