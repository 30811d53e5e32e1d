"""The prompt for a plan keeps to its bound, whatever is connected and whatever the space holds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from infospace import Space, open_space
from infospace.llm.model import Message, estimate
from infospace.tools.local import LocalTools
from planner import run_sync
from planner.goals.prompt import MAX_TOKENS, GoalProgress, planning_request

GOALS = (
    "which orders are overdue, by customer?",
    "keep a report of all notes about ranking as weekly",
    "join the tables of orders and customers, and sum up by month",
    "send each customer a mail with the open orders",
    "search the notes, extract names and dates, sort and compare them",
)


def connect(space: Space, count: int = 500, words: int = 12) -> None:
    """Connect tools that are much alike, each with a long description."""
    for place in range(0, count, 50):
        server = LocalTools(f"server{place}")
        for number in range(place, min(place + 50, count)):

            def tool(customer: str, month: int = 1, limit: int = 10, order_by: str = "date") -> list[str]:
                raise AssertionError

            tool.__name__ = f"orders_of_{number}"
            tool.__doc__ = f"List the orders of region {number}. " + "All open orders of a customer by month. " * words
            server.tool(read_only=True)(tool)
        space.tools.add(server)


def messages(space: Space, goal: str, standing: GoalProgress | None = None) -> list[Message]:
    return planning_request(space, goal, None, standing or GoalProgress()).messages


@pytest.fixture(scope="module")
def connected(sample_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    """The sample notes, with 500 tools."""
    path = tmp_path_factory.mktemp("connected") / "space.db"
    shutil.copy(sample_file, path)
    with open_space(path) as space:
        connect(space, words=1)
        yield space


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
def test_it_keeps_to_its_bound_with_500_tools(connected: Space, goal: str) -> None:
    """The tools nearest to the goal are named for all that."""
    found = messages(connected, goal)
    assert estimate(found) <= MAX_TOKENS
    assert "server" in found[1]["content"]


def test_it_keeps_to_its_bound_whatever_things_are_called(space: Space) -> None:
    """Long names, many properties, long values, and a run that did much."""
    connect(space, 60, words=200)
    long = "a long name of something " * 30
    for number in range(45):
        metadata = {f"property {number} {long}": long, "status": "open"}
        made = {"type": "create-note", "value": "x", "metadata": metadata, "name": f"{number} {long}"[:200]}
        assert run_sync(space, [made]).status == "success"
    bound = {f"variable_{number}_{'x' * 50}": "Note_1" for number in range(200)}
    standing = GoalProgress("\n".join([long] * 8), bound, {"turns": 3})
    for goal in GOALS:
        found = messages(space, goal, standing)
        assert estimate(found) <= MAX_TOKENS
        assert found[1]["content"].endswith(f"Goal:\n{goal}")


def test_a_long_goal_is_told_whole(space: Space) -> None:
    """It is the one part that is never cut: the bound is that of what stands around it."""
    goal = "count the notes. " * 1_100
    found = messages(space, goal)
    assert found[1]["content"].endswith(f"Goal:\n{goal}")
    assert estimate(found) <= MAX_TOKENS + estimate([{"role": "user", "content": goal}])


def test_long_inputs_are_shown_by_their_beginning(space: Space) -> None:
    """They are bound whole; the model has to know their form alone."""
    rows = [{"name": "x" * 100, "number": number} for number in range(5_000)]
    found = planning_request(space, GOALS[0], {"rows": json.loads(json.dumps(rows))}).messages
    assert estimate(found) <= MAX_TOKENS
    assert '"number":0' in found[1]["content"]
