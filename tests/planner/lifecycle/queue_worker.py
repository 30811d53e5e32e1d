"""A worker process with tools that write down each call, and that are told to kill it, or to hold it up.

Arguments: the address of the space, the ledger (a file), and what `outside/look` does: nothing, or `kill`, or `hold`
until the file LEDGER.go is there. `before N` and `after N` kill the worker at its commit of this number;
`ready` has it say when it begins to work, and take 0.1 s for each `outside/send`. The text `dies` has `outside/send`
write its line and be killed.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from infospace import Space, open_space
from infospace.journal.rows import Entry
from infospace.store.changes import Change
from infospace.tools.local import LocalTools
from planner.lifecycle.work import Worker
from tui.command.runs.work import stopping


def kill_at(space: Space, when: str, number: int) -> None:
    """Kill the process before, or after, the commit of a number."""
    commit, numbers = space.store.commit, itertools.count(1)

    def counted(changes: Sequence[Change], entries: Sequence[Entry] = ()) -> int:
        here = next(numbers) == number
        if here and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        generation = commit(changes, entries)
        if here:
            os.kill(os.getpid(), signal.SIGKILL)
        return generation

    space.store.commit = counted


async def work(address: str, ledger: Path, mode: str) -> None:
    """Work off the queues until nothing is due."""
    outside = LocalTools("outside")

    @outside.tool(destructive=True)
    async def send(to: str) -> str:
        """Send something that nobody takes back."""
        with ledger.open("a") as file:
            file.write(f"{to}\n")
        if to == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if mode == "ready":
            await asyncio.sleep(0.1)
        return to

    @outside.tool(read_only=True)
    async def look() -> str:
        """Look at something, and be killed meanwhile."""
        if mode == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if mode == "hold":
            print("here", flush=True)  # noqa: T201
            while not ledger.with_suffix(".go").exists():  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.02)
        return "seen"

    with open_space(address) as space:
        space.tools.add(outside)
        if mode == "ready":
            print("here", flush=True)  # noqa: T201
        if mode.startswith(("before ", "after ")):
            when, _, number = mode.partition(" ")
            kill_at(space, when, int(number))
        worker = Worker(space)
        with stopping(worker.stop):
            print(await worker.work(once=True), flush=True)  # noqa: T201


asyncio.run(work(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
