"""A `parallel` that is broken off: what its branches did is in the journal, whatever broke it off."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from infospace import InfospaceError, Space
from infospace.tools.local import LocalTools
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare, run_sync
from planner.journal.events import Event, StepFinished

sys.path.insert(0, str(Path(__file__).parents[1]))
from timing import Limits, turns

HANG, SEND, LOOK, END = ({"type": f"outside/{name}"} for name in ("hang", "send", "look", "end"))


@pytest.fixture
def fired(space: Space, limits: Limits) -> asyncio.Event:
    """A server with tools that hang, and others that do something; set when `send` was called."""
    fired, outside = asyncio.Event(), LocalTools("outside")

    @outside.tool()
    async def hang() -> str:
        """Never answer."""
        await asyncio.Event().wait()
        return "never"

    @outside.tool()
    async def send() -> str:
        """Send something."""
        fired.set()
        return "sent"

    @outside.tool()
    async def look() -> str:
        """Answer when something was sent."""
        await fired.wait()
        return "seen"

    @outside.tool()
    async def end() -> str:
        """Never answer; all time is over once the others have come as far as they can."""
        await fired.wait()
        await turns()
        limits.run_out()
        await asyncio.Event().wait()
        return "never"

    space.tools.add(outside)
    return fired


def rows(space: Space) -> tuple[list[tuple[str, str, str | None]], list[tuple[str, str]]]:
    """The steps and the calls of the last run."""
    with space.store.reading() as snapshot:
        run = snapshot.runs(limit=1)[0].run
        steps, calls = snapshot.steps(run), snapshot.calls(run)
    return [(row.position, row.status, row.error) for row in steps], [(row.position, row.status) for row in calls]


WRITTEN = {"type": "create-note", "value": "a", "name": "kept"}
BRANCHES: dict[str, Any] = {"type": "parallel", "branches": [[HANG], [SEND, LOOK, WRITTEN], [HANG]]}
BROKEN = [
    ("1.branches[1].1", "failed", "cancelled"),
    ("1.branches[2].1", "success", None),
    ("1.branches[2].2", "success", None),
    ("1.branches[3].1", "failed", "cancelled"),
]


@pytest.mark.parametrize("limit", ["timeout_s", "seconds"])
def test_steps_of_later_branches_are_journalled_when_time_runs_out(
    space: Space, fired: asyncio.Event, limit: str
) -> None:
    """In the order of the branches, as many as there were calls; the one that waited for its turn was not begun."""
    budget = {"seconds": 0.3} if limit == "seconds" else {}
    branches = {**BRANCHES, "branches": [[END], *BRANCHES["branches"][1:]]}
    step = {**branches, "timeout_s": 0.3} if limit == "timeout_s" else branches
    result = run_sync(space, {"steps": [step], "budget": budget})
    assert result.status == "failed"
    steps, calls = rows(space)
    assert steps[0][0] == "1"
    assert steps[1:] == BROKEN
    assert sorted(position for position, _ in calls) == [position for position, _, _ in BROKEN]
    assert fired.is_set()


def test_they_are_when_the_run_is_cancelled(space: Space, fired: asyncio.Event) -> None:
    """As by Ctrl-C twice."""

    async def cancelled() -> None:
        prepared = prepare(space, [BRANCHES])
        assert isinstance(prepared, Prepared)
        task = asyncio.create_task(Run(space, prepared.plan, lambda _event: None).run(prepared.bound))
        await fired.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    steps, _ = rows(space)
    assert [one for one in steps if one[0].startswith("1.branches[1]")] == BROKEN[:1]
    assert BROKEN[1] in steps
    assert BROKEN[3] in steps


def test_what_a_run_is_cancelled_in_ends_in_the_order_of_the_branches(space: Space, fired: asyncio.Event) -> None:
    """What is broken off in the second is told before what the third has done by then."""
    heard: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, StepFinished):
            heard.append(event.row.position)

    async def cancelled() -> None:
        prepared = prepare(space, [{"type": "parallel", "branches": [[HANG], [SEND, HANG], [LOOK]]}])
        assert isinstance(prepared, Prepared)
        task = asyncio.create_task(Run(space, prepared.plan, hear).run(prepared.bound))
        await fired.wait()
        await turns()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert heard == [f"1.branches[{branch}].{step}" for branch, step in ((1, 1), (2, 1), (2, 2), (3, 1))] + ["1"]


def test_of_two_branches_that_fail_the_first_in_their_order_is_why(space: Space) -> None:
    """Though the other one failed before it."""
    server, other = LocalTools("two"), asyncio.Event()

    @server.tool(read_only=True)
    async def slow() -> str:
        """Fail after the other."""
        await other.wait()
        await turns()
        raise InfospaceError("the slow one fell")

    @server.tool(read_only=True)
    async def fast() -> str:
        """Fail at once."""
        other.set()
        raise InfospaceError("the fast one fell")

    space.tools.add(server)
    result = run_sync(space, [{"type": "parallel", "branches": [[{"type": "two/slow"}], [{"type": "two/fast"}]]}])
    assert "1.branches[1].1" in str(result.reason)
    assert "the slow one fell" in str(result.reason)
    places = ["1", "1.branches[1].1", "1.branches[2].1"]
    assert rows(space)[0] == [(place, "failed", "tool") for place in places]


def test_they_are_when_a_branch_stops_the_plan(space: Space, fired: asyncio.Event) -> None:
    """What was under way is broken off."""
    stop: list[dict[str, Any]] = [LOOK, {"type": "stop", "value": "enough"}]
    result = run_sync(space, [{"type": "parallel", "branches": [stop, [SEND, HANG]]}])
    assert result.status == "stopped"
    steps, _ = rows(space)
    assert ("1.branches[2].1", "success", None) in steps
    assert ("1.branches[2].2", "failed", "cancelled") in steps
    assert fired.is_set()


def test_no_more_are_journalled_than_the_budget_of_steps_has(space: Space, fired: asyncio.Event) -> None:
    """It ran out in an earlier branch."""
    steps = [{"type": "create-note", "value": number, "out": f"$n{number}"} for number in range(5)]
    result = run_sync(
        space, {"steps": [{"type": "parallel", "branches": [[LOOK, *steps], [SEND]]}], "budget": {"steps": 4}}
    )
    assert "the budget of 4 steps ran out" in str(result.reason)
    assert [position for position, _, _ in rows(space)[0]] == ["1", *(f"1.branches[1].{at}" for at in (1, 2, 3))]
    assert fired.is_set()


FALL, LINGER = {"type": "slow/fall"}, {"type": "slow/linger"}
LONG: dict[str, Any] = {"type": "create-collection", "value": [1, 2, 3], "out": "$c"}
PART = {"type": "if", "condition": {"type": "equals", "target": "$item", "value": 1}, "then": [FALL], "else": [LINGER]}
SIDE_BY_SIDE: dict[str, list[Any]] = {
    "steps": [FALL, LINGER, LINGER],
    "branches": [{"type": "parallel", "branches": [[FALL], [LINGER], [LINGER]]}],
    "items": [LONG, {"type": "for-each", "target": "$c", "do": [PART]}],
    "items of a map": [
        LONG,
        {"type": "map", "target": "$c", "operation": {"type": "slow/each", "arguments": {"n": "$item"}}},
    ],
}


@pytest.mark.parametrize(
    ("form", "cancelled"),
    [(form, cancelled) for form in SIDE_BY_SIDE for cancelled in (True, False) if cancelled or form != "branches"],
)
def test_what_is_broken_off_has_ended_when_the_run_has(space: Space, form: str, cancelled: bool) -> None:
    """Also where it takes its time to end, whether the run is cancelled or another part fails.

    Where a branch fails the step that is under way in another is not broken off.
    """
    begun: list[str] = []
    ended: list[str] = []
    slow, others = LocalTools("slow"), asyncio.Event()

    async def hang() -> str:
        begun.append("one")
        if len(begun) == 2:
            others.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        for _ in range(50):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        ended.append("one")
        raise asyncio.CancelledError

    async def fail() -> str:
        await others.wait()
        if cancelled:
            await asyncio.Event().wait()
        raise InfospaceError("it fell")

    @slow.tool(read_only=True)
    async def linger() -> str:
        """Take long to end when it is broken off."""
        return await hang()

    @slow.tool(read_only=True)
    async def fall() -> str:
        """Fail when the others are under way."""
        return await fail()

    @slow.tool(read_only=True)
    async def each(n: int) -> str:
        """Do one or the other."""
        return await (fail() if n == 1 else hang())

    space.tools.add(slow)

    async def play() -> None:
        prepared = prepare(space, SIDE_BY_SIDE[form])
        assert isinstance(prepared, Prepared)
        task = asyncio.create_task(Run(space, prepared.plan, lambda _event: None).run(prepared.bound))
        await others.wait()
        if cancelled:
            task.cancel()
        with suppress(asyncio.CancelledError):
            assert "it fell" in str((await task).reason)
        assert len(ended) == len(begun) == 2
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(play())
    with space.store.reading() as snapshot:
        run = snapshot.runs(limit=1)[0]
    assert run.status == ("cancelled" if cancelled else "failed")
