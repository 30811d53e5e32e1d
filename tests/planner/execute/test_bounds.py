"""What one step may make, and how long it may compute: exceeding either is a failure, and leaves nothing."""

from __future__ import annotations

import math
import time
from types import ModuleType
from typing import Any

import pytest

from infospace import Args, Collection, Context, Space, primitive
from infospace.contract.catalogue import Catalogue, PackageProvider, installed
from infospace.core.bounds import (
    Bounds,
    OutOfTime,
    Room,
    Stop,
    at_most,
    bounded,
    check_time,
    ending,
    measure,
    measure_table,
    seconds_left,
    stopped_by,
    unhurried,
)
from infospace.core.ids import Kind
from infospace.store.changes import MakeNote
from planner.execute.start import run_sync

ROWS = [{"k": 1, "v": number} for number in range(300)]
TABLE: list[Any] = [
    {"type": "create-note", "value": ROWS, "out": "$rows"},
    {"type": "split", "target": "$rows", "out": "$table"},
]
LARGE: list[Any] = [{**TABLE[0], "value": [{"k": 1, "v": number} for number in range(990)]}, TABLE[1]]
"""980,100 pairs: some seconds on any machine."""
JOIN = {"type": "join", "target": "$table", "value": "$table", "on": "k", "out": "$pairs"}
"""90,000 pairs: some tenths of a second."""


def steps_of(run: Any) -> list[tuple[str, str]]:
    return [(row.position, row.status) for row in run.steps]


@pytest.mark.parametrize(
    ("budget", "step", "needed"),
    [
        ({"items": 89_999}, JOIN, "90,000"),
        ({"items": 300}, {"type": "split", "target": "a" + "," * 300, "delimiter": ",", "out": "$parts"}, "301"),
        ({"characters": 16_000}, {"type": "create-note", "value": "${rows}${rows}${rows}${rows}", "out": "$x"}, "1"),
        ({"characters": 9_000}, {"type": "flatten", "target": "$table", "separator": "-" * 100, "out": "$x"}, "9,"),
        ({"characters": 9_000}, {"type": "say", "value": "${rows}${rows}"}, "9,"),
    ],
)
def test_what_is_too_much_is_refused_before_it_is_made(space: Space, budget: Any, step: Any, needed: str) -> None:
    (key, most) = next(iter(budget.items()))
    steps = [*TABLE, step]
    if step["type"] == "split":
        steps = [{"type": "create-note", "value": step["target"], "out": "$text"}, {**step, "target": "$text"}]
    run = run_sync(space, {"steps": steps, "budget": budget})
    assert (run.status, run.steps[-1].error) == ("failed", "budget")
    assert f"the budget of {most:,} {key} that one step may make is too small" in str(run.reason)
    assert f"it would make {needed}" in str(run.reason)
    assert f'"budget": {{"{key}": ' in str(run.reason)
    assert "x" not in run.bindings


def test_what_a_plan_allows_itself_is_allowed(space: Space) -> None:
    run = run_sync(space, {"steps": [*TABLE[:1], {**TABLE[1]}], "budget": {"items": 302, "characters": 20_000}})
    assert run.status == "success"


def test_a_step_has_room_of_its_own(space: Space) -> None:
    """The bound is that of one step, also of each round of a loop."""
    loop = {"type": "for-each", "target": "$table", "as": "$row", "do": [{"type": "create-note", "value": "$row"}]}
    assert run_sync(space, {"steps": [*TABLE, loop], "budget": {"items": 302}}).status == "success"


def test_who_runs_a_plan_may_allow_less_than_it_says(space: Space) -> None:
    with at_most(Bounds(items=100)):
        run = run_sync(space, {"steps": TABLE, "budget": {"items": 10_000}})
    assert "the budget of 100 items" in str(run.reason)
    with at_most(Bounds(items=100, characters=20)):
        assert bounded(1_000, 10) == Bounds(100, 10)
        assert bounded(10, 1_000) == Bounds(10, 20)
    assert bounded(1_000, 1_000) == Bounds(1_000, 1_000)


def test_what_is_done_inside_ends_with_what_is_around_it() -> None:
    """Or before; what has to come to its end does."""
    with ending(time.monotonic() - 1):
        with ending(time.monotonic() + 50), pytest.raises(OutOfTime):
            check_time()
        with unhurried():
            check_time()
            assert seconds_left() == math.inf
        with pytest.raises(OutOfTime):
            check_time()
    with ending(time.monotonic() + 50):
        with ending(time.monotonic() - 1), pytest.raises(OutOfTime):
            check_time()
        check_time()
    assert seconds_left() == math.inf


def test_the_columns_of_a_table_count_once() -> None:
    """Of rows that have the same; a row of others counts as it is, and so does what is no row."""
    rows = [{"region": "north", "n": 1}, {"region": "south", "n": 2}, {"region": "east", "m": 3}]
    whole, plain = measure(rows)
    frame = 2 + 2 * 4 + len("region") + len("n")
    assert (measure_table(rows), plain) == ((whole - frame, True), True)
    assert measure_table(rows[:1]) == measure(rows[:1]) == (frame + len("north") + 8, True)
    assert measure_table(["north", {"n": 1}]) == measure(["north", {"n": 1}])
    assert measure_table([]) == (0, True)


def test_no_handler_makes_a_budget_that_ran_out_a_success(space: Space) -> None:
    run = run_sync(space, {"steps": [*TABLE, {**JOIN, "on_fail": "continue"}], "budget": {"items": 1_000}})
    assert run.status == "failed"


def test_room_that_is_not_there_is_not_taken() -> None:
    room = Room(Bounds(items=3, characters=10))
    room.consume(2, 10)
    with pytest.raises(Exception, match="it would make 4 or more"):
        room.consume(2)
    with pytest.raises(Exception, match="it would make 11 or more"):
        room.consume(1, 1)
    room.consume(1)
    with pytest.raises(Exception, match="it would make 4 or more"):
        room.require_members_fit(4)
    room.require_members_fit(3)


SECONDS = 0.15
SLOW = {
    "join": JOIN,
    "split": {"type": "split", "target": "$long", "delimiter": " ", "out": "$words"},
}


@pytest.mark.parametrize("name", SLOW)
def test_a_step_that_computes_fails_when_its_time_is_over(space: Space, name: str) -> None:
    """It neither goes on to its end, nor leaves anything; what comes after it goes on."""
    long = {"type": "create-note", "value": "word " * 900_000, "out": "$long"}
    late = {**SLOW[name], "timeout_s": SECONDS, "on_fail": "continue"}
    began = time.process_time()
    run = run_sync(space, [*LARGE, long, late, {"type": "size", "target": "$table", "out": "$size"}])
    took = time.process_time() - began
    row = next(row for row in run.steps if row.position == "4")
    assert (run.status, row.status, row.error) == ("success", "failed", "timeout")
    assert row.reason == f"it took longer than its `timeout_s` of {SECONDS:g} s"
    assert row.duration_ms >= SECONDS * 1000
    assert run.bindings.keys() == {"rows", "table", "long", "size"}
    assert took < 20
    assert space.store.check() == []


class Nothing(Args):
    """No arguments."""


@primitive(effect="pure")
async def fill_the_time(args: Nothing, context: Context) -> Collection:
    """Make a large table, and return it just before the step's time is over: what is left is too short to commit it."""
    began = time.perf_counter()
    table = context.collection(context.make_notes(({"v": "word " * 60} for _ in range(60_000)), table=True))
    while time.perf_counter() < began + LONG - 0.02:
        check_time()
    return table


LONG = 1.0


def test_the_duration_of_a_step_whose_commit_ran_out_of_time_is_the_whole_time(space: Space) -> None:
    module: Any = ModuleType("workshop")
    module.fill_the_time = fill_the_time
    catalogue: Catalogue = installed()
    catalogue.add(PackageProvider("workshop", module))
    space.__dict__["catalogue"] = catalogue
    run = run_sync(space, [{"type": "fill-the-time", "timeout_s": LONG, "out": "$table"}])
    (row,) = run.steps
    assert (row.status, row.error) == ("failed", "timeout")
    assert row.duration_ms >= LONG * 1000
    assert space.store.check() == []


def test_the_budget_of_seconds_holds_for_a_step_that_computes(space: Space) -> None:
    """The table is made before: a busy machine may take longer than that for it."""
    assert run_sync(space, [*LARGE, {"type": "name", "target": "$table", "value": "large"}]).status == "success"
    join = {**JOIN, "target": "large", "value": "large"}
    run = run_sync(space, {"steps": [{"type": "say", "value": "joins"}, join], "budget": {"seconds": 0.3}})
    assert (run.status, steps_of(run)) == ("failed", [("1", "success"), ("2", "failed")])
    assert "the budget of 0.3 seconds ran out" in str(run.reason)
    assert "pairs" not in run.bindings


def test_an_attempt_that_ran_out_of_time_is_made_again(space: Space) -> None:
    late = {**JOIN, "timeout_s": 0.05, "retry": {"attempts": 2, "wait_s": 0}}
    run = run_sync(space, [*TABLE, late])
    assert steps_of(run)[2:] == [("3", "failed"), ("3#2", "failed")]


def test_other_branches_go_on_when_one_ran_out_of_time(space: Space) -> None:
    late = {**JOIN, "timeout_s": 0.05, "on_fail": "continue"}
    branches = [[late], [{"type": "size", "target": "$table", "out": "$size"}]]
    run = run_sync(space, [*TABLE, {"type": "parallel", "branches": branches}])
    assert (run.status, run.bindings.keys()) == ("success", {"rows", "table", "size"})


def test_a_large_commit_ends_in_time_and_leaves_nothing(space: Space) -> None:
    changes = [MakeNote(space.store.new_id(Kind.NOTE), "x") for _ in range(600)]
    with ending(time.monotonic() - 1), pytest.raises(OutOfTime):
        space.store.commit(changes)
    space.store.commit(changes)
    assert space.context().get(changes[-1].id).content == "x"


def test_few_rows_are_written_whatever_the_time_is(space: Space) -> None:
    """The end of what ran out of time is journalled, after all."""
    made = MakeNote(space.store.new_id(Kind.NOTE), "x")
    with ending(time.monotonic() - 1):
        space.store.commit([made])
    assert space.context().get(made.id).content == "x"


def test_an_earlier_end_stays_the_end() -> None:
    with ending(time.monotonic() - 1), ending(time.monotonic() + 60), pytest.raises(OutOfTime):
        check_time()
    check_time()


def test_what_is_stopped_from_elsewhere_ends() -> None:
    from contextvars import copy_context

    def computes() -> None:
        stop = Stop()
        stopped_by(stop)
        check_time()
        stop.now = True
        check_time()

    with pytest.raises(OutOfTime):
        copy_context().run(computes)
    check_time()
