"""`compute`: the value of an expression over variables. What expressions mean is tested with their evaluator."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("$a.total * 2 + 1", 201),
        ("round($a.total * 1.19, 2)", 119),
        ("$a.name || ': ' || $a.total", "Ada: 100"),
        ("$a", {"total": 100, "name": "Ada"}),
        ("coalesce($a.discount, 0) + $a.total", 100),
        ("$a.discount IS NULL", True),
        ("CASE WHEN $a.total > 50 THEN 'high' ELSE 'low' END", "high"),
        ("NULL", None),
    ],
)
def test_an_expression_over_variables_gives_one_note(run: Any, expression: str, value: Any) -> None:
    note = {"type": "create-note", "value": {"total": 100, "name": "Ada"}, "out": "$a"}
    ran = run(note, {"type": "compute", "expression": expression, "out": "$x"})
    assert ran.content("x") == value
    assert dict(ran.resource("x").metadata) == {}


def test_an_operation_without_a_result_fails_the_step_or_gives_null(run: Any) -> None:
    """As `mismatch` says; what it counts is told."""
    steps: list[dict[str, Any]] = [
        {"type": "create-note", "value": '{"any": ["7"]}', "out": "$text"},
        {"type": "coerce", "target": "$text", "coercion": "json", "out": "$a"},
        {"type": "compute", "expression": "1 + $a.any[0]", "out": "$x"},
    ]
    reason = run(*steps, status="failed").reason
    assert '`1 + $a.any[0]` computes with number and text, not with numbers: 1 and "7"' in reason
    steps[2]["mismatch"] = "null"
    ran = run(*steps)
    assert ran.content("x") is None
    assert ran.last.extra == {"mismatches": 1}


def test_a_place_that_is_not_there_fails_the_step(run: Any) -> None:
    """It says which keys there are; `coalesce` and IS NULL admit it."""
    steps = [
        {"type": "create-note", "value": '{"b": 1}', "out": "$text"},
        {"type": "coerce", "target": "$text", "coercion": "json", "out": "$a"},
        {"type": "compute", "expression": "$a.total + 1", "out": "$x"},
    ]
    assert "`total` does not exist" in str(run(*steps, status="failed").reason)
    steps[2]["expression"] = "coalesce($a.total, 4) + 1"
    assert run(*steps).content("x") == 5
