"""The tasks, planned: the tools found and described, one plan run at the doors of the space, its answer read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from context.conversation import Conversation
from context.hosts import DOORS, Host

LIMIT = 3
"""Tools that a search is asked for, each with its schemas."""


@dataclass(frozen=True)
class Task:
    """A task as it is written down: the request, the servers that have to do with it, and what a planner does for it.

    `search`: what it looks for tools with; `tools`: those it has to find by that; `tries`: steps by which it sees what
    a tool answers that does not say so; `plan`.
    """

    name: str
    request: str
    servers: frozenset[str]
    search: Sequence[str]
    tools: Sequence[str]
    tries: Sequence[Sequence[Mapping[str, Any]]]
    plan: Mapping[str, Any]


def read_task(name: str) -> Task:
    """Read a task from its file."""
    said = json.loads((Path(__file__).parent / "tasks" / f"{name}.json").read_text(encoding="utf-8"))
    return Task(name=name, **{**said, "servers": frozenset(said["servers"])})


async def solve(host: Host, task: Task) -> tuple[Conversation, Any]:
    """Do a task through the doors of the space alone; return the conversation and the answer."""
    talk = Conversation()
    talk.given("tools", "".join(tool.given for tool in host.tools[DOORS].values()))
    talk.given("language", (await host.call(DOORS, "describe_primitives", {}))[1])
    talk.given("request", task.request)
    await _find(host, task, talk)
    for steps in task.tries:
        await _run(host, talk, "tries", {"steps": list(steps)})
    result = (await _run(host, talk, "plan", task.plan))["result"]
    if "data" not in result:
        exchange = await host.call(DOORS, "read", {"ref": result["resource_id"], "max_chars": 50_000})
        talk.turn("plan", [exchange])
        result = json.loads(exchange[1])
    talk.answered(result["data"])
    return talk, result["data"]


async def _find(host: Host, task: Task, talk: Conversation) -> None:
    """Search for the tools, all at once. Raises RuntimeError where one that the plan calls is not found."""
    asked = {"limit": LIMIT, "include_schemas": True}
    found = [await host.call(DOORS, "search_tools", {"query": query, **asked}) for query in task.search]
    talk.turn("finding", found)
    answers = [json.loads(text) for _, text in found]
    names = {tool["tool_name"] for answer in answers for tool in [*answer["tools"], answer["guess"]] if tool}
    if missing := [name for name in task.tools if name not in names]:
        raise RuntimeError(f"{task.name}: {', '.join(missing)} not among {', '.join(sorted(names))}")


async def _run(host: Host, talk: Conversation, part: str, plan: Mapping[str, Any]) -> dict[str, Any]:
    exchange = await host.call(DOORS, "run_plan", {"plan": dict(plan)})
    talk.turn(part, [exchange])
    answer: dict[str, Any] = json.loads(exchange[1])
    if answer["status"] != "success":
        raise RuntimeError(f"the plan ended with {answer['status']}: {exchange[1]:.2000}")
    return answer
