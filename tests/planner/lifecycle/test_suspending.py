"""Runs that wait for a person, a time or a condition: durably, and gone on with by whoever has the answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest

from infospace import Conflict, Invalid, NotFound, Space, open_space
from infospace.core.clock import later, now
from infospace.core.ids import Kind
from infospace.journal.rows import CallRow, ClaimRun, CloseRun, Heartbeat, OpenRun, StepRow
from infospace.tools.journalled_calls import digest_of
from infospace.tools.local import LocalTools
from infospace.tools.scoped_space import within
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare, run_sync
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Event, Spoke
from planner.journal.result import RunResult
from planner.journal.suspension import read_answer
from planner.lifecycle.cancel import cancel
from planner.lifecycle.resume import answer, pending_of, resume
from planner.parse.saved_plans import save_plan

ASK = {"type": "ask", "value": "Which year?", "schema": {"type": "integer"}, "out": "$year"}


def note(value: Any, out: str | None = None, **fields: Any) -> dict[str, Any]:
    step = {"type": "create-note", "value": value, **fields}
    return step if out is None else {**step, "out": out}


def go_on(space: Space, result: RunResult, **answers: Any) -> RunResult:
    assert result.run is not None
    for step, value in answers.items():
        answer(space, result.run, step.removeprefix("_").replace("__", "."), value)
    return asyncio.run(resume(space, result.run))


def data(result: RunResult) -> Any:
    assert result.result is not None, result.reason
    return result.result.data


def test_a_question_suspends_the_run_and_its_answer_goes_on(space: Space) -> None:
    """Steps before are not repeated; the answer is a Note."""
    result = run_sync(space, [note("in ", "$a"), ASK, note("${a}${year}", "$b")])
    assert (result.status, result.reason) == ("suspended", None)
    [pending] = result.to_json()["pending"]
    assert (pending["step"], pending["kind"], pending["question"]) == ("2", "ask", "Which year?")
    ended = go_on(space, result, _2=1984)
    assert (ended.status, data(ended)) == ("success", "in 1984")
    assert [row.position for row in ended.steps] == ["1", "2", "3"]
    assert space.store.check() == []


def test_another_process_may_answer_and_go_on(tmp_path: Path) -> None:
    """All that is needed is in the file."""
    with open_space(tmp_path / "space.db") as space:
        result = run_sync(space, [ASK, note("${year}!", "$b")])
    with open_space(tmp_path / "space.db") as space:
        assert data(go_on(space, result, _1=7)) == "7!"


def test_an_answer_that_does_not_fit_is_refused(space: Space) -> None:
    """So is one to a step that asks nothing, a second one, and one to a run that waits for nothing."""
    result = run_sync(space, [ASK])
    run = str(result.run)
    with pytest.raises(Invalid, match='"soon" is not a whole number'):
        answer(space, run, "1", "soon")
    with pytest.raises(NotFound, match="step '4'"):
        answer(space, run, "4", 1)
    answer(space, run, "1", 1)
    with pytest.raises(Conflict, match="answered already"):
        answer(space, run, "1", 2)
    asyncio.run(resume(space, run))
    with pytest.raises(Conflict, match="waits for nothing"):
        answer(space, run, "1", 1)


def test_an_answer_has_the_format_that_its_schema_says(space: Space) -> None:
    """A date is a day that there is, and not any text."""
    ask = {"type": "ask", "value": "When?", "schema": {"type": "string", "format": "date"}, "out": "$day"}
    result = run_sync(space, [ask])
    for wrong in ("soon", "2026-02-30"):
        with pytest.raises(Invalid, match="the answer to step 1 does not fit"):
            answer(space, str(result.run), "1", wrong)
    assert data(go_on(space, result, _1="2026-02-28")) == "2026-02-28"


def test_resuming_without_an_answer_waits_on(space: Space) -> None:
    """For the same."""
    result = run_sync(space, [ASK])
    again = go_on(space, result)
    assert again.status == "suspended"
    assert [one.step for one in again.pending] == ["1"]


def test_a_step_that_waited_counts_once_for_the_budget(space: Space) -> None:
    """It was counted when it began; the run has no more steps, and no fewer, for having rested."""
    steps = [ASK, note("a", "$a"), note("b", "$b")]
    enough = run_sync(space, {"steps": steps, "budget": {"steps": 3}})
    assert go_on(space, enough, _1=1).status == "success"
    short = run_sync(space, {"steps": steps, "budget": {"steps": 2}})
    ended = go_on(space, short, _1=1)
    assert (ended.status, [row.position for row in ended.steps]) == ("failed", ["1", "2"])
    assert "budget of 2 steps" in str(ended.reason)


def test_questions_in_loops_and_branches_have_their_places(space: Space) -> None:
    """Each round asks its own; what a loop has done stays done."""
    items = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
    body = [{"type": "ask", "value": "what is ${item}?", "out": "$v"}, note("${item}=${v}", "$r", name="said ${item}")]
    each = {"type": "for-each", "target": "$c", "do": body, "out": "$all"}
    choice = {"type": "if", "condition": {"type": "has_value", "target": "$all"}, "then": [{**ASK, "out": "$y"}]}
    first = run_sync(space, {"steps": [items, each, choice], "result": "$all"})
    assert [one.step for one in first.pending] == ["2.do[1].1"]
    second = go_on(space, first, **{"2__do[1]__1": "x"})
    assert [one.step for one in second.pending] == ["2.do[2].1"]
    third = go_on(space, second, **{"2__do[2]__1": "y"})
    assert [one.step for one in third.pending] == ["3.then.1"]
    ended = go_on(space, third, **{"3__then__1": 3})
    assert (ended.status, data(ended)) == ("success", ["a=x", "b=y"])


def test_branches_go_on_while_one_waits(space: Space) -> None:
    """The run is suspended when nothing else can move; each question may be answered in its turn."""
    branches = [[ASK, note("${year}", "$a")], [note("b", "$b"), {**ASK, "out": "$other"}]]
    result = run_sync(space, {"steps": [{"type": "parallel", "branches": branches}, note("${a}${b}${other}", "$c")]})
    assert result.status == "suspended"
    places = [one.step for one in result.pending]
    assert places[0] == "1.branches[1].1"
    ended = go_on(space, result, **{"1__branches[1]__1": 1})
    ended = go_on(space, ended, **{"1__branches[2]__2": 2}) if ended.status == "suspended" else ended
    assert data(ended) == "1b2"


def test_a_branch_says_nothing_before_those_before_it_have_ended(space: Space) -> None:
    """One that waits for an answer holds them up: what they say is said once, after it."""
    heard: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, Spoke):
            heard.append(event.text)

    speak = [note("b", "$b"), {"type": "say", "value": "second"}]
    plan = [{"type": "parallel", "branches": [[ASK, {"type": "say", "value": "first"}], speak]}]
    prepared = prepare(space, plan)
    assert isinstance(prepared, Prepared)
    result = asyncio.run(Run(space, prepared.plan, hear).run({}))
    assert (result.status, [one.step for one in result.pending]) == ("suspended", ["1.branches[1].1"])
    assert heard == []
    answer(space, str(result.run), "1.branches[1].1", 1)
    assert asyncio.run(resume(space, str(result.run), hear)).status == "success"
    assert heard == ["first", "second"]


@pytest.mark.parametrize("place", [1, 2])
def test_no_branch_behind_one_that_waits_writes_however_far_behind_it_is(space: Space, place: int) -> None:
    """The other one, which only computes, has ended by then."""
    branches = [[ASK], [note("b", "$b")]]
    branches.insert(place, [note("c", "$c", name="kept")])
    result = run_sync(space, [{"type": "parallel", "branches": branches}])
    assert (result.status, [one.step for one in result.pending]) == ("suspended", ["1.branches[1].1"])
    with space.store.reading() as snapshot:
        assert snapshot.named("kept") is None
    ended = go_on(space, result, **{"1.branches[1].1": 7})
    assert ended.status == "success"
    with space.store.reading() as snapshot:
        assert snapshot.named("kept") == ended.bindings["c"].id


def test_a_question_in_a_handler_and_in_a_saved_plan(space: Space) -> None:
    """The failure is not made again, and the saved plan's inputs are what they were."""
    lost = {"type": "coerce", "target": "$t", "coercion": "int", "out": "$n"}
    handler = [{"type": "ask", "value": "${error.step}: what then?", "out": "$n"}]
    result = run_sync(space, [note("none", "$t"), {**lost, "on_fail": handler}, note("${n}!", "$m")])
    assert [(one.step, one.question) for one in result.pending] == [("2.on_fail.1", "2: what then?")]
    assert data(go_on(space, result, **{"2__on_fail__1": 5})) == "5!"
    save_plan(space, "year", {"inputs": {"of": {"type": "string"}}, "steps": [ASK, note("${of} ${year}", "$r")]})
    result = run_sync(space, [{"type": "plan:year", "arguments": {"of": "May"}, "out": "$d"}])
    assert [one.step for one in result.pending] == ["1/1"]
    assert data(go_on(space, result, **{"1/1": 1968})) == "May 1968"


def test_after_a_question_in_a_handler_the_error_is_the_one_that_was(space: Space) -> None:
    """It says the same, and no second Note is made of it."""
    lost = {"type": "coerce", "target": "$t", "coercion": "int"}
    ask = {"type": "ask", "value": "what then?", "out": "$n"}
    handler = [ask, note("${error.step} ${error.type} ${error.kind}: ${error.reason}", "$said")]
    result = run_sync(space, [note("none", "$t"), {**lost, "on_fail": handler}])
    with space.store.reading() as snapshot:
        before = snapshot.count(Kind.NOTE, kept=None)
    ended = go_on(space, result, **{"2__on_fail__1": 5})
    failed = next(row for row in ended.steps if row.position == "2")
    assert data(ended) == f"2 coerce invalid: {failed.reason}"
    with space.store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE, kept=None) == before + 2, "the answer, and what is said"


def test_a_wait_for_a_condition_is_asked_again_on_resume(space: Space) -> None:
    """What it reads may change meanwhile."""
    wait = {"type": "wait", "condition": {"type": "equals", "target": "$flag", "value": True}}
    steps = [note(False, name="flag"), {"type": "load", "target": "flag", "out": "$flag"}, wait, note("up", "$x")]
    result = run_sync(space, steps)
    assert [one.kind for one in result.pending] == ["wait"]
    assert go_on(space, result).status == "suspended"
    assert run_sync(space, [{"type": "update-note", "target": "flag", "value": True}]).status == "success"
    assert data(go_on(space, result)) == "up"


def test_a_wait_for_a_tool_asks_the_tool_each_time(space: Space) -> None:
    """What it said before does not stand for what it says now."""
    gate, said = LocalTools("gate"), iter((False, False, True))

    @gate.tool(read_only=True)
    def is_open() -> bool:
        """Whether it is open."""
        return next(said)

    space.tools.add(gate)
    wait = {"type": "wait", "condition": {"type": "tool_condition", "tool": "gate/is_open"}}
    result = run_sync(space, [wait, note("up", "$x")])
    statuses = [result.status]
    while result.status == "suspended" and len(statuses) < 4:
        result = asyncio.run(resume(space, str(result.run)))
        statuses.append(result.status)
    assert statuses == ["suspended", "suspended", "success"]


def test_a_long_wait_ends_at_its_time(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted from when it was first reached."""
    result = run_sync(space, [{"type": "wait", "seconds": 3600}, note("later", "$x")])
    assert result.pending[0].until is not None
    assert go_on(space, result).status == "suspended"
    monkeypatch.setattr("planner.execute.wait.now", lambda: later(4000))
    assert data(go_on(space, result)) == "later"


def test_a_live_run_is_not_resumed_and_an_ended_one_neither(space: Space) -> None:
    """A dead owner's lease ends with it; one of another machine after a time without renewal."""
    ended = run_sync(space, [note(1)])
    with pytest.raises(Conflict, match="has ended already: success") as told:
        go_on(space, ended)
    assert told.value.hint == "`infospace run` runs its plan again"
    result = run_sync(space, [ASK])
    run = str(result.run)
    with space.store.reading() as snapshot:
        owner = snapshot.run(run).owner
    space.store.commit([], [ClaimRun(run, "elsewhere:1:x", owner, later(0))])
    with pytest.raises(Conflict, match="is being run by elsewhere:1:x") as raised:
        go_on(space, result)
    assert raised.value.hint == "it can be resumed once that process has ended"
    space.store.commit([], [Heartbeat(run, "elsewhere:1:x", later(-60))])
    assert go_on(space, result).status == "suspended"


@pytest.mark.parametrize("reads", [False, True])
def test_a_call_in_doubt_is_asked_about_and_never_made_again_unasked(space: Space, reads: bool) -> None:
    """One that only reads is made again."""
    made: list[str] = []
    outside = LocalTools("outside")

    @outside.tool(read_only=reads)
    async def send(text: str) -> str:
        """Send a text."""
        made.append(text)
        return f"sent {text}"

    space.tools.add(outside)
    step = {"type": "outside/send", "arguments": {"text": "hello"}, "out": "$sent"}
    document = {"goal": "send", "steps": [step, note("${sent}!", "$x")]}
    run, at = space.store.new_id("run"), "2026-03-31T00:00:00.000Z"
    begun = CallRow(
        run, 1, "1", "tool", "outside/send", digest_of(outside.tools()[0], {"text": "hello"}), "started", at
    )
    space.store.commit([], [OpenRun(run, "plan", "send", document, {}, at, "gone:1:x"), begun])
    result = asyncio.run(resume(space, run))
    if reads:
        assert (data(result), made) == ("sent hello!", ["hello"])
        return
    assert ([(one.step, one.kind) for one in result.pending], made) == ([("1", "doubt")], [])
    answer(space, run, "1", {"result": "it went"})
    assert (data(asyncio.run(resume(space, run))), made) == ("it went!", [])


@pytest.mark.parametrize(
    "needs",
    [
        {"type": "outside/look", "out": "$v"},
        {"type": "call-tool", "tool": "outside/look", "out": "$v"},
        {"type": "map", "target": "$c", "operation": {"type": "outside/look"}, "out": "$v"},
        {
            "type": "if",
            "condition": {"type": "tool_condition", "tool": "outside/look"},
            "then": [note("yes", "$v")],
            "else": [note("no", "$v")],
        },
        {"type": "plan:looks", "out": "$v"},
    ],
)
def test_a_run_waits_where_a_tool_that_it_needs_is_not_here(tmp_path: Path, needs: dict[str, Any]) -> None:
    """It is refused before it is touched, and goes on where the tool is; one that has been called is not needed."""
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    async def look() -> bool:
        """Look."""
        return True

    @outside.tool(read_only=True)
    async def before() -> bool:
        """Look before."""
        return True

    path, items = tmp_path / "space.db", {"type": "create-collection", "value": [1], "out": "$c"}
    with open_space(path) as space:
        space.tools.add(outside)
        save_plan(space, "looks", {"steps": [{"type": "outside/look"}]})
        result = run_sync(space, {"steps": [items, {"type": "outside/before"}, ASK, needs, note("end", "$e")]})
        assert result.status == "suspended", result.problems
        answer(space, str(result.run), "3", 1)
    with open_space(path) as space:
        with pytest.raises(Conflict, match=r"step 4 of run_\d calls outside/look, which is not here"):
            go_on(space, result)
        with space.store.reading() as snapshot:
            assert snapshot.run(str(result.run)).status == "suspended"
        space.tools.add(outside)
        assert data(go_on(space, result)) == "end"


def test_what_was_spent_is_told_while_a_run_goes_on(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """With each renewal of its lease."""
    monkeypatch.setattr("planner.journal.lease.BEAT", 0.01)
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    async def look() -> float:
        """Look until the journal tells of some seconds."""
        while True:
            with space.store.reading() as snapshot:
                [row] = snapshot.runs()
            if row.spent.get("seconds", 0) > 0:
                return row.spent["seconds"]
            await asyncio.sleep(0.001)

    space.tools.add(outside)
    result = run_sync(space, {"steps": [{"type": "outside/look", "out": "$s"}], "budget": {"seconds": 20}})
    assert result.status == "success", result.reason


def test_what_is_pending_is_read_from_the_journal(space: Space) -> None:
    """By whoever looks at the run."""
    result = run_sync(space, [ASK])
    with space.store.reading() as snapshot:
        [pending] = pending_of(snapshot.steps(str(result.run)))
    assert pending == result.pending[0]


@pytest.mark.parametrize("answered", [False, True])
def test_a_step_of_a_cancelled_run_waits_no_more(space: Space, answered: bool) -> None:
    """It failed, since it was broken off, and asks nothing; what had ended stays."""
    branches = [[ASK], [{**ASK, "value": "Which month?", "out": "$month"}]]
    result = run_sync(space, [note("x", "$a"), {"type": "parallel", "branches": branches}])
    run = str(result.run)
    if answered:
        answer(space, run, "2.branches[1].1", 1984)
        assert asyncio.run(resume(space, run)).status == "suspended"
    cancel(space, run)
    with space.store.reading() as snapshot:
        rows, row = snapshot.steps(run), snapshot.run(run)
    assert (row.status, pending_of(rows)) == ("cancelled", [])
    waited = [one for one in rows if one.type == "ask" and one.status != "success"]
    assert len(waited) == (1 if answered else 2)
    assert {(one.status, one.error, one.reason) for one in waited} == {
        ("failed", "cancelled", "the step was broken off")
    }
    assert rows[0].status == "success"
    with pytest.raises(Conflict, match="is cancelled, and waits for nothing"):
        answer(space, run, waited[0].position, 5)
    assert space.store.check() == []


def test_a_branch_that_waits_ends_with_a_run_that_fails_in_another(space: Space) -> None:
    """In what is told of the run as in the journal."""
    branches = [[ASK], [{**ASK, "out": "$other"}, {"type": "load", "target": "nowhere ${other}"}]]
    result = run_sync(space, [{"type": "parallel", "branches": branches}])
    answer(space, str(result.run), "1.branches[2].1", 5)
    failed = asyncio.run(resume(space, str(result.run)))
    with space.store.reading() as snapshot:
        rows = snapshot.steps(str(failed.run))
    assert failed.status == "failed"
    told = {row.position: row.status for row in failed.steps}
    for one in (told, {row.position: row.status for row in rows}):
        assert "suspended" not in one.values(), one


def test_a_wait_is_not_answered(space: Space) -> None:
    """It is over when its time has come; only what is asked takes an answer."""
    together = {"type": "parallel", "branches": [[{"type": "wait", "seconds": 500}], [ASK]]}
    result = run_sync(space, [together])
    assert [one.kind for one in result.pending] == ["wait", "ask"]
    waiting, asked = (one.step for one in result.pending)
    with pytest.raises(NotFound, match="of run_1 asks nothing"):
        answer(space, str(result.run), waiting, 1)
    with pytest.raises(NotFound, match="did you mean"):
        answer(space, str(result.run), asked.removesuffix("1"), 1)
    answer(space, str(result.run), asked, 1)


def test_a_run_whose_plan_is_still_arriving_is_not_resumed(space: Space) -> None:
    """As long as somebody is there to whom it arrives, it stays theirs; then it ends as cancelled."""
    run = space.store.new_id("run")
    space.store.commit([], [OpenRun(run, "plan", "", None, {}, later(0), "elsewhere:1:x")])
    with pytest.raises(Conflict, match=f"{run} is being run by elsewhere:1:x"):
        asyncio.run(resume(space, run))
    with space.store.reading() as snapshot:
        assert (snapshot.run(run).status, snapshot.run(run).owner) == ("running", "elsewhere:1:x")
    space.store.commit([], [Heartbeat(run, "elsewhere:1:x", later(-60))])
    with pytest.raises(Conflict, match="never arrived whole"):
        asyncio.run(resume(space, run))
    with space.store.reading() as snapshot:
        assert snapshot.run(run).status == "cancelled"


def test_what_a_run_spent_stays_when_it_is_cancelled(space: Space) -> None:
    """It is told as that of one that ended by itself."""
    result = run_sync(space, [ASK])
    run = str(result.run)
    with space.store.reading() as snapshot:
        before = snapshot.run(run).spent
    assert before["seconds"] > 0
    cancel(space, run)
    with space.store.reading() as snapshot:
        row = snapshot.run(run)
    assert (row.spent, row.reason) == (before, "the run was cancelled")


def test_a_live_run_is_not_cancelled_and_one_whose_owner_is_gone_is(space: Space) -> None:
    """Whoever runs it ends it; nobody ends one that has ended."""
    run = str(run_sync(space, [ASK]).run)
    with space.store.reading() as snapshot:
        owner = snapshot.run(run).owner
    space.store.commit([], [ClaimRun(run, "elsewhere:1:x", owner, later(0))])
    with pytest.raises(Conflict, match="is being run by elsewhere:1:x"):
        cancel(space, run)
    space.store.commit([], [Heartbeat(run, "elsewhere:1:x", later(-60))])
    cancel(space, run)
    with pytest.raises(Conflict, match="has ended already, with cancelled"):
        cancel(space, run)
    with space.store.reading() as snapshot:
        assert snapshot.run(run).status == "cancelled"


def test_a_run_that_somebody_takes_up_meanwhile_is_not_cancelled(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """After it was looked at, and before it is ended: it goes on."""
    run = str(run_sync(space, [ASK]).run)
    commit = space.store.commit

    def taken_before(changes: Any, entries: Any = ()) -> int:
        monkeypatch.setattr(space.store, "commit", commit)
        with space.store.reading() as snapshot:
            owner = snapshot.run(run).owner
        commit([], [ClaimRun(run, "somebody else", owner, now())])
        return commit(changes, entries)

    monkeypatch.setattr(space.store, "commit", taken_before)
    with pytest.raises(Conflict, match=f"{run} belongs to 'somebody else' now"):
        cancel(space, run)
    with space.store.reading() as snapshot:
        row = snapshot.run(run)
    assert (row.status, row.owner) == ("running", "somebody else")


def test_a_step_that_is_to_be_attempted_again_needs_its_tool(tmp_path: Path) -> None:
    """Its first attempt has failed, and that was not all of it."""
    path, halt, outside = tmp_path / "space.db", SuspendRequest(), LocalTools("outside")
    calls: list[str] = []

    @outside.tool(read_only=True)
    async def look() -> str:
        """Fail, and have the run put to rest, the first time."""
        calls.append("look")
        if len(calls) == 1:
            halt.set()
            raise Invalid("nobody is there")
        return "seen"

    steps = [{"type": "outside/look", "retry": {"attempts": 2, "wait_s": 0}, "out": "$seen"}]
    with open_space(path) as space:
        space.tools.add(outside)
        prepared: Any = prepare(space, steps)
        run = Run(space, prepared.plan, lambda _event: None)
        run.halt = halt
        result = asyncio.run(run.run({}))
        assert (result.status, [row.position for row in result.steps]) == ("suspended", ["1"])
    with open_space(path) as space:
        with pytest.raises(Conflict, match=r"step 1 of run_\d calls outside/look, which is not here"):
            asyncio.run(resume(space, str(result.run)))
        space.tools.add(outside)
        assert data(asyncio.run(resume(space, str(result.run)))) == "seen"


def test_a_run_goes_on_in_the_scope_in_which_it_began(space: Space) -> None:
    """Whoever resumes it: what it may not know of is not there for it."""
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    async def look() -> str:
        """Look."""
        return "seen"

    space.tools.add(outside)
    steps = [ASK, {"type": "discover-tools", "query": "look", "out": "$tools"}]
    narrow = within(space, {"exclude_names": ["outside/look"]})
    for inner, found in ((space, True), (narrow, False)):
        result = run_sync(inner, steps)
        assert result.status == "suspended", result.problems
        again = go_on(space, result, _1=1)
        assert again.status == "success", again.reason
        assert ("outside/look" in str(data(again))) is found


def test_a_run_waits_where_a_primitive_that_it_needs_is_not_here(space: Space) -> None:
    """As with a tool: it is refused before it is touched."""
    run = space.store.new_id("run")
    document = [ASK, {"type": "no-such-verb"}]
    opened = OpenRun(run, "plan", "", document, {}, later(0), "me")
    space.store.commit([], [opened, CloseRun(run, "suspended", later(0))])
    with pytest.raises(Conflict, match=f"step 2 of {run} calls no-such-verb, which is not here"):
        asyncio.run(resume(space, run))
    with space.store.reading() as snapshot:
        assert snapshot.run(run).status == "suspended"


def test_the_seconds_of_a_part_that_broke_off_are_told_as_soon_as_it_is_gone_on_with(space: Space) -> None:
    """A second end without a word would not lose them."""
    outside = LocalTools("outside")
    run = space.store.new_id("run")

    @outside.tool(read_only=True)
    async def spent() -> float:
        """What the journal tells."""
        with space.store.reading() as snapshot:
            return snapshot.run(run).spent.get("seconds", 0.0)

    space.tools.add(outside)
    opened = OpenRun(run, "plan", "", [note(1), {"type": "outside/spent"}], {}, later(-100), "elsewhere:1:x")
    known = StepRow(run, 1, "1", "create-note", "success", later(-70), 10_000.0)
    space.store.commit([], [opened, known])
    assert data(asyncio.run(resume(space, run))) == pytest.approx(40, abs=1)


@pytest.mark.parametrize(
    ("written", "schema", "read"),
    [
        ("7", {"type": "integer"}, 7),
        ("7", {"type": "string"}, "7"),
        ('"7"', {"type": "string"}, "7"),
        ("seven", {"type": "integer"}, "seven"),
        ("seven", None, "seven"),
        ("[1, 2]", None, [1, 2]),
        ('"quoted"', None, '"quoted"'),
        ("true", {"type": "array"}, True),
        ("true", {"type": ["string", "boolean"]}, True),
    ],
)
def test_an_answer_is_read_as_what_is_asked_for(written: str, schema: Any, read: Any) -> None:
    """JSON where that fits, or nothing does; else text."""
    assert read_answer(written, schema) == read


def test_a_wait_that_is_looked_at_again_ends_when_it_first_would(space: Space) -> None:
    """It began when its step was first reached, however often the run is resumed before its end."""
    first = run_sync(space, [{"type": "wait", "seconds": 100_000}, {"type": "create-note", "value": 1}])
    until = [one.until for one in first.pending]
    for _ in range(2):
        again = asyncio.run(resume(space, str(first.run)))
        assert (again.status, [one.until for one in again.pending]) == ("suspended", until)


@pytest.mark.parametrize("kind", ["plan", "session"])
def test_a_run_whose_plan_cannot_be_read_any_more_is_not_gone_on_with(
    space: Space, kind: Literal["plan", "session"]
) -> None:
    """As one that an older or a newer version wrote: what is wrong with it is told, and nothing is touched."""
    run, steps = space.store.new_id("run"), [note(1, "$a"), {"typ": "say", "value": 1}]
    space.store.commit([], [OpenRun(run, kind, "", {"steps": steps}, {}, later(0), "elsewhere:1:x")])
    space.store.commit([], [Heartbeat(run, "elsewhere:1:x", later(-60))])
    what = "plan" if kind == "plan" else "lines"
    with pytest.raises(NotFound, match=f"the {what} of {run} cannot be read any more: "):
        asyncio.run(resume(space, run))
    with space.store.reading() as snapshot:
        assert (snapshot.run(run).status, snapshot.steps(run)) == ("running", [])
