"""Calls on a session: they queue, rest, wait and go on; what broke off is settled, and nothing is done twice."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from timing import turns

from infospace import Conflict, InfospaceError, Invalid, NotFound, Space, open_space
from infospace.core.clock import later
from infospace.editing.edit import edit
from infospace.journal.rows import ClaimRun, Heartbeat
from infospace.tools.local import LocalTools
from planner.execute.run import MAX_CONCURRENT_CALLS
from planner.inspect.diff import diff
from planner.journal.commit_order import SuspendRequest
from planner.journal.result import RunResult
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer, resume
from planner.parse.saved_plans import save_plan
from planner.sessions.jsonl import LineRunner
from planner.sessions.session import Session

NOTE = {"type": "create-note", "value": 1, "out": "$x"}
ASK = {"type": "ask", "value": "which?", "out": "$y"}
USE = {"type": "create-note", "value": "${x} ${y}", "out": "$z"}
NEVER = {"type": "wait", "condition": {"type": "bound", "target": "$never"}}


def play(session: Session, *steps: Any) -> RunResult:
    return asyncio.run(session.play(steps))


def positions(result: RunResult) -> list[str]:
    return [row.position for row in result.steps]


def journal(space: Space, run: str | None) -> Any:
    with space.store.reading() as snapshot:
        return snapshot.run(str(run)), snapshot.steps(str(run))


def test_a_call_is_journalled_before_its_lines_run(space: Space) -> None:
    """So the run's document is all that was ever run in the session; refused lines are not in it."""
    session = Session(space, "s")
    first = play(session, NOTE, {"type": "coerce", "target": "$x", "coercion": "${x}"}, {"type": "say", "value": "no"})
    assert (first.status, positions(first)) == ("failed", ["1", "2"])
    assert play(session, {"type": "say", "value": "$no"}).status == "refused"
    second = play(session, {"type": "say", "value": "${x}"})
    assert (second.status, positions(second)) == ("success", ["4"])
    row, steps = journal(space, session.id)
    assert [line["type"] for line in row.document["steps"]] == ["create-note", "coerce", "say", "say"]
    assert [(step.position, step.status) for step in steps] == [("1", "success"), ("2", "failed"), ("4", "success")]


def test_an_id_that_an_earlier_line_has_leaves_a_line_its_number(space: Space) -> None:
    """Positions tell the steps of a whole session apart; within a call two are refused, as in a plan."""
    session = Session(space)
    assert positions(play(session, {**NOTE, "id": "a"}, ASK | {"id": "b"})) == ["a", "b"]
    again = asyncio.run(session.answer("b", "blue"))
    assert positions(again) == ["a", "b"]
    assert positions(play(session, {**NOTE, "id": "a"}, {**NOTE, "id": "c", "out": "$c"})) == ["3", "c"]
    twice = play(session, {**NOTE, "id": "d"}, {**NOTE, "id": "d"})
    assert [problem.code for problem in twice.problems if problem.severity == "error"] == ["duplicate-id"]


@pytest.mark.parametrize("name", [None, "s"])
def test_an_answer_goes_on_with_the_rest_of_the_call(space: Space, name: str | None) -> None:
    """The session then rests, and takes more; steps before are not repeated."""
    session = Session(space, name)
    asked = play(session, {**NOTE, "name": "kept"}, ASK, USE)
    assert (asked.status, positions(asked)) == ("suspended", ["1", "2"])
    assert [one.question for one in session.pending()] == ["which?"]
    done = asyncio.run(session.answer("2", "blue"))
    assert (done.status, positions(done), session.pending()) == ("success", ["1", "2", "3"], [])
    assert done.result is not None
    assert done.result.data == "1 blue"
    assert play(session, {"type": "say", "value": "${z}"}).status == "success"
    assert space.store.check() == []


def test_an_answer_may_come_by_the_run(space: Space) -> None:
    """As to a plan; a session by name rests then, and one without ends, as nobody has more steps for it."""
    named, bare = Session(space, "s"), Session(space)
    for session, status in ((named, "suspended"), (bare, "success")):
        play(session, NOTE, ASK, USE)
        answer(space, str(session.id), "2", "blue")
        done = asyncio.run(resume(space, str(session.id)))
        assert (done.status, journal(space, session.id)[0].status) == ("success", status)
    assert play(named, {"type": "say", "value": "${z}"}).status == "success"
    with pytest.raises(Conflict, match="has ended already"):
        play(bare, {"type": "say", "value": "${z}"})


def test_a_session_that_waits_takes_no_steps_and_says_how_it_goes_on(space: Space) -> None:
    """Also once it was answered, until it has gone on; a wait is looked at again."""
    session = Session(space, "s")
    play(session, NOTE, ASK)
    with pytest.raises(Conflict, match=r"step 2 \(ask\): which\?.*`infospace answer run_1 2 …` goes on"):
        play(session, NOTE)
    with pytest.raises(Conflict, match="waits"):
        asyncio.run(session.end())
    answer(space, "run_1", "2", "blue")
    with pytest.raises(Conflict, match="`infospace resume run_1` goes on"):
        play(Session(space, "s"), NOTE)
    assert asyncio.run(session.resume()).status == "success"
    waits = play(session, {"type": "wait", "seconds": 3600}, {**NOTE, "out": "$late"})
    assert [one.kind for one in waits.pending] == ["wait"]
    with pytest.raises(Conflict, match=r"step 3 \(wait\).*`infospace resume run_1`"):
        play(session, NOTE)
    assert asyncio.run(session.answer("3", None)).status == "suspended"
    assert asyncio.run(session.close("cancelled", "enough")).status == "cancelled"
    assert journal(space, "run_1")[0].status == "cancelled"


def test_a_session_whose_process_ended_beside_a_question_is_resumed_first(space: Space) -> None:
    """What ran beside the question may ask something too: nothing is answered before that is known."""
    session = Session(space, "s")
    play(session, NOTE, ASK)
    owner = journal(space, "run_1")[0].owner
    space.store.commit([], [ClaimRun("run_1", "elsewhere:1:x", owner, later(0))])
    space.store.commit([], [Heartbeat("run_1", "elsewhere:1:x", later(-60))])
    with pytest.raises(Conflict, match=r"step 2 \(ask\): which\?") as raised:
        play(Session(space, "s"), NOTE)
    assert raised.value.hint == "`infospace resume run_1` goes on, and so does answer_run('run_1', '2', …)"


@pytest.mark.parametrize("status", ["success", "failed"])
def test_a_session_that_was_stopped_says_which_step_did(space: Space, status: str) -> None:
    """As a plan does, in the call and in the journal."""
    stop = {"type": "stop", "status": status, "value": "enough"}
    session = Session(space, "s")
    ended = play(session, NOTE, stop, {**NOTE, "out": "$late"})
    row, _ = journal(space, "run_1")
    expected = "stopped" if status == "success" else "failed"
    assert (ended.status, ended.reason) == (expected, "step 2 stopped the plan")
    assert (row.status, row.reason) == (expected, "step 2 stopped the plan")
    assert ended.result is not None
    assert ended.result.data == "enough"


def test_a_wait_for_a_condition_ends_when_it_holds(space: Space) -> None:
    """What it reads may change meanwhile."""
    session = Session(space, "s")
    wait = {"type": "wait", "condition": {"type": "equals", "target": "$flag", "value": 2}}
    assert play(session, {**NOTE, "out": "$flag", "name": "flag"}, wait, USE | {"value": "up"}).status == "suspended"
    assert asyncio.run(session.resume()).status == "suspended"
    edit(space.store, space.context().get("flag"), 2, {}, "edit")
    assert asyncio.run(session.resume()).status == "success"
    with pytest.raises(Conflict, match="at rest"):
        asyncio.run(session.resume())


def test_a_wrong_answer_is_refused_and_the_question_stays(space: Space) -> None:
    """One that does not fit, one to another step, and one to a session that is not open."""
    session = Session(space, "s")
    with pytest.raises(Conflict, match="is not open"):
        asyncio.run(session.answer("1", "blue"))
    play(session, {**ASK, "schema": {"type": "integer"}}, USE | {"value": "${y}"})
    with pytest.raises(Invalid, match="is not a whole number"):
        asyncio.run(session.answer("1", "blue"))
    with pytest.raises(NotFound, match="step '2'"):
        asyncio.run(session.answer("2", 3))
    assert asyncio.run(session.answer("1", 3)).status == "success"


def test_a_branch_that_fails_leaves_no_question_of_another(space: Space) -> None:
    """The call has failed, and the session takes the next."""
    session = Session(space, "s")
    fails = {"type": "coerce", "target": "$x", "coercion": "${x}"}
    failed = play(session, NOTE, {"type": "parallel", "branches": [[ASK], [fails]]})
    assert (failed.status, failed.pending, session.pending()) == ("failed", (), [])
    assert play(session, {"type": "say", "value": "${x}"}).status == "success"


def test_questions_of_branches_are_answered_one_after_the_other(space: Space) -> None:
    """Each answer says what is asked still."""
    session = Session(space, "s")
    branches = [[{"type": "ask", "value": name, "out": f"${name}"}] for name in ("a", "b")]
    play(session, {"type": "parallel", "branches": branches}, {"type": "create-note", "value": "${a}${b}"})
    first = asyncio.run(session.answer("1.branches[2].1", "B"))
    assert [one.step for one in first.pending] == ["1.branches[1].1"]
    done = asyncio.run(session.answer("1.branches[1].1", "A"))
    assert done.result is not None
    assert done.result.data == "AB"


def sending(space: Space, made: list[str]) -> None:
    """A tool that sends, and the first time breaks the process off, as far as that can be had in one."""
    outside = LocalTools("outside")

    @outside.tool()
    async def send(text: str) -> str:
        """Send a text."""
        made.append(text)
        if len(made) == 1:
            raise SystemExit
        return f"sent {text}"

    space.tools.add(outside)


def broken_off(space: Space, *steps: Any) -> None:
    """Leave a session as a process does that is killed in a call: its owner is gone, and it is `running`."""
    with pytest.raises(SystemExit):
        play(Session(space, "s"), *steps)
    row, _ = journal(space, "run_1")
    with sqlite3.connect(space.store.address) as raw:
        raw.execute("UPDATE runs SET status = 'running', spent = '{}', reason = NULL")
        raw.execute("UPDATE calls SET status = 'started'")
        raw.execute("DELETE FROM steps WHERE status = 'failed'")
    space.store.commit([], [ClaimRun("run_1", "gone.example:1:x", row.owner, "2020-01-01T00:00:00.000Z")])


SEND = {"type": "outside/send", "arguments": {"text": "hello"}, "out": "$s"}


def test_a_call_in_doubt_is_asked_about_in_a_session_too(space: Space) -> None:
    """Whoever goes on says what became of it; it is never made again unasked."""
    made: list[str] = []
    sending(space, made)
    broken_off(space, NOTE, SEND, {"type": "create-note", "value": "${s}", "out": "$r"})
    asked = asyncio.run(resume(space, "run_1"))
    assert [(one.step, one.kind) for one in asked.pending] == [("2", "doubt")]
    with pytest.raises(Conflict, match=r"step 2 \(doubt\)"):
        play(Session(space, "s"), NOTE)
    done = asyncio.run(Session(space, "s").answer("2", {"result": "it went"}))
    assert done.result is not None
    assert (done.status, done.result.data, made) == ("success", "it went", ["hello"])


def test_new_steps_settle_what_was_broken_off(space: Space) -> None:
    """It is recorded as not done, and said; nothing of it is done, then or later."""
    made: list[str] = []
    sending(space, made)
    broken_off(space, NOTE, SEND, {"type": "create-note", "value": "${s}", "out": "$r"})
    more = play(Session(space, "s"), {"type": "create-note", "value": "${x}!", "out": "$more"})
    assert (more.status, positions(more), made) == ("success", ["4"], ["hello"])
    said = str(more.reason)
    assert "step 2 (outside/send) was broken off; step 3 (create-note) was not begun" in said
    assert "outside/send was being called by step 2, and may have had its effect" in said
    _, steps = journal(space, "run_1")
    found = [(step.position, step.status, step.error) for step in steps]
    assert found[1:3] == [("2", "failed", "cancelled"), ("3", "skipped", "cancelled")]
    assert more.bindings.keys() == {"x", "more"}
    with pytest.raises(Conflict, match="at rest"):
        asyncio.run(resume(space, "run_1"))


def test_lines_say_what_was_broken_off_before_them(space: Space) -> None:
    """With the outcome of the lines, whatever that is."""
    sending(space, [])
    broken_off(space, NOTE, SEND)

    async def go() -> RunResult:
        script = LineRunner(space, lambda _event: None, "s")
        assert await script.line({"type": "say", "value": "${x}"}) is None
        return await script.end()

    end = asyncio.run(go())
    assert end.status == "success"
    assert "step 2 (outside/send) was broken off" in str(end.reason)


def test_refused_steps_leave_what_was_broken_off_to_the_next(space: Space) -> None:
    """Of the same caller: then it is settled and said, once."""
    sending(space, [])
    broken_off(space, NOTE, SEND)
    session = Session(space, "s")
    assert play(session, {"type": "say", "value": "$nothing"}).status == "refused"
    told = play(session, NOTE)
    assert told.status == "success"
    assert told.reason == (
        "the call before was broken off: step 2 (outside/send) was broken off; "
        "outside/send was being called by step 2, and may have had its effect"
    )
    _, steps = journal(space, "run_1")
    assert [(step.position, step.status) for step in steps] == [("1", "success"), ("2", "failed"), ("3", "success")]
    assert play(session, NOTE).reason is None


def test_refused_steps_settle_nothing(space: Space) -> None:
    """What was broken off can still be gone on with."""
    sending(space, [])
    broken_off(space, NOTE, SEND)
    assert play(Session(space, "s"), {"type": "say", "value": "$nothing"}).status == "refused"
    assert [one.kind for one in asyncio.run(resume(space, "run_1")).pending] == ["doubt"]


def test_an_interrupted_call_is_gone_on_with(space: Space) -> None:
    """Halted, it lets the step under way end; what is left is open, and not done twice."""
    session, halt = Session(space, "s"), SuspendRequest()

    def emit(event: Any) -> None:
        if getattr(event, "kind", None) == "say":
            halt.set()

    steps = [
        {**NOTE, "name": "kept"},
        {"type": "say", "value": "now"},
        {"type": "create-note", "value": 2, "out": "$y"},
    ]
    halted = asyncio.run(session.play(steps, emit, halt))
    assert (halted.status, positions(halted)) == ("suspended", ["1", "2"])
    assert "interrupted; `infospace resume run_1` goes on" in str(halted.reason)
    done = asyncio.run(resume(space, "run_1"))
    assert (done.status, positions(done)) == ("success", ["1", "2", "3"])


def test_calls_queue_in_the_order_in_which_they_came(space: Space) -> None:
    """Of several who use the name; one that gives up lets the next in."""

    async def go() -> list[RunResult]:
        sessions = [Session(space, "s") for _ in range(4)]
        calls: list[Coroutine[Any, Any, RunResult]] = [
            sessions[0].play([NOTE, {"type": "wait", "seconds": 0.05}]),
            sessions[1].play([{"type": "wait", "seconds": 60}]),
            sessions[2].play([{"type": "create-note", "value": "${x}b", "out": "$x"}]),
            sessions[3].play([{"type": "create-note", "value": "${x}c", "out": "$x"}]),
        ]
        tasks = [asyncio.create_task(call) for call in calls]
        await asyncio.sleep(0)
        tasks[1].cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(found.pop(1), asyncio.CancelledError)
        return [one for one in found if isinstance(one, RunResult)]

    results = asyncio.run(go())
    assert results[-1].result is not None
    assert results[-1].result.data == "1bc"
    assert len({one.run for one in results}) == 1


def test_each_call_may_come_from_an_event_loop_of_its_own(space: Space) -> None:
    """Also where its steps have to wait for each other."""
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    async def look() -> str:
        """Take as long as others need to come here."""
        await turns()
        return "seen"

    space.tools.add(outside)
    many = [[{"type": "outside/look"}] for _ in range(MAX_CONCURRENT_CALLS + 1)]
    session = Session(space)
    for _ in range(2):
        result = play(session, {"type": "parallel", "branches": many})
        assert (result.status, result.reason) == ("success", None)


def test_a_session_that_another_process_went_on_with_is_seen_as_it_is(space: Space) -> None:
    """What it bound, also where the steps speak of what this process does not know yet; and that it ended."""
    with open_space(space.store.address) as same:
        here, there = Session(space, "s"), Session(same, "s")
        play(here, NOTE)
        play(there, {"type": "create-note", "value": 2, "out": "$y"})
        assert play(here, {"type": "create-note", "value": ["$x", "$y"], "out": "$both"}).status == "success"
        play(there, {"type": "create-note", "value": 3, "out": "$x"})
        last = play(here, {"type": "create-note", "value": "$x", "out": "$z"})
        assert last.result is not None
        assert last.result.data == 3
        run = asyncio.run(there.end()).run
        fresh = play(here, NOTE)
        assert fresh.run != run
        assert fresh.bindings.keys() == {"x"}


def test_a_session_that_two_begin_at_once_is_one(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also under the name of one that has ended: who comes second goes on with what the first began."""
    ended = Session(space, "s")
    play(ended, NOTE)
    asyncio.run(ended.end())
    commit, first = space.store.commit, list[RunResult]()

    def begun_before(changes: Any, entries: Any = ()) -> int:
        monkeypatch.setattr(space.store, "commit", commit)
        # As another process, whose calls do not queue with those of this one.
        with ThreadPoolExecutor() as other, open_space(space.store.address) as same:
            first.append(other.submit(play, Session(same, "s"), NOTE).result(60))
        return commit(changes, entries)

    monkeypatch.setattr(space.store, "commit", begun_before)
    second = play(Session(space, "s"), {"type": "say", "value": "x"})
    assert [one.status for one in (*first, second)] == ["success"] * 2
    assert second.run == first[0].run != ended.id
    assert positions(second) == ["2"]


def test_the_budget_of_a_session_is_that_of_all_its_calls(space: Space) -> None:
    """Steps and seconds are counted from its beginning; without a budget each call may have many steps."""
    session = Session(space, "s", {"budget": {"steps": 3}})
    assert play(session, NOTE, NOTE).status == "success"
    failed = play(Session(space, "s"), NOTE, NOTE)
    assert (failed.status, positions(failed)) == ("failed", ["3"])
    assert "the budget of 3 steps ran out" in str(failed.reason)
    slow = Session(space, "t", {"budget": {"seconds": 0.05}})
    failed = play(slow, {"type": "wait", "seconds": 0.1})
    assert "the budget of 0.05 seconds ran out" in str(failed.reason)
    assert play(slow, NOTE).status == "failed"


def test_a_whole_plan_is_checked_before_its_first_step_and_run_in_the_session(space: Space) -> None:
    """With what is bound; its inputs and its result are lines like its steps, and literal."""
    session = Session(space, "s")
    play(session, {"type": "create-collection", "value": [1, 2], "out": "$c"})
    plan = {
        "inputs": {"text": {"type": "string"}, "all": {"kind": "Collection"}},
        "steps": [
            {"type": "size", "target": "$c", "out": "$n"},
            {"type": "create-note", "value": "${text}: ${n}", "out": "$said"},
            {"type": "bind", "target": "$all", "out": "$other"},
        ],
        "result": "$said",
    }
    wrong = {**plan, "steps": [{"type": "create-note", "value": 1, "name": "kept"}, {"type": "say", "value": "$q"}]}
    given = {"text": "$5, $$x, Pa$$c and ${c}", "all": "Collection_1"}
    refused = asyncio.run(session.play_plan(wrong, given))
    assert ("unbound-variable", "/steps/1/value") in [(one.code, one.pointer) for one in refused.problems]
    with space.store.reading() as snapshot:
        assert snapshot.named("kept") is None
    assert [one.pointer for one in asyncio.run(session.play_plan(plan, {})).problems] == ["/inputs/text", "/inputs/all"]
    budget = asyncio.run(session.play_plan({**plan, "budget": {"steps": 1}}, given))
    own = "a plan that is run in a session has the session's budget, and none of its own"
    assert [(one.code, one.pointer, one.message, one.hint) for one in budget.problems] == [
        ("unsupported", "/budget", own, "give it with the head of the session")
    ]
    done = asyncio.run(session.play_plan(plan, given))
    assert done.result is not None
    assert done.result.data == "$5, $$x, Pa$$c and ${c}: 2"
    assert {"text", "all", "n", "said", "other", "c"} == done.bindings.keys()
    assert asyncio.run(replay(space, str(done.run))).difference.same


def test_a_plan_in_a_session_that_waits_has_its_result_when_it_has_gone_on(space: Space) -> None:
    """And fails where that is not bound then."""
    session = Session(space, "s")
    lost = {"type": "load", "target": "$n", "slice": ":1", "out": "$lost", "on_fail": "continue"}
    plan = {"steps": [{"type": "create-note", "value": "r", "out": "$r"}, ASK, {**NOTE, "out": "$n"}, lost]}
    assert asyncio.run(session.play_plan({**plan, "result": "$r"})).status == "suspended"
    done = asyncio.run(Session(space, "s").answer("2", "x"))
    assert done.result is not None
    assert (done.status, done.result.data) == ("success", "r")
    asyncio.run(session.play_plan({**plan, "result": "$lost"}))
    failed = asyncio.run(session.answer(session.pending()[0].step, "x"))
    assert failed.status == "failed"
    assert "the plan's result cannot be given: $lost is not bound" in str(failed.reason)


def test_a_session_is_replayed_call_by_call(space: Space) -> None:
    """With its answers, its failures, what they kept from being run, and what was broken off."""
    sending(space, ["hi"])
    session = Session(space, "s")
    play(
        session,
        NOTE,
        {"type": "coerce", "target": "$x", "coercion": "${x}"},
        {"type": "create-note", "value": 9, "name": "n"},
    )
    play(session, SEND, ASK, {"type": "create-note", "value": "${s} ${y}", "name": "letter", "out": "$l"})
    asyncio.run(session.answer("5", "blue"))
    again = asyncio.run(replay(space, "run_1"))
    assert again.difference.same, [(s.before.reason, s.after.reason) for s in again.difference.steps]
    assert again.result.result is not None
    assert again.result.result.data == "sent hello blue"
    asyncio.run(session.end())
    assert asyncio.run(replay(space, "run_1")).difference.same


def test_a_session_whose_last_call_failed_has_no_result_in_its_replay_either(space: Space) -> None:
    """What the line before gave is bound, and is none."""
    play(Session(space, "s"), NOTE, {"type": "coerce", "target": "$x", "coercion": "${x}"})
    again = asyncio.run(replay(space, "run_1"))
    assert (again.result.status, again.result.result, set(again.result.bindings)) == ("suspended", None, {"x"})


def test_a_session_whose_call_was_broken_off_is_replayed_as_far_as_it_came(space: Space) -> None:
    """What was not begun then is not begun now."""
    sending(space, [])
    broken_off(space, NOTE, SEND, {"type": "create-note", "value": 5, "name": "never"})
    play(Session(space, "s"), {"type": "say", "value": "${x}"})
    again = asyncio.run(replay(space, "run_1"))
    assert again.difference.same, again.difference.steps
    assert [row.position for row in again.result.steps] == ["1", "2", "3", "4"]


def test_two_sessions_are_compared_by_their_lines(space: Space) -> None:
    """As two plans are."""
    one, other = Session(space), Session(space)
    for session, value in ((one, 1), (other, 2)):
        play(session, {**NOTE, "value": value})
        play(session, {"type": "say", "value": "${x}"})
    with space.store.reading() as snapshot:
        found = diff(snapshot, str(one.id), str(other.id))
    assert {step.position: step.changes for step in found.steps} == {"1": ("arguments", "outcome"), "2": ("inputs",)}


def test_what_a_session_ran_ahead_of_a_failure_is_dropped_in_its_replay_too(space: Space) -> None:
    """It is journalled as it was, and not run again; lines after it are."""
    server = LocalTools("outside")

    @server.tool(read_only=True)
    async def fall() -> str:
        """Fail when the line behind it has ended."""
        for _ in range(50):
            await asyncio.sleep(0)
        raise InfospaceError("it fell")

    @server.tool(read_only=True)
    async def give() -> str:
        """Give something at once."""
        return "given"

    space.tools.add(server)
    session = Session(space, "s")
    failed = play(session, {"type": "outside/fall", "out": "$a"}, {"type": "outside/give", "out": "$b"})
    assert [(row.position, row.status) for row in failed.steps] == [("1", "failed"), ("2", "skipped")]
    assert failed.bindings == {}
    assert play(session, NOTE).status == "success"
    again = asyncio.run(replay(space, "run_1"))
    assert again.difference.same, again.difference.steps
    assert [(row.position, row.status) for row in again.result.steps] == [
        ("1", "failed"),
        ("2", "skipped"),
        ("3", "success"),
    ]
    assert set(again.result.bindings) == {"x"}


def test_a_session_whose_saved_plan_cannot_be_read_any_more_is_not_replayed(space: Space) -> None:
    """It says why; one whose plan can be read runs it as it was then."""
    save_plan(space, "greet", {"steps": [{"type": "create-note", "value": "hello"}]})
    session = Session(space, "s")
    assert play(session, {"type": "plan:greet", "out": "$g"}).status == "success"
    run = str(session.id)
    save_plan(space, "greet", {"steps": [{"type": "create-note", "value": "another"}]}, replace=True)
    again = asyncio.run(replay(space, run))
    assert again.difference.same, again.difference.steps
    with sqlite3.connect(space.store.address) as file:
        file.execute("""UPDATE runs SET plans = '{"greet": {"steps": "none"}}' WHERE kind = 'session'""")
    file.close()
    with pytest.raises(NotFound, match=f"the lines of {run} cannot be read any more: "):
        asyncio.run(replay(space, run))


@pytest.mark.parametrize(("name", "told"), [(None, ["1", "2", "3"]), ("s", ["2", "3"])])
def test_a_session_without_a_name_that_asks_again_tells_all_its_lines(
    space: Space, name: str | None, told: list[str]
) -> None:
    """One with a name tells those of the call that went on, as when it was made."""
    session = Session(space, name)
    play(session, NOTE)
    waits = play(session, ASK, {**ASK, "out": "$w"}, USE)
    assert (waits.status, positions(waits)) == ("suspended", ["2"])
    answer(space, str(session.id), "2", "blue")
    again = asyncio.run(resume(space, str(session.id)))
    assert (again.status, positions(again)) == ("suspended", told)
    assert [pending.step for pending in again.pending] == ["3"]
