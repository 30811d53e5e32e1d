"""What a request wants done, and what a tool does, are of a kind, or it is not said which."""

from __future__ import annotations

import pytest

from infospace.core.tool import Tool
from planner.metatools.chaining.actions import Action, action_of, conflict, requested_action


@pytest.mark.parametrize(
    ("request_", "action"),
    [
        ("show me the log", "read"),
        ("could you please remove the old entries", "delete"),
        ("I want to add a relation", "create"),
        ("I need a new folder", "create"),
        ("which branches were deleted", "read"),
        ("rename it", "change"),
        ("branch off", None),
        ("branch off and show it", None),
        ("the new releases", None),
        ("", None),
    ],
)
def test_a_verb_counts_where_it_commands(request_: str, action: Action | None) -> None:
    """A later one belongs to what the request is about."""
    assert requested_action(request_).action == action


@pytest.mark.parametrize(
    ("tool", "action"),
    [
        (Tool("s", "create_branch"), "create"),
        (Tool("s", "deleteUser"), "delete"),
        (Tool("s", "commit", "Records changes to the repository"), "create"),
        (Tool("s", "log", "Shows the commit logs"), "read"),
        (Tool("s", "status", "The state of things", read_only=True), "read"),
        (Tool("s", "status", "The state of things", read_only=True, annotated=False), None),
        (Tool("s", "checkout", "Switches branches"), None),
    ],
)
def test_a_tool_says_what_it_does_by_its_name_first(tool: Tool, action: Action | None) -> None:
    """Then by its description, then by what its server says of it."""
    assert action_of(tool) == action


def test_only_what_is_said_conflicts_and_making_is_not_told_from_changing() -> None:
    """As `save` and `write` are of both."""
    assert conflict("create", "read")
    assert conflict("delete", "create")
    assert not conflict("create", "change")
    assert not conflict("read", "read")
    assert not conflict(None, "read")
    assert not conflict("delete", None)
