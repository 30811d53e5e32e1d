"""Workers take what waits: each run once, nothing twice, nothing lost, on a file and on a database."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from databases import place_in_database

from infospace import Space, open_space
from infospace.core.clock import later, now
from infospace.core.json_types import JSON
from infospace.journal.queue_rows import DEFAULT_QUEUE, LimitQueue
from infospace.journal.rows import ClaimRun
from infospace.tools.local import LocalTools
from planner.execute import wait
from planner.execute.start import Prepared, enqueue, prepare, run_sync
from planner.lifecycle import work as working
from planner.lifecycle.resume import answer, pending_of
from planner.lifecycle.work import Worker

WORKER = Path(__file__).parent / "queue_worker.py"


@dataclass(frozen=True)
class Team:
    """A space for several processes, and the file in which calls are written down."""

    address: str
    space: Space
    ledger: Path

    def enqueue(self, *steps: JSON, priority: int = 0, queue: str = DEFAULT_QUEUE) -> str:
        """Let a plan wait for a worker; return its run."""
        prepared = prepare(self.space, {"steps": list(steps)})
        assert isinstance(prepared, Prepared), prepared
        return enqueue(self.space, prepared, queue=queue, priority=priority, approve=["outside/send"])

    def start(self, mode: str = "") -> subprocess.Popen[str]:
        """Start a worker, which ends when nothing is due."""
        return subprocess.Popen(
            [sys.executable, str(WORKER), self.address, str(self.ledger), mode], stdout=subprocess.PIPE, text=True
        )

    def work(self, mode: str = "") -> int:
        """Let a worker work to its end; return its exit code."""
        with self.start(mode) as worker:
            worker.communicate(timeout=120)
        return worker.returncode

    def status(self, run: str) -> str:
        """Return how a run stands."""
        with self.space.store.reading() as snapshot:
            return snapshot.run(run).status

    def queued(self) -> list[str]:
        """Return the runs in queues."""
        with self.space.store.reading() as snapshot:
            return [one.run for one in snapshot.queued()]

    def calls(self) -> list[str]:
        """Return what was called outside."""
        return self.ledger.read_text().split() if self.ledger.exists() else []


@pytest.fixture(params=["file", "database"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Team]:
    """A space with the tools that the workers have; its checks hold at the end."""
    address = str(tmp_path / "space.db") if request.param == "file" else place_in_database(tmp_path)
    outside = LocalTools("outside")

    @outside.tool()
    async def send(to: str) -> str:
        """Send something that nobody takes back."""
        raise AssertionError(to)

    @outside.tool(read_only=True)
    async def look() -> str:
        """Look at something."""
        raise AssertionError

    with open_space(address) as space:
        space.tools.add(outside)
        yield Team(address, space, tmp_path / "ledger")
        assert space.store.check() == []


def sending(to: str) -> dict[str, Any]:
    """A step that is never to be done twice."""
    return {"type": "outside/send", "arguments": {"to": to}}


SAYING: dict[str, Any] = {"type": "say", "value": "done"}
LOOKING: dict[str, Any] = {"type": "outside/look", "arguments": {}}


def test_what_waits_is_taken_by_priority(team: Team) -> None:
    runs = [team.enqueue(sending(name), priority=priority) for name, priority in (("a", 0), ("b", 9), ("c", 0))]
    assert (team.queued(), team.calls()) == ([runs[1], runs[0], runs[2]], [])
    assert team.work() == 0
    assert team.calls() == ["b", "a", "c"]
    assert [team.status(run) for run in runs] == ["success"] * 3
    assert team.queued() == []


def test_several_workers_take_each_run_once(team: Team) -> None:
    names = [f"n{number}" for number in range(12)]
    runs = [team.enqueue(sending(name), LOOKING) for name in names]
    workers = [team.start() for _ in range(3)]
    taken = [int(worker.communicate(timeout=120)[0]) for worker in workers]
    assert sum(taken) == len(runs)
    assert sorted(team.calls()) == sorted(names)
    assert {team.status(run) for run in runs} == {"success"}


def test_an_accepted_run_outlives_its_worker_and_repeats_nothing(team: Team) -> None:
    """The worker is killed between two steps; the next one finds the run, and does what is left."""
    run = team.enqueue(sending("first"), LOOKING, sending("last"))
    assert team.work("kill") == -signal.SIGKILL
    assert (team.status(run), team.queued(), team.calls()) == ("running", [run], ["first"])
    assert team.work() == 0
    assert (team.status(run), team.queued(), team.calls()) == ("success", [], ["first", "last"])


def test_a_call_that_may_have_had_its_effect_is_asked_about(team: Team) -> None:
    """The worker is killed after the effect, before it is journalled: who can tell is asked, no worker repeats it."""
    run = team.enqueue(sending("dies"), sending("last"))
    assert team.work() == -signal.SIGKILL
    assert team.work() == 0
    assert (team.status(run), team.queued(), team.calls()) == ("suspended", [run], ["dies"])
    assert team.work() == 0
    assert team.calls() == ["dies"]
    with team.space.store.reading() as snapshot:
        [asked] = pending_of(snapshot.steps(run))
    assert asked.kind == "doubt"
    answer(team.space, run, asked.step, {"result": "it was sent"})
    assert team.work() == 0
    assert (team.status(run), team.queued(), team.calls()) == ("success", [], ["dies", "last"])


def test_a_worker_that_is_told_to_end_finishes_its_step_and_gives_the_run_back(team: Team) -> None:
    run = team.enqueue(LOOKING, sending("last"))
    with team.start("hold") as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "here\n"
        worker.send_signal(signal.SIGTERM)
        team.ledger.with_suffix(".go").touch()
        assert worker.wait(120) == 0
    # The step may end before the signal is heard, and the next one with it.
    ends = (("suspended", [run], []), ("suspended", [run], ["last"]), ("success", [], ["last"]))
    assert (team.status(run), team.queued(), team.calls()) in ends
    assert team.work() == 0
    assert (team.status(run), team.calls()) == ("success", ["last"])
    with team.space.store.reading() as snapshot:
        looked = [row for row in snapshot.steps(run) if row.type == "outside/look" and row.status == "success"]
    assert len(looked) == 1


def test_a_run_whose_time_has_come_is_gone_on_with(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that was not begun by a worker."""
    monkeypatch.setattr(wait, "LONGEST_SLEEP", 0)
    result = run_sync(team.space, [{"type": "wait", "seconds": 1}, {"type": "say", "value": "awake"}])
    run = str(result.run)
    assert (result.status, team.queued()) == ("suspended", [run])
    worker = Worker(team.space)
    worker.finished = lambda _result: worker.stop.set()
    assert asyncio.run(worker.work()) == 1
    assert (team.status(run), team.queued()) == ("success", [])


def test_a_run_that_waits_for_long_is_left_alone(team: Team) -> None:
    result = run_sync(team.space, [{"type": "wait", "seconds": 3600}])
    assert asyncio.run(Worker(team.space).work(once=True)) == 0
    with team.space.store.reading() as snapshot:
        [one] = snapshot.queued()
    assert one.run == result.run
    assert one.due is not None
    assert later(3000) < one.due < later(3700)


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker reads its queues two runs at a time."""
    monkeypatch.setattr(working, "CANDIDATES", 2)


@pytest.mark.usefixtures("few_at_once")
def test_what_waits_for_others_never_hides_what_a_worker_may_take(team: Team) -> None:
    others = [team.enqueue(SAYING, priority=9, queue="theirs") for _ in range(5)]
    mine = [team.enqueue(SAYING, queue="mine") for _ in range(3)]
    assert asyncio.run(Worker(team.space, ["mine"]).work(once=True)) == 3
    assert {team.status(run) for run in mine} == {"success"}
    assert team.queued() == others


@pytest.mark.usefixtures("few_at_once")
def test_a_full_queue_never_hides_the_runs_of_another(team: Team) -> None:
    """One of the full queue goes on elsewhere; the rest of it wait, and none of them is told as failed."""
    full = [team.enqueue(SAYING, priority=9, queue="full") for _ in range(5)]
    free = team.enqueue(SAYING, queue="free")
    busy, at = full[0], now()
    failed: list[str] = []
    with team.space.store.reading() as snapshot:
        owner = snapshot.run(busy).owner
    team.space.store.commit([], [LimitQueue("full", 1), ClaimRun(busy, "elsewhere", owner, at)])
    worker = Worker(team.space, failed=lambda run, _error: failed.append(run))
    assert asyncio.run(worker.work(once=True)) == 1
    assert (team.status(free), failed) == ("success", [])
    assert [team.status(run) for run in full] == ["running"] + ["suspended"] * 4


@pytest.mark.usefixtures("few_at_once")
def test_what_a_worker_lacks_never_hides_what_it_has(team: Team) -> None:
    for _ in range(5):
        team.enqueue(sending("x"), priority=9)
    last = team.enqueue(SAYING)
    with open_space(team.address) as bare:
        assert asyncio.run(Worker(bare).work(once=True)) == 1
    assert (team.status(last), len(team.queued())) == ("success", 5)


def test_what_a_worker_lacks_is_told_and_left_to_others(team: Team) -> None:
    run = team.enqueue(sending("x"))
    told: list[str] = []
    with open_space(team.address) as bare:
        worker = Worker(bare, failed=lambda which, error: told.append(f"{which}: {error.message}"))
        assert asyncio.run(worker.work(once=True)) == 0
    assert told == [f"{run}: step 1 of {run} calls outside/send, which is not here"]
    assert team.work() == 0
    assert team.calls() == ["x"]
