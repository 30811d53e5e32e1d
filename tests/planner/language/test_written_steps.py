"""Each position under which a step was executed leads back to the step as it was written."""

from __future__ import annotations

from typing import Any

import pytest

from infospace import Space
from planner.execute.start import run_sync
from planner.parse.positions import written_step
from planner.parse.saved_plans import save_plan

MAKE: dict[str, Any] = {"type": "create-collection", "value": ["1", "x"], "out": "$c"}
FAIL: dict[str, Any] = {"type": "bind", "target": "$c[5]", "out": "$z"}


def say(text: str, **fields: Any) -> dict[str, Any]:
    """A step that says something."""
    return {"type": "say", "value": text, **fields}


STEPS: list[dict[str, Any]] = [
    MAKE,
    {
        "type": "if",
        "condition": {"type": "bound", "target": "$c"},
        "then": [say("then"), say("named", id="inner")],
        "else": [say("never")],
    },
    {"type": "if", "condition": {"type": "notbound", "target": "$c"}, "then": [say("never")], "else": [say("else")]},
    {"type": "for-each", "target": "$c", "as": "$i", "do": [say("do"), {**MAKE, "out": "$d"}]},
    {"type": "parallel", "branches": [[say("first")], [say("second"), say("third")]]},
    {**FAIL, "on_fail": [say("handled"), {"type": "think", "value": "twice"}]},
    {**FAIL, "out": "$y", "retry": {"attempts": 2, "wait_s": 0}, "on_fail": [say("after two")]},
    {
        "type": "map",
        "target": "$c",
        "operation": {"type": "coerce", "coercion": "int"},
        "out": "$m",
        "on_fail": [say("of an item")],
    },
    {"type": "plan:inner", "id": "called"},
]

INNER = {"steps": [{"type": "if", "condition": {"type": "notbound", "target": "$q"}, "then": [say("inside")]}]}


@pytest.mark.parametrize("document", [STEPS, {"steps": STEPS}, {"plan": STEPS}], ids=["list", "steps", "plan"])
def test_every_position_of_a_run_leads_to_its_step(space: Space, document: Any) -> None:
    """In branches, bodies, handlers, attempts, items and saved plans."""
    save_plan(space, "inner", INNER)
    result = run_sync(space, document)
    assert result.status == "success", (result.reason, result.problems)
    with space.store.reading() as snapshot:
        run, rows = snapshot.run(result.run or ""), snapshot.steps(result.run or "")
    found = {row.position: written_step(run, row.position) for row in rows}
    assert {place: None if step is None else step["type"] for place, step in found.items()} == {
        row.position: row.type for row in rows
    }
    said = {place: step["value"] for place, step in found.items() if step is not None and step["type"] == "say"}
    assert said == {
        "2.then.1": "then",
        "2.then.inner": "named",
        "3.else.1": "else",
        "4.do[1].1": "do",
        "4.do[2].1": "do",
        "5.branches[1].1": "first",
        "5.branches[2].1": "second",
        "5.branches[2].2": "third",
        "6.on_fail.1": "handled",
        "7#2.on_fail.1": "after two",
        "8[2].on_fail.1": "of an item",
        "called/1.then.1": "inside",
    }
    assert {"7", "7#2"} <= found.keys()


@pytest.mark.parametrize("position", ["99", "2.else.9", "2.do[1].1", "5.branches[9].1", "1.on_fail.1", "1/1", "nobody"])
def test_a_position_that_the_document_has_not_leads_nowhere(space: Space, position: str) -> None:
    save_plan(space, "inner", INNER)
    result = run_sync(space, STEPS)
    with space.store.reading() as snapshot:
        assert written_step(snapshot.run(result.run or ""), position) is None
