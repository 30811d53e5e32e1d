"""A planner at the server over standard input and output, from its first question to the morning after a crash."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from infospace import open_space
from infospace.jsontext import dump
from planner.patches import patched
from planner.serve.stdio import LONGEST_LINE

sys.path.insert(0, str(Path(__file__).parent))
from serving import Planner, command, is_alive, over_stdio

WRONG = {
    "goal": "titles of the decisions about ranking",
    "steps": [
        {"type": "discover-note", "query": "decisions about ranking", "limit": "all", "out": "$decisions"},
        {"type": "pluck", "target": "$decisions", "field": "metadata.titel", "out": "$titles"},
    ],
    "result": "$title",
}
SLOW = {"steps": [{"type": "create-note", "value": "first", "out": "$x"}, {"type": "wait", "seconds": 60}]}
TEXTS = [f"{number}: {'lorem ipsum ' * 40}" for number in range(60)]


async def mend(planner: Planner, plan: Any) -> Any:
    """Apply fixes, one after the other, until the check has nothing against the plan."""
    for _ in range(5):
        answer = await planner.call("check_plan", plan=plan)
        if answer["ok"]:
            return plan
        fix = next(problem["fix"] for problem in answer["problems"] if problem["fix"])
        plan = patched(plan, fix)
    raise AssertionError(plan)


async def whole(planner: Planner, ref: str, **arguments: Any) -> list[Any]:
    """Read all of something in pieces."""
    piece = await planner.call("read", ref=ref, **arguments)
    pieces = [piece]
    while piece["next"] is not None:
        piece = await planner.call("read", ref=ref, slice=piece["next"], **arguments)
        pieces.append(piece)
    return pieces


async def writes_a_plan(planner: Planner) -> None:
    """Ask for the language, write a wrong plan, mend it, run it."""
    assert "discover-notes" in await planner.call("describe_primitives")
    assert "metadata.title" in await planner.call("describe_primitives", names=["pluck", "if"])
    answer = await planner.call("run_plan", plan=WRONG)
    assert (answer["status"], answer["run"]) == ("refused", None)
    right = await mend(planner, WRONG)
    answer = await planner.call("run_plan", plan=right)
    assert answer["status"] == "success", answer
    assert any("Decision" in title for title in answer["result"]["data"])


async def follows_a_slow_run(planner: Planner) -> None:
    """Be told that it is running, look at it, cancel it."""
    answer = await planner.call("run_plan", plan=SLOW, wait_s=0)
    assert (answer["status"], answer["result"]) == ("running", None)
    answer = await planner.until_bound(answer["run"], "x")
    assert (answer["status"], [step["step"] for step in answer["steps"]]) == ("running", ["1"])
    answer = await planner.call("cancel_run", run=answer["run"])
    assert (answer["status"], answer["steps"][-1]["reason"]) == ("cancelled", "the step was broken off")
    assert "has ended already" in await planner.wrong("cancel_run", run=answer["run"])


async def reads_what_is_long(planner: Planner) -> None:
    """Data above the bound is left out, and read in pieces that make it up exactly."""
    plan = [{"type": "create-collection", "value": TEXTS, "out": "$c"}, {"type": "flatten", "target": "$c"}]
    answer = await planner.call("run_plan", plan=plan)
    result = answer["result"]
    assert "data" not in result
    assert result["data_omitted"]["read"] == result["resource_id"]
    text = "".join(piece["data"] for piece in await whole(planner, result["resource_id"]))
    assert text == "\n\n".join(TEXTS)
    pieces = await whole(planner, answer["bindings"]["c"]["id"], max_chars=3_000)
    assert [item["content"] for piece in pieces for item in piece["data"]] == TEXTS
    assert all(len(dump(piece["data"])) <= 3_200 for piece in pieces)


async def works_in_a_session(planner: Planner) -> str:
    """Bind step by step; what is refused or fails leaves the session as it was. Begin steps that outlast the server."""
    one = [{"type": "create-note", "value": [1, 2, 3], "out": "$x"}]
    two = [{"type": "split", "target": "$x", "out": "$c"}, {"type": "size", "target": "$c", "out": "$n"}]
    run = (await planner.call("run_steps", session="work", steps=one))["run"]
    answer = await planner.call("run_steps", session="work", steps=[*two, {"type": "say", "value": "$nothing"}])
    assert (answer["status"], [p["pointer"] for p in answer["problems"]]) == ("refused", ["/2/value"])
    assert answer["bindings"].keys() == {"x"}
    failing = [{"type": "load", "target": "$x", "slice": "0:1", "out": "$y"}, {"type": "load", "target": "$y[4]"}]
    answer = await planner.call("run_steps", session="work", steps=failing)
    assert (answer["status"], answer["bindings"].keys()) == ("failed", {"x", "y"})
    slow = [*two, {"type": "wait", "seconds": 60}]
    answer = await planner.call("run_steps", session="work", steps=slow, wait_s=0)
    assert (answer["status"], answer["run"]) == ("running", run)
    await planner.until_bound(run, "n")
    return str(run)


async def finds_its_session_again(planner: Planner, run: str) -> None:
    """All that had ended is bound; steps go on, under the same run, and it is said what was broken off."""
    bindings = (await planner.call("list_bindings", session="work"))["bindings"]
    assert bindings.keys() == {"x", "y", "c", "n"}
    assert bindings["n"]["value"] == "3"
    answer = await planner.call("get_run", run=run)
    assert (answer["status"], answer["bindings"].keys()) == ("suspended", {"x", "y", "c", "n"})
    answer = await planner.call("run_steps", session="work", steps=[{"type": "create-note", "value": "${n}!"}])
    assert (answer["run"], answer["status"], answer["result"]["data"]) == (run, "success", "3!")
    assert [step["step"] for step in answer["steps"]] == ["7"]
    assert "step 6 (wait)" in answer["reason"]
    assert (await planner.call("get_run", run=run))["status"] == "success"


@pytest.mark.slow
def test_a_planner_gets_its_work_done_and_finds_it_again_after_a_kill(
    sample_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plans mended by fixes, a slow run cancelled, a long result in pieces, a session that outlives its server."""
    space, noted = tmp_path / "space.db", tmp_path / "server.pid"
    shutil.copy(sample_file, space)
    read: list[tuple[str, int]] = []

    async def first() -> str:
        async with over_stdio(space, noted) as planner:
            await writes_a_plan(planner)
            await follows_a_slow_run(planner)
            await reads_what_is_long(planner)
            run = await works_in_a_session(planner)
            read.extend(planner.read)
            assert planner.told
            os.kill(int(noted.read_text()), signal.SIGKILL)
            with pytest.raises(MCPError):
                await planner.client.call_tool("get_run", {"run": run, "wait_s": 60})
            return run

    async def second(run: str) -> None:
        async with over_stdio(space, noted) as planner:
            await finds_its_session_again(planner, run)
            read.extend(planner.read)

    run = asyncio.run(first())
    asyncio.run(second(run))
    assert not is_alive(int(noted.read_text()))
    with capsys.disabled():
        print(f"\n{Planner(None, read).table()}")  # type: ignore[arg-type]  # noqa: T201
    with open_space(space) as opened:
        assert opened.store.check() == []


def raw(space: Path) -> subprocess.Popen[bytes]:
    """Return a server to which every byte is written by hand, once it has answered."""
    server = subprocess.Popen(
        command(space), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n")
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["id"] == 1
    return server


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_server_though_its_input_stays_open(tmp_path: Path, number: int, code: int) -> None:
    with raw(tmp_path / "space.db") as server:
        server.send_signal(number)
        assert server.wait(60) == code
        assert server.stderr is not None
        assert b"Traceback" not in server.stderr.read()


@pytest.mark.slow
def test_a_message_that_is_too_long_ends_the_connection_and_is_told(tmp_path: Path) -> None:
    """Nobody can tell which request it was, so nobody could answer it."""
    with raw(tmp_path / "space.db") as server:
        _, said = server.communicate(b"x" * (LONGEST_LINE + 70_000), timeout=60)
        assert server.returncode == 0
        assert b"is longer than" in said


@pytest.mark.slow
def test_a_client_that_leaves_ends_its_server_which_cancels_what_runs(tmp_path: Path) -> None:
    """The journal says so, and no process is left behind."""
    space, noted = tmp_path / "space.db", tmp_path / "server.pid"

    async def leave() -> str:
        async with over_stdio(space, noted) as planner:
            return str((await planner.call("run_plan", plan=SLOW, wait_s=0))["run"])

    run = asyncio.run(leave())
    assert not is_alive(int(noted.read_text()))
    with open_space(space) as opened, opened.store.reading() as snapshot:
        assert snapshot.run(run).status == "cancelled"
        assert snapshot.steps(run)[-1].error == "cancelled"
