"""What forms leave in the journal: how they failed, what they read, also where the run rested within them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from infospace import Space
from infospace.journal.rows import StepRow
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer, resume
from planner.parse.saved_plans import save_plan

LIST = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
ASK = {"type": "ask", "value": "Which?", "out": "$y"}
FAILS = {"type": "coerce", "target": "$item", "coercion": "${item}", "out": "$r"}


@pytest.fixture
def broken(space: Space) -> None:
    """A tool with a bug."""
    outside = LocalTools("outside")

    @outside.tool(read_only=True)
    def divide() -> int:
        """Divide by nothing."""
        return 1 // 0

    space.tools.add(outside)


def journal(space: Space, result: RunResult) -> dict[str, StepRow]:
    with space.store.reading() as snapshot:
        return {row.position: row for row in snapshot.steps(str(result.run))}


@pytest.mark.usefixtures("broken")
def test_a_bug_within_a_map_is_the_bug_of_the_step(space: Space) -> None:
    """With its traceback, however its failures are handled."""
    for on_fail in ("stop", "continue", [{"type": "create-note", "value": 1, "out": "$r"}]):
        result = run_sync(
            space, [LIST, {"type": "map", "target": "$c", "operation": {"type": "outside/divide"}, "on_fail": on_fail}]
        )
        row = journal(space, result)["2"]
        assert (result.status, row.status, row.error) == ("failed", "failed", "bug")
        assert "ZeroDivisionError" in str(row.trace)
        assert str(row.reason).startswith("item 1 (Note_")


@pytest.mark.usefixtures("broken")
def test_a_bug_of_what_handles_a_failure_ends_the_loop(space: Space) -> None:
    """No later item is begun, whatever its handler would do."""
    loop = {"type": "for-each", "target": "$c", "do": [FAILS], "on_fail": [{"type": "outside/divide"}], "collect": "$r"}
    result = run_sync(space, [LIST, loop])
    rows = journal(space, result)
    assert (result.status, rows["2"].error) == ("failed", "bug")
    assert "outside/divide has a bug (ZeroDivisionError)" in str(rows["2"].reason)
    assert "2.do[2].1" not in rows


def test_what_a_handler_supplies_takes_the_place_of_what_the_item_gave(space: Space) -> None:
    """Not what the item had bound before it failed, where its handler binds nothing."""
    first = {"type": "create-note", "value": "${item} first", "out": "$r"}
    fails = {**FAILS, "out": "$other"}
    for handler, gave in (
        ([{"type": "create-note", "value": "${item} instead", "out": "$r"}], ["a instead", "b instead"]),
        ([{"type": "say", "value": "${item}"}], []),
    ):
        loop = {"type": "for-each", "target": "$c", "do": [first, fails], "on_fail": handler, "collect": "$r"}
        result = run_sync(space, {"steps": [LIST, {**loop, "out": "$all"}], "result": "$all"})
        assert result.result is not None, (result.reason, result.problems)
        assert result.result.data == gave
        failed = journal(space, result)["2"].extra["failed"]
        assert isinstance(failed, list)
        assert len(failed) == 2 - len(gave)


def test_a_handler_that_leaves_the_item_as_it_was_supplies_nothing(space: Space) -> None:
    """Where the loop collects its items; one that binds the item anew does."""
    for handler, gave in (
        ([{"type": "say", "value": "${item}"}], []),
        ([{"type": "create-note", "value": "${item} instead", "out": "$item"}], ["a instead", "b instead"]),
    ):
        loop = {"type": "for-each", "target": "$c", "do": [FAILS], "on_fail": handler, "collect": "$item"}
        result = run_sync(space, {"steps": [LIST, {**loop, "out": "$all"}], "result": "$all"})
        assert result.result is not None, (result.reason, result.problems)
        assert result.result.data == gave


@pytest.mark.parametrize(
    ("stop", "with_"), [({}, ""), ({"value": {"n": 1}}, ', with {"n":1}')], ids=["without a value", "with one"]
)
def test_a_saved_plan_that_stops_as_failed_says_with_what(space: Space, stop: Any, with_: str) -> None:
    save_plan(space, "stops", [{"type": "stop", "status": "failed", **stop}])
    result = run_sync(space, [{"type": "plan:stops"}])
    assert result.status == "failed"
    row = journal(space, result)["1"]
    assert row.error == "stopped"
    assert row.reason == f"the saved plan 'stops': step 1/1 stopped the plan{with_}"


FORMS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "if": lambda do: {"type": "if", "condition": "$n.go = true", "then": do},
    "while": lambda do: {
        "type": "while",
        "condition": "$n.go = true",
        "body": [*do, {"type": "update-note", "target": "$n", "value": {"go": False}}],
    },
    "while of two": lambda do: {
        "type": "while",
        "condition": {"type": "and", "of": ["$n.go = true", {"type": "has_value", "target": "$m"}]},
        "body": [*do, {"type": "update-note", "target": "$n", "value": {"go": False}}],
    },
    "for-each": lambda do: {"type": "for-each", "target": "$c", "do": do},
    "until": lambda do: {"type": "for-each", "target": "$c", "do": do, "until": "$n.go = true"},
    "plan": lambda _do: {"type": "plan:asks", "arguments": {"of": "$n.go"}},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_within_which_a_run_rested_has_read_what_it_had_read_before(space: Space, form: str) -> None:
    """As much as one that was gone through at once, with the same answers."""
    save_plan(space, "asks", {"inputs": {"of": {}}, "steps": [ASK]})
    save_plan(space, "says", {"inputs": {"of": {}}, "steps": [{"type": "say", "value": "${of}"}]})
    notes = [
        {"type": "create-note", "value": {"go": True}, "out": "$n"},
        {"type": "create-note", "value": 1, "out": "$m"},
    ]
    asks, says = FORMS[form]([ASK]), FORMS[form]([{"type": "say", "value": "yes"}])
    says = {**says, "type": "plan:says"} if form == "plan" else says
    at_once = run_sync(space, [*notes, LIST, says])
    assert at_once.status == "success", (at_once.reason, at_once.problems)
    rested = run_sync(space, [*notes, LIST, asks])
    while rested.status == "suspended":
        answer(space, str(rested.run), rested.pending[0].step, 1)
        rested = asyncio.run(resume(space, str(rested.run)))
    assert rested.status == "success", rested.reason

    def read(result: RunResult) -> list[Any]:
        names = {resource.id: name for name, resource in result.bindings.items()}
        uses = journal(space, result)["4"].uses
        return sorted((names[use.id], use.version) for use in uses if use.id in names)

    assert read(rested) == read(at_once) != []


def test_a_choice_that_had_nothing_to_do_stays_as_it_was_made(space: Space) -> None:
    """Though its condition would be met by what came after it, when the run goes on."""
    choice = {"type": "if", "condition": "$n.go = true", "then": [{"type": "say", "value": "go"}]}
    note = {"type": "create-note", "value": {"go": False}, "out": "$n"}
    rested = run_sync(space, [note, choice, {"type": "update-note", "target": "$n", "value": {"go": True}}, ASK])
    assert rested.status == "suspended"
    answer(space, str(rested.run), "4", 1)
    result = asyncio.run(resume(space, str(rested.run)))
    assert (result.status, [row.position for row in result.steps]) == ("success", ["1", "2", "3", "4"])
    assert journal(space, result)["2"].value == "else: nothing to do"
