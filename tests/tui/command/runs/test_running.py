"""What is played in the engine can be broken off at any time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from infospace import Space
from infospace.tools.local import LocalTools
from planner.journal.events import Event
from planner.journal.result import RunResult
from planner.metatools.arguments import ExecuteTool
from planner.metatools.execute_tool import prepare_call
from tui.runtime.background_loop import BackgroundLoop
from tui.runtime.runner import ActiveRun, Runner

CALLED: list[str] = []


@pytest.fixture
def engine() -> Iterator[BackgroundLoop]:
    """An engine that is ended afterwards."""
    made = BackgroundLoop()
    yield made
    made.close()


@pytest.fixture
def desk(space: Space) -> Space:
    """A space with a tool that tells whenever it is called."""
    CALLED.clear()
    server = LocalTools("desk")

    @server.tool(read_only=True)
    async def ring() -> str:
        """Ring a bell."""
        CALLED.append("ring")
        return "rung"

    space.tools.add(server)
    return space


def hear(_going: ActiveRun, _events: Sequence[Event]) -> None:
    """Pass over what is told."""


def test_a_call_that_is_broken_off_as_soon_as_it_can_be_is_not_made(desk: Space, engine: BackgroundLoop) -> None:
    """Though it has no task yet: it has ended as cancelled, there is no run of it, and that can be told."""
    call = prepare_call(desk, ExecuteTool.model_validate({"tool_name": "desk/ring", "arguments": {}}))

    async def played() -> RunResult:
        runner = Runner(desk, engine, hear)
        return await runner.call(call, runner.break_off)

    result = asyncio.run(played())
    assert (result.run, result.status, CALLED) == (None, "cancelled", [])
    answered = call.answer(desk, result)
    assert (answered["status"], answered["reason"]) == ("cancelled", "the call of desk/ring was broken off")
    with desk.store.reading() as snapshot:
        assert snapshot.runs() == []
