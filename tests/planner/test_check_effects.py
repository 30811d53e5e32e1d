"""What a plan does outside is warned of: budgets, connections, and text from outside that may do harm."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.tools.tool import Tool
from planner.start import check_plan

sys.path.insert(0, str(Path(__file__).parent))
from furnished import files

READ = {"type": "files/read", "arguments": {"path": "x"}, "out": "$text"}
WRITE = {"type": "files/write", "arguments": {"path": "y", "text": "$text"}}


@pytest.fixture
def told(space: Space, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the warnings of a right plan, by code and pointer; a language model is configured."""
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "any")
    monkeypatch.setenv("INFOSPACE_LLM_URL", "http://localhost:1/v1")
    space.tools.add(files())

    def check(*steps: Any, **head: Any) -> list[tuple[str, str]]:
        _, problems = check_plan(space, {**head, "steps": list(steps)})
        assert problems.ok, problems.found
        return [(problem.code, problem.pointer) for problem in problems.found if problem.code != "never-read"]

    return check


def test_text_from_outside_that_reaches_a_destructive_tool_is_warned_of(told: Any) -> None:
    """Also through other steps; not where a person was asked before."""
    assert told(READ, WRITE) == [("outside-text", "/steps/1")]
    passed_on = {"type": "create-note", "value": "see ${text}", "out": "$report"}
    later = {"type": "files/write", "arguments": {"path": "y", "text": "${report}"}}
    assert told(READ, passed_on, later) == [("outside-text", "/steps/2")]
    ask = {"type": "ask", "value": "write it?", "out": "$yes"}
    assert told(READ, ask, WRITE) == []


def test_what_a_loop_goes_over_comes_from_outside_too(told: Any) -> None:
    """Its items, by their own variable."""
    found = {"type": "files/search", "arguments": {"query": "x"}, "out": "$found"}
    rows = {"type": "split", "target": "$found", "out": "$rows"}
    each = {"type": "for-each", "target": "$rows", "do": [{**WRITE, "arguments": {"path": "y", "text": "${item}"}}]}
    assert told(found, rows, each) == [("outside-text", "/steps/2/do/0")]


def test_the_plans_own_text_is_not_from_outside(told: Any) -> None:
    """Nor what a plan only reads."""
    own = {"type": "create-note", "value": "mine", "out": "$text"}
    assert told(own, WRITE) == []
    assert told(READ, {"type": "say", "value": "$text"}) == []


def test_more_calls_than_the_budget_allows_are_warned_of(told: Any) -> None:
    """Of tools and of the language model, each step once."""
    write = {"type": "generate-note", "prompt": "a line", "out": "$line"}
    assert told(READ, READ, budget={"tool_calls": 1}) == [
        ("over-budget", "/budget/tool_calls"),
        ("rebound", "/steps/1/out"),
    ]
    assert told(write, budget={"llm_calls": 0}) == [("over-budget", "/budget/llm_calls")]
    assert told(write, READ, budget={"llm_calls": 1, "tool_calls": 1}) == []


def test_a_tool_that_is_not_connected_is_warned_of(space: Space) -> None:
    """The plan may run all the same."""
    server = files()
    tools: list[Tool] = [replace(tool, connected=False) for tool in server.tools()]
    server.tools = lambda: tools  # type: ignore[method-assign]
    space.tools.add(server)
    _, problems = check_plan(space, [READ])
    assert ("not-connected", "/0/type") in [(problem.code, problem.pointer) for problem in problems.found]
