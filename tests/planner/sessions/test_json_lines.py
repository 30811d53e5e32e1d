"""JSON Lines: each line is checked and run before the next is read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Conflict, Space
from planner.journal.commit_order import SuspendRequest
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer, resume
from planner.sessions.jsonl import LineRunner
from planner.sessions.lines import check_lines

SAY = {"type": "say", "value": "hi"}
NOTE = {"type": "create-note", "value": 1, "out": "$x"}


def play(space: Space, *lines: Any, name: str | None = None, inputs: Any = None) -> RunResult:
    """Give lines one by one, as far as they are taken; return the end."""

    async def go() -> RunResult:
        script = LineRunner(space, lambda _event: None, name, inputs)
        for line in lines:
            ended = await script.line(line)
            if ended is not None:
                return ended
        return await script.end()

    return asyncio.run(go())


def status(space: Space, run: str | None) -> str:
    with space.store.reading() as snapshot:
        return snapshot.run(str(run)).status


def test_each_line_is_checked_against_what_is_bound_and_then_run(space: Space) -> None:
    """Later lines see what earlier ones bound; the result is the last value."""
    end = play(space, NOTE, {"type": "create-note", "value": "${x}!", "out": "$y"})
    assert (end.status, end.result.data) == ("success", "1!")
    assert [row.position for row in end.steps] == ["1", "2"]


def test_what_the_check_warns_of_is_told_at_the_end(space: Space) -> None:
    """Of all lines, with the index of each, whether they end well or not."""
    twice = [NOTE, {**NOTE, "value": 2}]
    for more in ([], [{"type": "coerce", "target": "$x", "coercion": "${x}"}]):
        end = play(space, *twice, *more)
        assert [(one.code, one.pointer) for one in end.problems] == [("rebound", "/1/out")]


def test_a_refused_line_ends_the_session_and_earlier_lines_stay(space: Space) -> None:
    """Nothing is promised of later lines; the pointer begins with the line's index."""
    end = play(space, {"goal": "g"}, {**NOTE, "name": "kept"}, {"type": "say", "value": "$zz"})
    assert end.status == "refused"
    assert [(p.code, p.pointer) for p in end.problems] == [("unbound-variable", "/2/value")]
    with space.store.reading() as snapshot:
        assert snapshot.named("kept") is not None
        row = snapshot.run(end.run)
    assert (row.status, row.reason, end.reason) == ("refused", *["a step was refused by the check"] * 2)


@pytest.mark.parametrize("head", [[], [{"goal": "g"}]], ids=["bare", "headed"])
def test_a_first_line_may_be_refused(space: Space, head: list[Any]) -> None:
    """The session has ended then, without a step."""
    end = play(space, *head, {"type": "sya", "value": 1})
    assert (end.status, status(space, end.run), end.steps) == ("refused", "refused", [])
    assert [problem.pointer for problem in end.problems] == [f"/{len(head)}/type"]


def test_a_failed_line_ends_the_session(space: Space) -> None:
    """With the reason of the step."""
    end = play(space, NOTE, {"type": "coerce", "target": "$x", "coercion": "${x}"}, SAY)
    assert (end.status, len(end.steps)) == ("failed", 2)


def test_a_session_takes_inputs_result_and_budget_from_its_head(space: Space) -> None:
    """A step budget, a variable as result, an input without a default."""
    head = {"goal": "g", "inputs": {"n": {"type": "integer"}}, "result": "$x", "budget": {"steps": 2}}
    use = {"type": "create-note", "value": "$n", "out": "$x"}
    end = play(space, head, use, {**NOTE, "out": "$y"}, inputs={"n": 4})
    assert end.result.data == 4
    end = play(space, head, use, SAY, SAY, inputs={"n": 4})
    assert "the budget of 2 steps ran out" in end.reason
    end = play(space, head, use)
    assert [(p.code, p.pointer) for p in end.problems] == [("missing-input", "/inputs/n")]


def test_a_variable_that_a_handled_failure_left_unbound_is_unbound_in_the_next_line(space: Space) -> None:
    """What is bound is known for certain between the lines of a session."""
    lost = {"type": "load", "target": "$x", "slice": ":1", "out": "$y", "on_fail": "continue"}
    end = play(space, NOTE, lost, {"type": "say", "value": "$y"})
    assert [(p.code, p.pointer) for p in end.problems] == [("unbound-variable", "/2/value")]


def test_lines_that_are_broken_off_leave_a_cancelled_session(space: Space) -> None:
    """What its steps wrote stays."""

    async def go() -> RunResult:
        script = LineRunner(space, lambda _event: None)
        assert await script.line({**NOTE, "name": "kept"}) is None
        return await script.interrupted()

    end = asyncio.run(go())
    assert (end.status, status(space, end.run), [row.position for row in end.steps]) == (
        "cancelled",
        "cancelled",
        ["1"],
    )
    assert "standard input is read no further" in str(end.reason)
    with space.store.reading() as snapshot:
        assert snapshot.named("kept") is not None


def test_a_line_that_asks_suspends_the_session_and_its_answer_ends_it(space: Space) -> None:
    """Nothing more is read; what was read goes on, and as nobody has more lines for it, it ends."""
    end = play(space, NOTE, {"type": "ask", "value": "which?", "out": "$y"}, {"type": "say", "value": "unread"})
    assert (end.status, [one.step for one in end.pending]) == ("suspended", ["2"])
    assert f"standard input is read no further; `infospace answer {end.run} 2 …`" in str(end.reason)
    answer(space, str(end.run), "2", "blue")
    done = asyncio.run(resume(space, str(end.run)))
    assert (done.status, [row.position for row in done.steps]) == ("success", ["1", "2"])
    assert done.result is not None
    assert (done.result.data, status(space, end.run)) == ("blue", "success")


@pytest.mark.parametrize("name", [None, "s"])
def test_a_line_that_waits_says_how_the_session_goes_on(space: Space, name: str | None) -> None:
    """Nobody has anything to answer."""
    end = play(space, NOTE, {"type": "wait", "condition": {"type": "bound", "target": "$never"}}, name=name)
    assert (end.status, end.reason) == (
        "suspended",
        "standard input is read no further; `infospace resume run_1` goes on with what was read",
    )


@pytest.mark.parametrize("name", [None, "s"])
def test_a_line_that_is_interrupted_says_how_the_session_goes_on(space: Space, name: str | None) -> None:
    """What is left of the line is done then."""
    halt = SuspendRequest()

    async def go() -> RunResult:
        script = LineRunner(space, lambda event: halt.set() if getattr(event, "kind", "") == "say" else None, name)
        end = await script.line({"type": "if", "condition": "1 = 1", "then": [SAY, NOTE]}, halt)
        assert end is not None
        return end

    end = asyncio.run(go())
    assert (end.status, end.reason) == (
        "suspended",
        "interrupted; `infospace resume run_1` goes on; standard input is read no further",
    )
    done = asyncio.run(resume(space, "run_1"))
    assert (done.status, done.bindings.keys()) == ("success", {"x"})


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (None, "interrupted; standard input is read no further"),
        ("s", "interrupted; standard input is read no further, and the session 's' stays open"),
    ],
)
def test_lines_that_end_between_two_of_them_say_what_becomes_of_the_session(
    space: Space, name: str | None, reason: str
) -> None:
    async def go() -> RunResult:
        script = LineRunner(space, lambda _event: None, name)
        assert await script.line(NOTE) is None
        return await script.interrupted()

    end = asyncio.run(go())
    assert (end.status, end.reason) == ("cancelled", reason)
    assert status(space, end.run) == ("cancelled" if name is None else "suspended")


def test_lines_of_a_session_by_name_come_to_all_that_they_did(space: Space) -> None:
    """Each of their steps, and the last value, though lines after it gave none."""
    end = play(space, NOTE, SAY, {"type": "if", "condition": "1 = 1", "then": [SAY]}, name="s")
    assert [row.position for row in end.steps] == ["1", "2", "3", "3.then.1"]
    assert end.result is not None
    assert end.result.data == 1


def test_the_lines_of_a_session_are_its_document(space: Space) -> None:
    """Those that were refused are not: they were never run."""
    end = play(space, {"goal": "g"}, NOTE, {"type": "say", "value": "${x}"}, {"type": "sya", "value": 1})
    with space.store.reading() as snapshot:
        row = snapshot.run(str(end.run))
    assert row.document == {"goal": "g", "steps": [NOTE, {"type": "say", "value": "${x}"}]}


def test_a_session_by_name_is_gone_on_with_and_outlives_a_line_that_fails(space: Space) -> None:
    """The outcome is that of the lines which were given; a refused or failing line ends the reading alone."""
    first = play(space, NOTE, name="s")
    failed = play(space, {"type": "coerce", "target": "$x", "coercion": "${x}"}, SAY, name="s")
    refused = play(space, {"type": "say", "value": "$nothing"}, name="s")
    more = play(space, {"type": "create-note", "value": "${x}!", "out": "$y"}, name="s")
    assert {first.run, failed.run, refused.run, more.run} == {first.run}
    assert [one.status for one in (first, failed, refused, more)] == ["success", "failed", "refused", "success"]
    assert [row.position for row in failed.steps] == ["2"]
    assert [row.position for row in more.steps] == ["3"]
    assert more.bindings.keys() == {"x", "y"}
    assert more.result is not None
    assert more.result.data == "1!"


def test_a_session_that_is_open_has_had_its_head(space: Space) -> None:
    """Another one is refused, and the session stays as it was."""
    assert play(space, {"goal": "g"}, NOTE, name="s").status == "success"
    end = play(space, {"goal": "h"}, SAY, name="s")
    assert (end.status, [problem.code for problem in end.problems]) == ("refused", ["unsupported"])
    assert play(space, {"type": "say", "value": "${x}"}, name="s").status == "success"


def test_a_named_session_that_waits_takes_no_lines(space: Space) -> None:
    """Nothing of what was given is run, or journalled."""
    end = play(space, {"type": "ask", "value": "which?", "out": "$y"}, name="s")
    with pytest.raises(Conflict, match=f"step 1 \\(ask\\): which\\?.*infospace answer {end.run} 1"):
        play(space, SAY, name="s")
    with space.store.reading() as snapshot:
        row = snapshot.run(str(end.run))
        assert isinstance(row.document, dict)
        assert len(row.document["steps"]) == 1


def test_lines_are_checked_one_after_the_other_without_running_any(space: Space) -> None:
    """Pointers begin with the line's index; a head is line 0; its result is looked at last, and told first."""
    found = check_lines(
        space, [{"goal": "g", "result": "$q"}, NOTE, {"type": "size", "target": "$x"}, {"type": "sya", "value": 1}]
    )
    assert [(p.code, p.pointer) for p in found if p.severity == "error"] == [
        ("unbound-variable", "/0/result"),
        ("wrong-kind", "/2/target"),
        ("unknown-type", "/3/type"),
    ]
    head = {"goal": 5, "budget": {"second": 3}, "result": "x y"}
    assert [(p.code, p.pointer) for p in check_lines(space, [head, NOTE]) if p.severity == "error"] == [
        ("bad-value", "/0/goal"),
        ("unknown-key", "/0/budget/second"),
        ("bad-value", "/0/result"),
    ]
    with space.store.reading() as snapshot:
        assert snapshot.runs() == []


@pytest.mark.parametrize("head", [[], [{"goal": "Say it"}]])
def test_lines_are_told_by_their_numbers_which_a_head_has_none_of(space: Space, head: list[Any]) -> None:
    """Pointers count it, as a line of the file."""
    part = {"type": "load", "target": "$x", "slice": "0:1", "out": "$a", "on_fail": "continue"}
    text = {"type": "create-note", "value": "seven", "out": "$x"}
    [found] = check_lines(space, [*head, text, part, {"type": "say", "value": "${a}"}])
    assert (found.pointer, found.message) == (f"/{len(head) + 2}/value", "$a may be unbound: step 2 may fail")
