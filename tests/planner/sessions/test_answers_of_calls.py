"""What a call on a session answers with: of a step its own execution, of several the last value that they gave."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import InfospaceError, Space
from infospace.tools.local import LocalTools
from planner.journal.result import RunResult
from planner.parse.saved_plans import save_plan
from planner.sessions import open_session
from planner.sessions.session import Session

NOTE = {"type": "create-note", "value": {"n": 1}, "out": "$x"}
LIST = {"type": "create-collection", "value": ["a", "b"], "out": "$list"}
SAY = {"type": "say", "value": "hello"}
ASK = {"type": "ask", "value": "Which year?", "schema": {"type": "integer"}, "out": "$year"}
LOOP = {"type": "for-each", "target": "$list", "do": [{"type": "create-note", "value": "${item}!", "out": "$y"}]}


def test_a_step_answers_as_the_journal_has_it(space: Space) -> None:
    """Each of its fields."""
    with open_session(space, "s") as session:
        told = session.step(NOTE)
        with space.store.reading() as snapshot:
            [row] = snapshot.steps(str(session.id))
    assert (told.status, told.resource_id, told.value) == (row.status, row.resource, row.value)
    assert (told.started_at, told.duration_ms, told.error, told.reason) == (row.started, row.duration_ms, None, None)
    assert told.extra == row.extra
    assert told.data == {"n": 1}


def test_a_failed_step_answers_with_its_reason_and_kind_and_without_data(space: Space) -> None:
    with open_session(space, "s") as session:
        session.step(NOTE)
        told = session.step({"type": "coerce", "target": "$x", "coercion": "${x}"})
    assert (told.status, told.data, told.resource_id) == ("failed", None, None)
    with space.store.reading() as snapshot:
        row = snapshot.steps("run_1")[-1]
    assert (told.reason, told.error, told.started_at) == (row.reason, row.error, row.started)
    assert told.reason is not None


def test_a_step_that_is_tried_again_answers_with_its_last_attempt(space: Space) -> None:
    """As it went then, though it failed before, and with what that gave."""
    server, called = LocalTools("outside"), []

    @server.tool(read_only=True)
    async def give_third() -> str:
        """Fail twice, then give a value."""
        called.append(len(called) + 1)
        if len(called) < 3:
            raise InfospaceError("not yet")
        return "at last"

    space.tools.add(server)
    with open_session(space, "s") as session:
        told = session.step(
            {"type": "outside/give_third", "arguments": {}, "out": "$x", "retry": {"attempts": 3, "wait_s": 0}}
        )
        assert (told.status, told.data, told.reason, told.error) == ("success", "at last", None, None)
        with space.store.reading() as snapshot:
            rows = snapshot.steps("run_1")
        assert [row.position for row in rows] == ["1", "1#2", "1#3"]
        assert (told.started_at, told.duration_ms) == (rows[-1].started, rows[-1].duration_ms)
    assert called == [1, 2, 3]


def test_a_loop_answers_for_itself_and_not_for_a_step_in_it(space: Space) -> None:
    with open_session(space, "s") as session:
        session.step(LIST)
        told = session.step({**LOOP, "collect": "$y", "out": "$all"})
        assert told.resource_id == session.bindings["all"].id
        assert told.data == ["a!", "b!"]
        told = session.step({**LOOP, "do": [{"type": "size", "target": "$x"}]} | {"on_fail": "continue"})
        assert told.status == "failed"
        assert "unbound-variable" in str(told.extra)


@pytest.mark.parametrize(
    ("step", "inner"),
    [
        ({"type": "if", "condition": "1 = 1", "then": [{**NOTE, "out": "$y"}]}, "first.then.1"),
        ({"type": "plan:greet", "out": "$y"}, "first/1"),
        ({"type": "load", "target": "$x", "slice": "${x}", "on_fail": [{**NOTE, "out": "$y"}]}, "first.on_fail.1"),
        ({"type": "parallel", "branches": [[SAY], [{**NOTE, "out": "$y"}]]}, "first.branches[2].1"),
    ],
)
def test_what_others_stand_in_answers_for_itself(space: Space, step: Any, inner: str) -> None:
    """By whatever name; what was done last was done within it."""
    save_plan(space, "greet", [{**NOTE, "value": "hello"}])
    with open_session(space, "s") as session:
        session.step(NOTE)
        told = session.step({**step, "id": "first"})
        with space.store.reading() as snapshot:
            rows = {row.position: row for row in snapshot.steps(str(session.id))}
    assert inner in rows
    own = rows["first"]
    assert (told.status, told.resource_id, told.value) == (own.status, own.resource, own.value)
    assert (told.started_at, told.duration_ms, told.error) == (own.started, own.duration_ms, own.error)


def test_a_step_that_waits_answers_with_its_question(space: Space) -> None:
    """And with all that it waits for, not with data."""
    with open_session(space, "s") as session:
        told = session.step(ASK)
        assert (told.status, told.value, told.data, told.resource_id) == ("suspended", "Which year?", None, None)
        pending: Any = told.extra["pending"]
        assert [(one["step"], one["kind"], one["question"]) for one in pending] == [("1", "ask", "Which year?")]
        session.answer("1", 1984)
        assert session.step({"type": "compute", "expression": "$year + 1"}).data == 1985


def test_several_questions_are_all_told_and_the_first_is_put(space: Space) -> None:
    with open_session(space, "s") as session:
        told = session.step({"type": "parallel", "branches": [[ASK], [{**ASK, "value": "Who?", "out": "$who"}]]})
    pending: Any = told.extra["pending"]
    assert [one["question"] for one in pending] == ["Which year?", "Who?"]
    assert told.value == "Which year?"


@pytest.mark.parametrize(
    ("stop", "reason"),
    [({"value": 3}, None), ({}, None), ({"value": 3, "status": "failed"}, "step 1 stopped the plan")],
)
def test_a_stop_answers_with_its_value_and_says_only_of_a_failure_why(
    space: Space, stop: Any, reason: str | None
) -> None:
    with open_session(space, "s") as session:
        told = session.step({"type": "stop", **stop})
    assert (told.status, told.data, told.reason) == ("success", stop.get("value"), reason)


def play(session: Session, *steps: Any) -> RunResult:
    return asyncio.run(session.play(steps))


def value(result: RunResult) -> Any:
    assert result.status == "success", (result.reason, result.problems)
    return None if result.result is None else result.result.data


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        ([NOTE, SAY], {"n": 1}),
        ([NOTE, {"type": "compute", "expression": "2"}], 2),
        ([NOTE, {"type": "if", "condition": "1 = 1", "then": [{"type": "compute", "expression": "3"}]}], 3),
        ([NOTE, {"type": "if", "condition": "1 = 2", "then": [{"type": "compute", "expression": "3"}]}], {"n": 1}),
        ([LIST, LOOP, SAY], ["a!", "b!"]),
        ([SAY], None),
    ],
)
def test_a_call_answers_with_the_last_value_that_it_gave(space: Space, steps: Any, last: Any) -> None:
    """Also of steps that stand in others; what gives nothing is passed over."""
    assert value(play(Session(space, "s"), *steps)) == last


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        ([NOTE, {"type": "compute", "expression": "2"}, SAY], 2),
        ([NOTE, {"type": "if", "condition": "1 = 1", "then": [{"type": "compute", "expression": "3"}, SAY]}], 3),
        ([NOTE, {"type": "if", "condition": "1 = 2", "then": [{"type": "compute", "expression": "3"}]}], {"n": 1}),
        ([LIST, {**LOOP, "collect": "$y", "out": "$all"}, SAY], ["a!", "b!"]),
        ([SAY], None),
    ],
)
def test_a_session_that_is_opened_again_knows_the_last_value_that_it_gave(space: Space, steps: Any, last: Any) -> None:
    """Which it ends with."""
    play(Session(space, "s"), *steps)
    assert value(asyncio.run(Session(space, "s").end())) == last


def test_a_call_that_gave_nothing_has_no_value_of_an_earlier_one(space: Space) -> None:
    session = Session(space, "s")
    assert value(play(session, NOTE)) == {"n": 1}
    assert value(play(session, SAY)) is None
    assert value(play(session, {"type": "compute", "expression": "$x.n + 1"})) == 2


def test_the_inputs_of_a_plan_are_not_what_it_gave(space: Space) -> None:
    """A plan whose steps give nothing has no result, though its inputs were bound."""
    with open_session(space, "s") as session:
        plan = {"inputs": {"n": {"type": "integer"}}, "steps": [{"type": "say", "value": "${n}"}]}
        told = session.run(plan, {"n": 5})
        assert (told.status, told.result) == ("success", None)
        given = session.run({**plan, "steps": [{"type": "compute", "expression": "$n + 1"}]}, {"n": 5})
        assert given.result is not None
        assert given.result.data == 6
