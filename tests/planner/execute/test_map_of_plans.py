"""`map` of a saved plan: once for each item, in a scope of its own."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync
from planner.parse.positions import step_at, written_step
from planner.parse.saved_plans import save_plan

LIST = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
GREET = {
    "inputs": {"who": {"kind": "Note"}, "word": {"type": "string", "default": "hello"}},
    "steps": [
        {
            "type": "if",
            "condition": {"type": "equals", "target": "$who", "value": "x"},
            "then": [{"type": "stop", "status": "failed"}],
        },
        {"type": "create-note", "value": "${word} ${who}", "out": "$said"},
    ],
    "result": "$said",
}
UP = {"inputs": {"n": {"type": "number"}}, "steps": [{"type": "create-note", "value": {"n": "$n"}, "out": "$o"}]}


@pytest.fixture(autouse=True)
def saved(space: Space) -> None:
    save_plan(space, "greet", GREET)
    save_plan(space, "up", UP)


def mapped(operation: Any, **fields: Any) -> list[Any]:
    return [LIST, {"type": "map", "target": "$c", "operation": operation, "out": "$m", **fields}]


@pytest.mark.parametrize(
    ("operation", "gives"),
    [
        ("plan:greet", ["hello a", "hello b"]),
        ({"type": "plan:greet", "arguments": {"word": "bye"}}, ["bye a", "bye b"]),
        ({"type": "plan:greet", "arguments": {"who": "$c[0]", "word": "$item"}}, ["a a", "b a"]),
    ],
)
def test_the_item_is_its_first_resource_unless_that_is_written(space: Space, operation: Any, gives: Any) -> None:
    """`$item` stands in the other arguments."""
    result = run_sync(space, mapped(operation))
    assert (result.status, result.problems) == ("success", ())
    assert result.result is not None
    assert result.result.data == gives


def test_its_steps_are_in_the_journal_under_the_item(space: Space) -> None:
    """And are found again in the plan, and in the document."""
    result = run_sync(space, mapped("plan:greet"))
    positions = [row.position for row in result.steps]
    assert "2.do[2].1/2" in positions
    with space.store.reading() as snapshot:
        run = snapshot.run(str(result.run))
    assert written_step(run, "2.do[2].1") == {"type": "plan:greet"}
    assert (written_step(run, "2.do[2].1/2") or {})["out"] == "$said"
    plan, _ = check_plan(space, mapped("plan:greet"))
    assert getattr(step_at(plan, "2.do[1].1/2"), "type", None) == "create-note"


def test_on_fail_is_per_item(space: Space) -> None:
    """`continue` leaves the item out, a list supplies what it binds under the step's `out`."""
    bad = {**LIST, "value": ["a", "x"]}
    assert run_sync(space, [bad, mapped("plan:greet")[1]]).status == "failed"
    for on_fail, gives in (
        ("continue", ["hello a"]),
        ([{"type": "bind", "target": "$item", "out": "$m"}], ["hello a", "x"]),
    ):
        result = run_sync(space, [bad, mapped("plan:greet", on_fail=on_fail)[1]])
        assert result.result is not None
        assert (result.status, result.result.data) == ("success", gives)


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        ("plan:gret", ("unknown-plan", "/1/operation")),
        ({"type": "plan:gret"}, ("unknown-plan", "/1/operation/type")),
        ("plan:up", ("missing-argument", "/1/operation")),
        ({"type": "plan:up", "arguments": {"n": "$item"}}, ("bad-argument", "/1/operation/arguments/n")),
        ({"type": "plan:up", "n": "$item"}, ("unknown-argument", "/1/operation/n")),
        ({"type": "plan:greet", "arguments": {"whom": "$item"}}, ("unknown-argument", "/1/operation/arguments/whom")),
    ],
)
def test_a_wrong_call_is_refused_at_its_place(space: Space, operation: Any, problem: Any) -> None:
    """As a step that is such a call."""
    found = [(p.code, p.pointer) for p in check_plan(space, mapped(operation))[1].found if p.severity == "error"]
    assert problem in found
    assert len(found) == 1 or problem[1] == "/1/operation/n"


def test_a_list_of_collections_gives_each_to_a_plan_of_notes_in_vain(space: Space) -> None:
    """The kind is checked."""
    plan = [
        LIST,
        {"type": "create-collection", "value": ["$c"], "out": "$d"},
        {**mapped("plan:greet")[1], "target": "$d"},
    ]
    found = [(p.code, p.pointer) for p in check_plan(space, plan)[1].found if p.severity == "error"]
    assert found == [("wrong-kind", "/2/operation")]


def test_it_is_not_retried(space: Space) -> None:
    """As no saved plan is: the steps inside may be."""
    found = check_plan(space, mapped("plan:greet", retry={"attempts": 2}))[1].found
    assert ("bad-value", "/1/retry") in [(p.code, p.pointer) for p in found]


def test_what_it_gives_is_known(space: Space) -> None:
    """By the shape of the plan's result."""
    plan = [*mapped("plan:greet"), {"type": "create-note", "value": "$m[0].title", "out": "$t"}]
    assert [p.code for p in check_plan(space, plan)[1].found if p.severity == "error"] == ["unknown-field"]
