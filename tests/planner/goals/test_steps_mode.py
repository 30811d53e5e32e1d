"""The mode `steps`: the model writes a step, sees what it gave, and writes the next; journalled like any run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint, Hang

from infospace import Space, open_space
from infospace.journal.rows import StepRow
from planner.goals.effects import tools_called
from planner.goals.resume import resume
from planner.goals.session import ApprovalUnavailable, GoalSession, do
from planner.goals.turns import MAX_PROGRESS, RECENT, SHORT_PREVIEW, Turn, progress_of
from planner.journal.result import RunResult
from planner.lifecycle.replay import replay

pytestmark = pytest.mark.usefixtures("warm_processes")


def step(kind: str, **fields: Any) -> str:
    return json.dumps({"steps": [{"type": kind, **fields}]})


LIST = step("create-collection", value=["a", "b", "c"], out="$letters")
SIZE = step("size", target="$letters", out="$n")
STOP = step("stop", value="$n")


def yes(session: GoalSession) -> list[str]:
    return tools_called(session.effects())


def reach(space: Space, **more: Any) -> RunResult:
    return asyncio.run(do(space, "count the letters", yes, mode="steps", **more))


def test_each_step_is_written_after_the_one_before_it_was_run(space: Space, endpoint: Endpoint) -> None:
    """The model is told what a step gave as a preview, and by which variable it is read."""
    endpoint.say(LIST, SIZE, STOP)
    result = reach(space)
    assert (result.status, result.result and result.result.data) == ("stopped", 3)
    first, second, third = endpoint.prompts
    assert "already" not in first
    assert 'step 2 create-collection {"value":["a","b","c"]}: success gave Collection_' in second
    assert "bound as $letters: 3 notes" in second
    assert "Variables that are bound already: $letters (Collection)" in second
    assert "$n (Note)" in third


def test_previews_alone_are_told_however_much_a_step_gave(space: Space, endpoint: Endpoint) -> None:
    """Also after many steps: each is told by its beginning, and the prompt keeps to its bound."""
    texts = [step("create-note", value=f"{number} " + "word " * 5_000, out=f"$x{number}") for number in range(15)]
    endpoint.say(*texts, STOP.replace("$n", "$x0"))
    assert reach(space).status == "stopped"
    last = endpoint.requests[-1]["messages"]
    assert sum(len(message["content"]) for message in last) <= 6_000 * 4
    assert "step 2 create-note" in last[-1]["content"]
    assert "step 30 create-note" in last[-1]["content"]
    lines = [line for line in last[-1]["content"].splitlines() if line.startswith("step ")]
    assert [len(line) > 2 * SHORT_PREVIEW + 100 for line in lines] == [False] * 11 + [True] * RECENT


def test_the_earliest_of_very_many_steps_are_left_out_and_counted() -> None:
    """What is told of them all is bounded."""
    at = "2026-04-01T09:30:00.123Z"
    rows = tuple(
        StepRow(
            "run_1", place, str(place), "create-note", "success", at, 1.0, out="x", resource="Note_1", value="w" * 99
        )
        for place in range(1, 101)
    )
    lines: dict[str, Any] = {row.position: {"type": "create-note", "value": "v" * 99, "out": "$x"} for row in rows}
    told = progress_of([Turn("run_1", {"steps": []}, lines, rows)]).splitlines()
    left = [line for line in told if line.startswith("step ")]
    assert told[0] == f"({100 - len(left)} earlier steps are left out)"
    assert told[1:] == [*left, "Nothing of it is done again. A result is read by its variable."]
    assert left[0].startswith(f"step {101 - len(left)} create-note ")
    assert MAX_PROGRESS - 300 < len("\n".join(left)) <= MAX_PROGRESS


def test_of_several_steps_the_first_is_run_alone(space: Space, endpoint: Endpoint) -> None:
    """Those after it were written before anybody saw what it gives."""
    both = json.dumps({"steps": [json.loads(LIST)["steps"][0], {"type": "remove", "target": "$letters"}]})
    endpoint.say(both, SIZE, STOP)
    result = reach(space)
    assert [row.type for row in result.steps if row.type != "write-plan"] == ["create-collection", "size", "stop"]
    assert len(endpoint.requests) == 3


def test_a_step_reads_what_earlier_steps_and_inputs_bound(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(step("compute", expression="$least + 1", out="$n"), STOP)
    result = reach(space, inputs={"least": 41})
    assert (result.status, result.result and result.result.data) == ("stopped", 42)


def test_a_step_that_fails_is_told_and_another_one_is_written(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(LIST, step("compute", expression="1 / length('')", out="$n"), SIZE, STOP)
    result = reach(space)
    assert (result.status, result.result and result.result.data) == ("stopped", 3)
    assert "The last plan failed at step 4: " in endpoint.prompts[2]
    assert "divides by zero" in endpoint.prompts[2]


def test_a_step_that_is_wrong_is_mended_before_it_runs(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(LIST, SIZE.replace("$letters", "$numbers"), SIZE, STOP)
    assert reach(space).status == "stopped"
    assert "The check refuses this plan" in endpoint.prompts[2]
    assert "$numbers is not bound before this step" in endpoint.prompts[2]


def test_a_goal_that_cannot_be_reached_ends_with_the_models_reason(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(step("stop", status="failed", value="there is no such note"))
    result = reach(space)
    assert (result.status, result.result and result.result.data) == ("failed", "there is no such note")


def test_each_step_that_writes_is_agreed_to(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(LIST, step("create-note", value="x", name="kept", out="$k"), STOP)
    asked: list[int] = []

    def no(session: GoalSession) -> list[str] | None:
        asked.append(len(session.effects()))
        return None if session.effects() else []

    result = asyncio.run(do(space, "keep it", no, mode="steps"))
    assert (result.status, asked) == ("cancelled", [0, 1])
    with space.store.reading() as snapshot:
        assert snapshot.named("kept") is None


def test_a_replay_asks_no_model_and_gives_the_same(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(LIST, SIZE, STOP)
    run = str(reach(space).run)
    told = asyncio.run(replay(space, run))
    assert (told.result.status, told.result.result and told.result.result.data) == ("stopped", 3)
    assert len(endpoint.requests) == 3


def test_what_nobody_agreed_to_waits_in_a_resumed_run(space: Space, endpoint: Endpoint) -> None:
    """The process ended between the plan and the word."""
    endpoint.say(step("create-note", value="x", name="kept", out="$n"))

    async def begun() -> str:
        session = GoalSession(space, "keep it", mode="steps")
        await session.write()
        return str(session.id)

    run = asyncio.run(begun())
    with pytest.raises(ApprovalUnavailable, match="writes or calls, and nobody could be asked"):
        asyncio.run(resume(space, run))
    with space.store.reading() as snapshot:
        assert snapshot.named("kept") is None
    endpoint.say(STOP)
    assert asyncio.run(resume(space, run, agree=yes)).status == "stopped"
    assert len(endpoint.requests) == 2


def rows(path: Path) -> int:
    """How many rows the journal of a space has, of steps and calls; 0 where there is none yet."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return int(
                connection.execute("SELECT (SELECT count(*) FROM steps) + (SELECT count(*) FROM calls)").fetchone()[0]
            )
    except sqlite3.Error:
        return 0


WRITES = [
    step("create-note", value="first", name="first", out="$a"),
    step("create-note", value="second", name="second", out="$b"),
    step("create-collection", value=["$a", "$b"], out="$n"),
    STOP,
]


@pytest.mark.parametrize("growth", range(1, 8) if os.environ.get("INFOSPACE_PROVE") == "1" else (1, 4, 6))
def test_a_killed_run_goes_on_with_nothing_twice(endpoint: Endpoint, tmp_path: Path, growth: int) -> None:
    """Killed when its journal has so many rows: no journalled answer is asked for again, and no step is repeated."""
    answers = list(WRITES)
    endpoint.answers = lambda request: answers[sum(a is not None for a in told(request))]
    endpoint.gap, endpoint.pieces = 0.02, 40
    path = tmp_path / "space.db"
    open_space(path).close()
    process = subprocess.Popen(
        [sys.executable, "-m", "tui.command", "--space", str(path), "do", "keep two notes", "--mode", "steps", "--yes"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ,
    )
    end = time.monotonic() + 100
    while rows(path) < growth and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with open_space(path) as space:
        result = asyncio.run(resume(space, "run_1", agree=yes))
        with space.store.reading() as snapshot:
            calls = snapshot.calls("run_1")
        assert (result.status, len(space.context().items(space.context().get(result.result.resource_id)))) == (
            "stopped",
            2,
        )
        outer = [row.position for row in result.steps]
        assert len(outer) == len(set(outer)) == 8
    answered = [call for call in calls if call.status == "success"]
    assert len(answered) == 4
    assert len(endpoint.requests) <= 5


def told(request: dict[str, Any]) -> list[str | None]:
    """The steps that a request says were done."""
    text = request["messages"][-1]["content"]
    return [line for line in text.splitlines() if line.startswith("step ")]


def test_a_run_that_was_killed_while_the_model_wrote_asks_once_more(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.say(LIST, Hang())
    path = tmp_path / "space.db"
    process = subprocess.Popen(
        [sys.executable, "-m", "tui.command", "--space", str(path), "do", "count", "--mode", "steps"],
        stderr=subprocess.DEVNULL,
        env=os.environ,
    )
    end = time.monotonic() + 100
    while len(endpoint.requests) < 2:
        assert time.monotonic() < end
        time.sleep(0.02)
    process.kill()
    process.wait()
    endpoint.say(SIZE, STOP)
    with open_space(path) as space:
        result = asyncio.run(resume(space, "run_1"))
    assert (result.status, result.result and result.result.data) == ("stopped", 3)
    assert len(endpoint.requests) == 4
