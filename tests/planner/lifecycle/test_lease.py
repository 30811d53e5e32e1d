"""Who owns a run, for how long, and what becomes of those who lose it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

import pytest

from infospace import Space
from infospace.core.clock import later, now
from infospace.core.errors import LeaseLost
from infospace.core.json_types import JSON
from infospace.journal.rows import (
    AddLines,
    ClaimRun,
    CloseRun,
    Entry,
    Heartbeat,
    OpenRun,
    OwnerGuard,
    RunRow,
    RunStatus,
    StepRow,
)
from infospace.tools.local import LocalTools
from planner.execute.start import run
from planner.journal.lease import LEASE, is_live, new_owner, renewing_lease, seconds_spent
from planner.lifecycle.resume import resume
from planner.sessions.session_run import SessionRun

HERE = socket.gethostname()


def row(status: RunStatus, owner: str | None, started: float = 0, beat: float | None = None, **spent: float) -> RunRow:
    """A run that began, and was renewed, so many seconds from now."""
    heartbeat = None if beat is None else later(beat)
    return RunRow(
        "run_1",
        "plan",
        "",
        status,
        later(started),
        None,
        0,
        {},
        {},
        None,
        None,
        owner,
        heartbeat,
        spent,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    return ended.pid


def test_a_run_is_live_while_its_owner_is_and_renews(dead: int) -> None:
    """Of this machine it is seen whether the process is there; of another one only when it renewed last."""
    mine, gone = f"{HERE}:{os.getpid()}:x", f"{HERE}:{dead}:x"
    assert is_live(row("running", mine, 0, -LEASE + 5))
    assert not is_live(row("running", mine, 0, -LEASE - 1))
    assert not is_live(row("running", gone, 0, 0))
    assert is_live(row("running", f"elsewhere:{dead}:x", 0, 0))
    assert not is_live(row("running", f"elsewhere:{dead}:x", 0, -LEASE - 1))
    assert not is_live(row("running", None, 0, 0))
    assert not is_live(row("suspended", mine, 0, 0))
    assert is_live(row("running", f"{HERE}:no number:x", 0, 0))


def test_before_the_first_renewal_the_beginning_counts() -> None:
    """A run is its owner's from the moment that it is opened."""
    mine = f"{HERE}:{os.getpid()}:x"
    assert is_live(row("running", mine, -1))
    assert not is_live(row("running", mine, -LEASE - 1))


def test_no_two_owners_have_one_name() -> None:
    """It has the machine and the process, by which it is seen whether the owner is there."""
    one, other = new_owner(), new_owner()
    assert one != other
    assert one.startswith(f"{HERE}:{os.getpid()}:")
    assert other.startswith(f"{HERE}:{os.getpid()}:")


def test_seconds_are_those_told_and_those_since_of_a_run_that_broke_off() -> None:
    """Up to the end of its last step; never fewer than were told; times of rest do not count."""
    step = StepRow("run_1", 1, "1", "say", "success", later(-90), 30_000)
    later_one = StepRow("run_1", 2, "2", "say", "success", later(-70), 10_000)
    broken = row("running", "x", -100, -100, seconds=7.0)
    assert seconds_spent(broken, [later_one, step]) == pytest.approx(7 + 40, abs=0.1)
    assert seconds_spent(row("running", "x", -100, seconds=7.0), [step]) == pytest.approx(7 + 40, abs=0.1)
    assert seconds_spent(row("running", "x", -100, -10, seconds=7.0), [step]) == 7
    assert seconds_spent(row("running", "x", -100), []) == 0
    assert seconds_spent(row("suspended", "x", -100, -100, seconds=7.0), [step]) == 7


def opened(space: Space) -> str:
    """Open a run that `me` owns."""
    run = space.store.new_id("run")
    space.store.commit([], [OpenRun(run, "plan", "", {}, {}, now(), "me")])
    return run


async def by_itself(doing: Coroutine[Any, Any, object]) -> object:
    """Await something that has to end without being cancelled from here."""
    task = asyncio.ensure_future(doing)
    await asyncio.wait({task}, timeout=20)
    ended = task.done()
    task.cancel()
    assert ended, "it goes on"
    return await task


async def told(space: Space, run: str, seconds: float) -> None:
    """Wait until the journal tells that a run spent so many seconds."""
    while True:
        with space.store.reading() as snapshot:
            if snapshot.run(run).spent.get("seconds") == seconds:
                return
        await asyncio.sleep(0.001)


def test_whoever_loses_the_lease_stops_what_it_does(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the next renewal, in the midst of whatever it waits for; LeaseLost says who has the run."""
    monkeypatch.setattr("planner.journal.lease.BEAT", 0.01)
    mine = opened(space)
    ended: list[bool] = []

    async def do() -> None:
        async with renewing_lease(space.store, mine, "me"):
            space.store.commit([], [ClaimRun(mine, "other", "me", now())])
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)

    with pytest.raises(LeaseLost, match="other"):
        asyncio.run(by_itself(do()))
    assert ended == [True]


def test_a_run_that_was_taken_over_makes_no_more_calls(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole run ends, and writes nothing more."""
    monkeypatch.setattr("planner.journal.lease.BEAT", 0.01)
    outside = LocalTools("outside")
    calls: list[str] = []

    @outside.tool(read_only=True)
    async def look() -> str:
        """Lose the run, and wait for what never comes."""
        calls.append("look")
        with space.store.reading() as snapshot:
            [mine] = snapshot.runs()
        space.store.commit([], [ClaimRun(mine.run, "other:1:x", mine.owner, later(0))])
        await asyncio.Event().wait()
        return ""

    space.tools.add(outside)
    with pytest.raises(LeaseLost, match="another process has taken run"):
        asyncio.run(by_itself(run(space, [{"type": "outside/look"}, {"type": "outside/look"}])))
    with space.store.reading() as snapshot:
        [mine] = snapshot.runs()
        assert (mine.status, mine.owner) == ("running", "other:1:x")
        assert [step.status for step in snapshot.steps(mine.run)] == []
    assert calls == ["look"]


def test_what_an_owner_wrote_just_before_it_lost_the_run_is_not_done_again(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An owner that slept wakes while another process resumes its run: the step that it still journals has ended."""
    outside = LocalTools("outside")
    calls: list[str] = []

    @outside.tool()
    async def send(to: str) -> str:
        """Send something that nobody takes back."""
        calls.append(to)
        return to

    space.tools.add(outside)
    steps = [{"type": "say", "text": "one"}, {"type": "outside/send", "arguments": {"to": "Ada"}}]
    mine, owner = space.store.new_id("run"), "elsewhere:1:x"
    space.store.commit([], [OpenRun(mine, "plan", "", {"steps": steps}, {}, later(-LEASE - 60), owner)])

    def wake() -> str:
        row = StepRow(mine, 2, "2", "outside/send", "success", now(), 1.0)
        space.store.commit([], [OwnerGuard(mine, owner), replace(row, sequence=1, position="1", type="say")])
        space.store.commit([], [OwnerGuard(mine, owner), row])
        return new_owner()

    monkeypatch.setattr("planner.lifecycle.resume.new_owner", wake)
    result = asyncio.run(resume(space, mine, approve=["outside/send"]))
    assert (result.status, calls) == ("success", [])
    assert [step.position for step in result.steps] == ["1", "2"]
    with space.store.reading() as snapshot:
        assert [step.position for step in snapshot.steps(mine)] == ["1", "2"]


def test_what_the_owner_of_a_session_wrote_just_before_it_lost_it_is_not_done_again(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a plan: the lines that it still journals while another process claims the session have ended."""
    outside = LocalTools("outside")
    calls: list[str] = []

    @outside.tool()
    async def send(to: str) -> str:
        """Send something that nobody takes back."""
        calls.append(to)
        return to

    space.tools.add(outside)
    lines: list[JSON] = [
        {"type": "say", "value": "one"},
        {"type": "outside/send", "arguments": {"to": "Ada"}, "out": "$sent"},
    ]
    mine, owner = space.store.new_id("run"), "elsewhere:1:x"
    space.store.commit([], [OpenRun(mine, "session", "", {}, {}, later(-LEASE - 60), owner)])
    space.store.commit([], [OwnerGuard(mine, owner), AddLines(mine, lines, {})])
    claim = SessionRun.claim

    def wake(run: SessionRun, entries: Sequence[Entry] = ()) -> None:
        row = StepRow(mine, 2, "2", "outside/send", "success", now(), 1.0, out="$sent")
        space.store.commit([], [OwnerGuard(mine, owner), replace(row, sequence=1, position="1", type="say", out=None)])
        space.store.commit([], [OwnerGuard(mine, owner), row])
        claim(run, entries)

    monkeypatch.setattr(SessionRun, "claim", wake)
    result = asyncio.run(resume(space, mine, approve=["outside/send"]))
    assert (result.status, calls) == ("success", [])
    with space.store.reading() as snapshot:
        assert [step.position for step in snapshot.steps(mine)] == ["1", "2"]


def test_the_lease_is_renewed_with_what_was_spent_and_then_no_more(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as something is done, and not after it."""
    monkeypatch.setattr("planner.journal.lease.BEAT", 0.01)
    mine = opened(space)

    async def do() -> None:
        before = asyncio.all_tasks()
        async with renewing_lease(space.store, mine, "me", lambda: {"seconds": 5.0}):
            await told(space, mine, 5.0)
        assert asyncio.all_tasks() == before

    asyncio.run(asyncio.wait_for(do(), 30))
    space.store.commit([], [CloseRun(mine, "success", now())])


def test_each_renewal_says_when_it_was_made(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that goes on for longer than a lease stays its owner's."""
    monkeypatch.setattr("planner.journal.lease.BEAT", 0.01)
    mine = opened(space)

    def beaten() -> str:
        with space.store.reading() as snapshot:
            return str(snapshot.run(mine).heartbeat)

    async def do() -> None:
        seen = {beaten()}
        async with renewing_lease(space.store, mine, "me"):
            while len(seen) < 4:
                await asyncio.sleep(0.005)
                seen.add(beaten())
                assert max(seen) == beaten()

    asyncio.run(asyncio.wait_for(do(), 60))


def test_a_failure_of_what_is_done_is_not_hidden_by_the_end_of_the_lease(space: Space) -> None:
    """Nor is that it was cancelled."""
    mine = opened(space)

    async def do(error: BaseException) -> None:
        async with renewing_lease(space.store, mine, "me"):
            await asyncio.sleep(0)
            raise error

    for error in (ValueError("own"), asyncio.CancelledError("own, too")):
        with pytest.raises(type(error), match=str(error)):
            asyncio.run(do(error))
    space.store.commit([], [Heartbeat(mine, "me", now())])
