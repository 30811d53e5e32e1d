"""Workers take what waits: each run once, nothing twice, nothing lost, on a file and on a database."""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from teams import Team
from timing import turns

from infospace import open_space
from infospace.core.clock import later, now
from infospace.core.errors import InfospaceError, StoreError
from infospace.core.json_types import JSON
from infospace.journal.queue_rows import DEFAULT_QUEUE, ClaimQueued, Enqueue, LimitQueue
from infospace.journal.rows import ClaimRun, CloseRun, OpenRun, RunStatus, StepRow
from infospace.store.protocol import Snapshot
from infospace.tools.local import LocalTools
from planner.execute import wait
from planner.execute.start import run_sync
from planner.journal import lease
from planner.journal.result import RunResult
from planner.journal.suspension import CONDITION_LOOK
from planner.lifecycle import work as working
from planner.lifecycle.resume import answer, pending_of, resume
from planner.lifecycle.work import Worker

pytestmark = pytest.mark.usefixtures("warm_processes")


def sending(to: str) -> dict[str, Any]:
    """A step that is never to be done twice."""
    return {"type": "outside/send", "arguments": {"to": to}}


SAYING: dict[str, Any] = {"type": "say", "value": "done"}
LOOKING: dict[str, Any] = {"type": "outside/look", "arguments": {}}
HOUR: JSON = {"type": "wait", "seconds": 3600}
NEVER: JSON = {"type": "wait", "condition": "1 = 2"}


def harmless() -> LocalTools:
    """The tools of the workers, without their deaths."""
    outside = LocalTools("outside")

    @outside.tool(destructive=True)
    async def send(to: str) -> str:
        """Send something that nobody takes back."""
        return to

    @outside.tool(read_only=True)
    async def look() -> str:
        """Look at something."""
        return "seen"

    return outside


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


def test_a_run_that_takes_its_workers_along_is_set_aside(team: Team) -> None:
    """It rests with the reason, harms nobody more, and can be resumed."""
    run = team.enqueue(SAYING, LOOKING, sending("last"))
    for _ in range(3):
        assert team.work("kill") == -signal.SIGKILL
    told: list[str] = []
    worker = Worker(team.space, failed=lambda which, error: told.append(f"{which}: {error.message}"))
    assert asyncio.run(worker.work(once=True)) == 0
    reason = "3 workers ended one after the other while they ran it, in step 2 (outside/look): it is set aside"
    assert told == [f"{run}: {reason}"]
    with team.space.store.reading() as snapshot:
        row = snapshot.run(run)
    assert (row.status, row.reason) == (
        "suspended",
        f"{reason} (`infospace resume {run}` goes on with it, `infospace cancel {run}` ends it)",
    )
    assert asyncio.run(worker.work(once=True)) == 0
    assert len(told) == 1
    with open_space(team.address) as space:
        space.tools.add(harmless())
        assert asyncio.run(resume(space, run)).status == "success"
    assert team.queued() == []


def test_a_run_that_is_set_aside_says_after_which_step(team: Team) -> None:
    """The last that ended, where no call was under way."""
    run, at = team.enqueue(*[SAYING] * 3), later(-60)
    with team.space.store.reading() as snapshot:
        owner = snapshot.run(run).owner
    ended = [StepRow(run, number, str(number), "say", "success", at, 1.0) for number in (1, 2)]
    team.space.store.commit([], [ClaimRun(run, "elsewhere:1:x", owner, at), *ended])
    team.space.store.commit([], [ClaimQueued(run, at, 2)])
    told: list[str] = []
    worker = Worker(team.space, failed=lambda _run, error: told.append(error.message))
    assert asyncio.run(worker.work(once=True)) == 0
    assert told == ["3 workers ended one after the other while they ran it, after step 2: it is set aside"]


def test_a_run_that_gets_on_is_not_set_aside_however_often_its_workers_are_killed(team: Team) -> None:
    run = team.enqueue(*[LOOKING] * 8)
    for _ in range(4):
        assert team.work("after 4") == -signal.SIGKILL
    assert team.status(run) == "running"
    assert team.work() == 0
    assert team.status(run) == "success"


def test_several_runs_go_on_at_once_in_one_worker(team: Team) -> None:
    """Each once, and no more of them than it has jobs."""
    together, most = set[str](), 0
    everybody = asyncio.Event()

    outside = LocalTools("outside")

    @outside.tool(destructive=True)
    async def send(to: str) -> str:
        """Send something that nobody takes back."""
        nonlocal most
        together.add(to)
        most = max(most, len(together))
        if len(together) == 3:
            everybody.set()
        await everybody.wait()
        together.discard(to)
        return to

    runs = [team.enqueue(sending(name)) for name in "abcde"]
    with open_space(team.address) as space:
        space.tools.add(outside)
        assert asyncio.run(Worker(space, jobs=3).work(once=True)) == 5
    assert most == 3
    assert {team.status(run) for run in runs} == {"success"}


def test_what_is_not_retained_is_removed_in_pieces_and_once_an_hour(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is to be run, the oldest first; what waits stays."""
    monkeypatch.setattr(working, "PRUNED_AT_ONCE", 2)
    forget, pieces = team.space.store.forget, list[list[str]]()

    def forgetting(runs: Sequence[str], **how: bool) -> object:
        pieces.append(list(runs))
        return forget(runs, **how)

    monkeypatch.setattr(team.space.store, "forget", forgetting)
    for _ in range(3):
        run_sync(team.space, [SAYING])
    waiting = team.enqueue(SAYING, queue="other")
    worker = Worker(team.space, ["mine"], retain=timedelta(0))

    def left() -> list[str]:
        with team.space.store.reading() as snapshot:
            return [row.run for row in snapshot.runs()]

    assert left() == ["run_4", "run_3", "run_2", "run_1"]
    asyncio.run(worker.work(once=True))
    assert (left(), pieces) == ([waiting], [["run_2", "run_1"], ["run_3"]])
    run_sync(team.space, [SAYING])
    asyncio.run(worker.work(once=True))
    assert left() == ["run_5", waiting]


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


def holding(go: Callable[[], Awaitable[object]]) -> tuple[LocalTools, list[str]]:
    """Tools of which `look` ends once this has; and what is sent by the other."""
    outside, sent = LocalTools("outside"), list[str]()

    @outside.tool(destructive=True)
    async def send(to: str) -> str:
        """Send something that nobody takes back."""
        sent.append(to)
        return to

    @outside.tool(read_only=True)
    async def look() -> str:
        """Look at something."""
        await go()
        return "seen"

    return outside, sent


def test_a_worker_that_is_told_to_end_begins_no_more_steps(team: Team) -> None:
    """Of the run that it is in, which another worker takes."""
    run = team.enqueue(LOOKING, sending("last"))

    async def go() -> None:
        worker.stop.set()
        await turns()

    with open_space(team.address) as space:
        outside, sent = holding(go)
        space.tools.add(outside)
        worker = Worker(space)
        assert asyncio.run(worker.work()) == 1
    assert (team.status(run), team.queued(), sent) == ("suspended", [run], [])


def test_a_job_that_breaks_lets_the_others_give_back_what_they_run(team: Team) -> None:
    """They are waited for: no run of theirs is cancelled."""
    held = team.enqueue(LOOKING, sending("last"), priority=9)
    breaks = team.enqueue(sending("first"))

    async def go() -> None:
        await worker.stop.requested.wait()
        await turns()

    def finished(result: RunResult) -> None:
        if result.run == breaks:
            raise RuntimeError("nobody hears how it ended")

    with open_space(team.address) as space:
        outside, sent = holding(go)
        space.tools.add(outside)
        worker = Worker(space, jobs=2, finished=finished)
        with pytest.raises(RuntimeError, match="nobody hears"):
            asyncio.run(worker.work())
    assert (team.status(held), team.queued(), sent) == ("suspended", [held], ["first"])


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


@pytest.mark.parametrize(
    ("waits", "seconds"),
    [([HOUR], 3600), ([NEVER], CONDITION_LOOK), ([HOUR, NEVER], CONDITION_LOOK), ([NEVER, HOUR], CONDITION_LOOK)],
)
def test_a_run_that_waits_is_left_alone_until_it_may_go_on(team: Team, waits: list[JSON], seconds: float) -> None:
    """Until the first time that it waits for; whether a condition holds is looked at again before long."""
    before = later(seconds)
    result = run_sync(team.space, [{"type": "parallel", "branches": [[one] for one in waits]}])
    assert asyncio.run(Worker(team.space).work(once=True)) == 0
    with team.space.store.reading() as snapshot:
        [one] = snapshot.queued()
    assert (one.run, one.due is not None) == (result.run, True)
    assert before <= str(one.due) <= later(seconds)


@pytest.mark.parametrize("ended", [None, "suspended", "success"])
def test_a_run_that_a_worker_loses_is_told_as_lost(
    team: Team, monkeypatch: pytest.MonkeyPatch, ended: RunStatus | None
) -> None:
    """And counted, for it was taken: whether it goes on elsewhere, rests or has ended by then."""
    monkeypatch.setattr(lease, "BEAT", 0.01)
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    async def look() -> str:
        """Lose the run, and wait for what never comes."""
        with space.store.reading() as snapshot:
            owner = snapshot.run(run).owner
        over = [] if ended is None else [CloseRun(run, ended, now())]
        space.store.commit([], [ClaimRun(run, "elsewhere:1:x", owner, now()), *over])
        await asyncio.Event().wait()
        return ""

    run = team.enqueue(LOOKING)
    told: list[str] = []
    with open_space(team.address) as space:
        space.tools.add(outside)
        worker = Worker(space, failed=lambda which, error: told.append(f"{which}: {error.message}"))
        assert asyncio.run(worker.work(once=True)) == 1
    [said] = told
    assert said.startswith(f"{run}: another process has taken {run} over: it belongs to 'elsewhere:1:x' now, not to ")
    assert team.status(run) == (ended or "running")


def test_a_worker_outlives_that_its_database_is_away(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it asks for just then; it says so, and takes what comes once the database is there again."""
    monkeypatch.setattr(working, "POLL_SECONDS", 0.01)
    reading = team.space.store.reading
    asked = itertools.count(1)
    told: list[str] = []

    def away(which: str, error: InfospaceError) -> None:
        told.append(f"{which}: {error.message}")
        team.enqueue(SAYING)

    def failing(number: int) -> AbstractContextManager[Snapshot]:
        if next(asked) == number:
            raise StoreError("the database is starting up")
        return reading()

    for number in (1, 2, 3):  # the schedules, the queues, and what is not retained
        asked, told[:] = itertools.count(1), []
        monkeypatch.setattr(team.space.store, "reading", partial(failing, number))
        worker = Worker(team.space, failed=away, retain=timedelta(days=1))
        worker.finished = lambda _result, stop=worker.stop: stop.set()
        assert asyncio.run(worker.work()) == 1
        assert told == [": the database is starting up"]
        asked = itertools.count(1)
        with pytest.raises(StoreError, match="is starting up"):
            asyncio.run(Worker(team.space, retain=timedelta(days=1)).work(once=True))


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


def test_a_run_whose_plan_cannot_be_read_any_more_is_told_and_hides_no_other(team: Team) -> None:
    run, at = team.space.store.new_id("run"), now()
    opened = OpenRun(run, "plan", "", {"steps": [{"typ": "x"}]}, {}, at, "gone.example:1:x")
    team.space.store.commit([], [opened, CloseRun(run, "suspended", at), Enqueue(run, at, DEFAULT_QUEUE, 9)])
    other = team.enqueue(SAYING)
    told: list[str] = []
    worker = Worker(team.space, failed=lambda which, error: told.append(f"{which}: {error.message}"))
    assert asyncio.run(worker.work(once=True)) == 2
    assert told == [f"{run}: the plan of {run} cannot be read any more: the step has no `type`"]
    assert (team.status(run), team.status(other)) == ("suspended", "success")


def test_what_a_worker_lacks_is_told_and_left_to_others(team: Team) -> None:
    """Once, and not at each look."""
    run = team.enqueue(sending("x"))
    told: list[str] = []
    with open_space(team.address) as bare:
        worker = Worker(bare, failed=lambda which, error: told.append(f"{which}: {error.message}"))
        for _ in range(2):
            assert asyncio.run(worker.work(once=True)) == 0
    assert told == [f"{run}: step 1 of {run} calls outside/send, which is not here"]
    assert team.work() == 0
    assert team.calls() == ["x"]
