"""A session that somebody else takes up from the journal: its budget counts on, and what broke off is told."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from chatting import Endpoint

from infospace import InfospaceError, Space
from infospace.core.clock import now
from infospace.journal.rows import AddLines, Approve, CallKind, CallRow, CallStatus, ClaimRun, RunRow
from infospace.tools.local import LocalTools
from planner.journal.result import RunResult
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer, resume
from planner.parse.saved_plans import save_plan
from planner.sessions import open_session, session_run
from planner.sessions.names import name_of
from planner.sessions.session import Session
from planner.sessions.session_run import is_between_calls

NOTE: dict[str, Any] = {"type": "create-note", "value": 1, "out": "$x"}
SAY = {"type": "say", "value": "hi"}
ASK = {"type": "ask", "value": "which?", "out": "$y"}
NEVER = {"type": "wait", "condition": {"type": "bound", "target": "$never"}}
FAILS = {"type": "coerce", "target": "$x", "coercion": "${x}"}


def play(session: Session, *steps: Any) -> RunResult:
    return asyncio.run(session.play(steps))


def row(space: Space, run: str = "run_1") -> RunRow:
    with space.store.reading() as snapshot:
        return snapshot.run(run)


def test_what_one_step_may_make_stays_what_the_head_says(space: Space) -> None:
    play(Session(space, "s", {"budget": {"items": 3}}), NOTE)
    made = play(Session(space, "s"), {"type": "create-collection", "value": [1, 2, 3, 4]})
    assert made.status == "failed"
    assert "the budget of 3 items that one step may make is too small: it would make 4 or more" in str(made.reason)
    assert play(Session(space, "s"), {"type": "create-collection", "value": [1, 2]}).status == "success"


def test_questions_to_a_model_are_counted_over_all_calls(space: Space, endpoint: Endpoint) -> None:
    endpoint.answers = lambda _body: "said"
    write = {"type": "generate-note", "target": "$x", "prompt": "x"}
    assert play(Session(space, "s", {"budget": {"llm_calls": 2}}), NOTE, write).status == "success"
    assert play(Session(space, "s"), {**write, "prompt": "y"}).status == "success"
    spent = play(Session(space, "s"), {**write, "prompt": "z"})
    assert spent.status == "failed"
    assert spent.reason == (
        'step 4 (generate-note) failed: the budget of 2 llm_calls is spent ("budget": {"llm_calls": …})'
    )
    assert len(endpoint.requests) == 2


def test_calls_of_tools_are_counted_over_all_calls(space: Space) -> None:
    made: list[int] = []
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    def look(at: int) -> int:
        """Look at something."""
        made.append(at)
        return at

    space.tools.add(outside)
    looks = [{"type": "outside/look", "arguments": {"at": number}} for number in range(3)]
    assert play(Session(space, "s", {"budget": {"tool_calls": 2}}), looks[0]).status == "success"
    assert play(Session(space, "s"), looks[1]).status == "success"
    spent = play(Session(space, "s"), looks[2])
    assert spent.status == "failed"
    assert spent.reason == (
        'step 3 (outside/look) failed: the budget of 2 tool_calls is spent ("budget": {"tool_calls": …})'
    )
    assert made == [0, 1]


def test_without_a_budget_each_call_may_have_as_many_steps(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there were before it."""
    monkeypatch.setattr(session_run, "MAX_EXECUTIONS_PER_CALL", 3)
    session = Session(space, "s")
    for _ in range(3):
        assert play(session, SAY, SAY, SAY).status == "success"
    more = play(session, SAY, SAY, SAY, SAY)
    assert (more.status, [one.position for one in more.steps]) == ("failed", ["10", "11", "12"])


def test_a_session_is_between_calls_where_nothing_of_a_call_is_left(space: Space) -> None:
    session = Session(space, "s")
    assert asyncio.run(session.begin()) == []
    assert is_between_calls(row(space))
    assert play(session, NOTE).status == "success"
    assert is_between_calls(row(space))
    assert not is_between_calls(replace(row(space), kind="plan"))
    assert is_between_calls(replace(row(space), spent={}, document={}))
    assert play(session, ASK, SAY).status == "suspended"
    assert not is_between_calls(row(space))
    assert asyncio.run(session.answer("2", 1)).status == "success"
    assert is_between_calls(row(space))


def lost(space: Space, lines: list[Any], *calls: tuple[str, CallKind, str, CallStatus]) -> None:
    """Leave the session with lines that its process began, and with calls, when it was killed."""
    play(Session(space, "s"), NOTE)
    claim = ClaimRun("run_1", "gone.example:1:x", row(space).owner, "2020-01-01T00:00:00.000Z")
    made: list[Any] = [
        CallRow("run_1", number, position, kind, target, bytes([number]), status, now())
        for number, (position, kind, target, status) in enumerate(calls, 1)
    ]
    space.store.commit([], [claim, AddLines("run_1", lines), *made])


def test_the_first_line_that_was_lost_was_begun_and_the_others_were_not(space: Space) -> None:
    """Nothing of either is in the journal."""
    lost(space, [{**NOTE, "value": 2}, SAY])
    said = play(Session(space, "s"), SAY)
    assert (said.status, said.reason) == (
        "success",
        "the call before was broken off: step 2 (create-note) was broken off; step 3 (say) was not begun",
    )


def test_of_the_calls_that_were_lost_those_of_tools_that_did_not_end_are_told(space: Space) -> None:
    """A model's has no effect, and what has ended is known."""
    lost(
        space,
        [SAY, SAY],
        ("2", "llm", "model", "started"),
        ("2", "tool", "outside/ended", "success"),
        ("3.do[1].1", "tool", "outside/send", "started"),
    )
    said = play(Session(space, "s"), SAY)
    assert said.reason == (
        "the call before was broken off: step 2 (say) was broken off; step 3 (say) was broken off; "
        "outside/send was being called by step 3.do[1].1, and may have had its effect"
    )


def test_a_session_without_a_name_that_asks_again_tells_its_lines_in_their_order(space: Space) -> None:
    """What stands in a step comes behind it, though it has ended before it."""
    inner = {"type": "if", "condition": "1 = 1", "then": [SAY]}
    asked = play(Session(space), ASK, inner, {**ASK, "out": "$z"})
    answer(space, str(asked.run), "1", 1)
    again = asyncio.run(resume(space, str(asked.run)))
    assert (again.status, [one.position for one in again.steps]) == ("suspended", ["1", "2", "2.then.1", "3"])


def test_a_session_that_waits_beside_a_question_says_what_is_to_be_answered(space: Space) -> None:
    """The question is answered, whatever stands before it; without one the wait is looked at again."""
    waiting = Session(space, "s")
    play(waiting, {"type": "parallel", "branches": [[NEVER], [ASK]]})
    with pytest.raises(InfospaceError) as error:
        play(waiting, SAY)
    assert str(error.value) == (
        "the session 's' waits, and takes no steps before it has gone on: "
        "step 1.branches[1].1 (wait): its condition does not hold yet; step 1.branches[2].1 (ask): which? "
        "(`infospace answer run_1 1.branches[2].1 …` goes on, and so does "
        "answer_run('run_1', '1.branches[2].1', …))"
    )
    play(Session(space, "t"), NEVER)
    with pytest.raises(InfospaceError) as error:
        play(Session(space, "t"), SAY)
    assert error.value.hint == "`infospace resume run_2` goes on, and so does answer_run('run_2', '1', …)"


def test_a_session_that_was_forked_is_replayed_with_the_reason_that_it_had(space: Space) -> None:
    """Which says what goes on in its place, where its seconds count on."""
    head: Any = {"goal": "find it", "inputs": {}, "budget": {"tool_calls": 3}}
    session = Session(space, "s", head, approve=["post/send"])
    space.store.commit([], [Approve("post/read", None, now())])
    play(session, {"type": "wait", "seconds": 0.02})
    failed = play(session, NOTE, FAILS)
    spent = row(space).spent["seconds"]
    assert failed.reason is not None
    fork = asyncio.run(session.fork("3", failed.reason))
    assert row(space).reason == f"{failed.reason}; {fork.id} goes on"
    assert 0.02 <= spent == row(space, str(fork.id)).spent["seconds"]
    begun = row(space, str(fork.id))
    assert begun.document == {**head, "steps": [{"type": "wait", "seconds": 0.02}, NOTE]}
    assert (begun.kind, begun.goal, begun.forked, begun.status) == (
        "session",
        "find it (fork of run_1)",
        "run_1",
        "suspended",
    )
    assert is_between_calls(begun)
    with space.store.reading() as snapshot:
        approved = [one.tool for one in snapshot.approvals(str(fork.id)) if one.run == fork.id]
    assert approved == ["post/send"]
    again = asyncio.run(replay(space, "run_1"))
    assert (again.result.status, again.result.reason) == ("failed", row(space).reason)


@pytest.mark.parametrize(
    ("name", "head", "goals"),
    [
        (None, {}, ["(fork of run_1)", "(fork of run_1) (fork of run_2)"]),
        ("s", {}, ["session s (fork of run_1)", "session s (fork of run_2)"]),
        ("s", {"goal": "find it"}, ["find it (fork of run_1)", "find it (fork of run_2)"]),
    ],
)
def test_a_fork_tells_whose_it_is(space: Space, name: str | None, head: Any, goals: list[str]) -> None:
    """Of the goal that the first of them had, where that had one."""
    session, found = Session(space, name, head), []
    play(session, NOTE)
    for label in ("2", "3"):
        failed = play(session, FAILS)
        session = asyncio.run(session.fork(label, str(failed.reason)))
        found.append(row(space, str(session.id)).goal)
        play(session, {**NOTE, "out": f"$x{label}"})
    assert found == goals


def test_a_note_that_tells_of_a_run_is_no_name_of_a_session(space: Space) -> None:
    """Whatever it is called."""
    asked = play(Session(space), {"type": "create-note", "value": {"run": "run_1"}, "name": "a"}, ASK)
    assert asked.run == "run_1"
    with space.store.reading() as snapshot:
        assert name_of(snapshot, "run_1") is None
    answer(space, "run_1", "2", 1)
    assert asyncio.run(resume(space, "run_1")).status == "success"
    assert row(space).status == "success"


def test_a_plan_in_a_session_may_be_given_a_table_without_rows(space: Space) -> None:
    with open_session(space, "s") as session:
        rows_of = {"kind": "Collection", "items": {"type": "object"}}
        plan = {"inputs": {"rows": rows_of}, "steps": [{"type": "size", "target": "$rows"}]}
        for rows in ([], [{"n": 1}, {"n": 2}]):
            told = session.run(plan, {"rows": rows})
            assert told.result is not None, (told.reason, told.problems)
            assert told.result.data == len(rows)


def test_what_is_bound_within_a_step_is_not_bound_after_it(space: Space) -> None:
    """What an item's handler, a loop or a saved plan binds is its own; a choice and a step's handler bind around it."""
    save_plan(space, "greet", [{**NOTE, "out": "$in_plan"}])
    handled = [{**NOTE, "out": "$in_handler"}]
    loop = {"type": "for-each", "target": "$list", "do": [{**NOTE, "out": "$in_loop"}, FAILS], "on_fail": handled}
    played = play(
        Session(space, "s"),
        NOTE,
        {"type": "create-collection", "value": [1, 2], "out": "$list"},
        loop,
        {"type": "plan:greet"},
        {"type": "if", "condition": "1 = 1", "then": [{**NOTE, "out": "$chosen"}]},
        {**FAILS, "on_fail": [{**NOTE, "out": "$instead"}]},
        {"type": "parallel", "branches": [[{**NOTE, "out": "$beside"}], [SAY]]},
    )
    with space.store.reading() as snapshot:
        inner = {one.out for one in snapshot.steps(str(played.run))}
    assert {"in_plan", "in_handler", "in_loop"} < inner
    assert Session(space, "s").bindings().keys() == {"x", "list", "chosen", "instead", "beside"}
    assert play(Session(space, "s"), SAY).bindings.keys() == {"x", "list", "chosen", "instead", "beside"}
