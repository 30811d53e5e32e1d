"""Written plans with all that comes of each: its status, what is bound, what the space keeps, which calls were made."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import run_sync
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parent))
from plan_parts import LOST, PAIR, SEVEN, absent, add_tools, bound, each, either, joined, note, parallel, tool

IS_SEVEN = {"type": "equals", "target": "$a", "value": 7}
ASKS = {"type": "tool_condition", "tool": "outside/is_so", "arguments": {"value": True}}
LISTS = {"type": "create-collection", "value": [[5], 7, [6]], "out": "$pair"}
FIRST = {"type": "load", "slice": "0:1"}
"""Takes the first of a list: of the second of LISTS there is none."""


@dataclass(frozen=True)
class Outcome:
    """What comes of a plan. `kept` is what has a name afterwards; calls of a set are made in any order."""

    bindings: dict[str, Any]
    kept: dict[str, Any] = field(default_factory=dict)
    calls: list[str] | set[str] = field(default_factory=list)
    status: str = "success"
    reason: str = ""


def bind(target: str, out: str) -> dict[str, Any]:
    return {"type": "bind", "target": target, "out": out}


def remove(target: str, **fields: Any) -> dict[str, Any]:
    return {"type": "remove", "target": target, **fields}


def update(target: str, value: Any) -> dict[str, Any]:
    return {"type": "update-note", "target": target, "value": value}


def when(condition: Any, *then: Any, otherwise: Any = ()) -> dict[str, Any]:
    step = {"type": "if", "condition": condition, "then": list(then)}
    return {**step, "else": list(otherwise)} if otherwise else step


def mapped(operation: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "map", "target": "$pair", "operation": operation, "out": "$r", **fields}


def plan(name: str, out: str | None = None, **arguments: Any) -> dict[str, Any]:
    step: dict[str, Any] = {"type": f"plan:{name}", "arguments": arguments}
    return step if out is None else {**step, "out": out}


def mark(value: str, out: str | None = None, **fields: Any) -> dict[str, Any]:
    return tool("mark", out, value=value) | fields


def fall(value: str, out: str | None = None, **fields: Any) -> dict[str, Any]:
    return tool("fall_late", out, value=value) | fields


SAVED: dict[str, dict[str, Any]] = {
    "keep": {"inputs": {"n": {}}, "steps": [note("${n}", "$k", name="kept ${n}")], "result": "$k"},
    "marks": {"inputs": {"n": {}}, "steps": [mark("plan ${n}", "$m")], "result": "$m"},
    "cut": {
        "inputs": {"n": {}},
        "steps": [mark("cut ${n}"), note("$n", "$kept"), {**FIRST, "target": "$kept", "out": "$part"}],
        "result": "$part",
    },
    "refuse": {"inputs": {}, "steps": [{"type": "stop", "status": "failed", "value": "no"}, mark("never")]},
    "both": {
        "inputs": {"n": {}},
        "steps": [parallel([note("a${n}", "$a", name="a${n}")], [mark("b${n}", "$b")]), note("${a}${b}", "$c")],
        "result": "$c",
    },
    "drop": {"inputs": {"n": {"kind": "Note"}}, "steps": [remove("$n")]},
}

GUARDS: dict[str, tuple[list[Any], Outcome]] = {
    "a false guard under and keeps the branch from writing": (
        [SEVEN, LOST, when(joined("and", bound("$a"), IS_SEVEN), note("w", "$w", name="slot"))],
        Outcome({"seven": 7}),
    ),
    "not of an or of guards calls in the other branch": (
        [
            SEVEN,
            LOST,
            note(1, "$b"),
            when(joined("not", joined("or", bound("$a"), bound("$b"))), mark("none"), otherwise=[mark("some")]),
        ],
        Outcome({"seven": 7, "b": 1}, calls=["mark some"]),
    ),
    "no tool is asked where the alternative before it holds": (
        [SEVEN, when(joined("or", bound("$seven"), ASKS), note("t", "$w", name="slot"))],
        Outcome({"seven": 7, "w": "t"}, {"slot": "t"}),
    ),
    "no tool is asked behind a false guard": (
        [SEVEN, LOST, either(joined("and", bound("$a"), ASKS))],
        Outcome({"seven": 7, "r": "no"}),
    ),
    "a tool is asked behind a guard that holds": (
        [SEVEN, either(joined("and", joined("not", absent("$seven")), ASKS))],
        Outcome({"seven": 7, "r": "yes"}, calls=["asked True"]),
    ),
    "a while under a guard ends with the round that binds it": (
        [
            note(0, "$i"),
            {
                "type": "while",
                "condition": joined("and", absent("$hit"), {"type": "less_than", "target": "$i", "value": 9}),
                "body": [
                    mark("${i}"),
                    {"type": "compute", "expression": "$i + 1", "out": "$i"},
                    when("$i = 2", note("found", "$hit", name="slot")),
                ],
            },
        ],
        Outcome({"i": 2, "hit": "found"}, {"slot": "found"}, ["mark 0", "mark 1"]),
    ),
    "the else of an and may read what each of its parts tells of": (
        [
            SEVEN,
            when("$seven = 7", note(1, "$a")),
            either(joined("and", absent("$a"), joined("or", absent("$a"), {**IS_SEVEN, "value": 1})), "none", "${a}"),
        ],
        Outcome({"seven": 7, "a": 1, "r": "1"}),
    ),
    "what was deleted is not bound": (
        [note("x", "$a", name="slot"), when(joined("and", bound("$a")), remove("$a")), either(bound("$a"))],
        Outcome({"r": "no"}),
    ),
    "a name that one branch gives is known to the guard after it": (
        [
            when(absent("slot"), note(1, "$a", name="slot")),
            when(bound("slot"), {"type": "load", "target": "slot", "out": "$b"}, mark("${b}")),
        ],
        Outcome({"a": 1, "b": 1}, {"slot": 1}, ["mark 1"]),
    ),
}

BRANCHES: dict[str, tuple[list[Any], Outcome]] = {
    "nested branches write and call": (
        [
            parallel(
                [mark("1", "$a", name="one")],
                [parallel([note(2, "$b", name="two")], [tool("give", "$c", value="3") | {"name": "three"}])],
            )
        ],
        Outcome({"a": "1", "b": 2, "c": "3"}, {"one": "1", "two": 2, "three": "3"}, {"mark 1", "give 3"}),
    ),
    "an inner branch fails: what stands before it is written, and nothing behind it": (
        [
            parallel(
                [note(1, "$a", name="first")],
                [parallel([fall("x")], [note(2, "$b", name="second")])],
                [note(3, "$c", name="third")],
            ),
            mark("after"),
        ],
        Outcome({}, {"first": 1}, ["fall x"], "failed", "x fell"),
    ),
    "the handler of an inner branch writes before the branches after it": (
        [
            parallel(
                [
                    parallel(
                        [fall("x", on_fail=[note("h", "$h", name="slot")])],
                        [note(2, "$b", name="slot", replace=True)],
                    )
                ],
                [note(3, "$c", name="slot", replace=True)],
            )
        ],
        Outcome({"h": 3, "b": 3, "c": 3}, {"slot": 3}, ["fall x"]),
    ),
    "the handler of a parallel runs in its place": (
        [parallel([fall("x")], [note(2, "$b", name="second")], on_fail=[note("instead", "$r")]), mark("after")],
        Outcome({"r": "instead"}, calls=["fall x", "mark after"]),
    ),
    "nested branches in rounds give names and call": (
        [PAIR, each(parallel([mark("a${x}")], [parallel([note("b", "$b", name="b${x}")], [note("c", "$c")])]))],
        Outcome({"pair": [1, 2]}, {"b1": "b", "b2": "b"}, ["mark a1", "mark a2"]),
    ),
    "a stop in a nested branch ends the plan; what stands before it is written": (
        [
            parallel([note(1, "$a", name="first")], [parallel([{"type": "stop", "value": "ended"}])]),
            note(2, "$b", name="after"),
        ],
        Outcome({}, {"first": 1}, status="stopped"),
    ),
    "a name that two nested branches give in turn is one Note": (
        [
            parallel([parallel([note(1, "$a", name="slot")])], [parallel([note(2, "$b", name="slot", replace=True)])]),
            update("slot", 3),
        ],
        Outcome({"a": 3, "b": 3}, {"slot": 3}),
    ),
    "a condition that calls, in a branch within a branch": (
        [SEVEN, parallel([parallel([when(ASKS, note("t", "$w", name="slot"))], [note(1, "$b")])], [mark("m")])],
        Outcome({"seven": 7, "w": "t", "b": 1}, {"slot": "t"}, {"asked True", "mark m"}),
    ),
}

BINDERS: dict[str, tuple[list[Any], Outcome]] = {
    "two calls that bind one variable are made in their order": (
        [mark("first", "$n"), mark("second", "$n"), mark("${n}")],
        Outcome({"n": "second"}, calls=["mark first", "mark second", "mark second"]),
    ),
    "the second fails and is passed over: the value of the first stays": (
        [tool("give", "$n", value="one"), fall("two", "$n", on_fail="continue"), note("${n}", "$r")],
        Outcome({"n": "one", "r": "one"}, calls={"give one", "fall two"}),
    ),
    "the second is bound by a handler of another": (
        [tool("give", "$n", value="one"), fall("two", "$m", on_fail=[note(2, "$n")]), note("${n}", "$r")],
        Outcome({"n": 2, "r": "2"}, calls={"give one", "fall two"}),
    ),
    "the second is bound in some rounds": (
        [PAIR, each(note("a", "$y"), when("$x = 1", note("b", "$y")), mark("${y}"), collect="$y", out="$r")],
        Outcome({"pair": [1, 2], "r": ["b", "a"]}, calls=["mark b", "mark a"]),
    ),
    "a failing binder takes what ran ahead of it back": (
        [note("old", "$n"), fall("x", "$m"), tool("give", "$n", value="new"), note("w", "$w", name="slot")],
        Outcome({"n": "old"}, {}, {"fall x", "give new"}, "failed", "x fell"),
    ),
}

NAMES: dict[str, tuple[list[Any], Outcome]] = {
    "each round deletes its item": (
        [
            note("a", "$a", name="a"),
            note("b", "$b", name="b"),
            {"type": "create-collection", "value": ["$a", "$b"], "out": "$pair"},
            each(mark("${x}"), remove("$x")),
        ],
        Outcome({"pair": []}, calls=["mark a", "mark b"]),
    ),
    "each round gives a name of its own": (
        [PAIR, each(note("${x}", "$y", name="n${x}"))],
        Outcome({"pair": [1, 2]}, {"n1": "1", "n2": "2"}),
    ),
    "each round replaces what a variable outside holds": (
        [PAIR, note("0", "$k", name="slot"), each(note("${x}", "$y", name="slot", replace=True), mark("${k}"))],
        Outcome({"pair": [1, 2], "k": "2"}, {"slot": "2"}, ["mark 1", "mark 2"]),
    ),
    "a name that moves to another kind leaves its Note bound": (
        [
            note(1, "$a", name="slot"),
            {"type": "create-collection", "value": [2], "out": "$b", "name": "slot", "replace": True},
        ],
        Outcome({"a": 1, "b": [2]}, {"slot": [2]}),
    ),
    "a deletion in an if in a branch unbinds outside": (
        [
            SEVEN,
            note("x", "$a", name="slot"),
            parallel([when("$seven = 7", remove("$a"))], [note(2, "$b")]),
            either(bound("$a")),
        ],
        Outcome({"seven": 7, "b": 2, "r": "no"}),
    ),
    "a deletion in the second of two rounds that fails is passed over": (
        [PAIR, note("x", "$a", name="slot"), each(remove("slot", on_fail="continue"), mark("${x}"))],
        Outcome({"pair": [1, 2]}, calls=["mark 1", "mark 2"]),
    ),
    "a name freed in a branch of an if is given after it": (
        [
            SEVEN,
            note("x", "$a", name="slot"),
            when("$seven = 7", remove("slot"), otherwise=[remove("slot")]),
            note("y", "$b", name="slot"),
        ],
        Outcome({"seven": 7, "b": "y"}, {"slot": "y"}),
    ),
}

ALIASES: dict[str, tuple[list[Any], Outcome]] = {
    "a name given to an alias is that of both": (
        [note("x", "$a"), bind("$a", "$b"), {"type": "name", "target": "$b", "value": "slot"}, update("slot", "y")],
        Outcome({"a": "y", "b": "y"}, {"slot": "y"}),
    ),
    "an alias of a place is a Note of its own": (
        [note({"t": [1, 2]}, "$d"), bind("$d.t", "$e"), update("$d", {"t": [9]})],
        Outcome({"d": {"t": [9]}, "e": [1, 2]}),
    ),
    "aliases made by map are the items": (
        [PAIR, mapped({"type": "bind", "target": "$item"}), update("$r[0]", 9)],
        Outcome({"pair": [9, 2], "r": [9, 2]}),
    ),
    "an alias of what a name replaces sees the next version": (
        [note(1, "$a", name="slot"), bind("$a", "$b"), note(2, "$c", name="slot", replace=True)],
        Outcome({"a": 2, "b": 2, "c": 2}, {"slot": 2}),
    ),
}

MAPS: dict[str, tuple[list[Any], Outcome]] = {
    "map with a tool that fails for all of them": (
        [PAIR, mapped(tool("fall_late", value="${item}"), on_fail="continue", filter_null=False)],
        Outcome({"pair": [1, 2], "r": [None, None]}, calls={"fall 1", "fall 2"}),
    ),
    "map with metadata of each": (
        [
            PAIR,
            mapped({"type": "set-metadata", "target": "$item", "value": {"rank": "$item"}}),
            {"type": "filter-structured", "target": "$pair", "where": "metadata.rank > 1", "out": "$high"},
        ],
        Outcome({"pair": [1, 2], "r": [{"rank": 1}, {"rank": 2}], "high": [2]}),
    ),
    "map that gives each a name": (
        [PAIR, mapped({"type": "name", "target": "$item", "value": "m${item}"}), update("m2", 9)],
        Outcome({"pair": [1, 9], "r": [1, 9]}, {"m1": 1, "m2": 9}),
    ),
    "map with a saved plan that calls": (
        [PAIR, mapped(plan("marks", n="$item"))],
        Outcome({"pair": [1, 2], "r": ["plan 1", "plan 2"]}, calls=["mark plan 1", "mark plan 2"]),
    ),
    "map stops at the first item that fails": (
        [LISTS, mapped(plan("cut", n="$item")), mark("after")],
        Outcome({"pair": [[5], 7, [6]]}, {}, ["mark cut [5]", "mark cut 7"], "failed", "item 2"),
    ),
    "map goes on where the handler fails too": (
        [LISTS, mapped(FIRST, on_fail=[{**FIRST, "target": "$item", "out": "$r"}]), mark("${r[1]}")],
        Outcome({"pair": [[5], 7, [6]], "r": [[5], [6]]}, calls=["mark [6]"]),
    ),
}

PLANS_IN_LOOPS: dict[str, tuple[list[Any], Outcome]] = {
    "a saved plan keeps something in each round": (
        [PAIR, each(plan("keep", "$y", n="$x"), mark("${y}"), out="$r")],
        Outcome({"pair": [1, 2], "r": ["1", "2"]}, {"kept 1": "1", "kept 2": "2"}, ["mark 1", "mark 2"]),
    ),
    "a saved plan that fails ends the loop with its round": (
        [LISTS, each(plan("cut", "$y", n="$x"), mark("${y}"), out="$r"), mark("after")],
        Outcome({"pair": [[5], 7, [6]]}, {}, ["mark cut [5]", "mark [5]", "mark cut 7"], "failed", "item 2"),
    ),
    "a saved plan that stops as failed is a failed step of its round": (
        [
            note(0, "$i"),
            {
                "type": "while",
                "condition": "$i < 2",
                "body": [
                    plan("refuse") | {"on_fail": "continue"},
                    {"type": "compute", "expression": "$i + 1", "out": "$i"},
                ],
            },
        ],
        Outcome({"i": 2}),
    ),
    "a saved plan of branches in each round": (
        [PAIR, each(plan("both", "$y", n="$x"), out="$r")],
        Outcome({"pair": [1, 2], "r": ["a1b1", "a2b2"]}, {"a1": "a1", "a2": "a2"}, ["mark b1", "mark b2"]),
    ),
    "a saved plan deletes what each round hands it": (
        [
            note("a", "$a", name="a"),
            note("b", "$b"),
            {"type": "create-collection", "value": ["$a", "$b"], "out": "$pair"},
            each(when("$x = 'a'", plan("drop", n="$x"))),
            either(bound("$a")),
        ],
        Outcome({"b": "b", "pair": ["b"], "r": "no"}),
    ),
}

PLANS = {**GUARDS, **BRANCHES, **BINDERS, **NAMES, **ALIASES, **MAPS, **PLANS_IN_LOOPS}


@pytest.mark.parametrize("name", PLANS)
def test_all_that_comes_of_a_written_plan(space: Space, name: str) -> None:
    """Its status and reason, all variables, all names with what they name, all calls."""
    calls = add_tools(space)
    for saved, document in SAVED.items():
        save_plan(space, saved, document)
    steps, outcome = PLANS[name]
    with space.store.reading() as snapshot:
        before = set(snapshot.names())
    result = run_sync(space, steps)
    assert (result.status, [one.message for one in result.problems if one.severity == "error"]) == (outcome.status, [])
    assert outcome.reason in (result.reason or "")
    context = space.context()
    assert {variable: context.content(bound_to) for variable, bound_to in result.bindings.items()} == outcome.bindings
    with space.store.reading() as snapshot:
        names = set(snapshot.names()) - before
    assert {one: context.content(context.get(one)) for one in names} == outcome.kept
    assert (set(calls) if isinstance(outcome.calls, set) else calls) == outcome.calls
    assert len(calls) == len(outcome.calls)
    assert space.store.check() == []
