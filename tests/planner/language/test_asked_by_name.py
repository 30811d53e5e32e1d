"""Names that may not be there: asked about by `bound`, or loaded where `on_fail` handles that they are not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import run_sync
from planner.lifecycle.replay import replay

QUEUE = "_rss_pending_titles"
LOAD = {"type": "load", "target": QUEUE, "out": "$queue"}
MAKE = {"type": "create-note", "value": ["first"], "name": QUEUE, "out": "$queue"}


def branch(condition: Any, then: list[Any], otherwise: list[Any] | None = None) -> dict[str, Any]:
    """An `if`."""
    return {"type": "if", "condition": condition, "then": then, "else": otherwise or []}


def asked(type_: str, name: str = QUEUE) -> dict[str, Any]:
    """A condition on a name."""
    return {"type": type_, "target": name}


THERE, ABSENT = asked("bound"), asked("notbound")
FORMS = [
    branch(THERE, [LOAD], [MAKE]),
    branch(ABSENT, [MAKE], [LOAD]),
    branch({"type": "not", "of": ABSENT}, [LOAD], [MAKE]),
    branch({"type": "and", "of": [THERE, THERE]}, [LOAD], [MAKE | {"replace": True}]),
    {**LOAD, "on_fail": [MAKE]},
]


@pytest.mark.parametrize("form", FORMS)
def test_the_first_run_makes_it_and_the_next_ones_load_it(space: Space, form: Any) -> None:
    """What the check allows works both ways; after it, the variable is bound and the name is there."""
    for taken in ("create-note", "load", "load"):
        result = run_sync(space, [form, {"type": "bind", "target": "$queue"}, {"type": "load", "target": QUEUE}])
        assert result.status == "success", result.reason or result.problems
        inner = [row for row in result.steps if row.position not in ("2", "3") and row.type != "if"]
        assert [row.type for row in inner if row.status == "success"] == [taken]


def test_a_plan_that_stops_where_it_is_absent_goes_on_knowing_that_it_is_there(space: Space) -> None:
    """The branch that ends the plan tells what holds after it."""
    steps = [branch(ABSENT, [{"type": "stop", "status": "success", "value": "nothing to do"}]), LOAD]
    result = run_sync(space, steps)
    assert result.status == "stopped"
    run_sync(space, [MAKE])
    assert run_sync(space, steps).status == "success"


def test_a_loop_until_a_name_is_given_or_gone(space: Space) -> None:
    """The body changes what the condition asks."""
    gone = {"type": "while", "condition": THERE, "body": [{"type": "remove", "target": QUEUE}]}
    made = {"type": "while", "condition": ABSENT, "body": [MAKE], "max_iterations": 3}
    result = run_sync(space, [made, gone])
    assert result.status == "success", result.reason or result.problems
    assert [row.position for row in result.steps if row.type in ("create-note", "remove")] == [
        "1.body[1].1",
        "2.body[1].1",
    ]


def test_an_id_can_be_asked_about(space: Space) -> None:
    """Of what was deleted it is not there."""
    identifier = run_sync(space, [{"type": "create-note", "value": 1, "name": "n", "out": "$n"}]).bindings["n"].id
    test = branch(asked("bound", identifier), [])
    assert run_sync(space, [test]).steps[0].value.startswith("then")
    run_sync(space, [{"type": "remove", "target": identifier}])
    assert run_sync(space, [test]).steps[0].value.startswith("else")


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([branch(THERE, [], [LOAD])], "unknown-name"),
        ([branch(ABSENT, [LOAD])], "unknown-name"),
        ([branch(THERE, [{"type": "remove", "target": QUEUE}, LOAD])], "unknown-name"),
        ([branch(THERE, []), LOAD], "unknown-name"),
        ([branch({"type": "or", "of": [THERE, asked("bound", "other")]}, [LOAD])], "unknown-name"),
        ([LOAD], "unknown-name"),
        ([LOAD | {"retry": {"attempts": 2}}], "unknown-name"),
        ([{"type": "size", "target": QUEUE, "on_fail": "continue"}], "unknown-name"),
        ([branch(asked("bound", "${x}"), [])], "bad-condition"),
        ([branch(asked("bound", ""), [])], "bad-condition"),
        ([branch({"type": "bound", "target": 5}, [])], "bad-condition"),
        ([branch({"type": "has_value", "target": "$no"}, [])], "unbound-variable"),
    ],
)
def test_where_nothing_says_that_it_is_there_it_is_an_error(errors: Any, steps: list[Any], code: str) -> None:
    """A guard holds in its own branch alone."""
    assert code in [problem.code for problem in errors(steps)]


def test_a_name_that_is_near_is_told_and_a_forgotten_dollar_sign_too(space: Space, warnings: Any) -> None:
    """As warnings, since the plan may mean what it says."""
    run_sync(space, [{"type": "create-note", "value": 1, "name": "weekly digest"}])
    [typo] = warnings([{"type": "load", "target": "weekly digst", "on_fail": "continue"}])
    assert (typo.code, typo.pointer) == ("maybe-unnamed", "/0/target")
    assert "weekly digest" in typo.hint
    plan = [
        {"type": "create-note", "value": 1, "out": "$hits"},
        branch(asked("bound", "hits"), [{"type": "bind", "target": "$hits"}]),
    ]
    assert ("never-bound", [{"op": "replace", "path": "/1/condition/target", "value": "$hits"}]) in [
        (one.code, one.fix) for one in warnings(plan)
    ]


def test_a_recorded_replay_takes_the_same_way(space: Space) -> None:
    """Though the name is there by now; reads on today's space find that it is."""
    result = run_sync(space, [FORMS[0]])
    again = asyncio.run(replay(space, str(result.run), recorded=True))
    assert [row.type for row in again.result.steps] == [row.type for row in result.steps]
    today = asyncio.run(replay(space, str(result.run)))
    assert "load" in [row.type for row in today.result.steps]
