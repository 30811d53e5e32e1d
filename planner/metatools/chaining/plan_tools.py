"""`plan_tools` and `select_tool`: a plan for a goal, or the one best tool, without a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from infospace.contract.arguments import Args, Query
from infospace.contract.tool_signature import Signature
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from infospace.core.tool import Tool
from infospace.space import Space
from infospace.tools.scope import Filters
from infospace.tools.search.results import ToolHit
from planner.metatools.chaining.chain import Result
from planner.metatools.chaining.fitting import FromInput
from planner.metatools.chaining.plan_goal import ChainedPlan, GoalPlanner, NoPlan
from planner.metatools.chaining.select import SELECTED, Candidate, judge_candidates
from planner.metatools.lookup import known_tools, tool_json, tool_use, unmatched_json

ALTERNATIVES = 3


class PlanTools(Args):
    """Arguments of `plan_tools`."""

    goal: Query = Field(description="What is wanted, in plain words; values in quotes, paths, numbers as they are.")
    inputs: dict[str, str | int | float] = Field(
        default_factory=dict, description="Values by the names of the arguments that they are for."
    )
    service_filter: list[str] = Field(default_factory=list, description="Only tools of these servers.")


class SelectTool(Args):
    """Arguments of `select_tool`."""

    query: Query = Field(description="What the tool should do, in plain words.")
    service_filter: list[str] = Field(default_factory=list, description="Only tools of these servers.")


PLAN_TOOLS = Signature(
    "plan_tools",
    "Make a plan for a goal without a language model: tools chained by what each takes and gives. The plan passes the "
    "check, and run_plan runs it; where nothing is sure, `no_match` says why. Runs nothing.",
    PlanTools,
)
SELECT_TOOL = Signature("select_tool", "Name the one tool that does what is asked for, and why; or none.", SelectTool)


async def plan_tools(space: Space, args: PlanTools) -> dict[str, Any]:
    """Plan, and say how sure that is, and what it costs: calls, those that somebody is asked about, milliseconds.

    `expected_ms` is None where a tool was never called. Each step says what its arguments are taken from.
    """
    return await asyncio.to_thread(planned, space, args.goal, args.inputs, args.service_filter)


def planned(
    space: Space, goal: str, inputs: dict[str, Any] | None = None, servers: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the answer of `plan_tools`; for threads."""
    filters = Filters(servers=tuple(servers))
    planner = GoalPlanner(space, known_tools(space, filters))
    result = planner.plan(goal, inputs)
    degraded = {} if planner.degraded is None else {"degraded": planner.degraded}
    unknown = {**degraded, **unmatched_json(space, filters)}
    if isinstance(result, NoPlan):
        nothing: dict[str, Any] = {"plan": None, "steps": [], "cost": None, "confidence": result.confidence}
        return {
            "goal": goal,
            **nothing,
            "no_match": True,
            "reason": result.reason,
            "nearest": list(result.nearest),
            **unknown,
        }
    steps = [_step(result, at) for at in range(len(result.chain.calls))]
    document = {
        "plan": result.document,
        "steps": steps,
        "cost": cost_of(space, result),
        "confidence": result.confidence,
    }
    return {"goal": goal, **document, "no_match": False, "reason": None, "nearest": [], **unknown}


def _step(plan: ChainedPlan, at: int) -> dict[str, JSON]:
    call = plan.chain.calls[at]
    origins: dict[str, JSON] = {name: _origin(value) for name, value in call.arguments.items()}
    return {"tool": call.tool.full_name, "arguments_from": origins}


def _origin(value: Any) -> str:
    if isinstance(value, Result):
        return f"step {value.call + 1}{': ' + value.path.lstrip('.') if value.path else ''}"
    return f"input {value.name}" if isinstance(value, FromInput) else "the goal"


def cost_of(space: Space, plan: ChainedPlan) -> dict[str, JSON]:
    """Say what a plan costs, by how calls of its tools went before."""
    tools = [call.tool for call in plan.chain.calls]
    uses = [tool_use(space, tool) for tool in tools]
    known = [use.mean_ms for use in uses if use is not None]
    expected = round(sum(known), 1) if len(known) == len(uses) else None
    return {"calls": len(tools), "approvals": sum(map(_is_asked_about, tools)), "expected_ms": expected}


def _is_asked_about(tool: Tool) -> bool:
    return not tool.auto_approved and (tool.destructive or not (tool.annotated or tool.trusted))


async def select_tool(space: Space, args: SelectTool) -> dict[str, Any]:
    """Name the best tool, with its schemas; `alternatives` are the next. `tool` is None where none fits.

    Where no tool that may be called fits, a server that is not connected yet may: it is named with what it needs.
    """
    return await asyncio.to_thread(_selected, space, args)


def _selected(space: Space, args: SelectTool) -> dict[str, Any]:
    filters = Filters(servers=tuple(args.service_filter))
    known = known_tools(space, filters, servers=True)
    candidates, degraded = judge_candidates(space, args.query, [tool for tool in known if tool.kind == "tool"])
    sure = [candidate for candidate in candidates if candidate.confidence >= SELECTED]
    if not sure:
        servers, _ = judge_candidates(space, args.query, [tool for tool in known if tool.kind == "server"])
        sure = [server for server in servers if server.confidence >= SELECTED]
    best = sure[0] if sure else None
    others = [one for one in (*sure[1:], *(() if sure else candidates)) if one is not best][:ALTERNATIVES]
    return {
        "query": args.query,
        "tool": None if best is None else tool_json(best.hit.tool, schemas=True),
        "confidence": 0.0 if best is None else best.confidence,
        "reason": _why_none(known, candidates) if best is None else _why(best.hit),
        "alternatives": [{"tool_name": one.hit.tool.full_name, "score": one.confidence} for one in others],
        "no_match": best is None,
        "degraded": degraded,
        **unmatched_json(space, filters, servers=True),
    }


def _why_none(known: Sequence[Tool], candidates: Sequence[Candidate]) -> str:
    searched = f"none of {pluralize(len(known), 'tool')} fits"
    if not candidates:
        return searched
    nearest = candidates[0]
    return f"{searched}: {nearest.why_not}; the nearest is {nearest.hit.tool.full_name}"


_LEGS = {
    "words": "its words",
    "meaning": "what it means",
    "name": "its name",
    "remembered": "calls that went well before",
}


def _why(hit: ToolHit) -> str:
    by = " and ".join(_LEGS[leg] for leg in hit.matched_by) or "what it says"
    state = "" if hit.tool.connected else "; its server is not connected"
    ruled = "".join(
        f"; {adjustment.reason} by the rule {adjustment.rule!r}" for adjustment in hit.adjustments if adjustment.rule
    )
    return f"of all tools that may be known it is nearest to the request by {by} ({hit.score:.2f}){ruled}{state}"
