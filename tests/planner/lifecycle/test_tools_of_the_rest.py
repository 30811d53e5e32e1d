"""What a run that goes on calls by name, found before anything is done: in steps, conditions and saved plans."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from infospace import Conflict, Space, open_space
from infospace.tools.local import LocalTools
from planner.execute.start import Prepared, prepare, run_sync
from planner.lifecycle.resume import answer, resume
from planner.order.requirements import required_tools
from planner.parse.saved_plans import save_plan

ASK = {"type": "ask", "value": "Go on?", "out": "$go"}
NOTE = {"type": "create-note", "value": 1, "out": "$n"}


def asks(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_condition", "tool": tool, **({"arguments": arguments} if arguments else {})}


def furnish(space: Space) -> None:
    gate = LocalTools("gate")

    @gate.tool(read_only=True)
    def is_open() -> bool:
        """Whether it is open."""
        return True

    @gate.tool(read_only=True)
    def is_free() -> bool:
        """Whether it is free."""
        return True

    @gate.tool(read_only=True)
    def look(name: str) -> str:
        """Look for somebody."""
        return name

    space.tools.add(gate)


def needed(space: Space, *steps: Any) -> dict[Any, str]:
    """The tools that steps call, with the label of the first that does."""
    furnish(space)
    prepared = prepare(space, [NOTE, *steps])
    assert isinstance(prepared, Prepared), prepared
    return required_tools(prepared.plan.steps, prepared.plan.plans, space.catalogue)


OPEN, FREE = ("gate/is_open", "tool"), ("gate/is_free", "tool")
LITERAL = {"type": "greater_than", "target": "$n", "value": 0}


@pytest.mark.parametrize(
    ("condition", "tools"),
    [
        (asks("gate/is_open"), [OPEN]),
        ({"type": "and", "of": [asks("gate/is_open"), LITERAL, asks("gate/is_free")]}, [OPEN, FREE]),
        ({"type": "or", "of": [LITERAL, {"type": "not", "of": asks("gate/is_free")}]}, [FREE]),
        (LITERAL, []),
        ("$n > 0", []),
    ],
)
@pytest.mark.parametrize("form", ["if", "while", "for-each", "wait"])
def test_the_tools_of_a_condition_are_needed(space: Space, form: str, condition: Any, tools: list[Any]) -> None:
    """Of each form that has one, and of each part of it."""
    body = {"type": "say", "value": "on"}
    fields = {
        "if": {"condition": condition, "then": [body]},
        "while": {"condition": condition, "body": [{**NOTE, "value": 0}], "max_iterations": 1},
        "for-each": {"target": "$list", "do": [body], "until": condition},
        "wait": {"condition": condition},
    }
    items = {"type": "create-collection", "value": [1], "out": "$list"}
    assert needed(space, items, {"type": form, **fields[form]}) == dict.fromkeys(tools, "3")


def test_a_tool_that_only_the_run_names_is_not_looked_for(space: Space) -> None:
    """What stands in a variable is not known; what others call `tool` is none."""
    name = {"type": "create-note", "value": "gate/is_open", "out": "$name"}
    step = {"type": "if", "condition": asks("$name"), "then": [NOTE]}
    assert needed(space, name, step, {"type": "create-note", "value": {"tool": "gate/look"}}) == {}


def test_the_first_step_that_needs_a_tool_is_told_and_saved_plans_are_looked_into(space: Space) -> None:
    save_plan(space, "peep", {"steps": [{"type": "if", "condition": asks("gate/is_free"), "then": [NOTE]}]})
    look = {"type": "gate/look", "arguments": {"name": "x"}}
    assert needed(space, look, {"type": "plan:peep"}, look, {"type": "plan:peep"}) == {
        ("gate/look", "tool"): "2",
        FREE: "3",
    }


def test_a_run_is_not_gone_on_with_where_a_tool_of_a_condition_is_missing(tmp_path: Path) -> None:
    """It stays as it is, and ends where the tool is."""
    plan = [ASK, {"type": "if", "condition": asks("gate/is_open"), "then": [NOTE], "else": []}]
    with open_space(tmp_path / "space.db") as space:
        furnish(space)
        waits = run_sync(space, plan)
        answer(space, str(waits.run), "1", "yes")
    with open_space(tmp_path / "space.db") as space:
        with pytest.raises(Conflict, match=r"^step 2 of run_1 calls gate/is_open, which is not here"):
            asyncio.run(resume(space, "run_1"))
        furnish(space)
        assert asyncio.run(resume(space, "run_1")).status == "success"
