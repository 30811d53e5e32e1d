"""`debug_list_tools`: the tools of some services by the page, with those that are blocked where that is asked for."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from infospace.contract.arguments import Args
from infospace.contract.tool_signature import Signature
from infospace.space import Space
from infospace.tools.builtin import all_tools
from infospace.tools.scope import NO_FILTERS, Filters
from infospace.tools.search.lexical.suggestions import unmatched
from planner.metatools.arguments import MOST_ON_PAGE
from planner.metatools.lookup import known_tools, tool_json


class DebugListTools(Args):
    """Arguments of `debug_list_tools`."""

    service_filter: list[str] = Field(default_factory=list, description="Only tools of these servers.")
    include_blocked: bool = Field(default=False, description="With those that nobody may call.")
    page: int = Field(1, ge=1, description="Which page, from 1 on.")
    page_size: int = Field(20, ge=1, le=MOST_ON_PAGE, description="Tools on a page.")


DEBUG_LIST_TOOLS = Signature(
    "debug_list_tools", "List the tools of services by name, a page at a time, also blocked ones.", DebugListTools
)


async def debug_list_tools(space: Space, args: DebugListTools) -> dict[str, Any]:
    """List the tools that the caller may know, by name; `blocked` says of each whether it may be called.

    A page behind the last is empty. `unknown` says what was probably meant by names that no server has.
    """
    known = known_tools(space)
    if args.include_blocked:
        known += [tool for tool in all_tools(space, others=True) if tool.blocked]
    filters = Filters(servers=tuple(args.service_filter)) if args.service_filter else NO_FILTERS
    tools = sorted((tool for tool in known if filters.admits(tool)), key=lambda tool: (tool.full_name, tool.kind))
    start = (args.page - 1) * args.page_size
    unknown = unmatched(filters, known)
    return {
        "tools": [{**tool_json(tool), "blocked": tool.blocked} for tool in tools[start : start + args.page_size]],
        "page": args.page,
        "pages": -(-len(tools) // args.page_size),
        "total": len(tools),
        **({"unknown": unknown} if unknown else {}),
    }
