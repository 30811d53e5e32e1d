"""`get_similar_tools`: tools like one that is known."""

from __future__ import annotations

import asyncio
from typing import Any

from infospace.core.tool import Tool
from infospace.space import Space
from planner.metatools.arguments import GetSimilarTools
from planner.metatools.lookup import find_tool, known_tools, tool_json


async def get_similar_tools(space: Space, args: GetSimilarTools) -> dict[str, Any]:
    """Find the tools most like one, best first, each with a score from 0 to 1 and a reason; never the tool itself.

    Raises NotFound for one that is not there, or may not be known.
    """
    return await similar_to(space, find_tool(space, args.tool_name), args.limit)


async def similar_to(space: Space, tool: Tool, limit: int) -> dict[str, Any]:
    """Return the answer for a tool that was found."""
    tools = known_tools(space)
    if tool not in tools:
        tools.append(tool)
    similar, degraded = await asyncio.to_thread(space.finder.similar, tools, tool, limit)
    return {
        "tool_name": tool.full_name,
        "tools": [{**tool_json(one.tool), "score": one.score, "reason": one.reason} for one in similar],
        "degraded": degraded,
    }
