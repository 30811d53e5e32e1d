"""`get_tool_categories`: what kinds of tools there are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from infospace.core.tool import Tool
from infospace.data.result import truncate
from infospace.space import Space
from infospace.tools.injection_signs import signs_of
from planner.metatools.arguments import GetToolCategories
from planner.metatools.lookup import known_tools

MAX_DESCRIPTION_CHARACTERS = 300
"""Characters of a category's description."""


async def get_tool_categories(space: Space, args: GetToolCategories) -> dict[str, Any]:
    """Count the tools of each category, most first; and of each tag and server, where that is wanted.

    A category is described by the servers whose tools are of it; `signs` says in what way their words instruct.
    `uncategorised` counts the tools of none.
    """
    tools = known_tools(space)
    results: dict[str, Any] = {
        "categories": [
            {"name": name, "count": len(own), **_described(own)}
            for name, own in _grouped(tools, lambda tool: tool.category)
        ],
        "uncategorised": sum(not tool.category for tool in tools),
        "total": len(tools),
    }
    if args.include_tags:
        tags = Counter(tag for tool in tools for tag in tool.tags)
        counts = sorted(tags.items(), key=lambda pair: (-pair[1], pair[0]))
        results["tags"] = [{"name": name, "count": count} for name, count in counts]
    if args.include_servers:
        results["servers"] = [
            {"name": name, "count": len(own), **_described(own)}
            for name, own in _grouped(tools, lambda tool: tool.server)
        ]
    return results


def _grouped(tools: Sequence[Tool], name: Callable[[Tool], str]) -> list[tuple[str, list[Tool]]]:
    """Return the tools that have a name, by it: most first, ties by name."""
    results: defaultdict[str, list[Tool]] = defaultdict(list)
    for tool in tools:
        if name(tool):
            results[name(tool)].append(tool)
    return sorted(results.items(), key=lambda pair: (-len(pair[1]), pair[0]))


def _described(tools: Sequence[Tool]) -> dict[str, Any]:
    """Return the words of the servers of some tools, and `signs` where these instruct whoever reads them."""
    document = dict.fromkeys(tool.server_description or tool.server_title for tool in tools)
    message = "; ".join(" ".join(text.split()) for text in document if text)
    instructs = [] if all(tool.integration == "local" for tool in tools) else signs_of(message)
    return {"description": truncate(message, MAX_DESCRIPTION_CHARACTERS), **({"signs": instructs} if instructs else {})}
