"""A stream of events ends in order, whenever it is broken off and whatever is told late."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Space
from infospace.tools.local import LocalTools
from planner.execute.run import Run
from planner.execute.start import prepare, stream
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Event, Progressed, RunFinished
from planner.journal.result import RunResult


@pytest.fixture
def begun(space: Space) -> asyncio.Event:
    """A server whose one tool never answers; the event is set when it is called."""
    called, server = asyncio.Event(), LocalTools("deaf")

    @server.tool(read_only=True)
    async def ask() -> str:
        """Ask for ever."""
        called.set()
        await asyncio.Event().wait()
        return ""

    space.tools.add(server)
    return called


ASK = [{"type": "deaf/ask", "out": "$x"}]


async def broken_off(space: Space, begun: asyncio.Event) -> list[Event]:
    """Follow a run, break it off while it calls, and return all that was told."""
    prepared: Any = prepare(space, ASK)
    halt, heard = SuspendRequest(), []

    async def follow() -> None:
        heard.extend([event async for event in stream(space, prepared, halt)])

    following = asyncio.create_task(follow())
    await begun.wait()
    halt.set()
    halt.break_off()
    await following
    return heard


def test_what_is_told_after_the_end_does_not_undo_it(
    space: Space, begun: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread of a step that was broken off may still tell how far it is."""
    close = Run.close

    def told_late(run: Run, *args: Any, **fields: Any) -> RunResult:
        outcome = close(run, *args, **fields)
        asyncio.get_running_loop().call_soon(run.emit, Progressed("1", 1, 2, "late"))
        return outcome

    monkeypatch.setattr(Run, "close", told_late)
    heard = asyncio.run(broken_off(space, begun))
    assert isinstance(heard[-1], Progressed)
    ends = [event.result.status for event in heard if isinstance(event, RunFinished)]
    assert ends == ["cancelled"]


def test_a_stream_that_is_broken_off_ends_with_its_run(space: Space, begun: asyncio.Event) -> None:
    """Which is journalled as cancelled."""
    last = asyncio.run(broken_off(space, begun))[-1]
    assert isinstance(last, RunFinished)
    with space.store.reading() as snapshot:
        assert [(row.run, row.status) for row in snapshot.runs()] == [(last.result.run, "cancelled")]


def test_a_stream_that_is_broken_off_before_its_run_begins_says_so(space: Space) -> None:
    """There is no run then, and nothing was done."""
    prepared: Any = prepare(space, [{"type": "create-note", "value": 1, "name": "one"}])

    async def follow() -> list[Event]:
        halt = SuspendRequest()
        events = stream(space, prepared, halt)
        first = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        halt.set()
        halt.break_off()
        return [await first, *[event async for event in events]]

    [only] = asyncio.run(follow())
    assert isinstance(only, RunFinished)
    assert (only.result.run, only.result.status) == (None, "cancelled")
    assert only.result.reason == "it was interrupted before it began"
    with space.store.reading() as snapshot:
        assert (snapshot.runs(), snapshot.names()) == ([], [])


def test_what_is_broken_off_before_there_is_a_task_does_nothing(space: Space) -> None:
    """Nobody has to wait for the beginning in order to break it off."""
    prepared: Any = prepare(space, [{"type": "create-note", "value": 1, "name": "one"}])

    async def follow() -> list[Event]:
        halt = SuspendRequest()
        halt.break_off()
        return [event async for event in stream(space, prepared, halt)]

    [only] = asyncio.run(follow())
    assert isinstance(only, RunFinished)
    assert (only.result.run, only.result.status) == (None, "cancelled")
    assert only.result.reason == "it was interrupted before it began"
    with space.store.reading() as snapshot:
        assert (snapshot.runs(), snapshot.names()) == ([], [])


def test_a_stream_whose_task_is_cancelled_cancels_its_run(space: Space, begun: asyncio.Event) -> None:
    """It is journalled as cancelled."""
    prepared: Any = prepare(space, ASK)

    async def follow() -> None:
        async for _event in stream(space, prepared):
            pass

    async def cancelled() -> None:
        following = asyncio.create_task(follow())
        await begun.wait()
        following.cancel()
        await following

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    with space.store.reading() as snapshot:
        assert [row.status for row in snapshot.runs()] == ["cancelled"]
