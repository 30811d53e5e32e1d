"""`describe_tool`: all that is known of one tool."""

from __future__ import annotations

from typing import Any

from infospace.core.tool import Tool
from infospace.space import Space
from infospace.store.tool_records import ToolUse
from infospace.tools.approvals import allowed
from infospace.tools.call_examples import examples_of
from planner.metatools.arguments import DescribeTool
from planner.metatools.get_similar_tools import similar_to
from planner.metatools.lookup import find_tool, tool_json, tool_use

SIMILAR = 5
"""Tools like it that a description has, at most."""


async def describe_tool(space: Space, args: DescribeTool) -> dict[str, Any]:
    """Describe one tool. Raises NotFound for one that is not there, or may not be known."""
    tool = find_tool(space, args.tool_name)
    results = {
        **tool_json(tool, schemas=True, whole=True),
        "annotations": _annotations(tool),
        "blocked": tool.blocked,
        "needs_approval": not allowed(space.store, tool, None),
        "created_at": tool.created or None,
    }
    if args.include_examples:
        results["examples"] = [dict(example) for example in examples_of(tool, space.tools.successes())]
    if args.include_metrics:
        results["metrics"] = metrics_of(tool_use(space, tool))
    if args.include_similar:
        results["similar"] = (await similar_to(space, tool, SIMILAR))["tools"]
    return results


def _annotations(tool: Tool) -> dict[str, bool] | None:
    """Return what the server says of what the tool does, None where it says nothing."""
    if not tool.annotated:
        return None
    return {"read_only": tool.read_only, "idempotent": tool.idempotent, "destructive": tool.destructive}


def metrics_of(use: ToolUse | None) -> dict[str, Any]:
    """Return how calls of a tool went."""
    return {
        "execution_count": 0 if use is None else use.execution_count,
        "success_rate": None if use is None else use.success_rate,
        "mean_ms": None if use is None else use.mean_ms,
        "p95_ms": None if use is None else use.p95_ms,
    }
