"""A goal whose process is killed, at moments chosen by how far its journal has grown: it goes on from there.

Nothing is done twice: no note, no mail; and no answer of the model that was journalled is paid for again.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint

from infospace import open_space
from planner.goals.resume import resume
from planner.journal.result import RunResult
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer

sys.path.insert(0, str(Path(__file__).parent))
from killed_child import PLAN, connect, yes

pytestmark = pytest.mark.usefixtures("warm_processes")

EVERY = os.environ.get("INFOSPACE_PROVE") == "1"
GROWN = 15
"""What the journal of an undisturbed run grows to: its steps, its calls, and the ends of these."""
MOMENTS = range(1, GROWN) if EVERY else (2, 5, 8, 11)


def grown(path: Path) -> int:
    """How far the journal of a space has grown; 0 before it is there."""
    query = "SELECT (SELECT count(*) FROM steps), count(*), count(*) FILTER (WHERE status != 'started') FROM calls"
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return sum(connection.execute(query).fetchone())
    except sqlite3.OperationalError:
        return 0


def answers(request: dict[str, Any]) -> str:
    """The plan for the goal, a letter for the step that asks for one."""
    wants_plan = any("# Your task" in message["content"] for message in request["messages"])
    return json.dumps(PLAN) if wants_plan else "Dear all."


def begin(searched: Path, path: Path, sent: Path) -> subprocess.Popen[bytes]:
    shutil.copy(searched, path)
    child = Path(__file__).with_name("killed_child.py")
    return subprocess.Popen([sys.executable, str(child), str(path), str(sent)], env=os.environ)


def to_the_end(path: Path, sent: Path) -> tuple[RunResult, list[Any]]:
    """Go on with the run until it has ended; of a call in doubt it is said what the server knows of it."""
    with open_space(path) as space:
        connect(space, sent)
        result = asyncio.run(resume(space, "run_1", agree=yes))
        while result.status == "suspended":
            (pending,) = result.pending
            assert pending.kind == "doubt"
            reached = ("ann" if pending.step == "4" else "bob") in (sent.read_text().split() if sent.exists() else ())
            answer(space, "run_1", pending.step, {"result": "sent"} if reached else "repeat")
            result = asyncio.run(resume(space, "run_1", agree=yes))
        with space.store.reading() as snapshot:
            calls = snapshot.calls("run_1")
            assert len(snapshot.names()) == 3
        told = asyncio.run(replay(space, "run_1")).result
        assert told.status == "success"
    return result, calls


def test_the_journal_grows_as_far_as_these_tests_say(endpoint: Endpoint, searched_file: Path, tmp_path: Path) -> None:
    """Or they would kill what has ended."""
    endpoint.answers = answers
    path, sent = tmp_path / "space.db", tmp_path / "sent.txt"
    assert begin(searched_file, path, sent).wait(120) == 0
    assert grown(path) >= GROWN
    assert sent.read_text().split() == ["ann", "bob"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_goal_goes_on(endpoint: Endpoint, searched_file: Path, tmp_path: Path, moment: int) -> None:
    endpoint.answers = answers
    endpoint.gap, endpoint.pieces = 0.005, 40
    path, sent = tmp_path / "space.db", tmp_path / "sent.txt"
    process = begin(searched_file, path, sent)
    end = time.monotonic() + 120
    while grown(path) < moment:
        assert process.poll() is None, "it ended before it was killed"
        assert time.monotonic() < end
        time.sleep(0.001)
    process.kill()
    process.wait()
    result, calls = to_the_end(path, sent)
    assert result.status == "success", result.reason
    assert result.result is not None
    assert result.result.data == ["first", "Dear all."]
    assert sent.read_text().split() == ["ann", "bob"]
    outer = [row.position for row in result.steps]
    assert len(outer) == len(set(outer)) == 8
    answered = [call for call in calls if call.kind == "llm" and call.status == "success"]
    assert len(answered) == 2
    assert len(endpoint.requests) <= 3


@pytest.mark.parametrize("part", ["mail/send", '"both"'], ids=["early", "late"])
def test_a_goal_that_is_killed_while_its_plan_arrives_is_written_once_more(
    endpoint: Endpoint, searched_file: Path, tmp_path: Path, part: str
) -> None:
    """Steps ran ahead of the plan by then: nothing of them stays, and the plan is asked for as before."""
    endpoint.answers = answers
    endpoint.gap, endpoint.pieces, endpoint.holds_before = 0.02, 10, part
    path, sent = tmp_path / "space.db", tmp_path / "sent.txt"
    process = begin(searched_file, path, sent)
    assert endpoint.holding.wait(120)
    time.sleep(0.3)  # for the steps that run ahead
    assert grown(path) == 1, "the plan has arrived already"
    process.kill()
    process.wait()
    endpoint.gap, endpoint.holds_before = 0.0, ""
    endpoint.goes_on.release()
    result, _ = to_the_end(path, sent)
    assert (result.status, sent.read_text().split()) == ("success", ["ann", "bob"])
    assert endpoint.requests[0]["messages"] == endpoint.requests[1]["messages"]
    assert len(endpoint.requests) == 3
