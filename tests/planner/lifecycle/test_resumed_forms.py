"""Forms that a run goes on with in the middle: what they had decided, bound and lost before holds."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from infospace import Space
from infospace.core.ids import Kind
from infospace.store.changes import GiveName, MakeNote
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer, pending_of, resume
from planner.parse.saved_plans import save_plan

ASK = {"type": "ask", "value": "Go on?", "out": "$go"}
SAY = {"type": "say", "value": "waits for nobody"}
LIST = {"type": "create-collection", "value": ["a", "b"], "out": "$list"}
FAILS = {"type": "coerce", "target": "$word", "coercion": "int", "out": "$lost", "on_fail": "continue"}
WORD = {"type": "create-collection", "value": ["no number"], "out": "$words"}


def note(value: Any, out: str) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out}


def rows(space: Space, result: RunResult) -> Any:
    with space.store.reading() as snapshot:
        return snapshot.steps(str(result.run))


def to_the_end(space: Space, plan: Any) -> RunResult:
    """Run a plan, and answer each question in a resume of its own."""
    result = run_sync(space, plan)
    while result.status == "suspended":
        [pending] = pending_of(rows(space, result))
        answer(space, str(result.run), pending.step, "yes")
        result = asyncio.run(resume(space, str(result.run)))
    return result


def told(space: Space, plan: Any, asked: str) -> list[Any]:
    """What the steps of a plan did, by place, but for those that ask."""
    found = rows(space, to_the_end(space, plan))
    return sorted((one.position, one.status, one.value, one.reason) for one in found if one.type not in ("ask", asked))


def test_a_saved_plan_keeps_the_inputs_that_it_was_given(space: Space) -> None:
    """They are the same Notes after each question, and none is written anew."""
    steps = [ASK, note("${x}1", "$a"), {**ASK, "out": "$more"}, note("${a}${x}", "$b")]
    save_plan(space, "slow", {"inputs": {"x": {"type": "string"}}, "steps": steps, "result": "$b"})
    result = run_sync(space, [{"type": "plan:slow", "arguments": {"x": "v"}, "out": "$r"}])
    given = [frames["1"]["x"] for frames in (one.frames for one in rows(space, result)) if "1" in frames]
    assert len(set(given)) == 1
    ended = result
    while ended.status == "suspended":
        [pending] = pending_of(rows(space, ended))
        answer(space, str(ended.run), pending.step, "yes")
        ended = asyncio.run(resume(space, str(ended.run)))
    assert ended.result is not None
    assert ended.result.data == "v1v"
    by_place = {one.position: one for one in rows(space, ended)}
    for place in ("1/2", "1/4"):
        assert given[0] in {use.id for use in by_place[place].uses}


@pytest.mark.parametrize(
    ("body", "gave"),
    [
        ([note("${item}1", "$x"), ASK, note("${x}2", "$y")], ["a12", "b12"]),
        ([ASK, note("${item}", "$x"), {**ASK, "out": "$again"}, note("${x}${x}", "$y")], ["aa", "bb"]),
    ],
)
def test_a_loop_goes_on_with_the_item_at_which_it_stood(space: Space, body: Any, gave: Any) -> None:
    """What was done for items before is not done again, and what they gave is collected."""
    loop = {"type": "for-each", "target": "$list", "do": body, "collect": "$y", "out": "$all"}
    without = [one if one["type"] != "ask" else SAY for one in body]
    plan = {"steps": [LIST, loop], "result": "$all"}
    ended = to_the_end(space, plan)
    assert ended.result is not None
    assert (ended.status, ended.result.data) == ("success", gave)
    places = [one.position for one in rows(space, ended)]
    assert len(places) == len(set(places))
    assert told(space, plan, "say") == told(space, {**plan, "steps": [LIST, {**loop, "do": without}]}, "say")


@pytest.mark.parametrize(
    "rest",
    [
        [note("${lost}!", "$x")],
        [note("kept", "$k"), {"type": "stop", "value": "$k"}],
        [{"type": "if", "condition": {"type": "bound", "target": "$lost"}, "then": [SAY], "else": [note("no", "$n")]}],
    ],
)
def test_what_a_step_lost_before_a_question_is_lost_after_it(space: Space, rest: Any) -> None:
    """A step that failed and was passed over binds nothing: who reads it is skipped, for the same reason."""
    before = [FAILS, {"type": "create-note", "value": "${lost}?", "out": "$q", "on_fail": "continue"}, note("on", "$o")]

    def plan(middle: Any) -> Any:
        return [WORD, {"type": "for-each", "target": "$words", "as": "$word", "do": [*before, middle, *rest]}]

    assert told(space, plan(ASK), "say") == told(space, plan(SAY), "say")


def test_what_a_skipped_step_left_unbound_before_a_question_is_unbound_after_it(space: Space) -> None:
    """And whose fault it is: the step that failed first."""
    skipped = {"type": "create-note", "value": "${lost}?", "out": "$q", "on_fail": "continue"}

    def plan(middle: Any) -> Any:
        body = [FAILS, skipped, middle, note("${q}!", "$x"), note("${x}!", "$y")]
        return [WORD, {"type": "for-each", "target": "$words", "as": "$word", "do": body}]

    ended = to_the_end(space, plan(ASK))
    last = next(one for one in rows(space, ended) if one.position == "2.do[1].4")
    assert (last.status, last.extra.get("cause")) == ("skipped", "2.do[1].1")
    because = "step 2.do[1].2 was skipped, because step 2.do[1].1 failed and was passed over"
    assert last.reason == f"$q is not bound: {because}"
    assert told(space, plan(ASK), "say") == told(space, plan(SAY), "say")


def test_what_is_lost_within_and_without_is_lost_by_the_step_within(space: Space) -> None:
    """It stands nearest to whoever reads it."""
    lost = {**FAILS, "target": "$text"}
    body = [{**FAILS, "target": "$item"}, note("${lost}!", "$x")]
    steps = [note("no number", "$text"), lost, WORD, {"type": "for-each", "target": "$words", "do": body}]
    result = run_sync(space, steps)
    assert result.status == "success", result.reason
    last = next(one for one in rows(space, result) if one.position == "4.do[1].2")
    assert (last.status, last.extra.get("cause")) == ("skipped", "4.do[1].1")
    assert last.reason == "$lost is not bound: step 4.do[1].1 failed and was passed over"


def test_what_a_form_decided_is_not_lost_with_a_commit_that_is_refused(space: Space) -> None:
    """It is journalled with the row that says so: here of a name that somebody gave meanwhile."""
    outside = LocalTools("outside")

    @outside.tool()
    def take() -> str:
        """Take the name that the next step is to give."""
        identifier = space.store.new_id(Kind.NOTE)
        space.store.commit([MakeNote(identifier, "theirs", kept=True), GiveName(identifier, "mine")])
        return "taken"

    space.tools.add(outside)
    named = {**note("ours", "$n"), "name": "mine", "on_fail": "continue"}
    branch = {"type": "if", "condition": "$t = 'taken'", "then": [named], "else": [SAY]}
    result = run_sync(space, [{"type": "outside/take", "out": "$t"}, branch])
    assert result.status == "success", result.reason
    by_place = {one.position: one for one in rows(space, result)}
    refused = by_place["2.then.1"]
    assert (refused.status, refused.error, refused.frames["2"]["branch"]) == ("failed", "conflict", "then")
    assert by_place["2"].frames == {}


def test_what_a_form_decided_is_journalled_once(space: Space) -> None:
    """With the first step that ends after it, at whatever depth, and with none of the others."""
    twice = [note("${item}", "$n"), note("${item}", "$n")]
    branch = {"type": "if", "condition": "$item > 1", "then": twice, "else": twice}
    steps = [
        {"type": "create-collection", "value": [1, 2], "out": "$c"},
        {"type": "for-each", "target": "$c", "do": [branch, branch], "out": "$all"},
        {"type": "parallel", "branches": [[note(1, "$a")], [note(2, "$b")]]},
    ]
    result = run_sync(space, steps)
    assert result.status == "success", result.reason
    decided = Counter(place for row in rows(space, result) for place in row.frames)
    assert set(decided.values()) == {1}
    assert {"2", "2.do[1].1", "2.do[1].2", "2.do[2].1", "2.do[2].2"} <= decided.keys()


def test_how_a_step_failed_stays_while_its_handler_waits(space: Space) -> None:
    """What it read is another by the time the run goes on: it is not executed once more."""
    run_sync(space, [{"type": "create-note", "value": 7, "name": "n"}])
    plan: list[Any] = [
        {"type": "load", "target": "n", "out": "$n"},
        {"type": "compute", "expression": "1 / ($n - 7)", "out": "$part", "on_fail": [ASK]},
    ]
    waiting = run_sync(space, plan)
    assert waiting.status == "suspended", (waiting.reason, waiting.problems)
    changed = run_sync(space, [{"type": "update-note", "target": "n", "value": 8}])
    assert changed.status == "success", (changed.reason, changed.problems)
    answer(space, str(waiting.run), "2.on_fail.1", "yes")
    result = asyncio.run(resume(space, str(waiting.run)))
    assert (result.status, sorted(result.bindings)) == ("success", ["go", "n"])
    [failed] = [row for row in result.steps if row.position == "2"]
    assert (failed.status, failed.error, failed.extra) == ("failed", "mismatch", {"handled": True})
    assert "divides by zero: 1 and 0" in str(failed.reason)
    assert [(use.id, use.version) for use in failed.uses] == [(result.bindings["n"].id, 1)]


def test_what_a_while_read_for_each_round_stays_told(space: Space) -> None:
    """Each round waits for an answer, in a part of the run of its own."""
    less = {"type": "compute", "expression": "$left - 1", "out": "$left"}
    more = {"type": "not_equals", "target": "$left", "value": 0}
    ended = to_the_end(space, [note(3, "$left"), {"type": "while", "condition": more, "body": [ASK, less]}])
    assert ended.status == "success", ended.problems
    by_place = {one.position: one for one in rows(space, ended)}
    read = [by_place[place].resource for place in ("1", "2.body[1].2", "2.body[2].2", "2.body[3].2")]
    assert sorted(use.id for use in by_place["2"].uses) == sorted(map(str, read))


def test_calls_before_a_rest_count_after_it(space: Space) -> None:
    """A run that goes on has what its budget of calls has left."""
    made: list[str] = []
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    async def look() -> str:
        """Look."""
        made.append("look")
        return "seen"

    space.tools.add(outside)
    look_twice = {"type": "for-each", "target": "$c", "do": [{"type": "outside/look"}]}
    steps = [{"type": "create-collection", "value": [1, 2], "out": "$c"}, look_twice, ASK, look_twice]
    result = run_sync(space, {"steps": steps, "budget": {"tool_calls": 3}})
    assert (result.status, len(made)) == ("suspended", 2), result.reason
    answer(space, str(result.run), "3", "yes")
    ended = asyncio.run(resume(space, str(result.run)))
    assert (ended.status, len(made)) == ("failed", 3)
    assert "the budget of 3 tool_calls is spent" in str(ended.reason)
