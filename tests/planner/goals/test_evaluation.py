"""`eval`: the goals that come with infospace are right, and what a model does with goals is counted right."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint, Fail

from infospace import Invalid, Space
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from infospace.llm.client import connect
from planner.evaluation.declared_tools import providers
from planner.evaluation.public_sets import nestful_plan, nestools_plan, read_public, tasks_in
from planner.evaluation.run import GoalOutcome, run_suite
from planner.evaluation.score import answer_is_right, calls_are_right
from planner.evaluation.suite import GoldCall, SuiteGoal, read_suite
from planner.execute.start import run_sync

SUITE = read_suite((files("tui") / "sample" / "goals.jsonl").read_text(encoding="utf-8"))
PLANS: dict[str, Any] = json.loads((Path(__file__).parent / "reference_plans.json").read_text(encoding="utf-8"))


def answers_with_plans(endpoint: Endpoint, plans: dict[str, Any] = PLANS) -> None:
    """Let the endpoint answer each goal with its plan."""
    of = {goal.goal: json.dumps(plans[goal.id]) for goal in SUITE}
    endpoint.answers = lambda request: of[request["messages"][1]["content"].rpartition("Goal:\n")[2]]


def outcomes(goals: list[SuiteGoal]) -> list[GoalOutcome]:
    async def every() -> list[GoalOutcome]:
        return [one async for one in run_suite(goals, connect(), import_sample)]

    return asyncio.run(every())


def import_sample(space: Space) -> None:
    """Put the sample notes into a space; what the goals ask of them needs no vectors."""
    import_paths(space, [Path(str(files("tui") / "sample" / "notes"))], NullListener())


@pytest.mark.slow
def test_a_model_that_answers_with_the_right_plans_reaches_every_goal(endpoint: Endpoint) -> None:
    """So each of the goals can be reached, and its answer is what its plan gives."""
    answers_with_plans(endpoint)
    wrong = [(one.id, one.why) for one in outcomes(SUITE) if not (one.right and one.at_once)]
    assert wrong == []
    assert len(SUITE) >= 40
    assert PLANS.keys() == {goal.id for goal in SUITE}


def test_wrong_answers_calls_and_plans_are_counted_as_such(endpoint: Endpoint) -> None:
    by_id = {goal.id: goal for goal in SUITE}
    other = {"steps": [{"type": "compute", "expression": "1 + 1", "out": "$x"}], "result": "$x"}
    broken = json.dumps({"steps": [{"type": "sort", "target": "$nothing", "by": "a", "out": "$x"}]})
    endpoint.say(json.dumps(other), json.dumps(other), broken, json.dumps(PLANS["exchange"]), *[broken] * 4)
    names = ["orders-total", "remind-open", "exchange", "coat"]
    found = outcomes([by_id[name] for name in names])
    assert [one.right for one in found] == [False, False, True, False]
    assert found[0].why == "the answer is another one"
    assert found[1].why == "the calls are other ones"
    assert (found[1].calls, found[1].calls_loosely) == (False, False)
    assert (found[2].at_once, found[2].repairs) == (False, 1)
    assert "the model wrote no plan" in (found[3].why or "")
    assert found[2].tokens > found[0].tokens > 0


def test_a_plan_that_was_fixed_is_right_and_not_so_at_once(endpoint: Endpoint) -> None:
    """Notes of the goal have their names, or numbers, and metadata; a plan that ends by `stop` answers, too."""
    notes = [{"text": "a", "metadata": {"k": 1}}, {"text": "b", "name": "second"}]
    goal = SuiteGoal("own", "tell all", ["a", 1, "b"], notes=notes)
    steps: list[Any] = [{"type": "load", "target": "note 1", "out": "$a"}]
    steps += [
        {"type": "load", "target": "second", "out": "$b"},
        {"type": "stop", "value": ["$a", "$a.@metadata.k", "$b"]},
    ]
    endpoint.say(json.dumps({"steps": steps}).replace("target", "traget", 1))
    [found] = outcomes([goal])
    assert (found.right, found.at_once, found.repairs, found.fixes, found.why) == (True, False, 0, 1, None)
    assert (found.status, found.answer, found.calls, found.calls_loosely) == ("stopped", goal.answer, None, None)
    assert found.plan == {"goal": "tell all", "steps": steps}


def test_an_endpoint_that_fails_is_a_row(endpoint: Endpoint) -> None:
    endpoint.say(Fail(401, "bad key"), json.dumps(PLANS["exchange"]))
    by_id = {goal.id: goal for goal in SUITE}
    first, second = outcomes([by_id["coat"], by_id["exchange"]])
    assert "does not take the key" in (first.why or "")
    assert second.right


@pytest.mark.parametrize(
    ("compare", "wanted", "answer", "right"),
    [
        ("exact", [1, 2], [1, 2], True),
        ("exact", [1, 2], [2, 1], False),
        ("exact", 1, 1.0, True),
        ("exact", 1, True, False),
        ("unordered", [1, 2], [2, 1], True),
        ("unordered", [1, 2], [2, 1, 1], False),
        ("unordered", [{"a": 1, "b": 2}, 3], [3.0, {"b": 2, "a": 1}], True),
        ("unordered", [1], [True], False),
        ("unordered", [1], 1, False),
        ("number", 0.3, 0.1 + 0.2, True),
        ("number", 1, "1", False),
        ("number", 1, True, False),
        ("contains", "23 June", "the release of 23 june", True),
        ("contains", "23 June", None, False),
    ],
)
def test_answers_are_compared_as_the_goal_says(compare: Any, wanted: Any, answer: Any, right: bool) -> None:
    assert answer_is_right(SuiteGoal("x", "x", wanted, compare), answer) is right


def test_calls_are_compared_in_any_order_and_as_often() -> None:
    one, two = GoldCall("a/b", {"x": "New York"}), GoldCall("a/b", {"x": "Rome"})
    assert calls_are_right([one, two], [two, one])
    assert not calls_are_right([one], [one, one])
    spelt = GoldCall("a/b", {"x": "new-york"})
    assert not calls_are_right([one], [spelt])
    assert calls_are_right([one], [spelt], loosely=True)
    assert not calls_are_right([one], [GoldCall("a/c", one.arguments)], loosely=True)


def test_arguments_of_calls_are_the_same_as_json() -> None:
    """In any order of keys at any depth, and 1 is 1.0; loosely the texts within lists and objects are compared so."""
    one = GoldCall("a/b", {"of": {"x": 1, "y": ["New York"]}, "n": True})
    assert calls_are_right([one], [GoldCall("a/b", {"n": True, "of": {"y": ["New York"], "x": 1.0}})])
    assert not calls_are_right([one], [GoldCall("a/b", {"of": {"x": 1, "y": ["New York"]}, "n": 1})])
    spelt = GoldCall("a/b", {"of": {"x": 1.0, "y": ["new-york"]}, "n": True})
    assert (calls_are_right([one], [spelt]), calls_are_right([one], [spelt], loosely=True)) == (False, True)


@pytest.mark.parametrize(
    ("expected", "tolerance", "answer", "right"),
    [(0, 0.5, 0.4, True), (0, 0.5, -0.6, False), (1_000, 0.01, 1_009, True), (1_000, 0.01, 1_020, False)],
)
def test_a_tolerance_is_a_share_or_an_amount(expected: float, tolerance: float, answer: float, right: bool) -> None:
    """Whichever is the wider: of nothing there is no share."""
    assert answer_is_right(SuiteGoal("x", "x", expected, "number", tolerance), answer) is right


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the suite has no goals"),
        ("{", "line 1 of the suite ends inside an object"),
        ('{"id": "a"}', "line 1 of the suite does not fit"),
        ('{"id": "a", "goal": "g", "answer": 1, "tool": []}', "line 1 of the suite does not fit"),
        ('{"id": "a", "goal": "g", "answer": 1}\n\n{"id": "a", "goal": "g", "answer": 1}', "two goals 'a'"),
    ],
)
def test_a_suite_that_is_none_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        read_suite(text)


NESTED = {
    "test_id": 7,
    "api": [
        {
            "api_name": "find_book",
            "api_description": "Find a book.",
            "parameters": {"title": {"type": "str", "description": "its title"}},
            "required": ["title"],
            "responses": {"isbn": {"type": "str"}, "pages": {"type": "int"}},
        },
        {
            "api_name": "lend",
            "api_description": "Lend a book.",
            "parameters": {"isbn": {"type": "str"}, "days": {"type": "int"}},
            "required": ["isbn"],
            "responses": {"ok": {"type": "bool"}},
        },
    ],
    "task": "Lend me Ulysses for 7 days, it costs $5.",
    "call": [
        {"api_name": "find_book", "parameters": {"title": "Ulysses"}, "responses": ["API_call_0", "API_call_1"]},
        {"api_name": "lend", "parameters": {"isbn": "API_call_0", "days": 7}, "responses": ["API_call_2"]},
    ],
}


def test_nestools_is_read_as_it_is_published(space: Space) -> None:
    """Its gold calls, put into our language, pass the check and make just these calls."""
    (goal,) = read_public("nestools", json.dumps(NESTED), None)
    calls: list[GoldCall] = []
    for provider in providers(goal.tools, calls):
        space.tools.add(provider)
    assert run_sync(space, nestools_plan(NESTED)).status == "success"
    assert goal.calls is not None
    assert calls_are_right(goal.calls, calls)
    assert calls[1].arguments == {"isbn": "isbn 0", "days": 7}


def test_nestful_is_read_with_its_tools(space: Space) -> None:
    """Its gold calls, put into our language, pass the check and make just these calls."""
    spec = [
        {
            "name": "Search",
            "description": "Search a place.",
            "query_parameters": {"q": {"type": "string", "required": True}},
            "output_parameters": {"id": {"type": "integer"}},
        },
        {"name": "Book", "query_parameters": {"id": {"type": "integer", "required": True}}, "output_parameters": {}},
    ]
    task = {
        "input": "Book a room in Rome.",
        "output": [
            {"name": "Search", "arguments": {"q": "Rome"}, "label": "var1"},
            {"name": "Book", "arguments": {"id": "$var1.id$"}, "label": "var2"},
            {"name": "var_result", "arguments": {"booked": "$var2$"}},
        ],
    }
    (goal,) = read_public("nestful", json.dumps([task]), json.dumps(spec))
    assert goal.calls == [GoldCall("api/Search", {"q": "Rome"}), GoldCall("api/Book", {"id": 100})]
    assert [tool.name for tool in goal.tools] == ["api/Book", "api/Search"]
    calls: list[GoldCall] = []
    for provider in providers(goal.tools, calls):
        space.tools.add(provider)
    assert run_sync(space, nestful_plan(task)).status == "success"
    assert calls_are_right(goal.calls, calls)
    with pytest.raises(Invalid, match="NESTFUL has its tools in a file of their own"):
        read_public("nestful", json.dumps([task]), None)
    with pytest.raises(Invalid, match="this is not nestools as it is published"):
        read_public("nestools", '{"a": 1}', None)


def test_tasks_of_nestful_that_contradict_their_specification_are_left_out() -> None:
    """A tool, an answer or a field that is not there, a sum within a text, arguments of another type or too few."""
    number = {"type": "integer", "required": True}
    spec = [
        {"name": "A", "query_parameters": {"n": number}, "output_parameters": {"x": {"type": "integer"}}},
        {"name": "B", "query_parameters": {"n": number}, "output_parameters": {"t": {"type": "string"}}},
    ]

    def task(*calls: tuple[str, Any]) -> dict[str, Any]:
        named = [{"name": name, "arguments": given, "label": f"var{at}"} for at, (name, given) in enumerate(calls, 1)]
        return {"input": "do it", "output": named}

    tasks = [
        task(("A", {"n": 1}), ("A", {"n": "$var1.x$"})),
        task(("C", {"n": 1})),
        task(("A", {"n": "$var7.x$"})),
        task(("A", {"n": 1}), ("A", {"n": "$var1.y$"})),
        task(("A", {"n": 1}), ("A", {"n": "2 * $var1.x$"})),
        task(("B", {"n": 1}), ("A", {"n": "$var1.t$"})),
        task(("A", {})),
        task(("A", {"n": "one"})),
    ]
    goals = read_public("nestful", json.dumps(tasks), json.dumps(spec))
    assert [goal.id for goal in goals] == ["nestful-0"]
    assert tasks_in("nestful", json.dumps(tasks)) == 8
    assert tasks_in("nestools", '{"a": 1}\n\n{"b": 2}\n') == 2
