"""What a client of the small door gets before its first call: few characters, the same each time."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from planner.server.access import Access
from planner.server.core.tools import CORE

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from serving import over_stdio
from smalldoor import Door, play

FIXED = 2_950
"""Characters that a client gets before its first call, at most: its tools and instructions."""
HELP = Path(__file__).parents[4] / "tui" / "help" / "agents.md"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_a_client_gets_before_its_first_call_is_short(space: Space, mode: str) -> None:
    async def scene(door: Door) -> int:
        listed = (await door.client.list_tools()).model_dump_json(by_alias=True, exclude_none=True)
        return len(listed) + len(door.client.instructions or "")

    assert 2_000 < play(space, scene, mode=mode) <= FIXED


def test_the_list_of_tools_is_the_same_bytes_from_call_to_call_and_start_to_start(space: Space, tmp_path: Path) -> None:
    async def scene(door: Door) -> set[str]:
        found = set()
        for number in range(3):
            found.add((await door.client.list_tools()).model_dump_json(by_alias=True))
            await door.call("run", plan=[{"type": "create-note", "value": number, "name": f"n{number}"}])
        return found

    async def served() -> str:
        async with over_stdio(tmp_path / "other.db", arguments=("--tools", "core")) as planner:
            return (await planner.client.list_tools()).model_dump_json(by_alias=True, exclude={"meta"})

    assert len(play(space, scene) | play(space, scene)) == 1
    assert asyncio.run(served()) == asyncio.run(served())


@pytest.mark.parametrize("name", ["core", "full"])
def test_a_tool_is_listed_in_the_same_bytes_by_both_versions_of_the_protocol(space: Space, name: Any) -> None:
    """Each version writes schemas by a model of its own; so the order of keys is what is looked at."""

    async def scene(door: Door) -> list[str]:
        return [json.dumps(tool.input_schema) for tool in (await door.client.list_tools()).tools]

    access = Access("ann", tools=(name,))
    assert play(space, scene, access, mode="auto") == play(space, scene, access, mode="legacy")


def test_the_sets_have_the_tools_that_they_are_said_to_have(space: Space) -> None:
    async def scene(door: Door) -> list[str]:
        return [tool.name for tool in (await door.client.list_tools()).tools]

    meta = ["search_tools", "list_tools", "describe_tool", "execute_tool", "get_tool_categories", "get_similar_tools"]
    assert play(space, scene) == ["find", "run", "step", "follow", "read"] == [*CORE]
    assert play(space, scene, Access("ann", tools=("meta",))) == meta
    both = play(space, scene, Access("ann", tools=("meta", "core")))
    assert both == [*CORE, *meta]
    assert len(play(space, scene, Access("ann", tools=("core", "full")))) == 21


def test_a_client_is_told_what_only_reads_and_what_reaches_outside(space: Space) -> None:
    """It may ask its user before what does not, and before nothing else."""

    async def scene(door: Door) -> dict[str, Any]:
        return {tool.name: tool.annotations for tool in (await door.client.list_tools()).tools}

    hints = play(space, scene)
    assert {name for name, hint in hints.items() if hint.read_only_hint} == {"find", "read"}
    assert {name for name, hint in hints.items() if hint.open_world_hint} == {"run", "step", "follow"}


def test_a_tool_of_another_set_is_not_there(space: Space) -> None:
    from mcp.shared.exceptions import MCPError

    async def scene(door: Door) -> None:
        for name in ("run_plan", "search_tools", "discover_notes"):
            with pytest.raises(MCPError, match="there are find, run, step, follow, read"):
                await door.client.call_tool(name, {})

    play(space, scene)


@pytest.mark.parametrize("name", ["core", "meta", "full", "compat"])
def test_the_documentation_says_what_a_set_weighs(space: Space, name: Any) -> None:
    """To a hundred characters or two."""

    async def scene(door: Door) -> int:
        listed = (await door.client.list_tools()).model_dump_json(by_alias=True, exclude_none=True)
        return len(listed) + len(door.client.instructions or "")

    [told] = re.findall(rf"^\| `{name}`.*\| ([\d,]+) \|$", HELP.read_text(encoding="utf-8"), re.MULTILINE)
    assert abs(int(told.replace(",", "")) - play(space, scene, Access("ann", tools=(name,)))) <= 200
