"""Workers are killed at any moment, again and again: no accepted run is lost, and no call is made twice.

With INFOSPACE_PROVE=1 there are 300 kills on each store; INFOSPACE_SEED says when they come.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from teams import Team

from infospace import Space, open_space
from infospace.tools.local import LocalTools
from planner.lifecycle.resume import answer, pending_of, resume

pytestmark = pytest.mark.usefixtures("warm_processes")

PROVE = os.environ.get("INFOSPACE_PROVE") == "1"
KILLS = 300 if PROVE else 8
WORKERS = 3
WAITING = 12
LONGEST = 0.3
"""Seconds until a worker is killed, at most: so many as some of these runs take."""

PATIENCE = 300


def noting(ledger: Path) -> LocalTools:
    """The tools of the workers, here."""
    outside = LocalTools("outside")

    @outside.tool()
    async def send(to: str) -> str:
        """Send something that nobody takes back."""
        with ledger.open("a") as file:
            file.write(f"{to}\n")
        return to

    @outside.tool(read_only=True)
    async def look() -> str:
        """Look at something."""
        return "seen"

    return outside


class Killing:
    """Enqueues runs, starts workers, kills them, and answers what their runs ask."""

    def __init__(self, team: Team, chance: random.Random) -> None:
        self.team, self.chance = team, chance
        self.runs: list[str] = []
        self.sent: list[str] = []
        self.answered: set[tuple[str, str | None]] = set()
        self.kills = self.doubts = self.set_aside = 0

    def enqueue(self) -> None:
        """Let three calls with a look between them wait."""
        names = [f"plan{len(self.runs)}.{step}" for step in (1, 3, 4)]
        sends = [{"type": "outside/send", "arguments": {"to": name}} for name in names]
        self.sent += names
        self.runs.append(self.team.enqueue(sends[0], {"type": "outside/look", "arguments": {}}, *sends[1:]))

    def start(self) -> tuple[subprocess.Popen[str], float]:
        """Start a worker that has opened the space; return it with the time at which it is killed."""
        worker = self.team.start("ready")
        assert worker.stdout is not None
        assert worker.stdout.readline() == "here\n"
        return worker, time.monotonic() + self.chance.uniform(0, LONGEST)

    def kill(self, worker: subprocess.Popen[str]) -> None:
        """Kill a worker; it counts where it had not ended by itself."""
        worker.kill()
        worker.communicate(timeout=PATIENCE)
        self.kills += worker.returncode < 0

    def settle(self, space: Space) -> None:
        """Answer each doubt by what the ledger says, and resume what was set aside."""
        for run in self.runs:
            with self.team.space.store.reading() as snapshot:
                row, asked = snapshot.run(run), pending_of(snapshot.steps(run))
            if row.status != "suspended":
                continue
            calls = self.team.calls()
            for one in asked:
                assert one.kind == "doubt", one
                if (run, one.key) in self.answered:
                    continue
                name = f"plan{self.runs.index(run)}.{one.step}"
                answer(self.team.space, run, one.step, {"result": name} if name in calls else "repeat")
                self.answered.add((run, one.key))
                self.doubts += 1
            if not asked and "it is set aside" in (row.reason or ""):
                asyncio.run(resume(space, run))
                self.set_aside += 1


@pytest.mark.timeout(3_600 if PROVE else 600)
def test_workers_are_killed_at_any_moment(team: Team) -> None:
    killing = Killing(team, random.Random(os.environ.get("INFOSPACE_SEED", "31")))  # noqa: S311
    with open_space(team.address) as space:
        space.tools.add(noting(team.ledger))
        workers: list[tuple[subprocess.Popen[str], float]] = []
        while killing.kills < KILLS:
            while len(team.queued()) < WAITING:
                killing.enqueue()
            while len(workers) < WORKERS:
                workers.append(killing.start())
            worker, at = workers.pop(0)
            time.sleep(max(0.0, at - time.monotonic()))
            killing.kill(worker)
            killing.settle(space)
        for worker, _ in workers:
            killing.kill(worker)
        ends = time.monotonic() + PATIENCE
        while team.queued() and time.monotonic() < ends:
            killing.settle(space)
            assert team.work() == 0
    told = f"{killing.kills} kills, {len(killing.runs)} runs, {killing.doubts} doubts, {killing.set_aside} set aside"
    print(told)  # noqa: T201
    assert {team.status(run) for run in killing.runs} == {"success"}, told
    assert Counter(team.calls()) == Counter(killing.sent), told
