"""The server at its clients: how long a check and a run take from call to answer, and fifty clients at once.

The clients are the official ones, all in one process: of fifty at once the time of a call holds the waiting for the
49 others, at both ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from figures import Cell, Table, percentile, spread
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from processes import interpreter, surroundings

TOKEN = "a-token-for-the-benchmark"  # noqa: S105 - it opens nothing but what is served here
CALLS, CLIENTS, EACH = 60, 50, 10
STEPS = 20
CHECK, RUN = f"check_plan of {STEPS} steps", "run_plan of one pure step"
MANY = f"{CLIENTS} clients at once, {EACH} runs each"
STDIO, HTTP = "stdio", "HTTP"
P50, P99, LOST, CPU = "p50", "p99", "lost", "the server's CPU"
WARM = 5
MODES = ("legacy", "2026-07-28")
"""A client of each protocol, in turns."""


def run(folder: Path) -> dict[str, Table]:
    """Return the table `serving`, in milliseconds; `lost` counts runs whose answer was not its own client's."""
    return {"serving": asyncio.run(_measured(folder))}


async def _measured(folder: Path) -> Table:
    plans = {CHECK: ("check_plan", {"plan": _chain(STEPS)}), RUN: ("run_plan", {"plan": _chain(1), "wait_s": 60})}
    table: Table = {}
    command = _command(folder / "stdio.db")
    async with Client(StdioServerParameters(command=command[0], args=command[1:], env=surroundings())) as client:
        for name, (tool, arguments) in plans.items():
            table[f"{name}, {STDIO}"] = _row(await _times(client, tool, arguments))
    async with _served(folder / "http.db") as served:
        async with served.connect(MODES[-1:]) as [client]:
            for name, (tool, arguments) in plans.items():
                before = served.cpu_ms()
                row = _row(await _times(client, tool, arguments))
                table[f"{name}, {HTTP}"] = {**row, CPU: (served.cpu_ms() - before) / (WARM + CALLS)}
        async with served.connect([MODES[number % 2] for number in range(CLIENTS)]) as clients:
            before = served.cpu_ms()
            found = await asyncio.gather(*(_own_runs(client, number) for number, client in enumerate(clients)))
            cpu = (served.cpu_ms() - before) / (CLIENTS * EACH)
    times = [taken for each, _ in found for taken in each]
    table[MANY] = {**_row(times), CPU: cpu, LOST: CLIENTS * EACH - sum(right for _, right in found)}
    return table


def _chain(steps: int) -> dict[str, Any]:
    first = {"type": "create-note", "value": 1, "out": "$x1"}
    others = [
        {"type": "compute", "expression": f"$x{number} + 1", "out": f"$x{number + 1}"} for number in range(1, steps)
    ]
    return {"steps": [first, *others]}


def _row(times: Sequence[float]) -> dict[str, Cell]:
    return {P50: spread(times).p50, P99: percentile(times, 0.99), "most": max(times)}


async def _times(client: Client, tool: str, arguments: dict[str, Any]) -> list[float]:
    """Call one after another; return the milliseconds of each, the first few left out."""
    return [taken for taken, _ in [await _timed(client, tool, arguments) for _ in range(WARM + CALLS)]][WARM:]


async def _timed(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    answer = await client.call_tool(tool, arguments)
    taken = (time.perf_counter() - began) * 1000
    document = json.loads(answer.content[0].text)  # type: ignore[union-attr]
    if answer.is_error or document.get("status", "success") != "success" or not document.get("ok", True):
        raise RuntimeError(f"{tool}: {document}")
    return taken, document


async def _own_runs(client: Client, number: int) -> tuple[list[float], int]:
    """Run plans whose results only this client's can be; return the times, and how many answers were its own."""
    times, right = [], 0
    for turn in range(EACH):
        own = f"client {number}, run {turn}"
        plan = {"steps": [{"type": "create-note", "value": own, "out": "$x"}]}
        taken, document = await _timed(client, "run_plan", {"plan": plan, "wait_s": 60})
        times.append(taken)
        right += document["result"]["data"] == own
    return times, right


def _command(space: Path, *words: str) -> list[str]:
    python = str(interpreter())
    return [python, "-m", "tui.command", "--space", str(space), "serve", "--tools", "full", *words]


class Served(NamedTuple):
    """A server's process, and what connects clients of some protocols to it."""

    process: int
    connect: Callable[[Sequence[str]], Any]

    def cpu_ms(self) -> float:
        """Return the milliseconds of CPU that it has taken, in steps of ten; 0 where the system does not say."""
        stat = Path(f"/proc/{self.process}/stat")
        if not stat.exists():
            return 0.0
        user, system = stat.read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) * 1000 / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def _served(space: Path) -> AsyncIterator[Served]:
    """Serve over HTTP in a process of its own."""
    command = _command(space, "--http", "0")
    environment = {**surroundings(), "INFOSPACE_TOKEN": TOKEN}
    process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    try:
        first = (await process.stderr.readline()).decode()
        if not first.startswith("serving on "):
            raise RuntimeError(first + (await process.stderr.read()).decode())
        url = first.split()[-1]

        @asynccontextmanager
        async def connect(modes: Sequence[str]) -> AsyncIterator[list[Client]]:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
            async with (
                httpx2.AsyncClient(headers=headers, timeout=300, limits=limits) as http,
                AsyncExitStack() as stack,
            ):
                made = [Client(streamable_http_client(url, http_client=http), mode=mode) for mode in modes]
                yield [await stack.enter_async_context(one) for one in made]

        yield Served(process.pid, connect)
    finally:
        process.kill()
        await process.wait()
