"""What goes on at a door: how long it is waited for, how it ends, what is remembered of it, and what is counted."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from serving import SLOW

from infospace import Conflict, Space
from infospace.core.errors import Invalid
from infospace.journal.rows import OpenRun, StepRow
from planner.journal.events import Emit, RunStarted, StepFinished
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer as answer_elsewhere
from planner.server.access import Access
from planner.server.client_calls import answer, answered_by_person, asks_people
from planner.server.live_runs import REMEMBERED, LiveRun, LiveRuns, Playing
from planner.server.operations import Operations

PATIENCE = 300
ASK = {"type": "ask", "value": "How many?", "out": "$said"}


async def nobody(_steps: int, _says: str) -> None:
    """Hear nothing."""


def ends(run: str = "run_1", error: BaseException | None = None) -> Playing:
    """The playing of a run that ends at once, or raises."""

    async def play(emit: Emit) -> RunResult:
        if run:
            emit(RunStarted(run, ""))
        if error is not None:
            raise error
        return RunResult(run, "success")

    return play


async def goes_on(_emit: Emit) -> RunResult:
    """Play until it is cancelled."""
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize("error", [None, Invalid("no"), RuntimeError("a bug")], ids=["well", "refused", "bug"])
def test_a_bug_is_logged_and_what_is_refused_is_told(caplog: pytest.LogCaptureFixture, error: Exception | None) -> None:
    """Whatever else ends is neither."""

    async def scene() -> None:
        live = LiveRuns().start(ends(error=error))
        await live.begun()
        assert await live.wait(PATIENCE)
        assert live.run == "run_1"
        assert live.failed is (error if isinstance(error, Invalid) else None)
        assert (live.result is None) is (error is not None)

    with caplog.at_level(logging.INFO, logger="planner.server.live_runs"):
        asyncio.run(scene())
    logged = [record.getMessage() for record in caplog.records if record.name == "planner.server.live_runs"]
    assert logged == (["run_1 broke off"] if isinstance(error, RuntimeError) else [])


def test_what_ends_without_an_id_is_not_waited_for() -> None:
    async def scene() -> None:
        live = LiveRuns().start(ends("", Invalid("no")))
        await live.begun()
        assert (live.run, live.failed is None) == ("", False)

    asyncio.run(scene())


def test_each_step_that_ended_is_counted() -> None:
    """Whoever waits is told of as many, and which was the last."""

    async def play(emit: Emit) -> RunResult:
        for number in (1, 2, 3):
            row = StepRow("run_1", number, str(number), "size", "success", "2026-01-01T00:00:00.000Z", 1)
            emit(StepFinished(row, 0))
        return RunResult("run_1", "success")

    async def scene() -> None:
        live = LiveRuns().start(play, "run_1")
        assert await live.wait(PATIENCE)
        assert (live.ended_steps, live.said) == (3, "3 size: success")

    asyncio.run(scene())


def test_what_goes_on_is_told_from_what_has_ended() -> None:
    """Of a run with several parts the oldest comes first; of what ended only so many are remembered."""

    async def scene() -> None:
        lives = LiveRuns()
        first, second = lives.start(goes_on, "run_1"), lives.start(goes_on, "run_1")
        ended = lives.start(ends("run_1"))
        assert await ended.wait(PATIENCE)
        assert (lives.of("run_1"), lives.going("run_1"), lives.count()) == ([first, second, ended], [first, second], 2)
        assert not await first.wait(0)
        for number in range(REMEMBERED + 2):
            assert await lives.start(ends(f"run_{number + 2}")).wait(PATIENCE)
        assert (lives.of("run_1"), lives.of("run_2")) == ([first, second], [])
        assert len(lives.of("run_4")) == 1
        await lives.close()
        assert (lives.count(), first.result, first.failed) == (0, None, None)

    asyncio.run(scene())


def test_of_one_run_the_last_part_is_cancelled_first() -> None:
    """What waits for another part does not begin because that ends."""
    order: list[str] = []

    def part(name: str) -> Playing:
        async def play(emit: Emit) -> RunResult:
            emit(RunStarted("run_1", ""))
            try:
                await asyncio.Event().wait()
            finally:
                order.append(name)
            raise AssertionError

        return play

    async def scene() -> None:
        lives = LiveRuns()
        parts = [lives.start(part(name)) for name in ("first", "second", "third")]
        for one in parts:
            await one.begun()
        await lives.cancel(parts)
        assert all(one.task.cancelled() for one in parts)

    asyncio.run(scene())
    assert order == ["third", "second", "first"]


def at_door(space: Space, scene: Callable[[Operations], Awaitable[Any]], access: Access) -> Any:
    async def go() -> Any:
        door = Operations(space, replace(access, tools=("full",)))
        try:
            return await scene(door)
        finally:
            await door.close()

    return asyncio.run(go())


def test_a_run_of_another_door_is_waited_for_as_long_as_one_asks(space: Space) -> None:
    """Neither shorter nor until it ends."""

    async def scene(door: Operations) -> None:
        other = Operations(space, Access("bob", tools=("full",)))
        run = (await answer(door, "run_plan", {"plan": [SLOW], "wait_s": 0}, nobody))["run"]  # type: ignore[index]
        loop = asyncio.get_running_loop()
        begun = loop.time()
        told = await answer(other, "get_run", {"run": run, "wait_s": 0.6}, nobody)
        assert (told["status"], loop.time() - begun >= 0.6) == ("running", True)  # type: ignore[index]
        with pytest.raises(Conflict, match="is not run by this caller"):
            await answer(other, "cancel_run", {"run": run}, nobody)

    at_door(space, scene, Access("ann"))


def test_a_run_whose_process_is_gone_is_not_waited_for(space: Space) -> None:
    """However long one would wait: it does not go on by itself."""
    run, at = space.store.new_id("run"), "2026-03-31T00:00:00.000Z"
    steps = [{"type": "create-note", "value": number, "out": f"$x{number}"} for number in (1, 2, 3)]
    done = [StepRow(run, number, str(number), "create-note", "success", at, 1) for number in (1, 2)]
    space.store.commit([], [OpenRun(run, "plan", "", {"steps": steps}, {}, at, "gone:1:x"), *done])

    async def scene(door: Operations) -> None:
        async with asyncio.timeout(60):
            told = await answer(door, "get_run", {"run": run, "wait_s": PATIENCE}, nobody)
        assert isinstance(told, dict)
        assert told["status"] == "suspended"
        assert [(one["step"], one["kind"]) for one in told["pending"]] == [("2", "wait")]

    at_door(space, scene, Access("ann"))


@pytest.mark.parametrize("way", ["answer", "resume"])
def test_a_run_whose_process_is_gone_is_gone_on_with(space: Space, way: str) -> None:
    """Whatever it is answered: nothing was asked yet."""
    run, at = space.store.new_id("run"), "2026-03-31T00:00:00.000Z"
    steps = [{"type": "create-note", "value": number, "out": f"$x{number}"} for number in (1, 2)]
    done = StepRow(run, 1, "1", "create-note", "success", at, 1)
    space.store.commit([], [OpenRun(run, "plan", "", {"steps": steps}, {}, at, "gone:1:x"), done])

    async def scene(door: Operations) -> None:
        async with asyncio.timeout(60):
            if way == "answer":
                told = await answer(
                    door, "answer_run", {"run": run, "step": "2", "value": 1, "wait_s": PATIENCE}, nobody
                )
            else:
                told = await door.resume_run(run, PATIENCE, nobody)
        assert isinstance(told, dict)
        assert (told["status"], told["result"]["data"]) == ("success", 2)

    at_door(space, scene, Access("ann"))


def test_answers_of_people_are_counted_and_so_are_those_that_come_too_late(space: Space) -> None:
    """By what came of them."""
    given = {"plan": [ASK], "wait_s": PATIENCE}

    async def scene(door: Operations) -> None:
        for said in ("success", "refused"):
            asked = await answer(door, "run_plan", given, nobody)
            question = asks_people(door, asked)
            assert question is not None
            if said == "refused":
                answer_elsewhere(space, question.run, "1", "elsewhere")
                with pytest.raises(Conflict, match=f"step 1 of {question.run} was answered already"):
                    await answered_by_person(door, "run_plan", given, question, "here", nobody)
            else:
                ended = await answered_by_person(door, "run_plan", given, question, "here", nobody)
                assert ended["result"]["data"] == "here"
            assert door.counts["elicitation", said] == 1
        assert sum(count for (name, _), count in door.counts.items() if name == "elicitation") == 2

    at_door(space, scene, Access("ann"))
    with space.store.reading() as snapshot:
        rows = [(row.outcome, row.reason) for row in snapshot.audit() if row.action == "elicitation"]
    assert sorted(rows) == [("refused", "conflict"), ("success", "ask")]


def test_a_call_that_nobody_waits_for_any_more_is_kept_as_cancelled(space: Space) -> None:
    """The run goes on."""

    async def scene(door: Operations) -> None:
        begun = asyncio.Event()

        async def heard(_steps: int, _says: str) -> None:
            begun.set()

        plan = [{"type": "create-note", "value": 1}, SLOW]
        call = asyncio.create_task(answer(door, "run_plan", {"plan": plan, "wait_s": PATIENCE}, heard))
        await begun.wait()
        call.cancel()
        await asyncio.wait([call])
        assert (call.cancelled(), door.lives.count()) == (True, 1)
        assert door.counts == {("run_plan", "cancelled"): 1}

    at_door(space, scene, Access("ann"))
    with space.store.reading() as snapshot:
        [kept] = [row for row in snapshot.audit() if row.action == "run_plan"]
    assert (kept.caller, kept.outcome) == ("ann", "cancelled")


def test_a_step_that_runs_is_told_unless_one_inside_of_it_does() -> None:
    """The first is not inside of the tenth, though its number begins so; what handles an item of a `map` is."""
    live = LiveRun.__new__(LiveRun)
    inner = {"10.branches[1].1": "c/d", "10.branches[1].12": "e/f", "2/1": "g/h", "3[7].on_fail.1": "i/j"}
    live._running = {"1": "a/b", "10": "parallel", "2": "plan:x", "3": "map", **inner}
    assert live.running == ["1 a/b", *(f"{position} {type_}" for position, type_ in inner.items())]
