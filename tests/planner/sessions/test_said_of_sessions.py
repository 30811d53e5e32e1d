"""What sessions say: why they do not take what they are given, what their lines are, and what is bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infospace import Conflict, Invalid, NotFound, Space
from infospace.core.ids import Kind
from infospace.journal.rows import RunRow, StepRow
from planner.language.plan import Plan, Table
from planner.language.problems import Problems
from planner.lifecycle.resume import answer
from planner.sessions import open_session
from planner.sessions.bindings import bindings_of
from planner.sessions.errors import (
    SessionMoved,
    already_ended_error,
    moved_error,
    nothing_to_resume_error,
    second_head_error,
)
from planner.sessions.lines import ANSWER, INPUT, lines_of_plan, number_steps, plan_of_session, read_head

ROW = RunRow("run_7", "session", "", "running", "", None, 0, {}, {}, None, None, "host:1:a", None)


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (
            SessionMoved("session 's'"),
            "the session 's' was continued by another process meanwhile",
            "give it the steps again",
        ),
        (
            moved_error("session 's'", ROW),
            "the session 's' is running steps in another process (host:1:a)",
            "run_7 rests when they have ended; or take another name",
        ),
        (already_ended_error(None, "run_7"), "the session run_7 has ended already", "open another one"),
        (
            already_ended_error("s", "run_7"),
            "the session 's' (run_7) has ended already",
            "the name is free: a session that is opened as 's' is another one",
        ),
        (
            nothing_to_resume_error("session run_7", None),
            "the session run_7 is at rest, and waits for nothing but more steps",
            "give it steps, or end it",
        ),
        (
            nothing_to_resume_error("session 's'", "s"),
            "the session 's' is at rest, and waits for nothing but more steps",
            "`infospace run - --session s` gives it steps",
        ),
    ],
)
def test_why_a_session_does_not_take_what_it_is_given(error: Conflict, message: str, hint: str) -> None:
    assert (error.message, error.hint) == (message, hint)


def test_a_second_head_is_refused() -> None:
    problems = Problems()
    second_head_error("session 's'", problems)
    [problem] = problems.found
    assert (problem.severity, problem.code, problem.pointer) == ("error", "unsupported", "")
    assert problem.message == "the session 's' is open already, and has a head"
    assert problem.hint == "leave the head and its inputs away; what they would bind, bind by steps"


def test_what_a_session_waits_for_is_told_with_what_goes_on(space: Space) -> None:
    """What is answered already is not asked for again."""
    asks = {"type": "ask", "value": "Which year?", "out": "$y"}
    waits = {"type": "wait", "seconds": 600}
    with open_session(space) as session:
        run = session.step(asks) and session.id
        with pytest.raises(Conflict) as refused:
            session.step(asks)
        assert refused.value.message == (
            f"the session {run} waits, and takes no steps before it has gone on: step 1 (ask): Which year?"
        )
        assert refused.value.hint == (f"`infospace answer {run} 1 …` goes on, and so does answer_run('{run}', '1', …)")
        session.answer("1", 7)
        branches = [[{**asks, "out": "$z"}], [{**asks, "value": "Which month?", "out": "$m"}]]
        session.step({"type": "parallel", "branches": branches})
        first, second = "2.branches[1].1", "2.branches[2].1"
        answer(space, str(run), first, 7)
        with pytest.raises(Conflict) as refused:
            session.step(asks)
        assert refused.value.message.endswith(f"step {first} (ask): Which year?; step {second} (ask): Which month?")
        assert refused.value.hint == (
            f"`infospace answer {run} {second} …` goes on, and so does answer_run('{run}', '{second}', …)"
        )
        session.answer(second, 8)
        session.step(waits)
        with pytest.raises(Conflict) as refused:
            session.step(asks)
        assert refused.value.hint == f"`infospace resume {run}` goes on, and so does answer_run('{run}', '3', …)"
        session.cancel()


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (None, []),
        ({"goal": "x", "result": "$r"}, []),
        ([], [("not-a-plan", "/0", "the head of a session is an object, not a list", '{"goal": "…"}')]),
        (
            {"goal": "x", "steps": []},
            [("unknown-key", "/0/steps", "the head of a session has no 'steps'", "one step a line")],
        ),
        (
            {"goal": "x", "plan": []},
            [("unknown-key", "/0/plan", "the head of a session has no 'plan'", "one step a line")],
        ),
        (
            {"goal": "x", "result": "the $report"},
            [("bad-value", "/0/result", "`result` is one `$variable`, not 'the $report'", '"result": "$report"')],
        ),
    ],
)
def test_what_is_wrong_with_a_head(head: Any, told: list[Any]) -> None:
    problems = Problems()
    plan = read_head(head, problems)
    assert [(one.code, one.pointer, one.message, one.hint) for one in problems.found if one.code != "unused"] == told
    assert plan.steps == ()


def test_the_lines_of_a_session_are_one_plan() -> None:
    """A label that an earlier line has gives way to the number of the line."""
    steps: list[Any] = [
        {"type": "create-note", "value": 1, "id": "a", "out": "$x"},
        {"type": "say", "value": "one", "id": "a"},
        {"type": "say", "value": "two"},
    ]
    plan = plan_of_session(replace(ROW, document={"goal": "g", "steps": steps}))
    assert [step.label for step in plan.steps] == ["a", "2", "3"]
    assert (plan.goal, plan.plans) == ("g", {})
    assert plan_of_session(replace(ROW, document=None)).steps == ()
    assert [step.label for step in number_steps(plan.steps, {"a", "3"}, 5)] == ["5", "2", "7"]
    with pytest.raises(NotFound, match=r"^the lines of run_7 cannot be read any more: "):
        plan_of_session(replace(ROW, document={"steps": [7]}))


def test_a_plan_is_its_inputs_its_steps_and_its_answer_as_lines(space: Space) -> None:
    note = space.context().note(1)
    steps: list[Any] = [{"type": "say", "value": "one"}]
    rows: list[Any] = [{"a": "$b"}, {"a": 2}]
    bound: dict[str, Any] = {"n": note, "rows": Table(rows), "none": Table([]), "text": "costs $x"}
    lines = lines_of_plan(Plan((), document={}, result="$r"), bound, steps)
    assert lines == [
        {"type": "bind", "target": note.id, "out": "$n", "expect": INPUT},
        {"type": "head", "target": [{"a": "$$b"}, {"a": 2}], "count": 2, "out": "$rows", "expect": INPUT},
        {"type": "head", "target": [], "count": 1, "out": "$none", "expect": INPUT},
        {"type": "create-note", "value": "costs $$x", "out": "$text", "expect": INPUT},
        *steps,
        {"type": "bind", "target": "$r", "expect": ANSWER},
    ]
    assert lines_of_plan(Plan((), document={}), {}, steps) == steps


def row(sequence: int, position: str, out: str | None, resource: str | None, status: Any = "success") -> StepRow:
    return StepRow("run_7", sequence, position, "x", status, "", 0.0, out=out, resource=resource)


def test_what_is_bound_is_found_in_the_journal() -> None:
    """In the order of the steps; not what failed, nor what is bound in an item, a saved plan, or a broken branch."""
    rows = [
        row(3, "3", "a", "Note_3"),
        row(1, "1", "a", "Note_1"),
        row(2, "2", "b", "Note_2", "failed"),
        row(4, "4", None, "Note_4"),
        row(5, "5", "c", None),
        row(6, "6.then.1", "d", "Note_6"),
        row(7, "7.body[2].1", "e", "Note_7"),
        row(8, "8.do[1].1", "f", "Note_8"),
        row(9, "9/1", "g", "Note_9"),
        row(10, "10.branches[1].1", "h", "Note_10"),
        row(11, "10", None, None),
        row(12, "11.branches[1].1", "i", "Note_12"),
        row(13, "11", None, None, "failed"),
        row(14, "12.on_fail.1", "j", "Note_14"),
        row(15, "13[1].on_fail.1", "k", "Note_15"),
        row(16, "14.on_fail.1", "error", "Note_16"),
    ]
    assert bindings_of({"in": "Note_0", "a": "Note_00"}, rows) == {
        "in": "Note_0",
        "a": "Note_3",
        "d": "Note_6",
        "e": "Note_7",
        "h": "Note_10",
        "j": "Note_14",
    }


def test_what_is_read_of_a_session_and_is_not_there_is_a_sentence(space: Space) -> None:
    """With what is, or what would be read."""
    with open_session(space) as session:
        with pytest.raises(NotFound) as unbound:
            session.get_text("$x")
        assert (unbound.value.message, unbound.value.hint) == ("$x is not bound", "nothing is bound yet")
        session.step({"type": "create-note", "value": {"n": [1]}, "out": "$note"})
        session.step({"type": "create-note", "value": 2, "out": "$other"})
        for text, kind, message, hint in (
            ("$nota", NotFound, "$nota is not bound", "did you mean $note?"),
            ("$zzzzzz", NotFound, "$zzzzzz is not bound", "bound are $note, $other"),
            ("note", Invalid, "'note' is not a variable", "did you mean '$note'?"),
            ("a b", Invalid, "'a b' is not a variable", "such as '$x' or '$x.title'"),
        ):
            with pytest.raises(kind) as refused:
                session.get_json(text)
            assert (refused.value.message, refused.value.hint) == (message, hint)
        for text, what in (("$note", "a Note"), ("$note.n", "a place in content")):
            with pytest.raises(Invalid) as refused:
                session.size(text)
            assert refused.value.message == f"{text} is {what}, and has no items"
            assert refused.value.hint == "get_json and get_text read it"
        assert (session.get_text("$note.n"), session.get_json("$note.n[0]")) == ("[1]", 1)
        assert str(session.bindings["note"].id).startswith(Kind.NOTE)


def test_a_refused_step_has_its_reasons_in_one_sentence(space: Space) -> None:
    with open_session(space) as session:
        refused = session.step({"type": "create-note", "value": "$z", "valeu": 1})
        problems: Any = refused.extra["problems"]
        errors = [one for one in problems if one["severity"] == "error"]
        told = "; ".join(f"{one['message']} ({one['hint']})" if one["hint"] else one["message"] for one in errors)
        assert (refused.status, refused.error, refused.reason) == ("failed", "refused", f"refused: {told}")
        assert len(errors) == 2


def test_what_was_deleted_since_is_bound_no_more(space: Space) -> None:
    """All else is, also what was bound after it."""
    with open_session(space) as session:
        for name in "abc":
            session.step({"type": "create-note", "value": name, "out": f"${name}"})
        session.step({"type": "remove", "target": "$b"})
        assert list(session.bindings) == ["a", "c"]
