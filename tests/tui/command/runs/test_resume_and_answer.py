"""`answer`, `resume` and Ctrl-C: a run that waits or is interrupted is gone on with by the command."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from infospace import InfospaceError, open_space
from infospace.core.clock import later
from planner.journal.lease import seconds_spent
from planner.lifecycle.resume import resume

PLAN = {
    "steps": [
        {"type": "create-note", "value": "a", "name": "first"},
        {"type": "ask", "value": "Which year?", "schema": {"type": "integer"}, "out": "$year"},
        {"type": "create-note", "value": "it was ${year}", "out": "$x"},
    ],
    "result": "$x",
}


def test_a_question_is_shown_answered_and_gone_on_with(cli: Any) -> None:
    """Exit code 4 while it waits; the answer is read as its schema wants it."""
    said = cli("run", "-", stdin=json.dumps(PLAN))
    assert said.code == 4
    assert "step 2 waits: Which year?" in said.err
    assert "infospace answer run_1 2 …" in said.err
    listed = cli("answer", "run_1")
    assert listed.out.startswith("2  Which year?")
    wrong = cli("answer", "run_1", "2", "soon")
    assert (wrong.code, wrong.out) == (1, "")
    assert '"soon" is not a whole number' in wrong.err
    done = cli("answer", "run_1", "2", "1984", "--json")
    assert done.code == 0
    assert json.loads(done.out)["result"]["data"] == "it was 1984"


def test_an_answer_without_its_step_or_a_step_without_its_answer_is_told_so(cli: Any) -> None:
    cli("run", "-", stdin=json.dumps(PLAN))
    forgotten = cli("answer", "run_1", "1984")
    assert (forgotten.code, forgotten.out) == (2, "")
    assert forgotten.err == "infospace: no step '1984' asks (`infospace answer run_1 2 1984`?)\n"
    silent = cli("answer", "run_1", "2")
    assert (silent.code, silent.err) == (2, "infospace: there is no answer to step 2: Which year? (add VALUE)\n")
    cli("answer", "run_1", "2", "1984")
    over = cli("answer", "run_1", "1984")
    assert (over.code, over.err.partition(" (")[0]) == (2, "infospace: run_1 asks nothing")
    both = [[{"type": "ask", "value": question}] for question in ("Who?", "Where?")]
    cli("run", "-", stdin=json.dumps([{"type": "parallel", "branches": both}]))
    assert cli("answer", "run_2", "me").err == "infospace: no step 'me' asks (`infospace answer run_2 STEP me`?)\n"
    asked = [(one["step"], one["question"]) for one in cli("answer", "run_2", "--json").json]
    assert asked == [("1.branches[1].1", "Who?"), ("1.branches[2].1", "Where?")]


def test_an_answer_may_be_kept_for_later(cli: Any) -> None:
    """`resume` takes it, and what is said of how it goes on."""
    cli("run", "-", stdin=json.dumps(PLAN))
    for more in (["--approve", "files/write"], ["--cache"], ["--data"]):
        refused = cli("answer", "run_1", "2", "7", "--only", *more)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == (
            "infospace: --only keeps the answer, and nothing goes on yet (`infospace resume run_1` takes "
            "--approve, --cache and --data)\n"
        )
    assert cli("answer", "run_1", "--json").json != []
    assert cli("answer", "run_1", "2", "7", "--only").code == 0
    done = cli("resume", "run_1")
    assert (done.code, done.out) == (0, "it was 7\n")
    again = cli("resume", "run_1")
    assert again.code == 1
    assert "has ended already: success" in again.err


def test_what_goes_on_gives_the_data_of_its_steps_and_remembers_what_it_may_call(cli: Any) -> None:
    """Where that is asked for."""
    for _ in range(3):
        cli("run", "-", stdin=json.dumps({**PLAN, "steps": PLAN["steps"][1:]}))
    options = ("--json", "--data", "--approve", "files/write")
    answered = cli("answer", "run_1", "1", "1984", *options).json
    cli("answer", "run_2", "1", "7", "--only")
    resumed = cli("resume", "run_2", *options).json
    plain = cli("answer", "run_3", "1", "8", "--json").json
    assert [step["data"] for step in answered["steps"]] == [1984, "it was 1984"]
    assert [step["data"] for step in resumed["steps"]] == [7, "it was 7"]
    assert all("data" not in step for step in plain["steps"])
    with open_space("space.db") as space, space.store.reading() as snapshot:
        approved = [[one.tool for one in snapshot.approvals(f"run_{number}")] for number in (1, 2, 3)]
    assert approved == [["files/write"], ["files/write"], []]


def test_an_unknown_run_is_told_in_a_sentence(cli: Any) -> None:
    """By either command."""
    for words in (("resume", "run_9"), ("answer", "run_9")):
        said = cli(*words)
        assert said.code == 1
        assert "run_9" in said.err
        assert "Traceback" not in said.err


def test_ctrl_c_once_lets_the_step_end_and_the_run_be_resumed(
    tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 130; `resume` does the rest, and nothing twice."""
    steps = [
        {"type": "create-note", "value": 1, "name": "one"},
        {"type": "say", "value": "now"},
        {"type": "wait", "seconds": 60},
        {"type": "create-note", "value": 2, "name": "two"},
    ]
    (tmp_path / "plan.json").write_text(json.dumps(steps), encoding="utf-8")
    environment = {**os.environ, "INFOSPACE_SPACE": str(tmp_path / "space.db")}
    command = [sys.executable, "-c", "from tui.command import main; raise SystemExit(main())"]
    started = [*command, "run", str(tmp_path / "plan.json")]
    with subprocess.Popen(started, stderr=subprocess.PIPE, text=True, env=environment) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if "now" in line:
                running.send_signal(signal.SIGINT)
                break
        rest = running.stderr.read()
    assert running.returncode == 130
    assert "infospace resume run_1" in rest
    monkeypatch.setattr("planner.execute.wait.now", lambda: later(4000))
    done = cli("resume", "run_1", "--json")
    assert done.code == 0, done.err
    assert [step["step"] for step in done.json["steps"]] == ["1", "2", "3", "4"]


def test_ctrl_c_twice_breaks_a_call_off_and_the_run_is_cancelled(tmp_path: Path) -> None:
    """Exit code 130 and the run as JSON, no traceback, though the model never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        steps = [{"type": "create-note", "value": 1, "name": "one"}, {"type": "generate-note", "prompt": "say it"}]
        (tmp_path / "plan.json").write_text(json.dumps(steps), encoding="utf-8")
        environment = {
            **os.environ,
            "INFOSPACE_SPACE": str(tmp_path / "space.db"),
            "INFOSPACE_LLM_MODEL": "silent",
            "INFOSPACE_LLM_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/v1",
        }
        command = [sys.executable, "-c", "from tui.command import main; raise SystemExit(main())"]
        started = [*command, "run", str(tmp_path / "plan.json"), "--json"]
        with subprocess.Popen(
            started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            with silent.accept()[0]:
                running.send_signal(signal.SIGINT)
                assert "Ctrl-C again" in running.stderr.readline()
                running.send_signal(signal.SIGINT)
                found, rest = json.loads(running.stdout.read()), running.stderr.read()
        assert running.returncode == 130
        assert "Traceback" not in rest
        assert (found["run"], found["status"]) == ("run_1", "cancelled")
        assert [step["step"] for step in found["steps"]] == ["1", "2"]


def test_ctrl_c_wakes_a_wait(tmp_path: Path) -> None:
    """It needs not end first; the run is suspended at once, and waits for what is left when it is gone on with."""
    (tmp_path / "plan.json").write_text('[{"type": "say", "value": "now"}, {"type": "wait", "seconds": 50}]')
    environment = {**os.environ, "INFOSPACE_SPACE": str(tmp_path / "space.db")}
    command = [sys.executable, "-c", "from tui.command import main; raise SystemExit(main())"]
    with subprocess.Popen(
        [*command, "run", str(tmp_path / "plan.json")], stderr=subprocess.PIPE, text=True, env=environment
    ) as running:
        assert running.stderr is not None
        while "now" not in running.stderr.readline():
            pass
        running.send_signal(signal.SIGINT)
        running.wait(timeout=60)
        rest = running.stderr.read()
    assert running.returncode == 130
    assert rest.count("infospace resume run_1") == 1


def until_ended(path: Path, position: str, process: str = "") -> None:
    """Wait until a step of run_1 has ended, and the run belongs to a process."""
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        if path.exists():
            with suppress(InfospaceError), open_space(path, create=False) as space, space.store.reading() as snapshot:
                owner, rows = snapshot.run("run_1").owner, snapshot.steps("run_1")
                if process in str(owner) and any(row.position == position for row in rows):
                    return
        time.sleep(0.01)
    raise AssertionError(f"step {position} did not end")


STOPPING = """
import os, signal
import planner.execute.wait

def stopped(_until):
    os.kill(os.getpid(), signal.SIGSTOP)
    return 0.01

planner.execute.wait.seconds_until = stopped
from tui.command import main
raise SystemExit(main())
"""
"""The command, which is stopped where it waits, and waits no longer once it goes on."""


def test_a_process_that_was_stopped_does_not_end_a_run_that_another_goes_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says whose the run is, and leaves it as the other one left it: waiting for an answer."""
    steps = [{"type": "create-note", "value": 1, "name": "one"}, {"type": "wait", "seconds": 60}, PLAN["steps"][1]]
    (tmp_path / "plan.json").write_text(json.dumps(steps), encoding="utf-8")
    environment = {**os.environ, "INFOSPACE_SPACE": str(tmp_path / "space.db")}
    started = [sys.executable, "-c", STOPPING, "run", str(tmp_path / "plan.json")]
    with subprocess.Popen(started, stderr=subprocess.PIPE, text=True, env=environment) as running:
        assert running.stderr is not None
        assert os.WIFSTOPPED(os.waitpid(running.pid, os.WUNTRACED)[1])
        monkeypatch.setattr("planner.journal.lease.LEASE", 0)
        monkeypatch.setattr("planner.execute.wait.now", lambda: later(4000))
        with open_space(tmp_path / "space.db") as space:
            gone_on = asyncio.run(resume(space, "run_1"))
            assert gone_on.status == "suspended"
            running.send_signal(signal.SIGCONT)
            rest = running.stderr.read()
            with space.store.reading() as snapshot:
                run, rows = snapshot.run("run_1"), snapshot.steps("run_1")
    assert running.returncode == 1
    assert "another process has taken run_1 over" in rest
    assert "Traceback" not in rest
    assert run.status == "suspended"
    assert [(row.position, row.status) for row in rows] == [("1", "success"), ("2", "success"), ("3", "suspended")]


def test_the_seconds_before_a_kill_count(tmp_path: Path) -> None:
    """As far as the journal tells: what is left of the budget is not all of it again."""
    steps = [{"type": "wait", "seconds": 1}, {"type": "say", "value": "now"}, {"type": "wait", "seconds": 40}]
    document = {"steps": steps, "budget": {"seconds": 30}}
    (tmp_path / "plan.json").write_text(json.dumps(document), encoding="utf-8")
    environment = {**os.environ, "INFOSPACE_SPACE": str(tmp_path / "space.db")}
    command = [sys.executable, "-c", "from tui.command import main; raise SystemExit(main())"]
    for words in (["run", str(tmp_path / "plan.json")], ["resume", "run_1"]):
        with subprocess.Popen([*command, *words], stderr=subprocess.DEVNULL, env=environment) as running:
            until_ended(tmp_path / "space.db", "2", str(running.pid))
            running.kill()
    with open_space(tmp_path / "space.db") as space, space.store.reading() as snapshot:
        row, rows = snapshot.run("run_1"), snapshot.steps("run_1")
    assert row.status == "running"
    assert 0.9 < seconds_spent(row, rows) < 30
