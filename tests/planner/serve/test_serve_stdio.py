"""The server over standard input and output, started as a client starts it: what it needs, and how it ends."""

from __future__ import annotations

import asyncio
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from infospace import open_space

sys.path.insert(0, str(Path(__file__).parent))
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
