"""`while`: how long it goes on, what is bound after it, and which loops the check refuses."""

from __future__ import annotations

import asyncio
from typing import Any

from infospace import Space
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer, resume

START = {"type": "create-note", "value": "", "out": "$n"}
GROW = {"type": "create-note", "value": "${n}x", "out": "$n"}
SHORT = {"type": "not", "of": {"type": "equals", "target": "$n", "value": "xxx"}}


def loop(*body: Any, condition: Any = SHORT, **fields: Any) -> dict[str, Any]:
    return {"type": "while", "condition": condition, "body": list(body), **fields}


def test_the_body_runs_as_long_as_the_condition_holds(run: Any) -> None:
    """It rebinds the variables of the scope it stands in."""
    result = run({"steps": [START, loop(GROW)], "result": "$n"})
    assert result.status == "success"
    assert result.result.data == "xxx"
    assert [row.position for row in result.steps if row.position.startswith("2.body")] == [
        "2.body[1].1",
        "2.body[2].1",
        "2.body[3].1",
    ]


def test_a_condition_that_does_not_hold_runs_nothing(run: Any) -> None:
    """Zero iterations are a success."""
    result = run({"type": "create-note", "value": "xxx", "out": "$n"}, loop(GROW))
    [row] = [row for row in result.steps if row.type == "while"]
    assert (row.status, row.extra["iterations"]) == ("success", 0)


def test_reaching_max_iterations_is_a_failure_that_says_so(run: Any) -> None:
    """The condition still holds after the last of them."""
    result = run(START, loop(GROW, max_iterations=2))
    assert result.status == "failed"
    assert "2 iterations" in result.reason
    assert run(START, loop(GROW, max_iterations=3)).status == "success"


def test_a_failing_body_fails_the_loop_and_names_the_iteration(run: Any) -> None:
    """The first failure ends it."""
    cut = {"type": "load", "target": "$n", "slice": "0:1"}
    result = run({"type": "create-note", "value": 7, "out": "$n"}, loop(cut, GROW))
    assert result.status == "failed"
    assert "iteration 1" in result.reason


def test_an_unbound_condition_skips_the_loop(run: Any) -> None:
    """As it does for every form."""
    lost = {"type": "load", "target": "$k", "slice": "0:1", "out": "$n", "on_fail": "continue"}
    result = run({"type": "create-note", "value": 7, "out": "$k"}, lost, loop(GROW))
    assert next(row for row in result.steps if row.type == "while").status == "skipped"


def test_a_loop_that_nothing_in_its_body_can_end_is_refused(errors: Any) -> None:
    """The condition reads a variable that the body leaves alone."""
    say = {"type": "say", "value": "again"}
    [problem] = errors([START, loop(say)])
    assert (problem.code, problem.pointer) == ("endless-loop", "/1/condition")
    assert errors([START, loop(say, {"type": "stop"})]) == []


def test_what_only_the_body_binds_may_be_unbound_after_it(errors: Any, run: Any) -> None:
    """Unless the condition says that it is bound when the loop ends."""
    body = [GROW, {"type": "create-note", "value": 1, "out": "$made"}]
    [problem] = errors([START, loop(*body), {"type": "say", "value": "${made}"}])
    assert (problem.code, problem.pointer) == ("maybe-unbound", "/2/value")
    until = {"type": "notbound", "target": "$made"}
    plan = [START, loop(*body, condition=until), {"type": "say", "value": "${made}"}]
    assert errors(plan) == []
    assert run(*plan).status == "success"


def test_a_variable_that_changes_its_kind_from_round_to_round_is_known_by_neither(errors: Any) -> None:
    """What fits in one round is not refused for the other."""
    swap = {"type": "create-collection", "value": ["$n"], "out": "$n"}
    assert errors([START, loop({"type": "bind", "target": "$n"}, swap)]) == []
    [problem] = errors([START, loop(GROW), {"type": "size", "target": "$n", "out": "$s"}])
    assert problem.code == "wrong-kind"


def test_bad_fields_are_said_at_their_places(errors: Any) -> None:
    """All at once."""
    found = errors([START, {"type": "while", "condition": SHORT, "do": [GROW]}])
    assert {(problem.code, problem.pointer) for problem in found} == {
        ("unknown-argument", "/1/do"),
    }
    for most in (0, -1, 0.5, True, "2"):
        [problem] = errors([START, loop(GROW, max_iterations=most)])
        assert (problem.code, problem.pointer) == ("bad-value", "/1/max_iterations")
    assert errors([START, loop(GROW, max_iterations=1)]) == []


def test_a_run_that_goes_on_asks_a_tool_anew_before_the_next_round(space: Space) -> None:
    """What it said before the first round is not said again; a replay takes what was said before each."""
    said: list[bool] = []
    gate = LocalTools("gate")

    @gate.tool(read_only=True)
    def is_open() -> bool:
        """Say whether it is open: twice."""
        said.append(len(said) < 2)
        return said[-1]

    space.tools.add(gate)
    ask = {"type": "ask", "value": "And now?", "out": "$n"}
    result = run_sync(space, [START, loop(ask, condition={"type": "tool_condition", "tool": "gate/is_open"})])
    for number in (1, 2):
        assert [one.step for one in result.pending] == [f"2.body[{number}].1"], result.reason
        answer(space, str(result.run), result.pending[0].step, "go on")
        result = asyncio.run(resume(space, str(result.run)))
    assert (result.status, said) == ("success", [True, True, False])
    again = asyncio.run(replay(space, str(result.run)))
    assert (again.result.status, len(said)) == ("success", 3)
    assert [row.position for row in again.result.steps] == [row.position for row in result.steps]


def test_an_if_that_goes_on_has_read_what_its_condition_read(space: Space) -> None:
    """At the version it was read at, though its block has changed it since."""
    made = {"type": "create-note", "value": {"on": True}, "out": "$flag"}
    steps = [
        {"type": "ask", "value": "Sure?", "out": "$a"},
        {"type": "update-note", "target": "$flag", "value": {"on": 0}},
    ]
    branch = {"type": "if", "condition": {"type": "equals", "target": "$flag.on", "value": True}, "then": steps}
    result = run_sync(space, [made, branch])
    answer(space, str(result.run), "2.then.1", "yes")
    result = asyncio.run(resume(space, str(result.run)))
    assert result.status == "success", result.reason
    [flag] = [row for row in result.steps if row.position == "1"]
    [decided] = [row for row in result.steps if row.position == "2"]
    assert [(use.id, use.version) for use in decided.uses] == [(flag.resource, 1)]


def test_what_the_condition_reads_is_read_by_the_loop(run: Any) -> None:
    """In its first round and in the later ones, also where it never began one."""
    rounds = {
        "type": "while",
        "condition": {"type": "less_than", "target": "$n", "value": "$most"},
        "max_iterations": 9,
    }
    count = {"type": "compute", "expression": "$n + 1", "out": "$n"}
    for most, read in ((2, 3), (0, 1)):
        steps = [{"type": "create-note", "value": value, "out": out} for value, out in ((0, "$n"), (most, "$most"))]
        result = run(*steps, {**rounds, "body": [count]})
        assert result.status == "success", result.reason
        uses = {use.id for row in result.steps if row.type == "while" for use in row.uses}
        assert result.bindings["most"].id in uses
        assert len(uses) == read + 1


def test_a_loop_says_how_often_it_went_round(run: Any) -> None:
    """One iteration is not many."""
    for text, value in (("xxx", "0 iterations"), ("xx", "1 iteration"), ("x", "2 iterations")):
        result = run({"type": "create-note", "value": text, "out": "$n"}, loop(GROW))
        [row] = [row for row in result.steps if row.type == "while"]
        assert row.value == value
