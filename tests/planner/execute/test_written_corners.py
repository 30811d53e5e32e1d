"""Written plans of two rare things together: guards in loops, failures in branches, names and deletions in both."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import run_sync

sys.path.insert(0, str(Path(__file__).parent))
from plan_parts import LOST, PAIR, SEVEN, absent, add_tools, bound, each, either, joined, note, parallel, tool

EMPTY = {"type": "create-collection", "value": [], "out": "$all"}
LISTS = {"type": "create-collection", "value": [[5], 7], "out": "$pair"}
FIRST = {"type": "load", "target": "$x", "slice": "0:1", "out": "$y"}
"""Takes the first of `$x`: of the second of LISTS there is none."""
ALL = {"type": "bind", "target": "$all", "out": "$r"}


def add(value: str) -> dict[str, Any]:
    return {"type": "add", "target": "$all", "value": value}


def when(condition: Any, *then: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "if", "condition": condition, "then": list(then), **fields}


PLANS: dict[str, tuple[list[Any], Any]] = {
    "a guard of what a branch left unbound": (
        [SEVEN, parallel([LOST], [note(1, "$b")]), either(joined("and", bound("$b"), absent("$a")))],
        "yes",
    ),
    "not of an and of which one half is unbound": (
        [SEVEN, LOST, either(joined("not", joined("and", bound("$seven"), bound("$a"))))],
        "yes",
    ),
    "two nots are none": ([SEVEN, LOST, either(joined("not", joined("not", bound("$a"))))], "no"),
    "what an item leaves unbound is not that of the item before": (
        [LISTS, EMPTY, each(FIRST | {"on_fail": "continue"}, when(bound("$y"), add("$y")), filter_null=True), ALL],
        [[5]],
    ),
    "a handler in a round reads the item": (
        [LISTS, each(FIRST | {"on_fail": [note("none in ${x}", "$y")]}, out="$r")],
        [[5], "none in 7"],
    ),
    "an error of a round is that of its own item": (
        [
            {"type": "create-collection", "value": [6, 7], "out": "$pair"},
            EMPTY,
            each(FIRST | {"on_fail": [note("${error.step}", "$y")]}, add("$y")),
            ALL,
        ],
        ["3.do[1].1", "3.do[2].1"],
    ),
    "an inner loop reads the item of the outer one": (
        [
            PAIR,
            {"type": "create-collection", "value": ["a", "b"], "out": "$letters"},
            EMPTY,
            each({"type": "for-each", "target": "$letters", "as": "$l", "do": [note("${l}${x}", "$y"), add("$y")]}),
            ALL,
        ],
        ["a1", "b1", "a2", "b2"],
    ),
    "an inner loop of the same name hides the item until it has ended": (
        [
            PAIR,
            {"type": "create-collection", "value": ["a"], "out": "$letters"},
            EMPTY,
            each(
                {"type": "for-each", "target": "$letters", "as": "$x", "do": [note("in ${x}", "$y"), add("$y")]},
                note("out ${x}", "$z"),
                add("$z"),
            ),
            ALL,
        ],
        ["in a", "out 1", "in a", "out 2"],
    ),
    "a branch in a round deletes what the round made": (
        [
            PAIR,
            each(
                note("<${x}>", "$y"),
                parallel([{"type": "remove", "target": "$y"}], [note("kept ${x}", "$z")]),
                collect="$z",
                out="$r",
            ),
        ],
        ["kept 1", "kept 2"],
    ),
    "a name that a round gives is that of the last": (
        [PAIR, each(note("${x}", "$y", name="slot", replace=True)), {"type": "load", "target": "slot", "out": "$r"}],
        "2",
    ),
    "calls of nested branches in rounds write in the order of the items": (
        [
            PAIR,
            EMPTY,
            each(
                parallel([parallel([tool("give", "$a", value="a${x}"), add("$a")])], [note("b${x}", "$b"), add("$b")])
            ),
            ALL,
        ],
        ["a1", "b1", "a2", "b2"],
    ),
    "an until that holds at once ends after the first": (
        [PAIR, each(note("<${x}>", "$y"), out="$r", until={"type": "equals", "target": "$x", "value": 1})],
        ["<1>"],
    ),
    "an until that never holds takes all": (
        [PAIR, each(note("<${x}>", "$y"), out="$r", until={"type": "equals", "target": "$x", "value": 9})],
        ["<1>", "<2>"],
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_outcome_of_a_written_plan(space: Space, name: str) -> None:
    """As it stands there: the value that `$r` ends with."""
    add_tools(space)
    steps, outcome = PLANS[name]
    result = run_sync(space, {"steps": steps, "result": "$r"})
    assert result.status == "success", (result.reason, result.problems)
    assert result.result is not None
    assert result.result.data == outcome
    assert space.store.check() == []
