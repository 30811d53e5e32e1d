"""A planner at the server from its first question to the morning after a crash, over both of its doors."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from infospace import open_space
from planner.server.truncate import DATA

sys.path.insert(0, str(Path(__file__).parent))
from scenes import (
    WRONG,
    answers,
    asks_for_the_language,
    finds_its_session_again,
    follows_a_slow_run,
    is_asked,
    looks_around,
    looks_for_notes,
    reads_what_is_long,
    works_in_a_session,
    writes_a_plan,
)
from serving import LANGUAGE, Planner, is_alive, over_http, over_stdio, planners

MOST = {
    "describe_primitives": LANGUAGE,
    "the prompt": LANGUAGE,
    "discover_notes": 12_000,
    "check_plan": 1_500,
    "run_plan": 4_000,
    "get_run": 3_000,
    "answer_run": 3_000,
    "cancel_run": 1_500,
    "run_steps": 3_000,
    "list_bindings": 1_000,
    "read": DATA + 500,
    "a page of resources": 12_000,
    "a resource": 4_000,
}
"""Characters that any answer of a kind has in this scenario, at most: about twice what it has."""
IN_ALL = 200_000
"""Characters that a planner reads in the whole scenario, at most."""


async def main_part(planner: Planner) -> tuple[str, Any]:
    """All that a planner does with one server; return a run that waits for an answer, and the right plan."""
    await asks_for_the_language(planner)
    await looks_for_notes(planner)
    right = await writes_a_plan(planner)
    await follows_a_slow_run(planner)
    await answers(planner, await is_asked(planner))
    await reads_what_is_long(planner)
    waiting = await is_asked(planner)
    await looks_around(planner, waiting)
    return waiting, right


@pytest.fixture
def space(sample_file: Path, tmp_path: Path) -> Path:
    """A space of the sample notes."""
    path = tmp_path / "space.db"
    shutil.copy(sample_file, path)
    return path


@contextmanager
def measured(capsys: pytest.CaptureFixture[str]) -> Iterator[list[tuple[str, int]]]:
    """Give a list of how long each answer was; print it, and see that none was long."""
    read: list[tuple[str, int]] = []
    yield read
    with capsys.disabled():
        print(f"\n{Planner(None, read).table()}")  # type: ignore[arg-type]  # noqa: T201
    assert [(tool, size) for tool, size in read if size > MOST[tool]] == []
    assert sum(size for _, size in read) < IN_ALL


@pytest.mark.slow
def test_a_planner_gets_its_work_done_and_finds_it_again_after_a_kill(
    space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over standard input and output; a session and a question outlive the server that is killed."""
    noted = tmp_path / "server.pid"

    async def first(read: list[tuple[str, int]]) -> tuple[str, str]:
        async with over_stdio(space, noted) as planner:
            waiting, _ = await main_part(planner)
            session = await works_in_a_session(planner)
            read.extend(planner.read)
            assert planner.told
            os.kill(int(noted.read_text()), signal.SIGKILL)
            with pytest.raises(MCPError, match="Connection closed"):
                await planner.client.call_tool("get_run", {"run": session, "wait_s": 60})
            return session, waiting

    async def second(session: str, waiting: str) -> list[tuple[str, int]]:
        async with over_stdio(space, noted) as planner:
            await finds_its_session_again(planner, session)
            await answers(planner, waiting)
            return planner.read

    with measured(capsys) as read:
        session, waiting = asyncio.run(first(read))
        read.extend(asyncio.run(second(session, waiting)))
    assert not is_alive(int(noted.read_text()))
    with open_space(space) as opened:
        assert opened.store.check() == []


@pytest.mark.slow
def test_over_http_a_planner_does_the_same_and_the_command_says_the_same(
    space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the bearer token, and not with another; checks and runs are told in the shape of the command's JSON."""
    with over_http(space) as served, measured(capsys) as read:

        async def with_another_token() -> None:
            async with planners(served, token="not-the-token-of-this-server"):  # noqa: S106 - it opens nothing
                pass

        async def play() -> tuple[Any, Any, Any]:
            async with planners(served) as [planner]:
                waiting, right = await main_part(planner)
                await answers(planner, waiting)
                read.extend(planner.read)
                check = await planner.call("check_plan", plan=WRONG)
                return right, check, await planner.call("run_plan", plan=right)

        with pytest.raises(BaseExceptionGroup, match="unhandled errors in a TaskGroup"):
            asyncio.run(with_another_token())
        right, check, run = asyncio.run(play())
    said = command("check", WRONG, space, tmp_path, 3)
    assert check == said
    said = command("run", right, space, tmp_path, 0)
    assert keys(run) == keys(said)
    assert run["result"]["data"] == said["result"]["data"]
    assert [(step["step"], step["type"], step["out"]) for step in run["steps"]] == [
        (step["step"], step["type"], step["out"]) for step in said["steps"]
    ]


def command(name: str, plan: Any, space: Path, folder: Path, code: int) -> Any:
    """Return what `infospace NAME PLAN --json` prints."""
    file = folder / "plan.json"
    file.write_text(json.dumps(plan))
    words = [sys.executable, "-m", "tui.command", "--space", str(space), name, str(file), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=90)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def keys(answer: Any) -> Any:
    """Return the fields of a run's answer: its own, its result's, its bindings' and its steps'."""
    bindings, steps = answer["bindings"], answer["steps"]
    return (
        [*answer],
        [*answer["result"]],
        {name: [*binding] for name, binding in bindings.items()},
        [[key for key in step if key != "left_out"] for step in steps],
    )
