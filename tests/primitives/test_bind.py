"""`bind`: another variable for the same resource."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("target", ["$x", "thing", "$list[0]", "$list"])
def test_an_alias_is_the_same_resource(run: Any, target: str) -> None:
    """No copy is made, whichever way the resource is written."""
    ran = run(
        {"type": "create-note", "value": {"title": "A"}, "name": "thing", "out": "$x"},
        {"type": "create-collection", "value": ["$x"], "out": "$list"},
        {"type": "bind", "target": target, "out": "$y"},
    )
    assert ran.resource("y").id == ran.resource("list" if target == "$list" else "x").id


def test_a_place_in_content_becomes_a_transient_note(run: Any) -> None:
    """A resource is wanted, so that the value gets one."""
    ran = run(
        {"type": "create-note", "value": {"title": ["A", "B"]}, "name": "thing", "out": "$x"},
        {"type": "bind", "target": "$x.title[-1]", "out": "$y"},
    )
    assert ran.content("y") == "B"
    assert not ran.resource("y").kept


def test_a_binding_does_not_keep(run: Any) -> None:
    """`bind` is pure."""
    ran = run({"type": "create-note", "value": 1, "out": "$x"}, {"type": "bind", "target": "$x", "out": "$y"})
    assert not ran.resource("y").kept


def test_naming_the_alias_names_the_resource(run: Any) -> None:
    """The step's `name` goes to what it gives, which is the resource itself."""
    ran = run(
        {"type": "create-note", "value": 1, "out": "$x"},
        {"type": "bind", "target": "$x", "name": "one", "out": "$y"},
    )
    assert ran.resource("x").name == "one"


def test_what_nothing_is_called_is_refused(run: Any) -> None:
    """The nearest name is offered."""
    run({"type": "create-note", "value": 1, "name": "reading list"})
    ran = run({"type": "bind", "target": "reading lst", "out": "$y"}, status="refused")
    assert "reading list" in (ran.result.problems[0].hint or "")
