"""`until` of `for-each`: items one after another, up to the one after which a condition holds."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from infospace import Collection, Space
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan, run_sync
from planner.journal.result import RunResult
from planner.lifecycle.replay import replay
from planner.lifecycle.resume import answer, resume
from planner.order.dependencies import DependencyAnalysis

NUMBERS: dict[str, Any] = {"type": "create-collection", "value": [1, 2, 3, 4], "out": "$c"}
DOUBLE: dict[str, Any] = {"type": "compute", "expression": "$item * 2", "out": "$d"}
ENOUGH: dict[str, Any] = {"type": "gte", "target": "$d", "value": 4}
LOOP: dict[str, Any] = {"type": "for-each", "target": "$c", "do": [DOUBLE], "until": ENOUGH, "out": "$r"}
ASK: dict[str, Any] = {"type": "ask", "value": "And ${item}?", "schema": {"type": "integer"}, "out": "$d"}


def data(result: RunResult) -> Any:
    assert result.result is not None, result.reason
    return result.result.data


@pytest.fixture
def asked(space: Space) -> Counter[str]:
    """A server `sky`, and how often each of its tools was called."""
    counts: Counter[str] = Counter()
    sky = LocalTools("sky")

    @sky.tool(read_only=True)
    def is_late() -> bool:
        """Say whether it is late: at the third call."""
        counts["is_late"] += 1
        return counts["is_late"] == 3

    @sky.tool(read_only=True)
    def look(at: int) -> int:
        """Look."""
        counts["look"] += 1
        return at

    space.tools.add(sky)
    return counts


def last(result: RunResult) -> dict[str, Any]:
    return next(dict(row.extra) for row in reversed(result.steps) if row.type == "for-each")


def test_the_item_that_makes_it_true_is_the_last(run: Any) -> None:
    """It is among the results; `extra.ended` says that the condition came true."""
    result = run(NUMBERS, LOOP)
    assert data(result) == [2, 4]
    assert (last(result)["ended"], last(result)["item_count"], last(result)["of"]) == (True, 2, 4)
    assert [row.position for row in result.steps] == ["1", "2", "2.do[1].1", "2.do[2].1"]


def test_where_it_never_comes_true_all_items_are_done(run: Any) -> None:
    """And `extra.ended` is false; without `until` there is none."""
    result = run(NUMBERS, {**LOOP, "until": {**ENOUGH, "value": 40}})
    assert data(result) == [2, 4, 6, 8]
    assert last(result)["ended"] is False
    assert "ended" not in last(run(NUMBERS, {key: value for key, value in LOOP.items() if key != "until"}))


def test_it_may_read_the_item_and_what_is_outside(run: Any) -> None:
    """What the body has not bound, too."""
    limit = {"type": "create-note", "value": 3, "out": "$most"}
    assert data(run(limit, NUMBERS, {**LOOP, "until": {"type": "equals", "target": "$item", "value": "$most"}})) == [
        2,
        4,
        6,
    ]


def test_what_an_item_left_unbound_is_not_true(run: Any) -> None:
    """The loop goes on, and nothing is skipped."""
    seldom = {"type": "if", "condition": {"type": "equals", "target": "$item", "value": 3}, "then": [DOUBLE]}
    each = {**LOOP, "do": [{"type": "bind", "target": "$item", "out": "$i"}, seldom], "collect": "$i"}
    for until in ({"type": "gte", "target": "$d", "value": 0}, {"type": "has_value", "target": "$d"}):
        result = run(NUMBERS, {**each, "until": until})
        assert (result.status, data(result)) == ("success", [1, 2, 3])


def test_it_is_read_after_an_item_that_failed_and_was_passed_over(run: Any) -> None:
    """What it had bound before it failed counts."""
    fails = {"type": "compute", "expression": "1 / ($item - 2)", "out": "$x"}
    result = run(NUMBERS, {**LOOP, "do": [DOUBLE, fails], "on_fail": "continue"})
    assert (result.status, last(result)["ended"], len(last(result)["failed"])) == ("success", True, 1)
    assert len(data(result)) == 1


def test_a_condition_without_an_answer_fails_the_step(run: Any) -> None:
    """It names the item."""
    either: Any = {"type": "create-collection", "value": [1, "two"], "out": "$c"}
    same: Any = {"type": "bind", "target": "$item", "out": "$d"}
    result = run(either, {**LOOP, "do": [same], "until": {"type": "gte", "target": "$d", "value": 9}})
    assert result.status == "failed"
    assert "`until` after item 2 (" in str(result.reason)
    assert "compares two numbers or two texts" in str(result.reason)


def test_items_that_would_run_side_by_side_run_one_after_another(space: Space, asked: Counter[str]) -> None:
    """No call is made for an item behind the last."""
    look: Any = {"type": "sky/look", "arguments": {"at": "$item"}, "out": "$d"}
    result = run_sync(space, [NUMBERS, {**LOOP, "do": [look], "until": {**ENOUGH, "value": 2}}])
    assert (data(result), asked["look"]) == ([1, 2], 2)


def test_a_tool_may_say_that_it_is_enough(space: Space, asked: Counter[str]) -> None:
    """A `tool_condition`; the loop then waits for what is outside, as the order of steps knows."""
    late: Any = {**LOOP, "until": {"type": "tool_condition", "tool": "sky/is_late"}}
    assert data(run_sync(space, [NUMBERS, late])) == [2, 4, 6]
    plan = check_plan(space, [NUMBERS, late, LOOP])[0]
    order = DependencyAnalysis(space.catalogue, {})
    assert [order.unit(step).waits for step in plan.steps] == [False, True, False]
    assert {"d", "c"} <= order.unit(plan.steps[2]).reads


def test_a_run_that_goes_on_does_not_ask_again_of_the_items_before(space: Space, asked: Counter[str]) -> None:
    """Neither a tool, nor what has changed since: an item after it was begun, so it had not come true."""
    late = {"type": "tool_condition", "tool": "sky/is_late"}
    result = run_sync(space, [NUMBERS, {**LOOP, "do": [ASK], "until": late}])
    for number in (1, 2, 3):
        assert result.status == "suspended", result.reason
        assert [pending.step for pending in result.pending] == [f"2.do[{number}].1"]
        answer(space, str(result.run), result.pending[0].step, number * 10)
        result = asyncio.run(resume(space, str(result.run)))
    assert (result.status, data(result), last(result)["ended"]) == ("success", [10, 20, 30], True)
    assert asked["is_late"] == 3


def test_what_an_item_changed_since_does_not_end_it_afterwards(space: Space) -> None:
    """The first item was followed by a second, so it was not the last, whatever is read of it today."""
    flag: Any = {"type": "create-note", "value": {"on": False}, "out": "$flag"}
    on = {"type": "equals", "target": "$flag.on", "value": True}
    change = {"type": "update-note", "target": "$flag", "value": {"on": True}}
    second = {"type": "if", "condition": {"type": "equals", "target": "$item", "value": 2}, "then": [change]}
    loop: Any = {**LOOP, "do": [ASK, second], "collect": "$d", "until": on}
    result = run_sync(space, [flag, NUMBERS, loop])
    answer(space, str(result.run), "3.do[1].1", 1)
    result = asyncio.run(resume(space, str(result.run)))
    answer(space, str(result.run), "3.do[2].1", 2)
    result = asyncio.run(resume(space, str(result.run)))
    assert (result.status, data(result)) == ("success", [1, 2])


def test_what_the_condition_read_of_earlier_items_stays_told(space: Space) -> None:
    """It is read in the part of the run that had them; the part that ends the loop has it from the record."""
    plan = [NUMBERS, {**LOOP, "do": [ASK], "until": {"type": "equals", "target": "$item", "value": 3}}]
    result = run_sync(space, plan)
    for number in (1, 2, 3):
        answer(space, str(result.run), f"2.do[{number}].1", number)
        result = asyncio.run(resume(space, str(result.run)))
    assert (result.status, data(result)) == ("success", [1, 2, 3])
    with space.store.reading() as snapshot:
        numbers, *_, loop = snapshot.steps(str(result.run))
    items = space.context().get(str(numbers.resource))
    assert isinstance(items, Collection)
    assert {member.id for member in items.members[:3]} <= {use.id for use in loop.uses}


def test_a_replay_ends_where_the_run_did(space: Space, asked: Counter[str]) -> None:
    """What the tool said is taken from the record."""
    first = run_sync(space, [NUMBERS, {**LOOP, "until": {"type": "tool_condition", "tool": "sky/is_late"}}])
    again = asyncio.run(replay(space, str(first.run)))
    assert (again.result.status, data(again.result), asked["is_late"]) == ("success", [2, 4, 6], 3)


@pytest.mark.parametrize(
    ("until", "code", "place"),
    [
        ({"type": "gte", "target": "$x", "value": 4}, "unbound-variable", "/target"),
        ({"type": "gte", "target": "$d", "value": []}, "bad-condition", "/value"),
        ({"type": "contains", "target": "$d", "value": 4}, "bad-condition", "/target"),
        ({"type": "more", "target": "$d", "value": 4}, "unknown-condition", "/type"),
        ({"type": "equals", "target": "$item.n", "value": 4}, "unknown-field", "/target"),
        (4, "bad-condition", ""),
    ],
)
def test_the_check_knows_what_the_body_binds(errors: Any, until: Any, code: str, place: str) -> None:
    """And says what is wrong at its place."""
    items = {"type": "create-collection", "value": [1, 2], "out": "$c"}
    assert [(one.code, one.pointer) for one in errors([items, {**LOOP, "until": until}])] == [
        (code, f"/1/until{place}")
    ]


def test_what_the_body_binds_on_some_paths_alone_may_be_read(space: Space) -> None:
    """There is an answer for an item that leaves it unbound, and the step is not skipped for it."""
    seldom = {"type": "if", "condition": {"type": "equals", "target": "$item", "value": 3}, "then": [DOUBLE]}
    loop: Any = {**LOOP, "do": [{"type": "bind", "target": "$item", "out": "$i"}, seldom], "collect": "$i"}
    problems = check_plan(space, [NUMBERS, loop, {"type": "say", "value": "${r}"}])[1]
    assert [(one.code, one.pointer) for one in problems.found] == []


def test_a_condition_may_be_text(run: Any, errors: Any) -> None:
    """What an item left unbound is not true there, either."""
    assert data(run(NUMBERS, {**LOOP, "until": "$d >= 4 AND $item < 9"})) == [2, 4]
    seldom = {"type": "if", "condition": "$item = 3", "then": [DOUBLE]}
    each = {**LOOP, "do": [{"type": "bind", "target": "$item", "out": "$i"}, seldom], "collect": "$i"}
    assert data(run(NUMBERS, {**each, "until": "$d > 0"})) == [1, 2, 3]
    assert [one.pointer for one in errors([NUMBERS, {**LOOP, "until": "$x > 4"}])] == ["/1/until"]
    assert [one.pointer for one in errors([NUMBERS, {**LOOP, "until": "$d = 'four'"}])] == ["/1/until"]


def test_what_the_condition_reads_is_read_by_the_loop(run: Any) -> None:
    """So `why` knows of it, and a later change of it makes the result stale."""
    bound = {"type": "create-note", "value": 4, "out": "$bound"}
    result = run(NUMBERS, bound, {**LOOP, "until": {"type": "gte", "target": "$d", "value": "$bound"}})
    assert data(result) == [2, 4]
    [row] = [row for row in result.steps if row.type == "for-each"]
    assert result.bindings["bound"].id in {use.id for use in row.uses}
