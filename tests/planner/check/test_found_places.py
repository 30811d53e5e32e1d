"""Which places a condition has found, and where that is still known."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest

from infospace import Space
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan


def when(condition: Any, *then: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "if", "condition": condition, "then": list(then), **fields}


def rounds(condition: Any, *body: Any) -> dict[str, Any]:
    return {"type": "while", "condition": condition, "body": list(body), "max_iterations": 5}


def bound(name: str) -> dict[str, Any]:
    return {"type": "bound", "target": name}


def absent(name: str) -> dict[str, Any]:
    return {"type": "notbound", "target": name}


def join(word: str, *of: Any) -> dict[str, Any]:
    return {"type": word, "of": list(of)}


def has(target: str) -> dict[str, Any]:
    return {"type": "has_value", "target": target}


def blank(target: str) -> dict[str, Any]:
    return {"type": "empty", "target": target}


SAY = {"type": "say", "value": "here"}
STOP = {"type": "stop"}
LOOK = {"type": "sky/look", "out": "$d"}
PLACE = {"type": "say", "value": "${d.b}"}
DEEPER = {"type": "say", "value": "${d.b.k}"}
ASKED: dict[str, tuple[list[Any], list[str]]] = {
    "of nothing": ([PLACE], ["/1/value"]),
    "has_value: then": ([when(has("$d.b"), PLACE)], []),
    "has_value: else": ([when(has("$d.b"), SAY, **{"else": [PLACE]})], ["/1/else/0/value"]),
    "has_value: after it": ([when(has("$d.b"), SAY), PLACE], ["/2/value"]),
    "empty: then": ([when(blank("$d.b"), PLACE)], ["/1/then/0/value"]),
    "empty: else": ([when(blank("$d.b"), SAY, **{"else": [PLACE]})], []),
    "bound: then": ([when(bound("$d.b"), PLACE)], []),
    "notbound: else": ([when(absent("$d.b"), SAY, **{"else": [PLACE]})], []),
    "another place whose name begins alike": ([when(has("$d.bc"), PLACE)], ["/1/then/0/value"]),
    "a place in it": ([when(has("$d.b.k"), PLACE)], []),
    "an item of it": ([when(has("$d.b[0]"), PLACE)], []),
    "a place around it": ([when(has("$d.b"), DEEPER)], ["/1/then/0/value"]),
    "IS NOT NULL: then": ([when("$d.b IS NOT NULL", PLACE)], []),
    "IS NOT NULL: else": ([when("$d.b IS NOT NULL", SAY, **{"else": [PLACE]})], ["/1/else/0/value"]),
    "IS NULL: then": ([when("$d.b IS NULL", PLACE)], ["/1/then/0/value"]),
    "IS NULL: else": ([when("$d.b IS NULL", SAY, **{"else": [PLACE]})], []),
    "and: then": ([when(join("and", has("$d.b"), {"type": "equals", "target": "$d.b", "value": 1}), PLACE)], []),
    "or: then": ([when(join("or", has("$d.b"), has("$d.c")), PLACE)], ["/1/then/0/value"]),
    "bound anew since": ([when(has("$d.b"), LOOK, PLACE)], ["/1/then/1/value"]),
    "bound anew since in both branches": (
        [when(has("$d.b"), when(has("$d.a"), LOOK, **{"else": [LOOK]}), PLACE)],
        ["/1/then/1/value"],
    ),
    "bound anew since in one branch": ([when(has("$d.b"), when(has("$d.a"), LOOK), PLACE)], ["/1/then/1/value"]),
    "bound anew since in a loop": ([when(has("$d.b"), rounds(has("$d.a"), LOOK), PLACE)], ["/1/then/1/value"]),
    "not bound anew in a branch": ([when(has("$d.b"), when(has("$d.a"), SAY), PLACE)], []),
    "bound anew in each branch, and found": (
        [when(has("$d.a"), LOOK, when(absent("$d.b"), STOP), **{"else": [LOOK, when(absent("$d.b"), STOP)]}), PLACE],
        [],
    ),
    "found by one branch": ([when(has("$d.a"), when(absent("$d.b"), STOP)), PLACE], ["/2/value"]),
    "found where the plan goes on": ([when(absent("$d.b"), STOP), PLACE], []),
    "found where a loop ends": ([rounds(absent("$d.b"), LOOK), PLACE], []),
}


class Seen(TypedDict):
    """What looking gives: one field, and nothing is said of others."""

    a: str


@pytest.mark.parametrize("case", ASKED)
def test_a_place_is_there_where_a_condition_has_found_it(space: Space, case: str) -> None:
    """In an answer of a tool, which may have more than its schema lists; nowhere else."""
    sky = LocalTools("sky")

    @sky.tool(read_only=True)
    def look() -> Seen:
        """Look."""
        return {"a": "x"}

    space.tools.add(sky)
    steps, wrong = ASKED[case]
    found = [one for one in check_plan(space, [LOOK, *steps])[1].found if one.severity == "error"]
    assert [(one.code, one.pointer) for one in found] == [("unknown-field", pointer) for pointer in wrong]
