"""Sessions of real processes: killed, interrupted, and beside one another."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint

from infospace import Conflict, Note, Space, open_space
from planner.lifecycle.resume import answer, resume
from planner.sessions import open_session

pytestmark = pytest.mark.usefixtures("warm_processes")

CHILD = """
import json, sys
from infospace import open_space
from planner.sessions import open_session
calls = json.loads(sys.argv[2])
with open_space(sys.argv[1]) as space, open_session(space, "work") as session:
    for call in calls:
        try:
            print(session.run(call).status, flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    sys.stdin.read()
"""
NOTE = {"type": "create-note", "value": "a", "name": "one", "out": "$x"}
ASK = {"type": "ask", "value": "Which year?", "out": "$year"}
USE = {"type": "create-note", "value": "${x} ${year}", "name": "two", "out": "$y"}
SAY = {"type": "generate-note", "prompt": "say ${x}", "out": "$said", "name": "said"}


@contextmanager
def working(file: Path, *calls: Any, **env: str) -> Iterator[subprocess.Popen[str]]:
    """A process that makes calls on the session `work`, tells how each ended, and stays until it is ended."""
    command = [sys.executable, "-c", CHILD, str(file), json.dumps(calls)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env={**os.environ, **env}, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def in_a_call(file: Path, *calls: Any) -> Iterator[subprocess.Popen[str]]:
    """Such a process, in the middle of asking a model that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        env = {"INFOSPACE_LLM_MODEL": "made", "INFOSPACE_LLM_URL": url, "NO_PROXY": "127.0.0.1"}
        with working(file, *calls, **env) as process:
            connection, _ = silent.accept()
            with connection:
                yield process


def told(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def positions(space: Space, run: str) -> list[tuple[str, str]]:
    with space.store.reading() as snapshot:
        return [(row.position, row.status) for row in snapshot.steps(run)]


def test_a_question_outlives_the_process_that_asked(tmp_path: Path) -> None:
    """Killed while it waits; the answer goes on with the rest of the call, elsewhere."""
    file = tmp_path / "space.db"
    with working(file, [NOTE, ASK, USE]) as process:
        assert told(process) == "suspended"
        process.kill()
        process.wait(30)
    with open_space(file) as space:
        answer(space, "run_1", "2", 1984)
        done = asyncio.run(resume(space, "run_1"))
        assert done.result is not None
        assert (done.status, done.result.data) == ("success", "a 1984")
        with open_session(space, "work") as session:
            assert session.step({"type": "create-note", "value": "${y}!"}).data == "a 1984!"
        assert [place for place, _ in positions(space, "run_1")] == ["1", "2", "3", "4"]


def test_a_call_of_a_killed_process_is_gone_on_with(tmp_path: Path, endpoint: Endpoint) -> None:
    """From where it was; the steps that had ended are not done again."""
    file = tmp_path / "space.db"
    endpoint.say("said")
    rest = {"type": "create-note", "value": "${said}!", "name": "rest"}
    with in_a_call(
        file, [NOTE], [{"type": "head", "target": "$none"}], [{**NOTE, "name": "more"}, SAY, rest]
    ) as process:
        assert [told(process), told(process)] == ["success", "refused"]
        process.kill()
        process.wait(30)
    with open_space(file) as space:
        done = asyncio.run(resume(space, "run_1"))
        assert done.result is not None
        assert (done.status, done.result.data, [row.position for row in done.steps]) == (
            "success",
            "said!",
            ["2", "3", "4"],
        )
        assert positions(space, "run_1") == [(str(number), "success") for number in range(1, 5)]
        assert space.store.check() == []


def test_new_steps_after_a_kill_leave_what_was_broken_off(tmp_path: Path) -> None:
    """It is said, and never done."""
    file = tmp_path / "space.db"
    with in_a_call(file, [NOTE, SAY, {**NOTE, "name": "never"}]) as process:
        process.kill()
        process.wait(30)
    with open_space(file) as space, open_session(space, "work") as session:
        done = session.run([{"type": "create-note", "value": "${x}!", "out": "$y"}])
        assert done.reason == (
            "the call before was broken off: step 2 (generate-note) was broken off; step 3 (create-note) was not begun"
        )
        assert [row.position for row in done.steps] == ["4"]
        assert positions(space, "run_1") == [("1", "success"), ("2", "failed"), ("3", "skipped"), ("4", "success")]
        with pytest.raises(Conflict, match="at rest"):
            session.resume()
        with space.store.reading() as snapshot:
            assert snapshot.named("never") is None


def test_a_session_that_runs_in_another_process_is_left_alone(tmp_path: Path) -> None:
    """Until that has ended, however it ends."""
    file = tmp_path / "space.db"
    with in_a_call(file, [NOTE, SAY]) as process, open_space(file) as space, open_session(space, "work") as session:
        for call in (lambda: session.step(NOTE), session.resume, session.end, session.cancel):
            with pytest.raises(Conflict, match="running steps in another process"):
                call()
        with pytest.raises(Conflict, match="is being run by"):
            asyncio.run(resume(space, "run_1"))
        process.kill()
        process.wait(30)
        assert session.step({"type": "create-note", "value": "${x}!"}).data == "a!"


def test_an_interrupted_call_is_broken_off_and_the_session_goes_on(tmp_path: Path) -> None:
    """Ctrl-C in Python: the step ends as broken off, and the next call is taken."""
    file = tmp_path / "space.db"
    with in_a_call(file, [NOTE, SAY, {**NOTE, "name": "never"}], [{"type": "say", "value": "${x}"}]) as process:
        process.send_signal(signal.SIGINT)
        assert [told(process), told(process)] == ["interrupted", "success"]
    with open_space(file) as space:
        assert positions(space, "run_1") == [("1", "success"), ("2", "failed"), ("4", "success")]


COUNTING = """
import sys
from infospace import open_space
from planner.sessions import open_session
with open_space(sys.argv[1]) as space, open_session(space, "count") as session:
    first = session.size("$all") if "all" in session.bindings else 0
    if not first:
        session.step({"type": "create-collection", "value": [], "out": "$all"})
    for number in range(first, 10_000):
        made = {"type": "create-note", "value": number, "out": "$n"}
        session.run([made, {"type": "add", "target": "$all", "value": "$n"}])
        print(number, flush=True)
"""


@pytest.mark.slow
def test_what_was_acknowledged_is_there_after_any_kill(tmp_path: Path) -> None:
    """Killed again and again at some step: nothing is lost, and nothing is there twice."""
    file, acknowledged = tmp_path / "space.db", -1
    for enough in (3, 1, 17, 8):
        command = [sys.executable, "-c", COUNTING, str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for _ in range(enough):
                acknowledged = int(told(process))
            process.kill()
            assert process.stdout is not None
            acknowledged = max([acknowledged, *(int(line) for line in process.stdout.read().split("\n")[:-1])])
        with open_space(file) as space:
            with open_session(space, "count") as session:
                found = [item.content for item in session.get_items("$all") if isinstance(item, Note)]
            assert found == list(range(len(found)))
            assert acknowledged < len(found) <= acknowledged + 2
            assert space.store.check() == []
