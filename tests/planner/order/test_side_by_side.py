"""Steps that wait run side by side, and the outcome is that of one after the other."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from infospace import InfospaceError, Space
from infospace.tools.local import LocalTools
from planner.execute.concurrent import BusyClock
from planner.execute.start import run_sync
from planner.journal.result import RunResult

ITEMS = {"type": "create-collection", "value": [1, 2, 3, 4], "out": "$items"}


class Crossing:
    """A tool that answers when as many calls as are expected are under way at once."""

    def __init__(self, space: Space, together: int) -> None:
        self.calls: list[str] = []
        self.under_way = 0
        self.peak = 0
        self._together = together
        self._gate: asyncio.Event | None = None
        self.begun = asyncio.Event()
        self.fallen = asyncio.Event()
        server = LocalTools("way")

        @server.tool(read_only=True)
        async def cross(name: str) -> str:
            """Cross when the others are there."""
            return await self._cross(name)

        @server.tool(read_only=True)
        async def fall(name: str) -> str:
            """Fall, when the others are there."""
            await self._cross(name)
            self.fallen.set()
            raise InfospaceError(f"{name} fell")

        @server.tool(read_only=True)
        async def watch(name: str) -> str:
            """Cross, and look on until somebody has fallen."""
            await self._cross(name)
            await asyncio.wait_for(self.fallen.wait(), 120)
            return name

        @server.tool()
        async def mark(name: str) -> str:
            """Leave a mark outside."""
            self.calls.append(f"mark {name}")
            return name

        space.tools.add(server)

    async def _cross(self, name: str) -> str:
        self._gate = self._gate or asyncio.Event()
        self.calls.append(name)
        self.begun.set()
        self.under_way += 1
        self.peak = max(self.peak, self.under_way)
        if self.under_way >= self._together:
            self._gate.set()
        await asyncio.wait_for(self._gate.wait(), 120)
        self.under_way -= 1
        return name


def cross(name: str, out: str | None = None, tool: str = "cross", **fields: Any) -> dict[str, Any]:
    step = {"type": f"way/{tool}", "arguments": {"name": name}, **fields}
    return step if out is None else {**step, "out": out}


def statuses(result: RunResult) -> dict[str, str]:
    return {row.position: row.status for row in result.steps}


def test_ten_steps_that_wait_are_under_way_at_once(space: Space) -> None:
    """None of them would end before the tenth has begun."""
    crossing = Crossing(space, 10)
    result = run_sync(space, [cross(str(n), f"$v{n}") for n in range(10)])
    assert result.status == "success", result.reason
    assert crossing.peak == 10
    assert [row.position for row in result.steps] == [str(n) for n in range(1, 11)]


def test_a_step_waits_for_what_it_reads(space: Space) -> None:
    """And for nothing else: two chains run beside each other."""
    crossing = Crossing(space, 2)
    chains = [cross("a", "$a"), cross("b", "$b"), cross("${a}1", "$c"), cross("${b}1", "$d")]
    result = run_sync(space, {"steps": chains, "result": "$d"})
    assert result.status == "success", result.reason
    assert sorted(crossing.calls) == ["a", "a1", "b", "b1"]
    assert result.result is not None
    assert result.result.data == "b1"


@pytest.mark.parametrize("form", ["for-each", "map"])
def test_items_run_side_by_side_and_keep_their_order(space: Space, form: str) -> None:
    """All four are under way at once."""
    crossing = Crossing(space, 4)
    each: dict[str, Any] = {"type": "for-each", "target": "$items", "do": [cross("n${item}", "$r")], "out": "$all"}
    if form == "map":
        each = {"type": "map", "target": "$items", "operation": cross("n${item}"), "out": "$all"}
    result = run_sync(space, [ITEMS, each])
    assert result.result is not None
    assert result.result.data == ["n1", "n2", "n3", "n4"]
    assert crossing.peak == 4


def test_a_step_that_changes_something_waits_for_all_before_it(space: Space) -> None:
    """And all after it wait for it."""
    crossing = Crossing(space, 2)
    steps = [cross("a"), cross("b"), cross("m", tool="mark"), cross("c"), cross("d")]
    assert run_sync(space, steps).status == "success"
    assert sorted(crossing.calls[:2]) == ["a", "b"]
    assert crossing.calls[2] == "mark m"


def test_each_handler_of_steps_that_could_run_side_by_side_sees_the_error_of_its_own_step(space: Space) -> None:
    """Though it waits before it reads it."""
    Crossing(space, 1)
    steps = [
        cross(
            name,
            out,
            "fall",
            on_fail=[cross(f"{name}1"), {"type": "create-note", "value": "${error.step}", "out": out}],
        )
        for name, out in (("a", "$e"), ("b", "$f"), ("c", "$g"))
    ]
    last = {"type": "create-note", "value": "${e} ${f} ${g}", "out": "$all"}
    result = run_sync(space, [*steps, last])
    assert result.result is not None, result.reason
    assert result.result.data == "1 2 3"


def test_what_ran_ahead_of_a_failure_is_dropped(space: Space) -> None:
    """It is told as skipped, its variables are not bound, and nothing of it is there."""
    crossing = Crossing(space, 3)
    result = run_sync(space, [cross("a", "$a"), cross("b", "$b", tool="fall"), cross("c", "$c")])
    assert result.status == "failed"
    assert "b fell" in str(result.reason)
    assert statuses(result) == {"1": "success", "2": "failed", "3": "skipped"}
    assert sorted(result.bindings) == ["a"]
    assert result.steps[2].extra["ahead"] is True
    assert result.steps[2].extra["cause"] == "2"
    assert result.steps[2].reason == "step 2 failed before it; what this step had done ahead is dropped"
    assert crossing.peak == 3


def test_of_two_failures_the_first_in_the_document_counts(space: Space) -> None:
    """Whichever came first in time."""
    Crossing(space, 2)
    result = run_sync(space, [cross("a", tool="fall"), cross("b", tool="fall")])
    assert str(result.reason).startswith("step 1 ")


def test_a_handled_failure_lets_the_others_go_on(space: Space) -> None:
    """What depends on it is skipped."""
    Crossing(space, 2)
    steps = [cross("a", "$a", tool="fall", on_fail="continue"), cross("b", "$b"), cross("${a}", "$c")]
    result = run_sync(space, steps)
    assert result.status == "success"
    assert statuses(result) == {"1": "failed", "2": "success", "3": "skipped"}


def test_an_item_that_fails_stops_the_loop_at_its_place(space: Space) -> None:
    """Later items may have been called; nothing of them stays."""
    Crossing(space, 4)
    body = {
        "type": "if",
        "condition": {"type": "equals", "target": "$item", "value": 2},
        "then": [cross("n${item}", "$r", tool="fall")],
        "else": [cross("n${item}", "$r")],
    }
    result = run_sync(space, [ITEMS, {"type": "for-each", "target": "$items", "do": [body], "out": "$all"}])
    assert result.status == "failed"
    assert "item 2" in str(result.reason)
    assert not [row for row in result.steps if row.position.startswith(("2.do[3]", "2.do[4]"))]


def test_branches_overlap_outside_and_write_in_their_order(space: Space) -> None:
    """The second branch's Note is named after the first's, though its call ended first."""
    crossing = Crossing(space, 2)
    branches = [
        [cross("a", "$a"), {"type": "create-note", "value": "$a", "name": "first", "out": "$x"}],
        [cross("b", "$b"), {"type": "create-note", "value": "$b", "name": "second", "out": "$y"}],
    ]
    result = run_sync(space, [{"type": "parallel", "branches": branches}])
    assert result.status == "success", result.reason
    assert crossing.peak == 2
    numbers = [int(result.bindings[name].id.partition("_")[2]) for name in ("x", "y")]
    assert numbers == sorted(numbers)
    named = [row.position for row in result.steps if row.type == "create-note"]
    assert named == ["1.branches[1].2", "1.branches[2].2"]


def test_a_failing_branch_lets_the_others_begin_no_more_steps(space: Space) -> None:
    """What they had done before is written: it has happened."""
    crossing = Crossing(space, 2)
    branches = [
        [cross("a", tool="watch"), cross("never", tool="mark")],
        [cross("b", tool="fall")],
    ]
    result = run_sync(space, [{"type": "parallel", "branches": branches}])
    assert result.status == "failed"
    assert "b fell" in str(result.reason)
    assert "mark never" not in crossing.calls
    assert statuses(result)["1.branches[1].1"] == "success"


def test_a_cancelled_run_leaves_no_task_behind(space: Space) -> None:
    """Every step that was under way is journalled as broken off, or was dropped."""
    crossing = Crossing(space, 99)

    async def cancelled() -> None:
        from planner.execute.start import run

        task = asyncio.create_task(run(space, [cross("a"), cross("b")]))
        await asyncio.wait_for(crossing.begun.wait(), 120)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancelled())
    with space.store.reading() as snapshot:
        [run] = snapshot.runs()
        assert run.status == "cancelled"


def test_a_loop_beside_another_sees_what_its_own_items_made(space: Space) -> None:
    """Though nothing of it is written before the one in front has ended."""
    Crossing(space, 1)
    loop = {"type": "for-each", "target": "$items", "do": [cross("n${item}", "$r"), cross("${r}!", "$s")]}
    steps = [
        ITEMS,
        {**loop, "out": "$a"},
        {**loop, "out": "$b"},
        {"type": "union", "target": "$a", "value": "$b", "out": "$u"},
    ]
    result = run_sync(space, steps)
    assert result.result is not None, result.reason
    assert result.result.data == ["n1!", "n2!", "n3!", "n4!"] * 2


def test_a_step_for_which_the_budget_does_not_reach_leaves_nothing(space: Space) -> None:
    """Though it was under way beside an earlier one: no row, and no variable."""
    server = LocalTools("way")
    begun = [asyncio.Event(), asyncio.Event()]

    @server.tool(read_only=True)
    async def first() -> str:
        """Answer when the second is under way."""
        begun[0].set()
        await asyncio.wait_for(begun[1].wait(), 120)
        return "first"

    @server.tool(read_only=True)
    async def second(forever: bool) -> str:
        """Begin when the first is under way, and answer at once or never."""
        begun[1].set()
        await asyncio.Event().wait() if forever else await begun[0].wait()
        return "second"

    space.tools.add(server)
    for forever in (True, False):
        begun[:] = [asyncio.Event(), asyncio.Event()]
        steps = [
            {"type": "way/first", "arguments": {}, "out": "$a"},
            {"type": "way/second", "arguments": {"forever": forever}, "out": "$b"},
        ]
        result = run_sync(space, {"steps": steps, "budget": {"steps": 1}})
        assert result.reason == "step 2 (way/second) failed: the budget of 1 step ran out"
        assert [(row.position, row.status) for row in result.steps] == [("1", "success")]
        assert set(result.bindings) == {"a"}


def test_what_ran_ahead_is_told_to_be_dropped_in_the_order_of_the_document(space: Space) -> None:
    """After the failure, the first of them first."""
    Crossing(space, 3)
    result = run_sync(space, [cross("a", tool="fall"), cross("b", "$b"), cross("c", "$c")])
    assert [(row.position, row.status) for row in result.steps] == [("1", "failed"), ("2", "skipped"), ("3", "skipped")]


def test_what_runs_ahead_begins_no_more_than_the_budget_has(space: Space) -> None:
    """A branch behind one that takes long does not run on and on: it fails about where the budget ends."""
    crossing = Crossing(space, 1)
    server, most = LocalTools("slow"), 8

    @server.tool(read_only=True)
    async def last() -> str:
        """Answer when the others have come as far as they can."""
        for _ in range(5_000):
            await asyncio.sleep(0)
        return "last"

    space.tools.add(server)
    chain = [cross("x", "$x0"), *(cross(f"${{x{at}}}x", f"$x{at + 1}") for at in range(2 * most))]
    branches = [[{"type": "slow/last", "out": "$last"}], chain]
    result = run_sync(space, {"steps": [{"type": "parallel", "branches": branches}], "budget": {"steps": most}})
    assert result.status == "failed"
    assert f"the budget of {most} steps ran out" in str(result.reason)
    assert most <= len(crossing.calls) < 2 * most


class Turns:
    """A tool of which one call waits until another one was made, so that what stands first ends last."""

    def __init__(self, space: Space) -> None:
        self._let = asyncio.Event()
        server = LocalTools("turn")

        @server.tool(read_only=True)
        async def take(n: int) -> int:
            """Let the others go, or wait until they may."""
            if n == 1:
                await asyncio.wait_for(self._let.wait(), 120)
            self._let.set()
            return n

        space.tools.add(server)


def take(n: Any, out: str) -> dict[str, Any]:
    return {"type": "turn/take", "arguments": {"n": n}, "out": out}


def test_the_answer_is_what_the_last_branch_made_though_another_ended_later(space: Space) -> None:
    """Of a plan that names no result."""
    Turns(space)
    first = [take(1, "$a"), {"type": "create-note", "value": "first", "out": "$x"}]
    second = [take(2, "$b"), {"type": "create-note", "value": "second", "out": "$y"}]
    result = run_sync(space, [{"type": "parallel", "branches": [first, second]}])
    assert result.result is not None, result.reason
    assert result.result.data == "second"


@pytest.mark.parametrize("last", [[], [{"type": "say", "value": "said"}], [{"type": "remove", "target": "$gone"}]])
def test_a_branch_that_gives_nothing_leaves_the_answer_of_the_one_before(space: Space, last: Any) -> None:
    """Whether it has no step, or only such as make nothing."""
    gone = {"type": "create-note", "value": "gone", "out": "$gone"}
    first = [{"type": "create-note", "value": "first", "out": "$x"}]
    result = run_sync(space, [gone, {"type": "parallel", "branches": [first, last]}])
    assert result.result is not None, result.reason
    assert result.result.data == "first"


def test_a_clock_counts_the_seconds_once_in_which_several_are_under_way() -> None:
    """From when the first of them begins until the last has ended; not those in between two."""

    def spin(seconds: float) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass

    clock = BusyClock()
    began = time.perf_counter()
    with clock:
        spin(0.03)
        with clock:
            assert clock.seconds >= 0.03
        spin(0.01)
        assert clock.seconds <= time.perf_counter() - began
    counted = clock.seconds
    assert counted >= 0.04
    spin(0.01)
    assert clock.seconds == counted


def test_a_branch_knows_nothing_of_what_another_has_bound(space: Space) -> None:
    """A condition takes it as unbound, even if it is bound by then."""
    Turns(space)
    binds = [{"type": "create-note", "value": 1, "out": "$y"}, take(2, "$b")]
    asks = {
        "type": "if",
        "condition": {"type": "bound", "target": "$y"},
        "then": [{"type": "create-note", "value": "bound", "out": "$z"}],
        "else": [{"type": "create-note", "value": "free", "out": "$z"}],
    }
    result = run_sync(space, [{"type": "parallel", "branches": [binds, [take(1, "$a"), asks]]}])
    assert result.status == "success", result.reason
    assert space.context().content(result.bindings["z"]) == "free"


def test_a_branch_has_the_time_at_which_it_began_until_it_waits_itself(space: Space) -> None:
    """Though another branch has waited."""
    Turns(space)
    now = {"type": "compute", "expression": "now()"}
    waits = [{"type": "wait", "seconds": 0.01}, take(2, "$b"), {**now, "out": "$later"}]
    result = run_sync(
        space,
        [{**now, "out": "$begin"}, {"type": "parallel", "branches": [waits, [take(1, "$a"), {**now, "out": "$own"}]]}],
    )
    assert result.status == "success", result.reason
    begin, later, own = (space.context().content(result.bindings[name]) for name in ("begin", "later", "own"))
    assert own == begin < later


def test_after_a_failure_nothing_begins_though_an_earlier_step_still_goes_on(space: Space) -> None:
    """What waited for a later step never gets its turn."""
    begun, server, both, fallen = list[str](), LocalTools("way"), asyncio.Event(), asyncio.Event()

    @server.tool(read_only=True)
    async def look(name: str, after: int) -> str:
        """Look on until somebody has fallen, and then for some turns of the loop."""
        begun.append(name)
        if len(begun) == 2:
            both.set()
        await asyncio.wait_for(fallen.wait(), 120)
        for _ in range(after):
            await asyncio.sleep(0)
        return name

    @server.tool(read_only=True)
    async def fall() -> str:
        """Fall, once two look on."""
        await asyncio.wait_for(both.wait(), 120)
        fallen.set()
        raise InfospaceError("fell")

    space.tools.add(server)
    first, third = (
        {"type": "way/look", "arguments": {"name": name, "after": after}} for name, after in (("a", 400), ("c", 40))
    )
    last = {"type": "way/look", "arguments": {"name": "after ${c}", "after": 0}}
    result = run_sync(space, [first, {"type": "way/fall"}, {**third, "out": "$c"}, last])
    assert (result.status, "fell" in str(result.reason)) == ("failed", True)
    assert sorted(begun) == ["a", "c"]
