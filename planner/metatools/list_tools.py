"""`list_tools`: all tools, by the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from infospace.core.errors import Invalid
from infospace.core.tool import Tool
from infospace.space import Space
from infospace.tools.builtin import SERVER
from planner.metatools.arguments import MOST_ON_PAGE, ListTools, Sorting
from planner.metatools.lookup import known_tools, tool_json, unmatched_json
from planner.parse.steps import SAVED

Totals: TypeAlias = "Mapping[tuple[str, str], tuple[int, float]]"
"""How often tools were called, and the share of calls that went well."""


async def list_tools(space: Space, args: ListTools) -> dict[str, Any]:
    """List the tools that are wanted, a page of them. A page behind the last is empty.

    Sorted by name, those of servers stand before saved plans, and these before the primitives, whichever way: what
    somebody added is not looked for behind what every space has.

    `unknown` says what was probably meant by names in the filters that no tool has.
    """
    if args.filters.min_score is not None:
        raise Invalid("`filters.min_score` is for search_tools: a list has no scores", hint="leave it out")
    tools = known_tools(space, args.filters)
    tools.sort(key=lambda tool: (tool.full_name, tool.kind))
    totals = _totals(space, tools) if args.sort_by in ("execution_count", "success_rate") else {}
    keyed = [(_key(args.sort_by, tool, totals), tool) for tool in tools]
    there = [pair for pair in keyed if pair[0] is not None]
    there.sort(key=lambda pair: pair[0], reverse=args.sort_order == "desc")
    if args.sort_by == "name":
        there.sort(key=lambda pair: _rank(pair[1]))
    tools = [tool for _, tool in (*there, *(pair for pair in keyed if pair[0] is None))]
    start = (args.page - 1) * args.page_size
    page = tools[start : start + args.page_size]
    totals = totals or _totals(space, page)
    return {
        "tools": [{**tool_json(tool, schemas=args.include_schemas), **_counted(tool, totals)} for tool in page],
        "page": args.page,
        "pages": -(-len(tools) // args.page_size),
        "total": len(tools),
        **unmatched_json(space, args.filters),
    }


def _rank(tool: Tool) -> int:
    if tool.server != SERVER:
        return 0
    return 1 if tool.name.startswith(SAVED) else 2


def _totals(space: Space, tools: Sequence[Tool]) -> Totals:
    """Return how calls of tools went; those of a page are asked for one by one, those of more all at once."""
    keys = [(tool.server, tool.name) for tool in tools if tool.kind == "tool"]
    with space.store.reading() as snapshot:
        return snapshot.tool_totals(keys if len(keys) <= MOST_ON_PAGE else None)


def _key(sort_by: Sorting, tool: Tool, used: Totals) -> Any:
    """Return what a tool is sorted by, None where that is not known."""
    match sort_by:
        case "name":
            return tool.full_name
        case "category":
            return tool.category.casefold() or None
        case "created_at":
            return tool.created or None
    return _counted(tool, used)[sort_by]


def _counted(tool: Tool, used: Totals) -> dict[str, Any]:
    count, rate = used.get((tool.server, tool.name), (0, None)) if tool.kind == "tool" else (0, None)
    return {"created_at": tool.created or None, "execution_count": count, "success_rate": rate}
