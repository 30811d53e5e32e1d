"""Plans in corners of the language, each with just the problems that it has."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync
from planner.parse.saved_plans import save_plan


def note(value: Any, out: str, **fields: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **fields}


def when(condition: Any, *then: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "if", "condition": condition, "then": list(then), **fields}


def each(*do: Any, target: str = "$c", **fields: Any) -> dict[str, Any]:
    return {"type": "for-each", "target": target, "do": list(do), **fields}


def rounds(condition: Any, *body: Any) -> dict[str, Any]:
    return {"type": "while", "condition": condition, "body": list(body), "max_iterations": 5}


def beside(*branches: list[Any]) -> dict[str, Any]:
    return {"type": "parallel", "branches": list(branches)}


def bound(name: str) -> dict[str, Any]:
    return {"type": "bound", "target": name}


def absent(name: str) -> dict[str, Any]:
    return {"type": "notbound", "target": name}


def load(name: str, out: str = "$l", **fields: Any) -> dict[str, Any]:
    return {"type": "load", "target": name, "out": out, **fields}


def join(word: str, *of: Any) -> dict[str, Any]:
    return {"type": word, "of": list(of)}


def gone(target: str) -> dict[str, Any]:
    return {"type": "remove", "target": target}


def own(target: str, key: str) -> dict[str, Any]:
    return {"type": "name", "target": target, "value": f"own ${{{key}}}"}


def mapped(operation: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "map", "target": "$c", "operation": operation, **fields}


def many(value: list[Any]) -> dict[str, Any]:
    return {"type": "create-collection", "value": value, "out": "$c"}


LIST = many(["a", "b"])
TEST = {"type": "empty", "target": "$c"}
MAYBE = when(TEST, note(1, "$x"))
OTHER = when(TEST, note(2, "$y"))
SAY = {"type": "say", "value": "here"}
STOP = {"type": "stop"}
READ = {"type": "say", "value": "${x}"}
BOTH = {"type": "say", "value": "${x} ${y}"}
TOOLS = {"type": "discover-tools", "query": "q", "out": "$t"}
CALL = {"type": "call-tool", "tool": "$t[0].metadata.tool", "out": "$r"}
FIND = {"type": "discover-notes", "query": "q", "out": "$h"}
MADE = {"type": "create-collection", "value": [1], "out": "$h"}
EXTRA = {"type": "say", "value": "${h.@extra.foo}"}
UNBOUND = ("error", "maybe-unbound")
SAVED = {
    "inputs": {"n": {"kind": "Note"}},
    "steps": [note("${n}!", "$r", name="made by plan")],
    "result": "$r",
}
LATE = "today() > '2030-01-01'"
CALLED = {
    "saved": SAVED,
    "keep": [note(1, "$y", name="kept")],
    "give": [note(1, "$y", name="slot")],
    "read": [load("slot"), {"type": "say", "value": "${l}"}],
    "take": [load("slot"), gone("slot"), {"type": "say", "value": "${l}"}],
    "perhaps": [when(LATE, note(1, "$y", name="slot"), {"type": "stop"})],
    "give or fail": [when(LATE, {"type": "stop", "status": "failed"}), note(1, "$y", name="slot")],
    "move on": {"inputs": {"k": {"type": "string"}}, "steps": [note(1, "$y", name="n"), own("$y", "k")]},
    "branches": [beside([note(1, "$x")], [SAY])],
    "beside": [beside([STOP], [note(1, "$y", name="slot")])],
}
"""Saved plans, by name."""


def plan(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"plan:{name}", **fields}


PLANS: dict[str, tuple[list[Any], list[tuple[str, str, str]]]] = {
    # guards
    "bound": ([LIST, MAYBE, when(bound("$x"), READ)], []),
    "and: both are known": ([LIST, MAYBE, OTHER, when(join("and", bound("$x"), bound("$y")), BOTH)], []),
    "and: else knows neither": (
        [LIST, MAYBE, when(join("and", bound("$x"), TEST), **{"else": [READ]})],
        [(*UNBOUND, "/2/else/0/value")],
    ),
    "and: each part knows those before": (
        [LIST, MAYBE, when(join("and", bound("$x"), {"type": "equals", "target": "$x", "value": 1}))],
        [],
    ),
    "and: not those after": (
        [LIST, MAYBE, when(join("and", {"type": "equals", "target": "$x", "value": 1}, bound("$x")))],
        [(*UNBOUND, "/2/condition/of/0/target")],
    ),
    "and: else knows what the first part reads": (
        [
            LIST,
            MAYBE,
            when(
                join("and", {"type": "not", "of": join("and", {"type": "notbound", "target": "$x"}, TEST)}, TEST), READ
            ),
        ],
        [(*UNBOUND, "/2/then/0/value")],
    ),
    "or: neither is known": (
        [LIST, MAYBE, OTHER, when(join("or", bound("$x"), bound("$y")), BOTH)],
        [(*UNBOUND, "/3/then/0/value"), (*UNBOUND, "/3/then/0/value")],
    ),
    "or: of what both parts say": (
        [LIST, MAYBE, when(join("or", bound("$x"), join("and", bound("$x"), TEST)), READ)],
        [],
    ),
    "or: else of notbound": (
        [
            LIST,
            MAYBE,
            OTHER,
            when(
                join("or", {"type": "notbound", "target": "$x"}, {"type": "notbound", "target": "$y"}),
                **{"else": [BOTH]},
            ),
        ],
        [],
    ),
    "or: a part knows that those before are false": (
        [
            LIST,
            MAYBE,
            when(join("or", {"type": "notbound", "target": "$x"}, {"type": "equals", "target": "$x", "value": 1})),
        ],
        [],
    ),
    "not: then": ([LIST, MAYBE, when(join("not", bound("$x")), READ)], [(*UNBOUND, "/2/then/0/value")]),
    "not: else": ([LIST, MAYBE, when(join("not", bound("$x")), **{"else": [READ]})], []),
    "not of notbound": ([LIST, MAYBE, when(join("not", {"type": "notbound", "target": "$x"}), READ)], []),
    "not of or": (
        [
            LIST,
            MAYBE,
            OTHER,
            when(
                join("not", join("or", {"type": "notbound", "target": "$x"}, {"type": "notbound", "target": "$y"})),
                BOTH,
            ),
        ],
        [],
    ),
    "guard in a loop's condition": (
        [
            LIST,
            MAYBE,
            {
                "type": "while",
                "condition": join("and", bound("$x"), {"type": "less_than", "target": "$x", "value": 3}),
                "body": [note(3, "$x")],
            },
            when(bound("$x"), READ),
        ],
        [],
    ),
    # deletions
    "deleted in a branch": ([note(1, "$x"), beside([gone("$x")], []), READ], [("error", "deleted", "/2/value")]),
    "deleted in a branch, read beside": ([note(1, "$x"), beside([gone("$x")], [READ])], []),
    "deleted in both branches of an if": (
        [LIST, note(1, "$x"), when(TEST, gone("$x"), **{"else": [gone("$x")]}), READ],
        [("error", "deleted", "/3/value")],
    ),
    "deleted in one branch of an if": ([LIST, note(1, "$x"), when(TEST, gone("$x")), READ], []),
    "deleted in a loop": ([LIST, note(1, "$x"), each(gone("$x")), READ], []),
    "deleted twice": ([note(1, "$x"), gone("$x"), gone("$x")], [("error", "deleted", "/2/target")]),
    "stopped in a branch, bound otherwise": (
        [LIST, when(TEST, beside([{"type": "stop"}], [note(1, "$y")]), **{"else": [note(1, "$x")]}), READ],
        [],
    ),
    "stopped in no branch, bound otherwise": (
        [LIST, when(TEST, beside([note(2, "$z")], [note(1, "$y")]), **{"else": [note(1, "$x")]}), READ],
        [(*UNBOUND, "/2/value")],
    ),
    "deleted, then stopped otherwise": (
        [LIST, note(1, "$x"), when(TEST, {"type": "stop"}, **{"else": [gone("$x")]}), READ],
        [("error", "deleted", "/3/value")],
    ),
    "deleted by an alias in a branch": (
        [note(1, "$x"), {"type": "bind", "target": "$x", "out": "$a"}, beside([gone("$a")], []), READ],
        [("error", "deleted", "/3/value")],
    ),
    # names
    "name in two branches": (
        [beside([note(1, "$x", name="n")], [note(2, "$y", name="n")]), BOTH],
        [("error", "name-taken", "/0/branches/1/0/name")],
    ),
    "name in a branch and in a saved plan beside it": (
        [beside([note(1, "$x", name="slot")], [plan("give")])],
        [("error", "name-taken", "/0/branches/1/0/type")],
    ),
    "name of another branch": (
        [beside([note(1, "$x", name="n")], [{"type": "load", "target": "n"}]), READ],
        [("error", "unknown-name", "/0/branches/1/0/target")],
    ),
    "name in one branch of an if": (
        [LIST, when(TEST, note(1, "$x", name="n")), {"type": "load", "target": "n"}],
        [("warning", "maybe-unnamed", "/2/target")],
    ),
    "name in both branches of an if": (
        [
            LIST,
            when(TEST, note(1, "$x", name="n"), **{"else": [note(1, "$x", name="n")]}),
            {"type": "load", "target": "n"},
        ],
        [],
    ),
    "name in a loop, taken after it": (
        [LIST, each(note("$item", "$x", name="n")), note(1, "$y", name="n")],
        [("error", "name-taken", "/1/do/0/name"), ("warning", "name-taken", "/2/name")],
    ),
    # two binders
    "bound in two branches": (
        [beside([note(1, "$x")], [note(2, "$x")]), READ],
        [("error", "bound-twice", "/0/branches/1/0/out")],
    ),
    "bound in a branch and before": (
        [note(1, "$x"), beside([note(2, "$x")], []), READ],
        [("error", "bound-twice", "/1/branches/0/0/out")],
    ),
    "bound twice in one branch": (
        [beside([note(1, "$x"), note(2, "$x")], []), READ],
        [("warning", "rebound", "/0/branches/0/1/out")],
    ),
    "bound in a loop of one branch": (
        [LIST, beside([each(note(1, "$x"), out="$l")], [note(2, "$x")]), READ, {"type": "say", "value": "$l"}],
        [],
    ),
    "read beside": (
        [beside([note(1, "$x")], [READ])],
        [("error", "unbound-variable", "/0/branches/1/0/value")],
    ),
    # map
    "map of a verb": (
        [LIST, mapped("size", out="$m"), {"type": "say", "value": "$m"}],
        [("error", "wrong-kind", "/1/target")],
    ),
    "map of a verb without a resource": ([LIST, mapped({"type": "say", "value": "${item}"})], []),
    "map of a form": ([LIST, mapped({"type": "if"})], [("error", "bad-value", "/1/operation/type")]),
    "map of a tool": (
        [LIST, mapped({"type": "none/such", "arguments": {"x": "$item"}})],
        [("error", "unknown-tool", "/1/operation/type")],
    ),
    "map of a saved plan": (
        [LIST, mapped("plan:saved", on_fail="continue")],
        [],
    ),
    "map that binds inside": (
        [LIST, mapped({"type": "bind", "out": "$m"})],
        [("error", "unwanted-out", "/1/operation/out")],
    ),
    "map whose handler supplies": (
        [LIST, mapped({"type": "coerce", "coercion": "int"}, out="$m", on_fail=[note(0, "$m")]), note("$m[0].a", "$y")],
        [("error", "unknown-field", "/2/value")],
    ),
    "map with an operation that could not take such an item": (
        [LIST, mapped({"type": "discover-notes", "query": "${item}"}, out="$m")],
        [],
    ),
    # tools that are known only when the plan runs
    "tool of a condition that may be unbound": (
        [
            LIST,
            when(TEST, TOOLS),
            when({"type": "tool_condition", "tool": "$t[0].metadata.tool"}, {"type": "say", "value": "${t}"}),
        ],
        [("error", "maybe-unbound", "/2/condition/tool")],
    ),
    "arguments that are a variable": (
        [TOOLS, note({"a": 1}, "$a"), {**CALL, "arguments": "$a"}],
        [],
    ),
    "arguments that are written": (
        [TOOLS, {**CALL, "arguments": {"a": 1}}],
        [],
    ),
    "arguments that are no object": (
        [TOOLS, {**CALL, "arguments": "a"}],
        [("error", "bad-argument", "/1/arguments")],
    ),
    # names of the space
    "bound of a name: then may load it": ([when(bound("slot"), load("slot"))], []),
    "bound of a name: not else": (
        [when(bound("slot"), SAY, **{"else": [load("slot")]})],
        [("error", "unknown-name", "/0/else/0/target")],
    ),
    "bound of a name: not after it": (
        [when(bound("slot"), SAY), load("slot")],
        [("error", "unknown-name", "/1/target")],
    ),
    "bound of a name: after it where the else gives it": (
        [when(bound("slot"), SAY, **{"else": [note(1, "$y", name="slot")]}), load("slot")],
        [("warning", "maybe-unnamed", "/1/target")],
    ),
    "bound of a name: and": ([when(join("and", bound("slot"), bound("other")), load("slot"), load("other", "$z"))], []),
    "bound of a name: or": (
        [when(join("or", bound("slot"), bound("other")), load("slot"))],
        [("error", "unknown-name", "/0/then/0/target")],
    ),
    "bound of a name: not another branch": (
        [beside([when(bound("slot"), load("slot"))], [load("slot", "$z")])],
        [("error", "unknown-name", "/0/branches/1/0/target")],
    ),
    "bound of a name: gone where it was deleted": (
        [when(bound("slot"), gone("slot"), load("slot"))],
        [("error", "unknown-name", "/0/then/1/target")],
    ),
    "notbound of a name: else may load it": ([when(absent("slot"), SAY, **{"else": [load("slot")]})], []),
    "notbound of a name: not after it": (
        [when(absent("slot"), SAY, **{"else": [load("slot")]}), load("slot", "$z")],
        [("error", "unknown-name", "/1/target")],
    ),
    "notbound of a name: after it where then stops": ([when(absent("slot"), {"type": "stop"}), load("slot")], []),
    "notbound of a name: not of it": ([when(join("not", absent("slot")), load("slot"))], []),
    "notbound of a name: then may give it": ([when(absent("kept"), note(1, "$y", name="kept"))], []),
    "notbound of a name: else may not give it": (
        [when(absent("kept"), SAY, **{"else": [note(1, "$y", name="kept")]})],
        [("error", "name-taken", "/0/else/0/name")],
    ),
    "notbound of a name: after it nobody may give it": (
        [when(absent("kept"), SAY), note(1, "$y", name="kept")],
        [("error", "name-taken", "/1/name")],
    ),
    "of two conditions on a name the inner one counts": (
        [when(bound("slot"), when(absent("slot"), load("slot")))],
        [("error", "unknown-name", "/0/then/0/then/0/target")],
    ),
    "of two conditions on a name that is taken, too": (
        [when(absent("kept"), when(bound("kept"), note(1, "$y", name="kept")))],
        [("error", "name-taken", "/0/then/0/then/0/name")],
    ),
    "notbound of a name: a saved plan may give it": ([when(absent("kept"), plan("keep"))], []),
    "notbound of a name: not after a saved plan has given it": (
        [when(absent("slot"), plan("give"), note(1, "$y", name="slot"))],
        [("error", "name-taken", "/0/then/1/name")],
    ),
    "notbound of a name: after a saved plan that may have given it": (
        [when(absent("slot"), plan("perhaps"), note(1, "$y", name="slot"))],
        [("warning", "name-taken", "/0/then/1/name")],
    ),
    "notbound of a name: after a saved plan that gives another": (
        [when(absent("kept"), plan("perhaps"), note(1, "$y", name="kept"))],
        [],
    ),
    "notbound of a name: not after a branch has given it": (
        [when(absent("slot"), beside([note(1, "$x", name="slot")], [SAY]), note(1, "$y", name="slot"))],
        [("error", "name-taken", "/0/then/1/name")],
    ),
    "notbound of a name: not for each of two items": (
        [LIST, when(absent("kept"), each(note(1, "$y", name="kept")))],
        [("error", "name-taken", "/1/then/0/do/0/name")],
    ),
    "notbound of a name: not for each of two items, by map": (
        [LIST, when(absent("slot"), mapped({"type": "name", "value": "slot"}))],
        [("error", "name-taken", "/1/then/0/operation/value")],
    ),
    "notbound of a name: not for a second item that did not look": (
        [
            LIST,
            when(absent("kept"), each(when(TEST, when(bound("kept"), STOP)), note(1, "$y", name="kept"))),
        ],
        [("warning", "name-taken", "/1/then/0/do/1/name")],
    ),
    "notbound of a name: not after a branch has gone on only where it is there": (
        [when(absent("kept"), beside([when(absent("kept"), STOP)], [SAY]), note(1, "$y", name="kept"))],
        [("error", "name-taken", "/0/then/1/name")],
    ),
    "a name that one branch moves, and that is given after it": (
        [
            note(1, "$x", name="kept", replace=True),
            beside([{"type": "name", "target": "$x", "value": "other"}], [SAY]),
            note(1, "$y", name="kept"),
        ],
        [],
    ),
    "a name that one branch moves, and the next one gives": (
        [
            note(1, "$x", name="n"),
            beside([{"type": "name", "target": "$x", "value": "other"}], [note(1, "$y", name="n")]),
            note(1, "$z", name="n"),
        ],
        [("warning", "name-taken", "/1/branches/1/0/name"), ("warning", "name-taken", "/2/name")],
    ),
    "each item gives a name, and then one of its own": (
        [LIST, each(note(1, "$x", name="n"), own("$x", "item"))],
        [("warning", "name-taken", "/1/do/0/name")],
    ),
    "each item gives a name, and another note one of its own": (
        [LIST, each(note(1, "$x", name="n"), note(1, "$y"), own("$y", "item"))],
        [("error", "name-taken", "/1/do/0/name")],
    ),
    "each item gives a name, and so does a map": (
        [LIST, each(note(1, "$x", name="n"), mapped({"type": "name", "value": "m"}))],
        [("error", "name-taken", "/1/do/0/name"), ("error", "name-taken", "/1/do/1/operation/value")],
    ),
    "each item gives a name, and a loop goes over others that do": (
        [LIST, each(note(1, "$x", name="n"), each(note(1, "$y", name="m"), own("$y", "item"), **{"as": "$item"}))],
        [("error", "name-taken", "/1/do/0/name"), ("warning", "name-taken", "/1/do/1/do/0/name")],
    ),
    "each item gives a name, and then one of its own, in a saved plan": (
        [LIST, each(plan("move on", arguments={"k": "$item"}))],
        [],
    ),
    "each item gives a name, moves it, gives it again and frees both": (
        [
            LIST,
            each(
                note(1, "$x", name="n"),
                {"type": "name", "target": "$x", "value": "m"},
                note(1, "$y", name="n"),
                gone("m"),
                gone("n"),
            ),
        ],
        [("warning", "name-taken", "/1/do/0/name"), ("warning", "name-taken", "/1/do/1/value")],
    ),
    "each item gives the name that it could not load": (
        [LIST, each(load("slot", on_fail=[note(1, "$y", name="slot")]))],
        [],
    ),
    "notbound of a name: for each item that finds it absent": (
        [LIST, each(when(absent("kept"), note(1, "$y", name="kept")))],
        [],
    ),
    "notbound of a name: for the one item, and not after it": (
        [many([1]), when(absent("kept"), each(note(1, "$y", name="kept")), note(1, "$y", name="kept"))],
        [("warning", "name-taken", "/1/then/0/do/0/name"), ("warning", "name-taken", "/1/then/1/name")],
    ),
    "bound of a name: a saved plan may load it": ([when(bound("slot"), plan("read"))], []),
    "bound of a name: a saved plan may load it, and then remove it": ([when(bound("slot"), plan("take"))], []),
    "bound of a name: not after a saved plan has removed it": (
        [when(bound("slot"), plan("take"), load("slot"))],
        [("error", "unknown-name", "/0/then/1/target")],
    ),
    "bound of a name: may be loaded, and then removed, where a failure is handled": (
        [LIST, when(bound("slot"), when(TEST, load("slot"), gone("slot"), on_fail="continue"))],
        [],
    ),
    "bound of a name: a saved plan may load it, and then remove it, where a failure is handled": (
        [when(bound("slot"), plan("take", on_fail="continue"))],
        [],
    ),
    "bound of a name: not where what may have removed it has failed": (
        [when(bound("slot"), plan("take", on_fail=[load("slot")]))],
        [("error", "unknown-name", "/0/then/0/on_fail/0/target")],
    ),
    "a saved plan that may give a name before it stops": (
        [plan("perhaps"), load("slot")],
        [("warning", "maybe-unnamed", "/1/target")],
    ),
    "a saved plan that gives a name, or is stopped as failed": ([plan("give or fail"), load("slot")], []),
    "a saved plan whose branches bind what is bound where it is called": ([note(1, "$x"), plan("branches"), READ], []),
    "a saved plan that may give a name in another branch than it stops in": (
        [plan("beside"), load("slot")],
        [("warning", "maybe-unnamed", "/1/target")],
    ),
    "a while gives the name without which it begins": (
        [
            {"type": "while", "condition": absent("slot"), "body": [note(1, "$y", name="slot")], "max_iterations": 3},
            load("slot"),
        ],
        [],
    ),
    "a name that one of two steps gives for certain": (
        [LIST, when(TEST, note(1, "$x", name="n")), when(TEST, note(2, "$y", name="n", replace=True)), load("n")],
        [("warning", "maybe-unnamed", "/3/target")],
    ),
    "a name of before a loop is gone in it with its note": (
        [
            LIST,
            note(1, "$a", name="slot"),
            {"type": "while", "condition": TEST, "body": [gone("$a"), load("slot")], "max_iterations": 3},
        ],
        [("error", "deleted", "/2/body/1/target")],
    ),
    # conditions that are decided, and those that are asked again
    "nothing binds it: not": (
        [when(join("not", bound("$nothing")), note(1, "$x")), READ],
        [("warning", "never-bound", "/0/condition/of/0/target")],
    ),
    "nothing binds it: then": (
        [when(bound("$nothing"), note(1, "$x")), READ],
        [("warning", "never-bound", "/0/condition/target"), ("error", "unbound-variable", "/1/value")],
    ),
    "a while asks for what its body binds, and ends when that is bound": (
        [rounds(absent("$x"), note(1, "$x")), READ],
        [],
    ),
    "a while waits for a time": ([rounds("now() < '2030-01-01T00:00:00Z'", {"type": "wait", "seconds": 1})], []),
    "a while that does not wait asks for a time": (
        [rounds("now() < '2030-01-01T00:00:00Z'", SAY)],
        [("error", "endless-loop", "/0/condition")],
    ),
    "every item gives a name": ([LIST, each(note("x", "$y", name="slot"))], [("error", "name-taken", "/1/do/0/name")]),
    "an item gives a name, and the loop may end with it": (
        [LIST, each(note("x", "$y", name="slot"), until=bound("$y"))],
        [("warning", "name-taken", "/1/do/0/name")],
    ),
    "an item gives a name that is taken": (
        [LIST, each(note("x", "$y", name="kept"), until=bound("$y"))],
        [("error", "name-taken", "/1/do/0/name")],
    ),
    # what only one branch binds
    "a form that may fail binds no more than its branches": (
        [LIST, {**MAYBE, "on_fail": "continue"}, READ],
        [(*UNBOUND, "/2/value")],
    ),
    "the extra of a step is known after both branches": (
        [LIST, when(TEST, FIND, **{"else": [FIND]}), EXTRA],
        [("error", "unknown-field", "/2/value")],
    ),
    "the extra of a step is not known after one of them": ([LIST, when(TEST, FIND, **{"else": [MADE]}), EXTRA], []),
    # saved plans in loops
    "saved plan in a loop": (
        [LIST, each({"type": "plan:saved", "arguments": {"n": "$item"}})],
        [("error", "name-taken", "/1/do/0/type")],
    ),
    "saved plan in a branch": (
        [
            LIST,
            beside([{"type": "plan:saved", "arguments": {"n": "$c[0]"}}], []),
            {"type": "load", "target": "made by plan"},
        ],
        [],
    ),
}


@pytest.fixture(scope="module")
def corner(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A space with the saved plans and one name, for all of these plans."""
    from infospace import open_space

    with open_space(tmp_path_factory.mktemp("corner") / "space.db") as space:
        for name, document in CALLED.items():
            save_plan(space, name, document if isinstance(document, dict) else {"steps": document})
        assert run_sync(space, [note(1, "$n", name="kept")]).status == "success"
        yield space


@pytest.mark.parametrize("case", PLANS)
def test_a_plan_has_just_these_problems(corner: Space, case: str) -> None:
    """But for what nothing reads."""
    plan, problems = PLANS[case]
    found = [(p.severity, p.code, p.pointer) for p in check_plan(corner, plan)[1].found if p.code != "never-read"]
    assert found == problems


def test_what_a_saved_plan_reads_is_not_read_where_it_is_called(corner: Space) -> None:
    """Though it is bound at the same place of the document."""
    document = {
        "inputs": {"n": {"type": "string"}},
        "steps": [plan("saved", arguments={"n": "kept"})],
    }
    assert [(p.code, p.pointer) for p in check_plan(corner, document)[1].found] == [("never-read", "/inputs/n")]
