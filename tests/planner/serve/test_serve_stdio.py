"""The server over standard input and output, started as a client starts it: what it needs, and how it ends."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import open_space

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
from served import left, odd, synced, until, write
from serving import command, is_alive, over_stdio, raw_stdio

SLOW = {"steps": [{"type": "create-note", "value": "first", "out": "$x"}, {"type": "wait", "seconds": 60}]}


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_server_though_its_input_stays_open(tmp_path: Path, number: int, code: int) -> None:
    with raw_stdio(tmp_path / "space.db") as server:
        server.send_signal(number)
        assert server.wait(300) == code
        assert server.stderr is not None
        assert b"Traceback" not in server.stderr.read()


@pytest.mark.slow
@pytest.mark.parametrize(("closed", "which"), [("<&-", b"input"), (">&-", b"output")])
def test_what_has_no_input_or_output_is_told_so(tmp_path: Path, closed: str, which: bytes) -> None:
    """As where a service manager starts it that gives it none."""
    line = f"exec {shlex.join(command(tmp_path / 'space.db'))} {closed}"
    done = subprocess.run(
        ["/bin/sh", "-c", line], check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=90
    )
    assert done.returncode == 1
    assert b"there is no standard " + which in done.stderr


@pytest.mark.slow
def test_a_client_that_leaves_ends_its_server_which_cancels_what_runs(tmp_path: Path) -> None:
    """The journal says so, and no process is left behind."""
    space, noted = tmp_path / "space.db", tmp_path / "server.pid"

    async def leave() -> str:
        async with over_stdio(space, noted) as planner:
            run = str((await planner.call("run_plan", plan=SLOW, wait_s=0))["run"])
            await planner.until_bound(run, "x")
            return run

    run = asyncio.run(leave())
    assert not is_alive(int(noted.read_text()))
    with open_space(space) as opened, opened.store.reading() as snapshot:
        assert snapshot.run(run).status == "cancelled"
        assert snapshot.steps(run)[-1].error == "cancelled"


def sent(server: subprocess.Popen[bytes], **message: Any) -> None:
    """Write a message by hand."""
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


@pytest.mark.slow
def test_a_signal_breaks_nothing_off_while_the_servers_of_tools_are_being_ended(tmp_path: Path) -> None:
    """A client that has closed the input sends SIGTERM soon after, and a server that ignores its own needs longer."""
    space, calls = tmp_path / "space.db", tmp_path / "noted.calls"
    mark = str(calls)
    with open_space(space) as opened:
        path = write(tmp_path, stuck=odd("stubborn", mark, trusted=True), quick=odd("plain", mark, trusted=True))
        assert synced(opened, mcp=path).failed == []
    with raw_stdio(space) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}}
        sent(server, id=2, method="initialize", params=client)
        sent(server, method="notifications/initialized")
        for number, tool in ((3, "quick/echo"), (4, "stuck/slow")):
            given = {"tool_name": tool, "arguments": {"text": "x", "until": str(tmp_path / "never")}}
            sent(server, id=number, method="tools/call", params={"name": "execute_tool", "arguments": given})
        while json.loads(server.stdout.readline()).get("id") != 3:
            pass
        until(lambda: "slow" in calls.read_text())
        server.stdin.close()
        until(lambda: not any("odd_server.py plain" in line for line in left(mark)))
        server.send_signal(signal.SIGTERM)
        assert server.wait(300) == 0
        assert left(mark) == []
