"""The tasks, planned: the tools found and described, one plan run at the doors of the space, its answer read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from context.conversation import Conversation
from context.hosts import DOOR, Host
from infospace.data.json_text import dump

BEGAN = " that began "
"""Stands in the line of a tool whose last answer is remembered by its beginning."""
SESSIONS = count(1)
"""Numbers for the names of sessions."""


@dataclass(frozen=True)
class Task:
    """A task as it is written down: the request, the servers that have to do with it, and what a planner does for it.

    `search`: what it looks for tools with; `tools`: those it has to find by that; `tries`: steps by which it sees what
    a tool answers that does not say so, unless what was found says how its last answer began; `plan`, which goes on in
    the session of the tries where there are some.
    `phrasings`: the same request in other words, what somebody who thinks in these words looks for tools with, and
    under `plan` what it calls the things of the plan then.
    """

    name: str
    request: str
    servers: frozenset[str]
    search: Sequence[str]
    phrasings: Sequence[Mapping[str, Any]]
    tools: Sequence[str]
    tries: Sequence[Mapping[str, Any]]
    plan: Mapping[str, Any]

    def rephrased(self) -> list[Task]:
        """Return the task in each of its other words."""
        return [
            replace(self, request=one["request"], search=one["search"], plan=_reworded(self.plan, one.get("plan", {})))
            for one in self.phrasings
        ]


def _reworded(plan: Mapping[str, Any], words: Mapping[str, str]) -> dict[str, Any]:
    text = dump(dict(plan))
    for word, other in words.items():
        if word not in text:
            raise RuntimeError(f"the plan does not have {word!r}")
        text = text.replace(word, other)
    reworded: dict[str, Any] = json.loads(text)
    return reworded


class Planned(NamedTuple):
    """What a planner did: the conversation, the answer, and whether its first words found the tools."""

    talk: Conversation
    answer: Any
    found_at_once: bool


def read_task(name: str) -> Task:
    """Read a task from its file."""
    said = json.loads((Path(__file__).parent / "tasks" / f"{name}.json").read_text(encoding="utf-8"))
    return Task(name=name, **{**said, "servers": frozenset(said["servers"])})


async def solve(host: Host, task: Task, others: Sequence[str] = ()) -> Planned:
    """Do a task through the doors of the space alone.

    Where the words of the task do not find its tools, a planner looks again, with `others`: that counts, too. Raises
    RuntimeError where that does not find them either.
    """
    talk = Conversation()
    talk.given("tools", host.told + "".join(tool.given for tool in host.doors.values()))
    talk.given("language", "".join(await host.call(DOOR, "find", {})))
    talk.given("request", task.request)
    found = await _find(host, task.search, talk)
    missing = _not_among(found, task)
    if missing and others:
        found |= await _find(host, others, talk)
    if _not_among(found, task):
        raise RuntimeError(f"{task.name}: {task.search} does not find {', '.join(_not_among(found, task))}")
    if task.tries and all(BEGAN in found.get(step["type"], BEGAN) for step in task.tries):
        # A planner that sees how the answers begin writes the whole plan at once.
        whole = {**task.plan, "steps": [*task.tries, *task.plan["steps"]]}
        done = await _called(host, talk, "plan", "run", {"plan": whole})
    elif task.tries:
        session = f"s{next(SESSIONS)}"
        await _called(host, talk, "tries", "step", {"session": session, "steps": list(task.tries)})
        done = await _called(host, talk, "plan", "step", {"session": session, "steps": task.plan["steps"]})
    else:
        done = await _called(host, talk, "plan", "run", {"plan": dict(task.plan)})
    if "result" not in done:
        exchange = await host.call(DOOR, "read", {"ref": done["ref"], "max_chars": 50_000})
        talk.turn("plan", [exchange])
        done = {"result": json.loads(exchange[1])["data"]}
    talk.answered(done["result"])
    return Planned(talk, done["result"], not missing)


async def _find(host: Host, words: Sequence[str], talk: Conversation) -> dict[str, str]:
    """Search for tools, with all words in one call; return the line of each by its name."""
    found = await host.call(DOOR, "find", {"query": "; ".join(words), "kind": "tool"})
    talk.turn("finding", [found])
    return {line.partition("(")[0]: line for line in found[1].splitlines()}


def _not_among(found: Mapping[str, str], task: Task) -> list[str]:
    return [name for name in task.tools if name not in found]


async def _called(host: Host, talk: Conversation, part: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    exchange = await host.call(DOOR, tool, arguments)
    talk.turn(part, [exchange])
    answer: dict[str, Any] = json.loads(exchange[1])
    if answer["status"] != "success":
        raise RuntimeError(f"the plan ended with {answer['status']}: {exchange[1]:.2000}")
    return answer
