"""A name whose text only the run knows may be the one that a later step reads: that is doubted, and not refused."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.execute.start import check_plan, run_sync
from planner.parse.saved_plans import save_plan

ITEMS = {"type": "create-collection", "value": [{"n": 1, "who": "ann"}, {"n": 2, "who": "bob"}], "out": "$rows"}
PLAN = {"inputs": {"who": {"type": "string"}, "n": {"type": "integer"}, "yes": {"type": "boolean"}}}


OF_NAMES = ("maybe-unnamed", "unknown-name", "deleted")


def named(name: str) -> dict[str, Any]:
    return {"type": "create-note", "value": 1, "name": name}


def load(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "load", "target": name, "out": "$x", **fields}


def found(space: Space, *steps: Any) -> list[tuple[str, str, str]]:
    """Return what a check says of what is read by its name: severity, code, pointer."""
    problems = check_plan(space, {**PLAN, "steps": [*steps, {"type": "say", "value": "$x"}]})[1].found
    return [(one.severity, one.code, one.pointer) for one in problems if one.code in OF_NAMES]


MAY_BE = {
    "text within": ("item ${who}", "item ann"),
    "all of it": ("$who", "anything at all"),
    "a number": ("item ${n}", "item -3"),
    "true or false": ("${yes} it is", "true it is"),
    "two": ("${who} of ${n}", "ann of 7"),
    "a sign of patterns": ("a.b (${n})", "a.b (1)"),
    "another form of a letter": ("cafe\u0301 ${n}", "caf\u00e9 1"),
}
NEVER = {
    "other text before": ("item ${who}", "thing ann"),
    "other text behind": ("${who}'s", "ann"),
    "text for a number": ("item ${n}", "item three"),
    "neither true nor false": ("${yes} it is", "maybe it is"),
    "a sign of patterns": ("a.b ${n}", "axb 1"),
}


@pytest.mark.parametrize("name", MAY_BE)
def test_a_name_that_a_step_before_may_give_is_doubted(space: Space, name: str) -> None:
    given, read = MAY_BE[name]
    assert found(space, named(given), load(read)) == [("warning", "maybe-unnamed", "/steps/1/target")]


@pytest.mark.parametrize("name", NEVER)
def test_a_name_that_no_step_before_can_give_is_refused(space: Space, name: str) -> None:
    given, read = NEVER[name]
    assert found(space, named(given), load(read)) == [("error", "unknown-name", "/steps/1/target")]


def test_a_step_that_comes_after_gives_nothing(space: Space) -> None:
    assert found(space, load("item ann"), named("item ${who}")) == [("error", "unknown-name", "/steps/0/target")]


def test_what_the_plan_itself_puts_there_is_known(space: Space) -> None:
    seven = {"type": "create-note", "value": 7, "out": "$seven"}
    assert found(space, seven, named("item ${seven}"), load("item 7")) == [
        ("warning", "maybe-unnamed", "/steps/2/target")
    ]
    assert found(space, seven, named("item ${seven}"), load("item 8")) == [("error", "unknown-name", "/steps/2/target")]


def test_a_plan_that_names_each_item_and_reads_one_runs(space: Space) -> None:
    """Also where the first was read by a `query`, or as the items of a set."""
    each = {
        "type": "for-each",
        "target": "$rows",
        "as": "$row",
        "do": [{"type": "create-collection", "value": ["${row.who}"], "name": "list_${row.who}"}],
    }
    asked = {"type": "query", "sql": "SELECT * FROM list_bob", "out": "$x"}
    for read in (load("list_bob"), asked):
        [warning] = [one for one in check_plan(space, [ITEMS, each, read])[1].found if one.code != "never-read"]
        assert (warning.severity, warning.code) == ("warning", "maybe-unnamed")
        assert "'list_${row.who}'" in warning.message
    result = run_sync(space, [ITEMS, each, load("list_bob"), {"type": "size", "target": "$x"}])
    assert (result.status, result.result.data if result.result else None) == ("success", 1)


def test_a_name_that_was_given_up_may_come_back(space: Space) -> None:
    """It is not told as deleted, or renamed, then."""
    run_sync(space, [named("item ann"), named("item bob")])
    gone = [load("item ann"), {"type": "remove", "target": "$x"}]
    assert found(space, *gone, load("item ann"))[-1] == ("error", "deleted", "/steps/2/target")
    assert found(space, *gone, named("item ${who}"), load("item ann"))[-1] == (
        "warning",
        "maybe-unnamed",
        "/steps/3/target",
    )
    other = [load("item bob"), {"type": "name", "target": "$x", "name": "other"}]
    assert found(space, *other, load("item bob"))[-1] == ("error", "unknown-name", "/steps/2/target")
    assert found(space, *other, named("item ${who}"), load("item bob"))[-1][0] == "warning"


def test_a_saved_plan_may_give_it_too(space: Space) -> None:
    save_plan(space, "naming", {"inputs": {"who": {"type": "string"}}, "steps": [named("item ${who}")]})
    call = {"type": "plan:naming", "arguments": {"who": "$who"}}
    assert found(space, call, load("item ann")) == [("warning", "maybe-unnamed", "/steps/1/target")]
    assert found(space, call, load("thing ann")) == [("error", "unknown-name", "/steps/1/target")]


def test_a_name_that_is_there_is_no_doubt_and_a_misspelt_one_has_a_hint(space: Space) -> None:
    run_sync(space, [named("report")])
    assert found(space, named("${who}"), load("report")) == []
    [problem] = [
        one
        for one in check_plan(space, {**PLAN, "steps": [named("${who}"), load("reprot")]})[1].found
        if one.code == "maybe-unnamed"
    ]
    assert (problem.hint, problem.fix) == ("did you mean 'report'?", None)
