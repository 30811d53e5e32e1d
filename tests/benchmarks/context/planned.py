"""The tasks, planned: the tools found and described, one plan run at the doors of the space, its answer read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from context.conversation import Conversation
from context.hosts import DOORS, SMALL, Host


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
    talk.given("tools", host.told + "".join(host.tools[DOORS][name].given for name in SMALL))
    talk.given("language", "".join(await host.call(DOORS, "find", {})))
    talk.given("request", task.request)
    await _find(host, task, talk)
    for steps in task.tries:
        await _run(host, talk, "tries", {"steps": list(steps)})
    done = await _run(host, talk, "plan", task.plan)
    if "result" not in done:
        exchange = await host.call(DOORS, "read", {"ref": done["ref"], "max_chars": 50_000})
        talk.turn("plan", [exchange])
        done = {"result": json.loads(exchange[1])["data"]}
    talk.answered(done["result"])
    return talk, done["result"]


async def _find(host: Host, task: Task, talk: Conversation) -> None:
    """Search for the tools, all at once. Raises RuntimeError where one that the plan calls is not found."""
    found = [await host.call(DOORS, "find", {"query": query, "kind": "tool"}) for query in task.search]
    talk.turn("finding", found)
    names = {line.partition("(")[0] for _, text in found for line in text.splitlines()}
    if missing := [name for name in task.tools if name not in names]:
        raise RuntimeError(f"{task.name}: {', '.join(missing)} not among {', '.join(sorted(names))}")


async def _run(host: Host, talk: Conversation, part: str, plan: Mapping[str, Any]) -> dict[str, Any]:
    exchange = await host.call(DOORS, "run", {"plan": dict(plan)})
    talk.turn(part, [exchange])
    answer: dict[str, Any] = json.loads(exchange[1])
    if answer["status"] != "success":
        raise RuntimeError(f"the plan ended with {answer['status']}: {exchange[1]:.2000}")
    return answer
