"""Where a step fails the rest of a goal's plan is written anew in a fork of the run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint

from infospace import Space, open_space
from infospace.core.errors import Conflict
from infospace.journal.rows import RunRow
from infospace.tools.local import LocalTools
from planner import check_plan, fork
from planner.execute.start import run
from planner.goals.effects import tools_called
from planner.goals.guards import Limits
from planner.goals.resume import resume
from planner.goals.session import GoalSession, do
from planner.inspect.diff import diff
from planner.journal.result import RunResult
from planner.lifecycle.replay import replay

pytestmark = pytest.mark.usefixtures("warm_processes")

KEEPS = {"type": "create-note", "value": [1, 2], "name": "list", "out": "$list"}
FAILS = {"type": "compute", "expression": "1 / length('')", "out": "$x"}
REST = {"steps": [{"type": "size", "target": "$list", "out": "$n"}], "result": "$n"}


def plan(*steps: Any) -> str:
    return json.dumps({"steps": list(steps), "result": steps[-1]["out"]})


def yes(session: GoalSession) -> list[str]:
    return tools_called(session.effects())


def reach(space: Space, **more: Any) -> RunResult:
    return asyncio.run(do(space, "reach it", yes, **more))


def runs(space: Space) -> list[RunRow]:
    with space.store.reading() as snapshot:
        return sorted(snapshot.runs(), key=lambda row: int(row.run.removeprefix("run_")))


@pytest.fixture
def mail(space: Space) -> list[str]:
    sent: list[str] = []
    server = LocalTools("mail")

    @server.tool()
    async def send(to: str) -> str:
        """Send a mail."""
        sent.append(to)
        return f"sent to {to}"

    space.tools.add(server)
    return sent


def test_the_failed_run_ends_and_its_fork_has_what_was_done_before(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(plan(KEEPS, FAILS), json.dumps(REST))
    result = reach(space)
    assert (result.run, result.status) == ("run_2", "success")
    first, second = runs(space)
    assert (first.status, second.status, second.forked) == ("failed", "success", "run_1")
    assert (first.reason or "").endswith("; run_2 goes on")
    assert second.goal == "reach it (fork of run_1)"
    with space.store.reading() as snapshot:
        steps = [(row.position, row.type, row.extra.get("forked")) for row in snapshot.steps("run_2")]
        made = space.context().get("list").created_by.run
        spent = [(call.run, call.kind) for name in ("run_1", "run_2") for call in snapshot.calls(name)]
    assert steps == [
        ("1", "write-plan", "run_1"),
        ("2", "create-note", "run_1"),
        ("3", "write-plan", None),
        ("4", "size", None),
        ("5", "bind", None),
    ]
    assert made == "run_1"
    assert spent == [("run_1", "llm"), ("run_2", "llm")]
    assert "bound as $list" in endpoint.prompts[1]
    assert "Left to spend: 19 turns" in endpoint.prompts[1]


def test_the_two_runs_are_compared_and_replayed_without_a_model(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(plan(KEEPS, FAILS), json.dumps(REST))
    reach(space)
    with space.store.reading() as snapshot:
        found = diff(snapshot, "run_1", "run_2")
    assert [change.position for change in found.steps] == ["3", "4", "5"]
    for name in ("run_1", "run_2"):
        again = asyncio.run(replay(space, name))
        assert again.difference.same, again.difference
    assert len(endpoint.requests) == 2


def test_a_second_failure_is_a_fork_of_the_fork(space: Space, endpoint: Endpoint) -> None:
    other = {"type": "compute", "expression": "2 / length('')", "out": "$y"}
    more = {"type": "create-note", "value": "more", "out": "$more"}
    endpoint.say(plan(KEEPS, FAILS), plan(more, other), json.dumps(REST))
    result = reach(space)
    assert (result.run, result.status) == ("run_3", "success")
    assert [(row.status, row.forked) for row in runs(space)] == [
        ("failed", None),
        ("failed", "run_1"),
        ("success", "run_2"),
    ]
    assert runs(space)[2].goal == "reach it (fork of run_2)"
    assert [row.type for row in result.steps if row.position == "4"] == ["create-note"]
    assert asyncio.run(replay(space, "run_3")).difference.same


def test_a_call_that_was_made_before_the_fork_is_asked_about(space: Space, endpoint: Endpoint, mail: list[str]) -> None:
    send = {"type": "mail/send", "arguments": {"to": "ann"}, "out": "$sent"}
    endpoint.say(plan(send, FAILS), plan(send))
    result = reach(space)
    assert (result.run, result.status, mail) == ("run_2", "suspended", ["ann"])
    assert "step 2 of run_1 called it so already" in result.pending[0].question


def test_calls_of_the_failed_run_count_in_the_budget_of_its_fork(
    space: Space, endpoint: Endpoint, mail: list[str]
) -> None:
    endpoint.say(
        plan({"type": "mail/send", "arguments": {"to": "ann"}, "out": "$a"}, FAILS),
        plan({"type": "mail/send", "arguments": {"to": "bob"}, "out": "$b"}),
    )
    result = reach(space, limits=Limits(calls=1))
    assert (result.status, mail) == ("failed", ["ann"])
    assert "the budget of 1 tool_calls is spent" in (result.reason or "")
    assert "0 calls" in endpoint.prompts[1]


def test_a_fork_whose_process_ended_before_its_plan_goes_on(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(plan(KEEPS, FAILS))

    async def begin() -> str:
        session = GoalSession(space, "reach it")
        await session.write()
        await session.run()
        failure = session.turns()[-1].failure
        assert failure is not None
        await session._fork(failure)
        return str(session.id)

    run = asyncio.run(begin())
    endpoint.say(json.dumps(REST))
    result = asyncio.run(resume(space, run, agree=yes))
    assert (result.run, result.status, len(runs(space))) == (run, "success", 2)
    with pytest.raises(Conflict, match="ended already") as refused:
        asyncio.run(resume(space, "run_1"))
    assert refused.value.hint == "run_2 is the fork that goes on with its goal"


def test_step_by_step_a_failure_is_no_fork(space: Space, endpoint: Endpoint) -> None:
    """Nothing was planned beyond the step that failed."""
    endpoint.say(plan(FAILS), json.dumps({"steps": [{"type": "stop", "value": "done"}]}))
    assert reach(space, mode="steps").status == "stopped"
    assert len(runs(space)) == 1


def test_a_fork_of_a_plan_is_replayed_with_the_calls_that_it_took_over(space: Space, mail: list[str]) -> None:
    document = {
        "steps": [
            {"type": "mail/send", "arguments": {"to": "ann"}, "out": "$sent"},
            {"type": "create-note", "value": "one", "out": "$note"},
        ],
        "result": "$sent",
    }
    assert check_plan(space, document)[1].ok
    first = asyncio.run(run(space, document, approve=["mail/send"]))
    patch = [{"op": "replace", "path": "/steps/1/value", "value": "two"}]
    second = asyncio.run(fork(space, str(first.run), "2", patch, approve=["mail/send"]))
    again = asyncio.run(replay(space, str(second.run)))
    assert again.difference.same, again.difference
    assert mail == ["ann"]


EVERY = os.environ.get("INFOSPACE_PROVE") == "1"
MOMENTS = range(3, 23) if EVERY else range(10, 16)
"""Before which commits the process is killed. A goal whose first plan fails takes 22; the fork comes with the 13th."""


def begin(path: Path, commit: int) -> subprocess.CompletedProcess[str]:
    """Reach the goal in a process of its own, which kills itself before a commit, counted from 1; never with 0."""
    open_space(path).close()
    child = Path(__file__).with_name("killed_fork.py")
    command = [sys.executable, str(child), str(path), str(commit)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def answers(request: dict[str, Any]) -> str:
    """The plan that fails; where that is told, the rest."""
    failed = any("bound as $list" in str(message["content"]) for message in request["messages"])
    return json.dumps(REST) if failed else plan(KEEPS, FAILS)


@pytest.mark.parametrize("commit", MOMENTS)
def test_a_goal_that_is_killed_around_its_fork_goes_on(endpoint: Endpoint, tmp_path: Path, commit: int) -> None:
    """From the run that is left, the fork where there is one: the first step is not done again."""
    endpoint.answers = answers
    path = tmp_path / "space.db"
    done = begin(path, commit)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with open_space(path) as space:
        left = [row.run for row in runs(space) if row.status in ("running", "suspended")]
        assert len(left) == 1
        result = asyncio.run(resume(space, left[0], agree=yes))
        assert result.status == "success", result.reason
        with space.store.reading() as snapshot:
            assert snapshot.names() == ["list"]
            made = [row for one in runs(space) for row in snapshot.steps(one.run) if row.type == "create-note"]
        assert [row.extra.get("forked") for row in made] == [None, "run_1"]
        assert [row.status for row in runs(space)] == ["failed", "success"]
    assert len(endpoint.requests) <= 3


def test_a_goal_that_is_killed_before_its_first_line_is_no_success(endpoint: Endpoint, tmp_path: Path) -> None:
    """Its run is there and has nothing: that is said, and it can be ended."""
    endpoint.answers = answers
    path = tmp_path / "space.db"
    assert begin(path, 2).returncode == -signal.SIGKILL
    with open_space(path) as space:
        with pytest.raises(Conflict, match="cut off before anything was written for its goal") as refused:
            asyncio.run(resume(space, "run_1", agree=yes))
        assert refused.value.hint == "give the goal again; `infospace cancel run_1` ends the run"
        assert [row.status for row in runs(space)] == ["running"]
    assert not endpoint.requests
