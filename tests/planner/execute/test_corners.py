"""Written plans with their outcomes, each in a corner where forms, guards, names and failures meet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import run_sync
from planner.journal.result import RunResult
from planner.language.problems import Problems
from planner.order.dependencies import DependencyAnalysis
from planner.parse.document import parse_plan
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parent))
from plan_parts import LOST, PAIR, SEVEN, absent, add_tools, bound, each, either, joined, note, parallel, tool

ALL_BOUND = {"type": "bound", "target": "$a"}


BAD = {"type": "load", "target": "$seven", "slice": "0:1", "out": "$bad"}
IS_SEVEN = {"type": "equals", "target": "$a", "value": 7}
GUARDED = joined("and", bound("$a"), IS_SEVEN)


@pytest.fixture
def calls(space: Space) -> list[str]:
    """What the tools `outside/…` were called with."""
    return add_tools(space)


def names(space: Space) -> list[str]:
    with space.store.reading() as snapshot:
        return list(snapshot.names())


PLANS: dict[str, tuple[list[Any], Any]] = {
    "and stops at a variable that is not bound": ([SEVEN, LOST, either(GUARDED)], "no"),
    "and goes on where it is bound": ([SEVEN, note(7, "$a"), either(GUARDED)], "yes"),
    "or is decided by an unbound one first": ([SEVEN, LOST, either(joined("or", absent("$a"), IS_SEVEN))], "yes"),
    "or asks the second where it is bound": (
        [SEVEN, note(8, "$a"), either(joined("or", absent("$a"), IS_SEVEN))],
        "no",
    ),
    "not of bound is notbound": ([SEVEN, LOST, either(joined("not", bound("$a")))], "yes"),
    "not of an and is true when its guard is not": ([SEVEN, LOST, either(joined("not", GUARDED))], "yes"),
    "not not": ([SEVEN, LOST, either(joined("not", joined("not", bound("$a"))))], "no"),
    "two guards in two depths": (
        [SEVEN, LOST, note(7, "$b"), either(joined("or", GUARDED, joined("and", bound("$b"), bound("$seven"))))],
        "yes",
    ),
    "the guard of a then branch lets it read": (
        [SEVEN, LOST, either(bound("$a"), "${a}", "nothing")],
        "nothing",
    ),
    "a text that is no name is compared as it stands": (
        [note("a", "$a"), either({"type": "not_equals", "target": "a", "value": "$a"})],
        "no",
    ),
    "a while ends as its guard does": (
        [
            note(0, "$i"),
            {
                "type": "while",
                "condition": {"type": "less_than", "target": "$i", "value": 1},
                "body": [note(1, "$i")],
                "max_iterations": 3,
            },
            note("${i}", "$r"),
        ],
        "1",
    ),
    "the last of two binders holds, one after the other": ([note(1), note(2), note("${n}", "$r")], "2"),
    "two binders side by side bind in the order of the document": (
        [tool("give", "$n", value="first"), tool("give", "$n", value="second"), note("${n}", "$r")],
        "second",
    ),
    "what read the first binder keeps it": (
        [
            tool("give", "$n", value="first"),
            note("${n}", "$kept"),
            tool("give", "$n", value="second"),
            note("${kept} ${n}", "$r"),
        ],
        "first second",
    ),
    "a branch of a nested parallel binds outwards": (
        [parallel([parallel([note(1, "$a")], [note(2, "$b")])], [note(3, "$c")]), note("${a}${b}${c}", "$r")],
        "123",
    ),
    "a branch passes over its own failure, the other goes on": (
        [SEVEN, parallel([LOST], [tool("give", "$b", value="b")]), either(bound("$a"), "${a}", "${b}")],
        "b",
    ),
    "a variable of a loop's body is not there afterwards": (
        [PAIR, each(note("${x}", "$y")), note("done", "$r")],
        "done",
    ),
    "for-each gives what its last step binds": (
        [PAIR, each(note("<${x}>", "$y"), out="$r")],
        ["<1>", "<2>"],
    ),
    "a name given again in each round holds the last": (
        [PAIR, each(note("${x}", "$y", name="round", replace=True)), {"type": "load", "target": "round", "out": "$r"}],
        "2",
    ),
    "a note made and removed in a loop leaves the others": (
        [
            PAIR,
            {"type": "create-collection", "value": [], "out": "$all"},
            each(note("${x}", "$y"), {"type": "add", "target": "$all", "value": "$y"}),
            {"type": "head", "target": "$all", "count": 1, "out": "$r"},
        ],
        ["1"],
    ),
    "a name freed by a deletion may be given again": (
        [note(1, "$a", name="slot"), {"type": "remove", "target": "$a"}, note(2, "$r", name="slot")],
        2,
    ),
    "a deletion in the branch not taken did not happen": (
        [
            SEVEN,
            note(1, "$a"),
            {"type": "if", "condition": absent("$a"), "then": [{"type": "remove", "target": "$seven"}]},
            note("${seven}", "$r"),
        ],
        "7",
    ),
    "map with a primitive": (
        [
            PAIR,
            {"type": "map", "target": "$pair", "operation": {"type": "create-note", "value": "<${item}>"}, "out": "$r"},
        ],
        ["<1>", "<2>"],
    ),
    "map with a tool": (
        [
            PAIR,
            {
                "type": "map",
                "target": "$pair",
                "operation": {"type": "outside/give", "arguments": {"value": "<${item}>"}},
                "out": "$r",
            },
        ],
        ["<1>", "<2>"],
    ),
    "map with a saved plan": (
        [
            PAIR,
            {
                "type": "map",
                "target": "$pair",
                "operation": {"type": "plan:double", "arguments": {"n": "$item"}},
                "out": "$r",
            },
        ],
        ["1 1", "2 2"],
    ),
    "a saved plan in a loop": (
        [PAIR, each({"type": "plan:double", "arguments": {"n": "$x"}, "out": "$y"}, out="$r")],
        ["1 1", "2 2"],
    ),
    "a saved plan in a branch of a loop": (
        [
            PAIR,
            each(
                parallel([{"type": "plan:double", "arguments": {"n": "$x"}, "out": "$y"}], [note("-", "$z")]),
                note("${y}${z}", "$w"),
                out="$r",
            ),
        ],
        ["1 1-", "2 2-"],
    ),
    "a failing item is left out by continue": (
        [
            SEVEN,
            {"type": "create-collection", "value": [[5], 7, [6]], "out": "$pair"},
            {
                "type": "map",
                "target": "$pair",
                "operation": {"type": "load", "slice": "0:1"},
                "out": "$r",
                "on_fail": "continue",
            },
        ],
        [[5], [6]],
    ),
    "an error is bound for its handler, and what it was before afterwards": (
        [SEVEN, {**BAD, "on_fail": [note("${error.step} ${error.type}", "$bad")]}, note("${bad}", "$r")],
        "2 load",
    ),
    "a condition on a tool under and": (
        [
            either(
                joined(
                    "and",
                    {"type": "tool_condition", "tool": "outside/is_so", "arguments": {"value": True}},
                    {"type": "equals", "target": 1, "value": 1},
                )
            )
        ],
        "yes",
    ),
    "a condition on a tool under not": (
        [either(joined("not", {"type": "tool_condition", "tool": "outside/is_so", "arguments": {"value": True}}))],
        "no",
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_outcome_of_a_written_plan(space: Space, calls: list[str], name: str) -> None:
    """As it stands there: the value that `$r` ends with."""
    save_plan(
        space,
        "double",
        {"inputs": {"n": {}}, "steps": [note("${n} ${n}", "$twice")], "result": "$twice"},
    )
    steps, outcome = PLANS[name]
    result = run_sync(space, {"steps": steps, "result": "$r"})
    assert result.status == "success", (result.reason, result.problems)
    assert result.result is not None
    assert result.result.data == outcome
    assert space.store.check() == []


def test_a_write_in_a_nested_branch_waits_for_the_outer_branches_before_it(space: Space, calls: list[str]) -> None:
    """Its inner branch has its turn at once, and the outer one has not: when that fails nothing is written."""
    inner = parallel([note(1, "$w", name="written"), tool("mark", value="inner")], [tool("give", "$g", value="g")])
    result = run_sync(space, [parallel([tool("fall_late", value="outer")], [inner])])
    assert result.status == "failed"
    assert "outer fell" in (result.reason or "")
    assert "written" not in names(space)
    assert "mark inner" not in calls


def test_a_write_in_a_doubly_nested_branch_waits_too(space: Space, calls: list[str]) -> None:
    """At every depth."""
    inner = parallel([parallel([note(1, "$w", name="written")], [tool("give", "$g", value="g")])], [note(2, "$h")])
    result = run_sync(space, [parallel([tool("fall_late", value="outer")], [inner])])
    assert (result.status, names(space)) == ("failed", [])


def test_writes_of_nested_branches_keep_the_order_of_the_document(space: Space, calls: list[str]) -> None:
    """Though the first branch is the last to begin writing."""

    def put(value: str, out: str) -> list[Any]:
        return [note(value, out), {"type": "add", "target": "$all", "value": out}]

    late = {**tool("fall_late", value="first"), "on_fail": "continue"}
    inner = parallel(put("second", "$b"), put("third", "$c"))
    outer = parallel([late, *put("first", "$a")], [inner], put("fourth", "$d"))
    result = run_sync(
        space, {"steps": [{"type": "create-collection", "value": [], "out": "$all"}, outer], "result": "$all"}
    )
    assert result.result is not None, result.reason
    assert result.result.data == ["first", "second", "third", "fourth"]


@pytest.mark.parametrize("before", [True, False])
def test_a_variable_is_bound_as_before_to_what_no_dropped_step_gave(
    space: Space, calls: list[str], before: bool
) -> None:
    """A step that ran ahead of one that fails gave nothing that stays."""
    head = [note("before", "$b")] if before else []
    steps = [*head, tool("fall_late", "$a", value="a"), tool("give", "$b", value="dropped")]
    result = run_sync(space, steps)
    assert result.status == "failed"
    assert "give dropped" in calls
    assert {name: one.content for name, one in result.bindings.items()} == ({"b": "before"} if before else {})


def test_of_two_dropped_binders_the_value_before_both_stays(space: Space, calls: list[str]) -> None:
    """They are undone from the last to the first."""
    steps = [
        note("before", "$b"),
        tool("fall_late", "$a", value="a"),
        tool("give", "$b", value="one"),
        tool("give", "$b", value="two"),
    ]
    result = run_sync(space, steps)
    assert result.status == "failed"
    assert result.bindings["b"].content == "before"


ASKS = {"type": "tool_condition", "tool": "outside/is_so", "arguments": {"value": True}}
PLAIN = {"type": "equals", "target": 1, "value": 1}


@pytest.mark.parametrize(
    ("condition", "looks"),
    [
        (PLAIN, True),
        (joined("and", PLAIN, PLAIN), True),
        (ASKS, False),
        (joined("and", PLAIN, ASKS), False),
        (joined("or", ASKS, PLAIN), False),
        (joined("not", ASKS), False),
        (joined("and", joined("not", joined("or", PLAIN, ASKS))), False),
    ],
)
@pytest.mark.parametrize("form", ["if", "while", "in a branch", "in a loop"])
def test_a_step_whose_condition_calls_a_tool_does_not_run_ahead(
    space: Space, calls: list[str], condition: Any, looks: bool, form: str
) -> None:
    """At whatever depth of the condition, and of the step, the call stands."""
    step: dict[str, Any] = {"type": "if", "condition": condition, "then": []}
    match form:
        case "while":
            step = {"type": "while", "condition": condition, "body": [], "max_iterations": 1}
        case "in a branch":
            step = parallel([step], [])
        case "in a loop":
            step = each(step)
    problems = Problems()
    plan = parse_plan([PAIR, step], problems)
    assert problems.ok, problems.found
    order = DependencyAnalysis(space.catalogue, {})
    assert order.is_read_only(plan.steps[1]) is looks


def uses_of(result: RunResult, kind: str) -> set[str]:
    return {use.id for row in result.steps if row.type == kind for use in row.uses}


@pytest.mark.parametrize("on_fail", ["continue", [note("instead", "$r")]])
def test_a_map_used_what_its_failing_items_read_too(space: Space, on_fail: Any) -> None:
    """`why` tells what a result depends on: also on what was read before an item failed."""
    more = note(7, "$more")
    operation = {"type": "load", "target": "$more", "slice": "0:1"}
    result = run_sync(
        space, [PAIR, more, {"type": "map", "target": "$pair", "operation": operation, "out": "$r", "on_fail": on_fail}]
    )
    assert result.status == "success", (result.reason, result.problems)
    assert result.bindings["more"].id in uses_of(result, "map")


def test_a_map_used_what_its_items_read(space: Space) -> None:
    """Its items, and what its operation names besides."""
    more = note("m", "$more")
    operation = {"type": "create-note", "value": "${item} ${more}"}
    result = run_sync(space, [PAIR, more, {"type": "map", "target": "$pair", "operation": operation, "out": "$r"}])
    members = {member.id for member in result.bindings["pair"].members}  # type: ignore[union-attr]
    assert {result.bindings["more"].id, *members} <= uses_of(result, "map")


GIVES = tool("give", "$g", value="g")
MARKS = tool("mark", value="m")


def ordered(space: Space, step: Any, **plans: Any) -> tuple[DependencyAnalysis, Any]:
    """Return the order of a plan of one step, and the step."""
    problems = Problems()
    plan = parse_plan([step], problems)
    assert problems.ok, problems.found
    known = {name: parse_plan({"steps": steps}, problems) for name, steps in plans.items()}
    return DependencyAnalysis(space.catalogue, known), plan.steps[0]


@pytest.mark.parametrize(
    ("step", "alone"),
    [
        (GIVES, False),
        ({**GIVES, "name": "g"}, True),
        ({**GIVES, "on_fail": [note(1, "$g")]}, False),
        ({**GIVES, "on_fail": [note(1, "$g", name="g")]}, True),
        ({**GIVES, "on_fail": [MARKS, note(1, "$g")]}, True),
        (MARKS, True),
        ({"type": "outside/unknown", "arguments": {}}, True),
        ({"type": "plan:looks"}, False),
        ({"type": "plan:marks"}, True),
        ({"type": "plan:unknown"}, True),
    ],
)
def test_what_runs_alone(space: Space, calls: list[str], step: Any, alone: bool) -> None:
    """Whatever writes or may change something, at every depth and in a handler too; and what is not known."""
    order, read = ordered(space, step, looks=[GIVES], marks=[MARKS])
    assert order.unit(read).alone is alone


@pytest.mark.parametrize(
    ("step", "takes"),
    [
        (MARKS, False),
        ({**tool("mark", "$m", value="m"), "name": "m"}, True),
        (note(1, "$n", name="n"), True),
        (note(1), False),
    ],
)
def test_what_waits_for_the_branches_before(space: Space, calls: list[str], step: Any, takes: bool) -> None:
    """What gives a name does, a call as well; a call that gives none may overlap."""
    order, read = ordered(space, step)
    assert order.must_keep_order(read) is takes


RELATES = {"type": "create-relation", "source": "$a", "target": "$b", "relation": "cites", "out": "$cites"}
FINDS = {"type": "find-relations", "relation": "cites", "out": "$found"}


@pytest.mark.parametrize(
    ("name", "looks"),
    [
        ("reads", True),
        ("gives", False),
        ("marks", False),
        ("relates", False),
        ("finds", True),
        ("deep", False),
        ("shallow", True),
    ],
)
def test_a_saved_plan_that_does_more_than_look_does_not_run_ahead(
    space: Space, calls: list[str], name: str, looks: bool
) -> None:
    """A call does also where it changes nothing, at any depth, and a Relation is kept with what it holds on to."""
    plans = {"reads": [note(1)], "gives": [GIVES], "marks": [MARKS], "relates": [note(1, "$a"), note(2, "$b"), RELATES]}
    plans |= {
        "deep": [note(1, "$a"), {"type": "if", "condition": bound("$a"), "then": [GIVES]}],
        "shallow": [note(1, "$a"), {"type": "if", "condition": bound("$a"), "then": [note(2)]}],
    }
    order, read = ordered(space, {"type": f"plan:{name}"}, **plans, finds=[FINDS])
    assert order.is_read_only(read) is looks
