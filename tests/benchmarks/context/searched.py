"""The tasks through FastMCP's search for tools: two tools that find and call the others, whose results the model reads.

It spares the descriptions of tools, and no result: what is compared is a door that finds with one that also runs plans.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from context import one_by_one
from context.conversation import Conversation
from context.hosts import Host
from context.planned import Task

Form: TypeAlias = Literal["json", "markdown"]
FORMS: tuple[Form, ...] = ("json", "markdown")
"""How it tells of tools: by default as `tools/list` does, or in lines, which is shorter."""
_NAME = re.compile(r'(?:"name":"|^### )([\w-]+)', re.MULTILINE)


class Searched(NamedTuple):
    """What a model did: the conversation, the answer, and when the tools were found."""

    talk: Conversation
    answer: Any
    found: Literal["at once", "by name", "not all"]


async def solve(host: Host, task: Task, form: Form) -> Searched:
    """Do a task through `search_tools` and `call_tool`.

    A tool that its words do not find is looked for by its own name, since the model would have to find it somehow; and
    where that does not show it either, it is called all the same. Of the space itself the model gets the search for
    notes without looking, as tool by tool.
    """
    server = server_of(form)
    talk = Conversation()
    talk.given("tools", "".join(tool.given for tool in host.searched[server].values()))
    talk.given("request", task.request)
    missing = await _find(host, server, task, task.search, talk)
    found: Literal["at once", "by name", "not all"] = "at once"
    if missing:
        missing = await _find(host, server, task, [name.replace("/", " ").replace("_", " ") for name in missing], talk)
        found = "not all" if missing else "by name"

    async def turn(*calls: one_by_one.Call) -> list[str]:
        exchanges = [
            await host.call(server, "call_tool", {"name": f"{of}_{tool}", "arguments": arguments})
            for of, tool, arguments in calls
        ]
        talk.turn("calls", exchanges)
        return [text for _, text in exchanges]

    answer = await one_by_one.TASKS[task.name](turn)
    talk.answered(answer)
    return Searched(talk, answer, found)


def server_of(form: Form) -> str:
    """Return the name of the connection to FastMCP that tells of tools in a form."""
    return f"FastMCP, {form}"


async def _find(host: Host, server: str, task: Task, words: Sequence[str], talk: Conversation) -> list[str]:
    found = [await host.call(server, "search_tools", {"query": query}) for query in words]
    talk.turn("finding", found)
    names = {name for _, text in found for name in _NAME.findall(text)}
    return [tool for tool in task.tools if tool.replace("/", "_", 1) not in names]
