"""What the journal has of steps that fail or are skipped: the status, the kind of failure, and the whole sentence."""

from __future__ import annotations

import re
from typing import Any

import pytest

from infospace import Space
from planner.execute.start import run_sync
from planner.parse.saved_plans import save_plan

SEVEN: dict[str, Any] = {"type": "create-note", "value": 7, "out": "$n"}
CUT: dict[str, Any] = {"type": "compute", "expression": "1 / ($n - 7)", "out": "$part"}
"""Divides by zero, which the check cannot know."""
ABOUT = "`1 / ($n - 7)` divides by zero: 1 and 0 (CASE WHEN … THEN … END decides before)"
IS_SEVEN = {"type": "equals", "target": "$n", "value": 7}
ENDLESS: dict[str, Any] = {"type": "while", "condition": IS_SEVEN, "body": [SEVEN], "max_iterations": 2}
LISTED: dict[str, Any] = {"type": "create-collection", "value": [1, "two"], "out": "$c"}
EACH: dict[str, Any] = {"type": "for-each", "target": "$c", "as": "$item", "out": "$r"}
MAPPED: dict[str, Any] = {"type": "map", "target": "$c", "out": "$r"}
ABOUT_ITEM = ABOUT.replace("$n - 7", "$item - 1")
STILL_HOLDS = "its condition still holds after {}, which `max_iterations` allows"
LOST = "is not bound: step {} failed and was passed over"
TEXT_AND_NUMBER = (
    '`$d >= 9` compares text with number: "two" and 9 '
    "(CAST(… AS number) makes a number of a text, CAST(… AS text) a text of a number)"
)
SAVED: dict[str, dict[str, Any]] = {
    "cut": {"steps": [SEVEN, CUT]},
    "no": {"steps": [{"type": "stop", "status": "failed"}]},
    "no more": {"steps": [{"type": "stop", "status": "failed", "value": "not today"}]},
    "nothing": {"steps": [SEVEN, {**CUT, "on_fail": "continue"}], "result": "$part"},
}


def saved(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"plan:{name}", "arguments": {}, "out": "$r", **fields}


FAILING: dict[str, tuple[list[Any], list[tuple[str, str, str, str]]]] = {
    "then": (
        [SEVEN, {"type": "if", "condition": IS_SEVEN, "then": [CUT]}],
        [
            ("2", "failed", "mismatch", f"step 2.then.1 (compute) failed: {ABOUT}"),
            ("2.then.1", "failed", "mismatch", ABOUT),
        ],
    ),
    "else": (
        [SEVEN, {"type": "if", "condition": {"type": "not", "of": IS_SEVEN}, "then": [SEVEN], "else": [CUT]}],
        [
            ("2", "failed", "mismatch", f"step 2.else.1 (compute) failed: {ABOUT}"),
            ("2.else.1", "failed", "mismatch", ABOUT),
        ],
    ),
    "a round of a while": (
        [SEVEN, {"type": "while", "condition": IS_SEVEN, "body": [CUT, SEVEN]}],
        [
            ("2", "failed", "mismatch", f"iteration 1: step 2.body[1].1 (compute) failed: {ABOUT}"),
            ("2.body[1].1", "failed", "mismatch", ABOUT),
        ],
    ),
    "too many rounds": (
        [SEVEN, ENDLESS],
        [("2", "failed", "iterations", STILL_HOLDS.format("2 iterations"))],
    ),
    "one round too many": (
        [SEVEN, {**ENDLESS, "max_iterations": 1}],
        [("2", "failed", "iterations", STILL_HOLDS.format("1 iteration"))],
    ),
    "a branch": (
        [SEVEN, {"type": "parallel", "branches": [[CUT], [{"type": "create-note", "value": 1, "out": "$one"}]]}],
        [
            ("2", "failed", "mismatch", f"step 2.branches[1].1 (compute) failed: {ABOUT}"),
            ("2.branches[1].1", "failed", "mismatch", ABOUT),
        ],
    ),
    "a saved plan": (
        [saved("cut")],
        [
            ("1", "failed", "mismatch", f"the saved plan 'cut': step 1/2 (compute) failed: {ABOUT}"),
            ("1/2", "failed", "mismatch", ABOUT),
        ],
    ),
    "a saved plan that stops": (
        [saved("no")],
        [("1", "failed", "stopped", "the saved plan 'no': step 1/1 stopped the plan")],
    ),
    "a saved plan that stops with an answer": (
        [saved("no more")],
        [("1", "failed", "stopped", "the saved plan 'no more': step 1/1 stopped the plan, with not today")],
    ),
    "a saved plan without its result": (
        [saved("nothing")],
        [
            ("1", "failed", "unbound", f"the saved plan 'nothing' has no result: $part {LOST.format('1/2')}"),
            ("1/2", "failed", "mismatch", ABOUT),
        ],
    ),
    "until": (
        [LISTED, {**EACH, "do": [{"type": "bind", "target": "$item", "out": "$d"}], "until": "$d >= 9"}],
        [("2", "failed", "mismatch", f"`until` after item 2 (NOTE): {TEXT_AND_NUMBER}")],
    ),
    "an item": (
        [{**LISTED, "value": [3, 1, 2]}, {**EACH, "do": [{**CUT, "expression": "1 / ($item - 1)"}]}],
        [
            ("2", "failed", "mismatch", f"item 2 (NOTE): step 2.do[2].1 (compute) failed: {ABOUT_ITEM}"),
            ("2.do[2].1", "failed", "mismatch", ABOUT_ITEM),
        ],
    ),
    "an item of a map": (
        [{**LISTED, "value": [3, 1, 2]}, {**MAPPED, "operation": {"type": "compute", "expression": "1 / ($item - 1)"}}],
        [("2", "failed", "mismatch", f"item 2 (NOTE): step 2[2] (compute) failed: {ABOUT_ITEM}")],
    ),
    "what is skipped for it": (
        [
            SEVEN,
            {**CUT, "on_fail": "continue"},
            {"type": "create-note", "value": "$part", "out": "$x"},
            {"type": "create-note", "value": "$x", "out": "$y"},
            {**CUT, "on_fail": "stop"},
        ],
        [
            ("2", "failed", "mismatch", ABOUT),
            ("3", "skipped", "unbound", f"$part {LOST.format('2')}"),
            (
                "4",
                "skipped",
                "unbound",
                "$x is not bound: step 3 was skipped, because step 2 failed and was passed over",
            ),
            ("5", "failed", "mismatch", ABOUT),
        ],
    ),
    "a step with a list for that, which fails as well": (
        [SEVEN, {**CUT, "on_fail": [CUT]}],
        [("2", "failed", "mismatch", ABOUT), ("2.on_fail.1", "failed", "mismatch", ABOUT)],
    ),
}
ENDS = {"what is skipped for it": "5", "a step with a list for that, which fails as well": "2.on_fail.1"}
"""Which of the rows ends the run, where it is not the first."""


@pytest.mark.parametrize("name", FAILING)
def test_what_the_journal_has_of_a_form_that_fails(space: Space, name: str) -> None:
    """The form and the step in it; the run ends with the sentence of the outermost."""
    for saved_name, document in SAVED.items():
        save_plan(space, saved_name, document)
    steps, expected = FAILING[name]
    result = run_sync(space, steps)
    rows = {row.position: row for row in result.steps if row.status != "success"}
    reasons = {position: re.sub(r"Note_\d+", "NOTE", row.reason or "") for position, row in rows.items()}
    assert [(one, row.status, row.error, reasons[one]) for one, row in rows.items()] == expected
    last = rows[ENDS.get(name, expected[0][0])]
    assert (result.status, result.reason) == ("failed", f"step {last.position} ({last.type}) failed: {last.reason}")
