"""What a tool answered before, for one that does not say what it answers; and what is kept of a call by its answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from known_servers import ask, narrowed

from infospace import Space
from infospace.core.tool import Tool, ToolAnswer
from infospace.tools.local import LocalTools
from planner.metatools.audit import outcome_of, run_of
from planner.metatools.results_before import answered_before


class Meter(LocalTools):
    """Two tools, of which one says what it answers; both answer what they are asked to."""

    def tools(self) -> list[Tool]:
        typed = {"type": "object", "properties": {"a": {"type": "integer"}}}
        return [
            Tool(self.server, name, read_only=True, output_schema=schema)
            for name, schema in (("x", None), ("y", typed))
        ]

    def find(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools() if tool.name == name), None)

    async def call(self, tool: Tool, arguments: Any, timeout_s: float | None = None) -> ToolAnswer:
        del tool, timeout_s
        text = [{"type": "text", "text": str(arguments["fails"])}] if "fails" in arguments else []
        return ToolAnswer(text, arguments.get("gives"), is_error=bool(text))


@pytest.fixture
def metered(space: Space) -> Space:
    space.tools.add(Meter("m"))
    return space


def called(space: Space, name: str, **arguments: Any) -> None:
    ask(space, "execute_tool", tool_name=name, arguments=arguments)


def known(space: Space, name: str = "m/x") -> Any:
    [tool] = [tool for tool in space.tools if tool.full_name == name]
    return answered_before(space, tool)


def test_the_last_answer_that_went_well_is_told(metered: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one that failed, not that of a tool that says what it answers, and not where calls are not remembered."""
    assert known(metered) is None
    called(metered, "m/x", gives={"a": 1})
    called(metered, "m/x", gives={"b": 2})
    called(metered, "m/y", gives={"a": 3})
    called(metered, "m/x", fails="it is broken")
    assert known(metered) == {"b": 2}
    assert known(metered, "m/y") is None
    assert known(narrowed(metered, include_servers=["m"])) is None
    monkeypatch.setenv("INFOSPACE_REMEMBER_CALLS", "off")
    assert known(metered) is None


@pytest.mark.parametrize(
    ("answer", "outcome", "run"),
    [
        ({"status": "success", "run": "run_1"}, "success", "run_1"),
        ({"status": "stopped", "execution_metadata": {"request_id": "run_2"}}, "success", "run_2"),
        ({"status": "approval_required", "approval": {"run": "run_3"}, "waits": {"run": "run_9"}}, "waiting", "run_3"),
        ({"status": "waiting", "waits": {"run": "run_4"}, "execution_metadata": {}}, "waiting", "run_4"),
        ({"status": "suspended", "run": None, "execution_metadata": {"request_id": "run_5"}}, "waiting", "run_5"),
        ({"status": "refused"}, "refused", None),
        ({"status": "running", "request_id": "run_6", "execution_metadata": {"run": "run_9"}}, "running", "run_6"),
        ({"status": "cancelled"}, "cancelled", None),
        ({"status": "odd"}, "failed", None),
        ({}, "failed", None),
    ],
)
def test_what_came_of_a_call_is_kept_by_its_answer(answer: dict[str, Any], outcome: str, run: str | None) -> None:
    """With its run, wherever in the answer it stands."""
    assert (outcome_of(answer), run_of(answer)) == (outcome, run)
