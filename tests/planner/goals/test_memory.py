"""Plans that went well: used for the same goal with other values, shown for near ones, never in another scope."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from chatting import Endpoint

from infospace import Space
from infospace.core import clock
from infospace.core.resources import Note
from infospace.store.scoped_store import Visibility
from infospace.tools.scope import Scope
from infospace.tools.scoped_space import ScopedSpace
from planner import RunResult, run_sync
from planner.goals.effects import tools_called
from planner.goals.goal_values import GoalValue, split_goal, with_input
from planner.goals.memory import MAX_REMEMBERED, forget, nearest, recall, remember, remembered, switch
from planner.goals.session import do, write

ROWS = [{"id": n, "price": 10 * n, "who": "Ada" if n % 2 else "Bob"} for n in range(1, 6)]


def plan(where: str = "price > 20 AND who = 'Ada'", count: Any = 3) -> dict[str, Any]:
    return {
        "steps": [
            {"type": "load", "target": "rows", "out": "$rows"},
            {"type": "filter-structured", "target": "$rows", "where": where, "out": "$some"},
            {"type": "head", "target": "$some", "count": count, "out": "$first"},
            {"type": "pluck", "target": "$first", "field": "id", "out": "$ids"},
        ],
        "result": "$ids",
    }


GOAL = "the first 2 ids of 'Ada' above 25"
PLAN = plan("price > 25 AND who = 'Ada'", 2)


def reach(space: Space, goal: str = GOAL, inputs: Any = None, **more: Any) -> RunResult:
    return asyncio.run(do(space, goal, lambda session: tools_called(session.effects()), inputs, **more))


@pytest.fixture
def space(space: Space) -> Space:
    assert run_sync(space, {"steps": [{"type": "create-note", "value": ROWS, "name": "rows"}]}).status == "success"
    return space


def test_the_same_goal_with_other_values_asks_no_model(space: Space, endpoint: Endpoint) -> None:
    """Its values became inputs: a number that stands alone, one in a condition, and a quoted text.

    A plan that is only written has them as defaults, and so runs anywhere.
    """
    endpoint.say(json.dumps(PLAN))
    first = reach(space)
    assert first.result is not None
    assert first.result.data == [3, 5]
    again = reach(space)
    other = reach(space, "the first 1 ids of 'Bob' above 15")
    assert len(endpoint.requests) == 1
    assert again.result is not None
    assert other.result is not None
    assert (again.result.data, other.result.data) == ([3, 5], [2])
    assert other.steps[0].extra == {"attempts": [], "remembered": True}
    written, _ = asyncio.run(write(space, "the first 3 ids of 'Bob' above 5"))
    assert run_sync(space, written).result.data == [2, 4]  # type: ignore[union-attr]
    assert len(endpoint.requests) == 1


def test_a_plan_that_gives_a_name_is_used_for_another_name(space: Space, endpoint: Endpoint) -> None:
    """That the run itself has given the name by now forbids no value to become an input."""
    named = {"steps": [{"type": "create-note", "value": "about Ada", "name": "about-ada", "out": "$note"}]}
    endpoint.say(json.dumps(named))
    first = reach(space, "keep 'about Ada' as 'about-ada'")
    shown: list[tuple[str, ...]] = []
    goal = "keep 'about Bob' as 'about-bob'"
    other = asyncio.run(do(space, goal, lambda session: not shown.append(tuple(one.what for one in session.effects()))))
    assert shown == [("about-bob",)], "who agrees reads the name"
    assert (first.status, other.status) == ("success", "success")
    assert len(endpoint.requests) == 1
    with space.store.reading() as snapshot:
        named_note = snapshot.get(str(snapshot.named("about-bob")))
    assert isinstance(named_note, Note)
    assert named_note.content == "about Bob"
    endpoint.say(json.dumps({"steps": [{"type": "create-note", "value": "new", "name": "x", "out": "$note"}]}))
    assert reach(space, "keep 'about Carl' as 'about-bob'").status == "success"
    assert len(endpoint.requests) == 2, "the name is taken, so the model is asked"


@pytest.mark.parametrize(
    "goal",
    [
        "the first 2 ids of 'Ada' below 25",
        "the first 2 ids of Ada above 25",
        "the first two ids of 'Ada' above 25",
        "the first 2 ids of 'Ada' above 25.5",
        "the first 2 ids of 'Ada' above 25 of 2026",
        "the first 2 ids of 'Ada' above '25'",
    ],
)
def test_any_other_difference_asks_the_model_and_shows_the_plan(space: Space, endpoint: Endpoint, goal: str) -> None:
    """Another word, another kind of value, one value more."""
    endpoint.say(json.dumps(PLAN), json.dumps(PLAN))
    reach(space)
    reach(space, goal)
    assert len(endpoint.requests) == 2
    assert "a plan that reached a goal like this one" not in endpoint.prompts[0]
    assert "a plan that reached a goal like this one" in endpoint.prompts[1]
    assert json.dumps(PLAN["steps"][1]["where"]) in endpoint.prompts[1]


def test_a_goal_that_is_not_near_shows_no_plan(space: Space, endpoint: Endpoint) -> None:
    endpoint.say(json.dumps(PLAN), json.dumps(PLAN))
    reach(space)
    reach(space, "write a poem about spring")
    assert "a plan that reached" not in endpoint.prompts[1]


def test_of_several_plans_that_of_the_nearest_goal_is_shown(space: Space) -> None:
    """By the share of words that both have, in whatever order they were remembered; half of them are enough."""
    for goal in ("list all open orders of April", "list open orders of March", "list open invoices of May"):
        remember(space, goal, {}, PLAN, "run_1")
    found = [
        nearest(space, goal)
        for goal in (
            "list all open orders of March",
            "LIST open orders",
            "list open letters of May and June",
            "list it",
        )
    ]
    assert [one and one.goal for one in found] == [
        "list open orders of March",
        "list open orders of March",
        "list open invoices of May",
        None,
    ]


@pytest.mark.parametrize(
    ("value", "document"),
    [
        (GoalValue("integer", "2"), plan("price > 2 AND who = 'Ada'", 2)),
        (GoalValue("integer", "2"), plan("substr(who, 1, 2) = 'Ad'", 3)),
        (GoalValue("integer", "7"), plan()),
        (GoalValue("quoted", "Ad"), plan()),
        (GoalValue("quoted", "Ada"), plan("who LIKE '%Ada%'")),
        (GoalValue("quoted", "first"), plan()),
    ],
)
def test_a_value_that_may_mean_something_else_is_no_input(space: Space, value: GoalValue, document: Any) -> None:
    """One that stands twice, among a function's arguments, nowhere, within another word, in a pattern, as a name."""
    assert with_input(document, value, "x", space.catalogue) is None


def test_values_become_references(space: Space) -> None:
    tool = {"type": "s/t", "arguments": {"to": "ada@x.org", "text": "Dear Ada, pay 12.5 by 2026-01-01", "n": 7}}
    goal = "tell ada@x.org to pay 12.5 by 2026-01-01, 7 times"
    document: Any = {"steps": [tool]}
    for number, value in enumerate(split_goal(goal)[1]):
        document = with_input(document, value, f"v{number}", space.catalogue)
    assert document["steps"][0]["arguments"] == {
        "to": "$v0",
        "text": "Dear Ada, pay ${v1} by ${v2}",
        "n": "$v3",
    }
    assert [one["type"] for one in document["inputs"].values()] == ["string", "number", "string", "integer"]


@pytest.mark.parametrize(
    ("step", "place"),
    [
        ({"type": "for-each", "target": "$c", "do": [], "until": "$n > 7"}, {"until": "$n > $x"}),
        ({"type": "map", "operation": {"type": "head", "count": 7}}, {"operation": {"type": "head", "count": "$x"}}),
        ({"type": "if", "else": [{"type": "wait", "seconds": 7}]}, {"else": [{"type": "wait", "seconds": "$x"}]}),
        (
            {"type": "parallel", "branches": [[{"type": "wait", "seconds": 7}]]},
            {"branches": [[{"type": "wait", "seconds": "$x"}]]},
        ),
        (
            {"type": "load", "on_fail": [{"type": "say", "value": "7 are gone"}]},
            {"on_fail": [{"type": "say", "value": "${x} are gone"}]},
        ),
        ({"type": "wait", "seconds": 7, "expect": "7 seconds"}, {"seconds": "$x"}),
        (
            {"type": "compute", "expression": "CASE WHEN $n > 1 THEN 7 END"},
            {"expression": "CASE WHEN $n > 1 THEN $x END"},
        ),
    ],
    ids=lambda part: str(part.get("type", "")),
)
def test_a_value_is_found_wherever_a_plan_may_have_one(space: Space, step: Any, place: Any) -> None:
    """In blocks, operations, conditions and handlers; what a step is said to be expected to do has none."""
    value = GoalValue("integer", "7")
    assert with_input({"steps": [step]}, value, "x", space.catalogue) == {
        "inputs": {"x": {"type": "integer"}},
        "steps": [{**step, **place}],
    }


def test_a_value_is_data_whatever_stands_in_it(space: Space, endpoint: Endpoint) -> None:
    """No quote and no sign of the language in it gets into a condition."""
    endpoint.say(json.dumps(PLAN))
    reach(space)
    odd = reach(space, """the first 2 ids of "x' OR 1 = 1 -- $rows ${rows}" above 25""")
    assert len(endpoint.requests) == 1
    assert odd.result is not None
    assert odd.result.data == []


def test_inputs_with_other_values_ask_no_model_where_the_plan_reads_them(space: Space, endpoint: Endpoint) -> None:
    reads = plan("price > $least")
    reads["inputs"] = {"least": {"type": "integer"}}
    endpoint.say(json.dumps(reads), json.dumps(reads))
    reach(space, "ids above the least", {"least": 45})
    other = reach(space, "ids above the least", {"least": 25})
    assert len(endpoint.requests) == 1
    assert other.result is not None
    assert other.result.data == [3, 4, 5]
    reach(space, "ids above the least", {"least": 25, "most": 30})
    assert len(endpoint.requests) == 2


def test_a_plan_that_failed_is_not_remembered_and_one_that_fails_is_forgotten(space: Space, endpoint: Endpoint) -> None:
    fails = {"steps": [{"type": "compute", "expression": "10 / length('')", "out": "$x"}], "result": "$x"}
    endpoint.say(json.dumps(fails), json.dumps(PLAN))
    assert reach(space).status == "success"
    assert remembered(space) == []
    first = {"type": "pluck", "target": "rows", "field": "id", "out": "$ids"}
    position = {"type": "filter-structured", "target": "$ids", "where": "content > 3", "out": "$some"}
    divides = {"steps": [first, position, {"type": "compute", "expression": "10 / length($some)", "out": "$x"}]}
    endpoint.say(json.dumps(divides))
    assert reach(space, "divide by those above 3").status == "success"
    assert [one.goal for one in remembered(space)] == ["divide by those above 3"]
    endpoint.say(*[json.dumps(fails)] * 5)
    assert reach(space, "divide by those above 50").status == "failed"
    assert remembered(space) == []


def test_a_plan_that_passes_the_check_no_more_is_written_anew(space: Space, endpoint: Endpoint) -> None:
    gone = {"steps": [{"type": "load", "target": "report", "out": "$x"}], "result": "$x"}
    run_sync(space, {"steps": [{"type": "create-note", "value": "text", "name": "report"}]})
    endpoint.say(json.dumps(gone), json.dumps(PLAN))
    reach(space, "read the report")
    run_sync(space, {"steps": [{"type": "remove", "target": "report"}]})
    reach(space, "read the report")
    assert len(endpoint.requests) == 2


def test_it_is_switched_off_for_a_space_and_for_a_goal(space: Space, endpoint: Endpoint) -> None:
    endpoint.answers = lambda _request: json.dumps(PLAN)
    reach(space, memory=False)
    assert remembered(space) == []
    reach(space)
    reach(space, memory=False)
    assert len(endpoint.requests) == 3
    switch(space, on=False)
    reach(space)
    assert len(endpoint.requests) == 4
    switch(space, on=True)
    reach(space)
    assert len(endpoint.requests) == 4
    (one,) = remembered(space)
    forget(space, one.id)
    reach(space)
    assert len(endpoint.requests) == 5


def test_no_scope_knows_of_the_plans_of_another(space: Space) -> None:
    """Of the whole space and of two scopes; where notes or runs are hidden nothing is remembered."""
    spaces = [
        space,
        ScopedSpace(space, Scope(include_servers=("a",))),
        ScopedSpace(space, Scope(include_servers=("b",))),
    ]
    for number, one in enumerate(spaces):
        assert recall(one, GOAL, {}) is None
        remember(one, GOAL, {}, plan(count=number + 1), f"run_{number}")
    for number, one in enumerate(spaces):
        (kept,) = remembered(one)
        assert kept.run == f"run_{number}"
        found = recall(one, GOAL, {})
        assert found is not None
        assert found.source.run == kept.run
    hidden = ScopedSpace(space, Scope(), sight=Visibility(notes="none"))
    remember(hidden, GOAL, {}, PLAN, "run_9")
    assert remembered(hidden) == []
    assert recall(hidden, GOAL, {}) is None


def test_what_is_remembered_is_bounded_and_no_note_of_the_user(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest give way, and the latest is told first: also of those that are remembered within a millisecond."""
    monkeypatch.setattr(clock, "_written", lambda _: "2026-04-01T09:30:00.123Z")
    goals = [f"goal {chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(MAX_REMEMBERED + 2)]
    for goal in goals:
        remember(space, goal, {}, PLAN, "run_1")
    assert [one.goal for one in remembered(space)] == goals[:1:-1]
    with space.store.reading() as snapshot:
        assert len(snapshot.discoverable()) == 1
    counted = run_sync(space, {"steps": [{"type": "query", "sql": "SELECT count(*) AS n FROM notes", "out": "$n"}]})
    assert counted.result is not None
    assert counted.result.data == [{"n": 1}]
