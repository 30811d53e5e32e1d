"""Texts that look like references and are none: warned of where the variable is bound, with the right form."""

from __future__ import annotations

import random
from typing import Any

import pytest

from planner.language.references import Literal, literal, read_text

X = {"type": "create-note", "value": {"f": "T", "n": 2}, "out": "$x"}


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("{{x.f}}", "`$x.f` is the value; `${x.f}` is the text of $x.f"),
        ("about {{ x.f }}", "`${x.f}` is the text of $x.f"),
        ("about {{ x.f | upper }}", "`${x.f}` is the text of $x.f"),
        ("$.x.f", "`$x.f` is the value; `${x.f}` is the text of $x.f"),
        ("it is $.x.f.", "`${x.f}` is the text of $x.f"),
        ("<x.f>", "`$x.f` is the value; `${x.f}` is the text of $x.f"),
        ("a <x.f> b", "`${x.f}` is the text of $x.f"),
        ("<x>", "`$x` is the value; `${x}` is the text of $x"),
        ("Pa$$x", "`${x}` is the text of $x"),
        ("US$x.f", "`${x.f}` is the text of $x.f"),
    ],
)
def test_what_looks_like_a_reference_is_warned_of_with_the_right_form(warnings: Any, written: str, hint: str) -> None:
    """At any depth, and in conditions; there is no fix, since the text may be meant."""
    [found] = warnings([X, {"type": "say", "value": "${x}"}, {"type": "say", "value": written}])
    assert (found.code, found.severity, found.pointer) == ("no-reference", "warning", "/2/value")
    assert (found.hint, found.fix) == (hint, None)
    condition = {"type": "equals", "target": "$x.f", "value": written}
    [found] = warnings([X, {"type": "if", "condition": condition, "then": [{"type": "say", "value": "y"}]}])
    assert (found.code, found.pointer) == ("no-reference", "/1/condition/value")


@pytest.mark.parametrize(
    "written",
    ["{{y.f}}", "$.y", "<y.f>", "a <x> b", "Pa$$w0rd", "$$x", "$${x}", "${$}{x}", "{x.f}", "<b>x</b>", "{{ }}", "$ x"],
)
def test_what_nothing_is_bound_to_or_reads_as_meant_is_not(warnings: Any, written: str) -> None:
    """Nor a tag in the middle of a text."""
    found = warnings([X, {"type": "say", "value": "${x}"}, {"type": "say", "value": written}])
    assert found == []


def test_patterns_schemas_and_keys_are_not_looked_into(warnings: Any) -> None:
    """They are literal."""
    condition = {"type": "matches_pattern", "target": "$x.f", "pattern": "a$x"}
    asked = {"type": "ask", "value": "which?", "schema": {"enum": ["{{x.f}}"]}, "out": "$y", "expect": "{{x}}"}
    then = [asked, {"type": "say", "value": {"{{x.f}}": "$y"}}]
    assert warnings([X, {"type": "if", "condition": condition, "then": then}]) == []


def test_where_it_makes_an_error_the_error_has_the_hint_and_is_the_only_problem(space: Any) -> None:
    """One mistake, one problem: of a number, of a resource, of a tool's argument."""
    from planner.execute.start import check_plan

    rows = {"type": "create-collection", "value": [1, 2], "out": "$rows"}
    for step, key in (
        ({"type": "head", "target": "$rows", "count": "{{x.n}}", "out": "$some"}, "count"),
        ({"type": "size", "target": "{{rows}}", "out": "$some"}, "target"),
    ):
        found = check_plan(space, [X, rows, step, {"type": "say", "value": "${some}${x}${rows}"}])[1].found
        assert [(p.severity, p.pointer) for p in found] == [("error", f"/2/{key}")]
        assert "`$" in str(found[0].hint)


def test_a_text_that_is_written_as_a_literal_is_read_as_itself() -> None:
    """Whatever dollars, braces and names it has."""
    chance = random.Random(3)  # noqa: S311 - no secret
    for _ in range(20_000):
        text = "".join(chance.choice("$$${}x_1 é.") for _ in range(chance.randint(0, 8)))
        assert read_text(literal(text)) == Literal(text), text  # type: ignore[arg-type]
