"""More written plans with their outcomes: guards, nested branches, binders, deletions, aliases, `map`, saved plans."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import run_sync
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parent))
from plan_parts import LOST, PAIR, SEVEN, absent, add_tools, bound, each, either, joined, note, parallel, tool

EMPTY = {"type": "create-collection", "value": [], "out": "$all"}
IS_SEVEN = {"type": "equals", "target": "$a", "value": 7}
THREE = {"type": "create-collection", "value": [1, 2, 3], "out": "$pair"}
NOTHING = note("nothing", "$r")


def add(value: str, target: str = "$all") -> dict[str, Any]:
    return {"type": "add", "target": target, "value": value}


def remove(target: str, **fields: Any) -> dict[str, Any]:
    return {"type": "remove", "target": target, **fields}


def load(target: str, out: str = "$r", **fields: Any) -> dict[str, Any]:
    return {"type": "load", "target": target, "out": out, **fields}


def bind(target: str, out: str) -> dict[str, Any]:
    return {"type": "bind", "target": target, "out": out}


def update(target: str, value: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "update-note", "target": target, "value": value, **fields}


def branch(condition: Any, *then: Any, otherwise: Any = ()) -> dict[str, Any]:
    step = {"type": "if", "condition": condition, "then": list(then)}
    return {**step, "else": list(otherwise)} if otherwise else step


def rounds(condition: Any, *body: Any) -> dict[str, Any]:
    return {"type": "while", "condition": condition, "body": list(body), "max_iterations": 9}


def compute(expression: str, out: str) -> dict[str, Any]:
    return {"type": "compute", "expression": expression, "out": out}


def mapped(operation: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "map", "target": "$pair", "operation": operation, "out": "$r", **fields}


def double(value: str, out: str = "$y") -> dict[str, Any]:
    return {"type": "plan:double", "arguments": {"n": value}, "out": out}


PLANS: dict[str, tuple[list[Any], Any]] = {
    # Guards
    "not of an or of unbound ones": (
        [SEVEN, LOST, either(joined("not", joined("or", bound("$a"), absent("$seven"))))],
        "yes",
    ),
    "or of a guarded and, and of its contrary": (
        [SEVEN, LOST, either(joined("or", joined("and", bound("$a"), IS_SEVEN), absent("$a")))],
        "yes",
    ),
    "the else of a notbound may read": ([SEVEN, note(7, "$a"), either(absent("$a"), "none", "${a}")], "7"),
    "the else of a not of a guard may read": (
        [SEVEN, note(7, "$a"), either(joined("not", bound("$a")), "none", "${a}")],
        "7",
    ),
    "the else of an or of absences may read both": (
        [SEVEN, note(7, "$a"), note(8, "$b"), either(joined("or", absent("$a"), absent("$b")), "none", "${a}${b}")],
        "78",
    ),
    "a condition on what is unbound skips both branches": ([SEVEN, LOST, NOTHING, either(IS_SEVEN)], "nothing"),
    "a guard behind what it guards comes too late": (
        [SEVEN, LOST, NOTHING, either(joined("and", IS_SEVEN, bound("$a")))],
        "nothing",
    ),
    "a guard of one alternative does not let the branch read it": (
        [SEVEN, LOST, NOTHING, either(joined("or", bound("$a"), bound("$seven")), "${a}")],
        "nothing",
    ),
    "a guard of a while is asked before each round": (
        [
            SEVEN,
            note(0, "$a"),
            {
                "type": "while",
                "condition": joined("and", bound("$a"), {"type": "less_than", "target": "$a", "value": 3}),
                "body": [{"type": "compute", "expression": "$a + 1", "out": "$a"}],
                "max_iterations": 9,
            },
            note("${a}", "$r"),
        ],
        "3",
    ),
    "a guard in a round sees what the round left unbound": (
        [
            {"type": "create-collection", "value": [[5], 7], "out": "$pair"},
            each(
                load("$x", "$part", slice="0:1", on_fail="continue"),
                either(bound("$part"), "${part[0]}", "none"),
                out="$all",
            ),
            {"type": "bind", "target": "$all", "out": "$r"},
        ],
        ["5", "none"],
    ),
    # Nested branches
    "writes and calls of nested branches stand in the order of the document": (
        [
            EMPTY,
            parallel(
                [tool("give", "$a", value="1"), parallel([add("$a")], [tool("give", "$b", value="2"), add("$b")])],
                [note("3", "$c"), add("$c"), parallel([note("4", "$d"), add("$d")], [note("5", "$e"), add("$e")])],
            ),
            bind("$all", "$r"),
        ],
        ["1", "2", "3", "4", "5"],
    ),
    "branches within the rounds of a loop write round by round": (
        [
            PAIR,
            EMPTY,
            each(parallel([tool("give", "$a", value="a${x}"), add("$a")], [note("b${x}", "$b"), add("$b")])),
            bind("$all", "$r"),
        ],
        ["a1", "b1", "a2", "b2"],
    ),
    "a loop in each of two branches": (
        [
            PAIR,
            EMPTY,
            parallel([each(note("a${x}", "$y"), add("$y"))], [each(note("b${x}", "$y"), add("$y"))]),
            bind("$all", "$r"),
        ],
        ["a1", "a2", "b1", "b2"],
    ),
    "what the first inner branch names, the branch after it reads by its name when all have ended": (
        [parallel([parallel([note("in", "$n", name="slot")], [note(1, "$o")])], [note(2, "$p")]), load("slot")],
        "in",
    ),
    # Two binders of one variable
    "each branch reads what was bound before": (
        [
            note("before", "$n"),
            parallel([note("${n}!", "$a")], [note("${n}?", "$b"), note("${b}${n}", "$c")]),
            note("${a}${c}", "$r"),
        ],
        "before!before?before",
    ),
    "both branches of an if bind it": (
        [SEVEN, branch(bound("$seven"), note("then", "$n"), otherwise=[note("else", "$n")]), note("${n}", "$r")],
        "then",
    ),
    "a handler binds what its step did not": (
        [SEVEN, load("$seven", "$n", slice="0:1", on_fail=[note("instead", "$n")]), note("${n}", "$r")],
        "instead",
    ),
    "a round binds anew what was bound outside, and outside it stays": (
        [PAIR, note("out", "$n"), each(note("in ${x}", "$n"), out="$all"), note("${n} ${all[1]}", "$r")],
        "out in 2",
    ),
    # Deletions and names
    "a name freed in one round is given in the next": (
        [PAIR, each(note("${x}", "$y", name="slot"), branch("$x = 1", remove("slot"))), load("slot")],
        "2",
    ),
    "what a round deletes again is not collected": (
        [PAIR, each(note("<${x}>", "$y"), branch("$x = 1", remove("$y")), out="$r")],
        ["<2>"],
    ),
    "a null stands for it where positions are to match": (
        [PAIR, each(note("<${x}>", "$y"), branch("$x = 1", remove("$y")), out="$r", filter_null=False)],
        [None, "<2>"],
    ),
    "a handler may delete what it supplied": (
        [
            {"type": "create-collection", "value": [[5], 7], "out": "$pair"},
            each(
                load("$x", "$y", slice="0:1"),
                out="$r",
                on_fail=[note("instead", "$y"), remove("$y")],
            ),
        ],
        [[5]],
    ),
    "the items of a loop are those that it began with": (
        [
            note("a", "$a"),
            note("b", "$b"),
            {"type": "create-collection", "value": ["$a", "$b"], "out": "$pair"},
            EMPTY,
            each(remove("$pair", value="$b"), add("$x")),
            {"type": "size", "target": "$pair", "out": "$left"},
            {"type": "size", "target": "$all", "out": "$seen"},
            note("${left} ${seen}", "$r"),
        ],
        "1 2",
    ),
    "a name moves from branch to branch in the order of the document": (
        [
            parallel(
                [note("first", "$a", name="slot")],
                [note("second", "$b", name="slot", replace=True)],
            ),
            load("slot"),
        ],
        "second",
    ),
    # Aliases
    "an alias sees what is changed by the other name": (
        [note("old", "$a"), bind("$a", "$b"), update("$a", "new"), note("${b}", "$r")],
        "new",
    ),
    "an alias stays where the first variable is bound anew": (
        [note("old", "$a"), bind("$a", "$b"), note("new", "$a"), note("${a} ${b}", "$r")],
        "new old",
    ),
    "an alias of an item is the item": (
        [
            {"type": "create-collection", "value": ["a", "b"], "out": "$list"},
            bind("$list[0]", "$first"),
            update("$first", "changed"),
            bind("$list", "$r"),
        ],
        ["changed", "b"],
    ),
    "an alias made in a branch is changed after it": (
        [note("old", "$a"), parallel([bind("$a", "$b")], [note(1, "$c")]), update("$b", "new"), note("${a}", "$r")],
        "new",
    ),
    "an alias of what is deleted is gone with it": (
        [
            note("x", "$a"),
            bind("$a", "$b"),
            SEVEN,
            branch("$seven = 7", remove("$a")),
            load("$b", "$c", on_fail=[note("gone", "$c")]),
            note("${c}", "$r"),
        ],
        "gone",
    ),
    # `map` with every kind of operation
    "map with compute": ([PAIR, mapped({"type": "compute", "expression": "$item * 10"})], [10, 20]),
    "map with an alias of what stands elsewhere": ([PAIR, SEVEN, mapped({"type": "bind", "target": "$seven"})], [7, 7]),
    "map that changes its items in place": (
        [PAIR, mapped({"type": "update-note", "target": "$item", "value": "<${item}>"}), bind("$pair", "$r")],
        ["<1>", "<2>"],
    ),
    "map that gives each a name": (
        [
            PAIR,
            mapped({"type": "name", "target": "$item", "value": "item ${item}"}),
            load("item 2", on_fail=[note("none", "$r")]),
        ],
        2,
    ),
    "map that deletes its items": (
        [
            PAIR,
            {"type": "map", "target": "$pair", "operation": {"type": "remove", "target": "$item"}},
            {"type": "size", "target": "$pair", "out": "$r"},
        ],
        0,
    ),
    "map that adds to a Collection": (
        [PAIR, EMPTY, mapped({"type": "add", "target": "$all", "value": "$item"}), bind("$all", "$r")],
        [1, 2],
    ),
    "map that makes a Collection of each": (
        [PAIR, mapped({"type": "create-collection", "value": ["$item", "$item"]})],
        [[1, 1], [2, 2]],
    ),
    "map with a tool that leaves a mark": ([PAIR, mapped(tool("mark", value="<${item}>"))], ["<1>", "<2>"]),
    "map that passes over its failures leaves null out only when told": (
        [
            SEVEN,
            {"type": "create-collection", "value": [[5], 7], "out": "$pair"},
            mapped({"type": "load", "slice": "0:1"}, on_fail="continue", filter_null=False),
        ],
        [[5], None],
    ),
    "map with a handler puts what that gives in the place": (
        [
            {"type": "create-collection", "value": [[5], 7], "out": "$pair"},
            mapped({"type": "load", "slice": "0:1"}, on_fail=[note("none of ${item}", "$r")]),
        ],
        [[5], "none of 7"],
    ),
    # Saved plans
    "a saved plan in a while": (
        [
            note("x", "$s"),
            {
                "type": "while",
                "condition": "length($s) < 7",
                "body": [double("$s", "$s")],
                "max_iterations": 5,
            },
            note("${s}", "$r"),
        ],
        "x x x x",
    ),
    "a saved plan ends a loop by until": (
        [
            {"type": "create-collection", "value": ["a", "b", "c"], "out": "$pair"},
            each(double("$x"), out="$r", until={"type": "equals", "target": "$y", "value": "b b"}),
        ],
        ["a a", "b b"],
    ),
    "a saved plan that writes in each round": (
        [PAIR, EMPTY, each({"type": "plan:append", "arguments": {"to": "$all", "n": "$x"}}), bind("$all", "$r")],
        ["1 1", "2 2"],
    ),
    "a saved plan of a loop in a loop": (
        [PAIR, each({"type": "plan:twice_each", "arguments": {"rows": "$pair"}, "out": "$y"}, out="$r")],
        [["1 1", "2 2"], ["1 1", "2 2"]],
    ),
    "a saved plan that fails in one round is handled there": (
        [
            {"type": "create-collection", "value": [[5], 7], "out": "$pair"},
            each(
                {"type": "plan:cut", "arguments": {"n": "$x"}, "out": "$y", "on_fail": [note("cut ${x}", "$y")]},
                out="$r",
            ),
        ],
        [[5], "cut 7"],
    ),
    "variables of a saved plan are its own": (
        [PAIR, note("mine", "$twice"), each(double("$x")), note("${twice}", "$r")],
        "mine",
    ),
    # More of each
    "a guard within a not within an and": (
        [
            note(1, "$a"),
            note(2, "$b"),
            either(joined("and", bound("$a"), joined("not", absent("$b"))), "${a}${b}", "no"),
        ],
        "12",
    ),
    "a guard ends a loop once a round has bound it": (
        [
            THREE,
            EMPTY,
            each(add("$x"), branch("$x = 2", note("found", "$hit")), until=bound("$hit")),
            bind("$all", "$r"),
        ],
        [1, 2],
    ),
    "three branches deep": (
        [
            EMPTY,
            parallel(
                [
                    parallel(
                        [parallel([note("1", "$a"), add("$a")], [note("2", "$b"), add("$b")])],
                        [note("3", "$c"), add("$c")],
                    )
                ],
                [tool("mark", "$m", value="4"), add("$m")],
            ),
            bind("$all", "$r"),
        ],
        ["1", "2", "3", "4"],
    ),
    "a while in a branch writes before the branch after it": (
        [
            EMPTY,
            parallel(
                [note(0, "$n"), rounds("$n < 2", compute("$n + 1", "$n"), add("$n"))],
                [tool("give", "$z", value="z"), add("$z")],
            ),
            bind("$all", "$r"),
        ],
        [1, 2, "z"],
    ),
    "a handler in a branch writes in its place": (
        [
            SEVEN,
            EMPTY,
            parallel(
                [load("$seven", "$m", slice="0:1", on_fail=[note("h", "$h"), add("$h")])],
                [tool("give", "$b", value="b"), add("$b")],
            ),
            bind("$all", "$r"),
        ],
        ["h", "b"],
    ),
    "each round binds it in one branch or the other": (
        [PAIR, each(branch("$x = 1", note("one", "$n"), otherwise=[note("two", "$n")]), out="$r")],
        ["one", "two"],
    ),
    "two steps of one branch bind it": (
        [parallel([note(1, "$n"), note("${n}2", "$n")], [note(3, "$m")]), note("${n}${m}", "$r")],
        "123",
    ),
    "a name that both branches of an if give": (
        [
            SEVEN,
            branch(bound("$seven"), note("t", "$a", name="slot"), otherwise=[note("e", "$b", name="slot")]),
            load("slot"),
        ],
        "t",
    ),
    "a name that every round replaces is that of the last": (
        [PAIR, each(note("${x}", "$y", name="slot", replace=True)), load("slot")],
        "2",
    ),
    "a round asks for the name that the one before deleted": (
        [
            PAIR,
            EMPTY,
            note("here", "$k", name="slot"),
            each(either(bound("slot")), add("$r"), branch(bound("slot"), remove("slot"))),
            bind("$all", "$r"),
        ],
        ["yes", "no"],
    ),
    "an alias in a loop changes what stands outside": (
        [PAIR, note("a", "$n"), each(bind("$n", "$m"), update("$m", "${m}${x}")), note("${n}", "$r")],
        "a12",
    ),
    "an alias is handed to a saved plan as what it stands for": (
        [note("a", "$a"), bind("$a", "$b"), {"type": "plan:stamp", "arguments": {"n": "$b"}}, note("${a}", "$r")],
        "a!",
    ),
    "map with a saved plan": ([PAIR, mapped({"type": "plan:double", "arguments": {"n": "$item"}})], ["1 1", "2 2"]),
    "map with coerce": (
        [
            {"type": "create-collection", "value": ["1", "2"], "out": "$pair"},
            mapped({"type": "coerce", "coercion": "int"}),
        ],
        [1, 2],
    ),
    "map with a tool that only reads": ([PAIR, mapped(tool("give", value="<${item}>"))], ["<1>", "<2>"]),
    "map with relations": (
        [
            PAIR,
            SEVEN,
            mapped({"type": "create-relation", "source": "$item", "target": "$seven", "relation": "of"}, out="$all"),
            {"type": "size", "target": "$all", "out": "$r"},
        ],
        2,
    ),
    "two maps side by side": (
        [
            PAIR,
            parallel([mapped(tool("give", value="a${item}"), out="$a")], [mapped(tool("give", value="b"), out="$b")]),
            note("${a[0]}${a[1]} ${b[1]}", "$r"),
        ],
        "a1a2 b",
    ),
    "a saved plan in a while in a loop": (
        [PAIR, each(note("x", "$s"), rounds("length($s) < 5", double("$s", "$s")), out="$r")],
        ["x x x x", "x x x x"],
    ),
    "a stop in a saved plan ends that alone, in every round": (
        [PAIR, each({"type": "plan:halt", "arguments": {"n": "$x"}, "out": "$y"}, out="$r")],
        ["1 stopped", "2 stopped"],
    ),
    "a saved plan in each of two branches writes in their order": (
        [
            EMPTY,
            note("a", "$a"),
            note("b", "$b"),
            parallel(*([{"type": "plan:append", "arguments": {"to": "$all", "n": name}}] for name in ("$a", "$b"))),
            bind("$all", "$r"),
        ],
        ["a a", "b b"],
    ),
}

SAVED: dict[str, dict[str, Any]] = {
    "double": {"inputs": {"n": {}}, "steps": [note("${n} ${n}", "$twice")], "result": "$twice"},
    "append": {
        "inputs": {"to": {"kind": "Collection"}, "n": {}},
        "steps": [double("$n"), add("$y", "$to")],
    },
    "twice_each": {
        "inputs": {"rows": {"kind": "Collection"}},
        "steps": [{"type": "for-each", "target": "$rows", "as": "$x", "do": [double("$x")], "out": "$found"}],
        "result": "$found",
    },
    "stamp": {"inputs": {"n": {"kind": "Note"}}, "steps": [update("$n", "${n}!")]},
    "halt": {"inputs": {"n": {}}, "steps": [{"type": "stop", "value": "${n} stopped"}, note("never", "$z")]},
    "cut": {
        "inputs": {"n": {}},
        "steps": [note("$n", "$kept"), load("$kept", "$part", slice="0:1")],
        "result": "$part",
    },
}


@pytest.mark.parametrize("name", PLANS)
def test_the_outcome_of_a_written_plan(space: Space, name: str) -> None:
    """As it stands there: the value that `$r` ends with."""
    add_tools(space)
    for saved, plan in SAVED.items():
        save_plan(space, saved, plan)
    steps, outcome = PLANS[name]
    result = run_sync(space, {"steps": steps, "result": "$r"})
    assert result.status == "success", (result.reason, result.problems)
    assert result.result is not None
    assert result.result.data == outcome
    assert space.store.check() == []


REFUSED: dict[str, tuple[list[Any], str, str]] = {
    "two branches bind one variable": (
        [parallel([note("first", "$n")], [note("second", "$n")])],
        "bound-twice",
        "/0/branches/1/0/out",
    ),
    "a branch binds what is bound before, and another branch too": (
        [note("before", "$n"), parallel([note("first", "$n")], [note("second", "$n")])],
        "bound-twice",
        "/1/branches/1/0/out",
    ),
    "what a branch deletes is read after it by its name": (
        [note(1, "$a", name="slot"), parallel([remove("slot")], [note(2, "$b")]), load("slot")],
        "deleted",
        "/2/target",
    ),
    "what a branch deletes is read after it by its variable": (
        [note(1, "$a"), parallel([remove("$a")], [note(2, "$b")]), load("$a")],
        "deleted",
        "/2/target",
    ),
    "what a branch deletes is read after it by an alias": (
        [note(1, "$a"), bind("$a", "$b"), parallel([remove("$a")], [note(2, "$c")]), load("$b")],
        "deleted",
        "/3/target",
    ),
    "a branch knows no name that another gives": (
        [parallel([note("first", "$a", name="slot")], [load("slot")])],
        "unknown-name",
        "/0/branches/1/0/target",
    ),
    "what a loop binds is not there after it": (
        [PAIR, each(note("${x}", "$y")), note("${y}", "$r")],
        "unbound-variable",
        "/2/value",
    ),
    "what a saved plan binds is not there after it": (
        [PAIR, each(double("$x")), note("${twice}", "$r")],
        "unbound-variable",
        "/2/value",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_written_plan_is_refused_before_anything_happens(space: Space, name: str) -> None:
    """With the problem of this code, at this place."""
    for saved, plan in SAVED.items():
        save_plan(space, saved, plan)
    steps, code, pointer = REFUSED[name]
    result = run_sync(space, steps)
    assert (result.status, result.steps) == ("refused", ())
    assert (code, pointer) in [(one.code, one.pointer) for one in result.problems if one.severity == "error"]
