"""A step's `name`: a name belongs to one resource of the space, and naming keeps."""

from __future__ import annotations

from typing import Any

import pytest

MAKE = {"type": "create-note", "value": {"title": "Weekly"}, "out": "$x"}


@pytest.mark.parametrize("name", ["", "  ", "Note_12", "run_3", "Collection_1", "x" * 201, "tab\there"])
def test_what_cannot_be_a_name_is_refused_before_anything_runs(run: Any, name: str) -> None:
    """At the name, with one problem."""
    ran = run(MAKE | {"name": name}, status="refused")
    errors = [problem for problem in ran.result.problems if problem.severity == "error"]
    assert [problem.pointer for problem in errors] == ["/steps/0/name"]


@pytest.mark.parametrize("name", ["a", "_queue", "Straße", "x" * 200, "Note 12", "note_12", "a/b?c"])
def test_anything_else_can_be_a_name(run: Any, name: str) -> None:
    """It is found again by it."""
    run(MAKE | {"name": name})
    assert run({"type": "load", "target": name, "out": "$y"}).resource("y").name == name


def test_a_name_may_be_put_together_and_is_checked_when_the_step_runs(run: Any) -> None:
    """A name that turns out wrong fails the step, and what it made is not kept."""
    ran = run(MAKE, {"type": "persist", "target": "$x", "name": "${x.title} report", "out": "$y"})
    assert ran.resource("y").name == "Weekly report"
    bad = {"type": "create-note", "value": "Note_7", "out": "$bad"}
    ran = run(bad, {"type": "create-note", "value": 1, "name": "$bad", "out": "$y"}, status="failed")
    assert "has the form of an id" in ran.reason
    assert "y" not in ran.result.bindings


def test_naming_again_is_no_conflict_with_itself(run: Any) -> None:
    """A second name takes the place of the first."""
    ran = run(
        MAKE | {"name": "one"},
        {"type": "persist", "target": "$x", "name": "two"},
        {"type": "persist", "target": "$x", "name": "two", "replace": True},
    )
    assert ran.resource("x").name == "two"
    assert run({"type": "load", "target": "two", "out": "$y"}).resource("y").id == ran.resource("x").id
    run({"type": "load", "target": "one", "out": "$y"}, status="refused")


def test_one_name_is_for_all_kinds(run: Any) -> None:
    """A Collection cannot have the name of a Note."""
    run(MAKE | {"name": "thing"})
    ran = run({"type": "create-collection", "value": [], "name": "thing", "out": "$c"}, status="refused")
    assert "'thing'" in ran.result.problems[0].message
