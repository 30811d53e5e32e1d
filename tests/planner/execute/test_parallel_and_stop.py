"""`parallel`, `wait`, `ask` and `stop`: who sees which variable, and how a plan ends on purpose."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from infospace import InfospaceError, Space
from infospace.tools.local import LocalTools
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare
from planner.journal.events import Event, StepFinished, StepStarted

sys.path.insert(0, str(Path(__file__).parents[1]))
from timing import turns


def note(value: Any, out: str, **fields: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **fields}


def parallel(*branches: list[Any]) -> dict[str, Any]:
    return {"type": "parallel", "branches": list(branches)}


def test_what_branches_bind_is_visible_after_them(run: Any) -> None:
    """Each under its own name."""
    result = run(parallel([note(1, "$a")], [note(2, "$b")]), note("${a}${b}", "$c"))
    assert result.result.data == "12"
    assert {row.position for row in result.steps} >= {"1.branches[1].1", "1.branches[2].1"}


def test_a_branch_does_not_see_what_another_binds(errors: Any) -> None:
    """It would depend on which comes first."""
    [problem] = errors([parallel([note(1, "$a")], [note("${a}", "$b")])])
    assert (problem.code, problem.pointer) == ("unbound-variable", "/0/branches/1/0/value")


def test_a_variable_bound_in_two_branches_is_refused(errors: Any) -> None:
    """At the second of them."""
    [problem] = errors([parallel([note(1, "$a")], [note(2, "$a")])])
    assert (problem.code, problem.pointer) == ("bound-twice", "/0/branches/1/0/out")


def test_a_branch_may_not_rebind_an_outer_variable(errors: Any) -> None:
    """The same."""
    [problem] = errors([note(0, "$a"), parallel([note(1, "$a")])])
    assert (problem.code, problem.pointer) == ("bound-twice", "/1/branches/0/0/out")


def test_two_branches_that_give_one_name_are_refused(errors: Any) -> None:
    """And a name that one gives cannot be loaded in the other."""
    [problem] = errors([parallel([note(1, "$a", name="x")], [note(2, "$b", name="x")])])
    assert (problem.code, problem.pointer) == ("name-taken", "/0/branches/1/0/name")
    load = {"type": "load", "target": "x", "out": "$b"}
    [problem] = errors([parallel([note(1, "$a", name="x")], [load])])
    assert (problem.code, problem.pointer) == ("unknown-name", "/0/branches/1/0/target")


def test_once_a_branch_has_failed_no_other_begins_a_step(run: Any, space: Space) -> None:
    """The step fails; what is under way is ended, and what it did is written."""
    begun = asyncio.Event()
    server = LocalTools("clay")

    @server.tool(read_only=True)
    async def bake() -> str:
        """Fail, when the glazing has begun."""
        await begun.wait()
        raise InfospaceError("it broke")

    @server.tool(read_only=True)
    async def glaze() -> str:
        """Glaze, until it has long failed."""
        begun.set()
        await turns()
        return "glazed"

    space.tools.add(server)
    glazing = [{"type": "clay/glaze", "out": "$g"}, note("${g}", "$a"), note("${a}", "$b")]
    result = run(parallel([{"type": "clay/bake"}], glazing))
    assert result.status == "failed"
    assert "1.branches[1].1" in result.reason
    ended = {row.position: row.status for row in result.steps}
    assert ended == {"1": "failed", "1.branches[1].1": "failed", "1.branches[2].1": "success"}


def test_the_first_failing_branch_fails_the_step(run: Any, space: Space) -> None:
    """In the order in which they are written, whichever fails first."""
    both = asyncio.Barrier(2)
    server = LocalTools("clay")

    @server.tool(read_only=True)
    async def crack(late: bool) -> str:
        """Fail, when both have begun."""
        await both.wait()
        if late:
            await turns()
        raise InfospaceError("it broke")

    space.tools.add(server)
    cracked = [[{"type": "clay/crack", "arguments": {"late": late}}] for late in (True, False)]
    result = run(parallel(*cracked))
    assert {row.position: row.status for row in result.steps if row.type == "clay/crack"} == {
        "1.branches[1].1": "failed",
        "1.branches[2].1": "failed",
    }
    assert "1.branches[1].1" in result.reason


def test_stop_ends_the_plan_with_its_answer(run: Any) -> None:
    """Nothing after it runs; status `stopped`."""
    stop = {"type": "stop", "value": "$n"}
    result = run(
        note(7, "$n"), {"type": "if", "condition": {"type": "bound", "target": "$n"}, "then": [stop]}, note(1, "$z")
    )
    assert (result.status, result.result.data) == ("stopped", 7)
    assert "z" not in result.bindings
    assert {row.type: row.status for row in result.steps}["if"] == "success"


def test_stop_may_say_that_the_plan_failed(run: Any) -> None:
    """Status `failed`, with the step that says so; a text with references is its answer's text."""
    result = run(note(7, "$n"), {"type": "stop", "status": "failed", "value": "it is ${n}"})
    assert (result.status, result.result.data) == ("failed", "it is 7")
    assert "step 2" in result.reason


@pytest.mark.parametrize("value", ["$n", "it is ${n}"])
def test_a_stop_shows_its_answer_as_any_step_does(run: Any, value: str) -> None:
    """In its row, without another look at the answer."""
    result = run(note(7, "$n"), {"type": "stop", "value": value})
    assert result.steps[-1].value == {"$n": "7", "it is ${n}": "it is 7"}[value]


def test_the_steps_of_a_result_are_in_the_order_in_which_they_began(run: Any) -> None:
    """A form stands before what is done in it, though it ends after that."""
    choice = {"type": "if", "condition": {"type": "bound", "target": "$n"}, "then": [note(1, "$a")]}
    result = run(note(7, "$n"), choice, note(2, "$b"))
    assert [row.position for row in result.steps] == ["1", "2", "2.then.1", "3"]


def test_no_on_fail_handles_a_stop(run: Any) -> None:
    """It is no failure: it leaves loops and handlers alike."""
    bad = {"type": "load", "target": "$n", "slice": "0:1", "on_fail": [{"type": "stop", "value": "enough"}]}
    each = {"type": "for-each", "target": "$c", "do": [note(7, "$n"), bad], "on_fail": "continue"}
    result = run({"type": "create-collection", "value": [1, 2], "out": "$c"}, each)
    assert (result.status, result.result.data) == ("stopped", "enough")
    assert len([row for row in result.steps if row.type == "load"]) == 1


def test_a_branch_that_stops_leaves_what_the_other_binds_certain(errors: Any, run: Any) -> None:
    """No path leads past it without the variable."""
    choice = {
        "type": "if",
        "condition": {"type": "equals", "target": "$n", "value": 1},
        "then": [{"type": "stop", "value": "one"}],
        "else": [note(2, "$m")],
    }
    plan = [note(7, "$n"), choice, note("${m}", "$z")]
    assert errors(plan) == []
    assert run(*plan).result.data == "2"


def test_a_handler_that_stops_leaves_the_out_certain(errors: Any) -> None:
    """The step bound it, or the plan has ended."""
    cut = {"type": "load", "target": "$n", "slice": "0:1", "out": "$m", "on_fail": [{"type": "stop"}]}
    assert errors([note("ab", "$n"), cut, note("${m}", "$z")]) == []


def test_steps_after_a_stop_are_told_as_unreachable(warnings: Any) -> None:
    """A warning: the plan may run."""
    found = warnings([{"type": "stop"}, note(1, "$a"), {"type": "say", "value": "${a}"}])
    assert [(problem.code, problem.pointer) for problem in found] == [("unreachable", "/1")]


def test_a_short_wait_just_sleeps(run: Any, errors: Any) -> None:
    """A number from 0, also of a variable; it lasts as long as it says."""
    assert run({"type": "wait", "seconds": 0}).status == "success"
    begun = time.monotonic()
    assert run(note(0.05, "$n"), {"type": "wait", "seconds": "$n"}).status == "success"
    assert time.monotonic() - begun >= 0.05
    [problem] = errors([note("soon", "$n"), {"type": "wait", "seconds": "$n"}])
    assert (problem.code, problem.pointer) == ("bad-value", "/1/seconds")
    [problem] = errors([{"type": "wait"}])
    assert (problem.code, problem.pointer) == ("missing-argument", "/0")


@pytest.mark.parametrize("seconds", [-1, 3e11, 1e308])
def test_a_wait_has_an_end(run: Any, errors: Any, seconds: float) -> None:
    """In ten years at most; what only a run can know is said there."""
    [problem] = errors([{"type": "wait", "seconds": seconds}])
    assert (problem.code, problem.pointer) == ("bad-value", "/0/seconds")
    assert "from 0 to 315,360,000 (ten years)" in problem.message
    given = {"inputs": {"s": {"type": "number"}}, "steps": [{"type": "wait", "seconds": "$s"}]}
    result = run(given, s=seconds)
    assert result.status == "failed"
    assert "unchecked: `seconds` is a number from 0 to 315,360,000" in result.reason


def test_the_check_knows_what_an_answer_is(errors: Any) -> None:
    """By the schema of `ask`."""
    ask = {
        "type": "ask",
        "value": "which?",
        "schema": {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False},
        "out": "$answer",
    }
    assert errors([ask, {"type": "say", "value": "${answer.name}"}]) == []
    [problem] = errors([ask, {"type": "say", "value": "$answer.nam"}])
    assert (problem.code, problem.hint) == ("unknown-field", "did you mean `name`?")
    [problem] = errors([{**ask, "schema": {"type": "strin"}}])
    assert (problem.code, problem.pointer) == ("bad-schema", "/0/schema/type")


def test_what_a_branch_did_not_bind_is_skipped_after_it_with_the_cause(run: Any) -> None:
    """Named is the step in the branch that failed, and the other branch is as if nothing had happened."""
    cut = {"type": "load", "target": "$n", "slice": "0:1", "out": "$m", "on_fail": "continue"}
    both = {"type": "parallel", "branches": [[cut], [note(1, "$a")]]}
    result = run(note(7, "$n"), both, note("${m}", "$z", on_fail="continue"), note("${a}", "$b"))
    assert result.status == "success", result.reason
    row = next(row for row in result.steps if row.position == "3")
    assert (row.status, row.reason) == (
        "skipped",
        "$m is not bound: step 2.branches[1].1 failed and was passed over",
    )
    assert result.result.data == "1"


def test_events_tell_how_deep_a_step_stands(space: Space) -> None:
    """What begins and ends is told with the number of the forms around it; of branches, how many there were."""
    say = {"type": "say", "value": "here"}
    numbers = {"type": "create-collection", "value": [1], "out": "$c"}
    pair = {"type": "parallel", "branches": [[say], [say]]}
    prepared = prepare(space, {"steps": [numbers, {"type": "for-each", "target": "$c", "do": [pair]}]})
    assert isinstance(prepared, Prepared)
    events = list[Event]()
    result = asyncio.run(Run(space, prepared.plan, events.append).run(prepared.bound))
    deep = {"1": 0, "2": 0, "2.do[1].1": 1, "2.do[1].1.branches[1].1": 2, "2.do[1].1.branches[2].1": 2}
    assert {one.position: one.nesting for one in events if isinstance(one, StepStarted)} == deep
    assert {one.row.position: one.nesting for one in events if isinstance(one, StepFinished)} == deep
    assert {row.position: row.value for row in result.steps}["2.do[1].1"] == "2 branches"
