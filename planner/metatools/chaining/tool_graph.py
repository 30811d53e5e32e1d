"""The graph of services, tools and the data that can flow between them, of all tools that may be known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from infospace.core.errors import Invalid
from infospace.core.tool import Tool
from infospace.data.paths import did_you_mean
from infospace.space import Space
from infospace.tools.builtin import SERVER
from planner.metatools.chaining.data_flow import Neighbours, data_flow, neighbours
from planner.metatools.lookup import find_tool, known_tools


def graph_of_tools(space: Space, servers: Sequence[str] = ()) -> dict[str, Any]:
    """Return the graph of all tools, or of those of some servers.

    `services` have a name and the number of their tools; `tools` name the service that each belongs to; `flows` are
    edges from a place in a result to an argument, with a score and a reason. Raises Invalid for a server that has no
    tool here.
    """
    every = _callable_tools(space)
    counts = Counter(tool.server for tool in every)
    for name in servers:
        if name not in counts:
            there = did_you_mean(name, counts, f"there are {', '.join(sorted(counts))}" if counts else None)
            raise Invalid(f"no server {name!r:.80} has a tool here", hint=there)
    tools = [tool for tool in every if not servers or tool.server in servers]
    return {
        "services": [
            {"name": name, "tools": count} for name, count in sorted(counts.items()) if not servers or name in servers
        ],
        "tools": [{"tool_name": tool.full_name, "belongs_to": tool.server} for tool in tools],
        "flows": [flow.to_json() for flow in data_flow(space.finder.types, tools)],
    }


def neighbours_of(space: Space, tool: Tool) -> Neighbours:
    """Return what can give what a tool takes, and what can take what it gives."""
    return neighbours(space.finder.types, _callable_tools(space), tool)


def neighbourhood(space: Space, name: str) -> dict[str, Any]:
    """Return the same of the tool of a name as JSON. Raises NotFound."""
    tool = find_tool(space, name)
    result = neighbours_of(space, tool)
    return {
        "tool_name": tool.full_name,
        "belongs_to": tool.server,
        "before": [flow.to_json() for flow in result.before],
        "after": [flow.to_json() for flow in result.after],
    }


def _callable_tools(space: Space) -> list[Tool]:
    return sorted(
        (tool for tool in known_tools(space) if tool.kind == "tool" and tool.server != SERVER),
        key=lambda tool: tool.full_name,
    )
