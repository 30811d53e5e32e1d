"""`format` is asserted of answers, inputs and `validates`; of tools' arguments it is a warning."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Invalid, Space
from infospace.core.tool import Tool
from infospace.tools.local import LocalTools
from planner.execute.start import check_plan, run_sync
from planner.lifecycle.resume import answer, resume

sys.path.insert(0, str(Path(__file__).parents[1]))
from plangen.mistakes import note

DATE = {"type": "string", "format": "date"}
NOT = 'is not a date such as "2026-01-31"'


def test_an_input_has_its_format(run: Any, errors: Any) -> None:
    """Given, by default, in a table, and of a saved plan."""
    plan = {"inputs": {"day": DATE}, "steps": [note("$day", "$x")]}
    assert run(plan, day="2026-02-28").status == "success"
    refused = run(plan, day="2026-02-30")
    assert refused.status == "refused"
    assert [problem.pointer for problem in refused.problems] == ["/inputs/day"]
    assert f'"2026-02-30" {NOT}' in refused.problems[0].message
    [problem] = errors({**plan, "inputs": {"day": {**DATE, "default": "soon"}}})
    assert problem.pointer == "/inputs/day/default"
    rows = {"kind": "Collection", "items": {"type": "object", "properties": {"due": DATE}}}
    table = {"inputs": {"rows": rows}, "steps": [{"type": "size", "target": "$rows", "out": "$n"}]}
    refused = run(table, rows=[{"due": "2026-01-01"}, {"due": "1.1.2026"}])
    assert "row 2" in refused.problems[0].message
    assert NOT in refused.problems[0].message


def test_validates_asks_for_the_format(run: Any) -> None:
    """A text without it does not fit."""
    condition = {"type": "validates", "target": "$x", "schema": {"type": "object", "properties": {"d": DATE}}}
    step = {"type": "if", "condition": condition, "then": [note("yes", "$y")], "else": [note("no", "$y")]}
    assert run(note({"d": "2026-01-31"}), step).result.data == "yes"
    assert run(note({"d": "2026-01-32"}), step).result.data == "no"


def test_an_answer_has_its_format(space: Space) -> None:
    """One without it is refused, and the run goes on waiting."""
    ask = {"type": "ask", "value": "when?", "schema": DATE, "out": "$day"}
    waiting = run_sync(space, [ask])
    run = str(waiting.run)
    with pytest.raises(Invalid) as refused:
        answer(space, run, "1", "tomorrow")
    assert f'"tomorrow" {NOT}' in str(refused.value)
    answer(space, run, "1", "2026-01-31")
    done = asyncio.run(resume(space, run))
    assert (done.status, done.result and done.result.data) == ("success", "2026-01-31")


def test_a_tools_argument_without_its_format_is_a_warning(space: Space) -> None:
    """Servers differ in what they assert."""

    class Dated(LocalTools):
        def tools(self) -> list[Tool]:
            schema = {"type": "object", "properties": {"day": DATE, "days": {"type": "array", "items": DATE}}}
            return [Tool("far", "take", "", schema, None, read_only=True)]

    space.tools.add(Dated("far"))

    def found(**arguments: Any) -> list[tuple[str, str, str]]:
        steps = [note("2026-01-31", "$x"), {"type": "far/take", "arguments": {"day": "$x", **arguments}}]
        return [(one.severity, one.pointer, one.message) for one in check_plan(space, steps)[1].found]

    assert found(days=["2026-01-31", "$x"]) == []
    assert found(days=["soon", "$x"]) == [("warning", "/1/arguments/days/0", f'far/take: "soon" {NOT}')]
    assert [one[0] for one in found(days=[3, "soon"])] == ["error", "warning"]


def test_a_format_is_looked_at_through_references(space: Space) -> None:
    """As far as the plan itself has what is read: whole, in a list, at a place."""

    class Dated(LocalTools):
        def tools(self) -> list[Tool]:
            schema = {"type": "object", "properties": {"day": DATE, "days": {"type": "array", "items": DATE}}}
            return [Tool("far", "take", "", schema, None, read_only=True)]

    space.tools.add(Dated("far"))

    def found(value: Any, **arguments: Any) -> list[tuple[str, str, str]]:
        steps = [note(value, "$x"), {"type": "far/take", "arguments": arguments}]
        return [(one.severity, one.pointer, one.message) for one in check_plan(space, steps)[1].found]

    assert found("soon", day="$x") == [("warning", "/1/arguments/day", f'far/take: `$x` "soon" {NOT}')]
    assert found({"d": "soon"}, days=["2026-01-31", "$x.d"]) == [
        ("warning", "/1/arguments/days/1", f'far/take: `$x.d` "soon" {NOT}')
    ]
    assert found(["2026-01-31", "soon"], days="$x") == [
        ("warning", "/1/arguments/days", f'far/take: `$x` "soon" {NOT}')
    ]
    assert found(["2026-01-31"], days="$x") == found("2026-01-31", day="$x") == []
