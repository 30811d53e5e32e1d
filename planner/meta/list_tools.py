"""`list_tools`: all tools, by the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infospace.errors import Invalid
from infospace.space import Space
from infospace.tools.kept import ToolUse
from infospace.tools.tool import Tool
from planner.meta.arguments import ListTools, Sorting
from planner.meta.known import known_tools, told, told_unmatched, uses


async def list_tools(space: Space, args: ListTools) -> dict[str, Any]:
    """List the tools that are wanted, a page of them. A page behind the last is empty.

    `unknown` says what was probably meant by names in the filters that no tool has.
    """
    if args.filters.min_score is not None:
        raise Invalid("`filters.min_score` is for search_tools: a list has no scores", hint="leave it out")
    used = uses(space)
    keyed = [(_key(args.sort_by, tool, used), tool) for tool in known_tools(space, args.filters)]
    keyed.sort(key=lambda pair: (pair[1].full_name, pair[1].kind))
    there = [pair for pair in keyed if pair[0] is not None]
    there.sort(key=lambda pair: pair[0], reverse=args.sort_order == "desc")
    tools = [tool for _, tool in (*there, *(pair for pair in keyed if pair[0] is None))]
    start = (args.page - 1) * args.page_size
    return {
        "tools": [
            {**told(tool, schemas=args.include_schemas), **_counted(tool, used)}
            for tool in tools[start : start + args.page_size]
        ],
        "page": args.page,
        "pages": -(-len(tools) // args.page_size),
        "total": len(tools),
        **told_unmatched(space, args.filters),
    }


def _key(sort_by: Sorting, tool: Tool, used: Mapping[tuple[str, str], ToolUse]) -> Any:
    """Return what a tool is sorted by, None where that is not known."""
    match sort_by:
        case "name":
            return tool.full_name
        case "category":
            return tool.category.casefold() or None
        case "created_at":
            return tool.created or None
    return _counted(tool, used)[sort_by]


def _counted(tool: Tool, used: Mapping[tuple[str, str], ToolUse]) -> dict[str, Any]:
    use = used.get((tool.server, tool.name)) if tool.kind == "tool" else None
    return {
        "created_at": tool.created or None,
        "execution_count": 0 if use is None else use.execution_count,
        "success_rate": None if use is None else use.success_rate,
    }
