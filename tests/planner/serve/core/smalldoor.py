"""The small door as a model sees it: its five tools, and a server whose tools answer in several ways."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, ClassVar

from infospace import Space
from infospace.core.tool import Tool, ToolAnswer
from planner.server.access import Access
from planner.server.operations import Operations
from planner.server.protocol.mcp_server import make_server

sys.path.insert(0, str(Path(__file__).parents[1]))
from mcp import Client
from serving import text_of

ROWS = [{"who": f"person {number % 7}", "price": number, "note": "x" * 30} for number in range(300)]


class Door:
    """Calls the tools of the small door as a model does."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def text(self, tool: str, **arguments: Any) -> str:
        """Return what a tool answers, as it is read."""
        answer = await self.client.call_tool(tool, arguments)
        text = text_of(answer.content[0])
        assert not answer.is_error, text
        assert answer.structured_content is None
        return text

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Return the JSON that a tool answers."""
        return json.loads(await self.text(tool, **arguments))

    async def wrong(self, tool: str, **arguments: Any) -> str:
        """Return the sentence by which a tool refuses."""
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error, answer
        return text_of(answer.content[0])


def play(space: Space, scene: Any, access: Access | None = None, **client: Any) -> Any:
    """Let a planner play a scene at the small door."""

    async def go() -> Any:
        door = Operations(space, access or Access("ann"))
        try:
            async with Client(make_server(door), **client) as made:
                return await scene(Door(made))
        finally:
            await door.close()

    return asyncio.run(go())


class Words:
    """A server that answers in the ways that servers do: wrapped, as JSON in a text, as plain text."""

    server = "words"
    answers: ClassVar = {
        "wrapped": ToolAnswer([{"type": "text", "text": "[1, 2]"}], {"result": [{"n": 1}, {"n": 2}]}),
        "written": ToolAnswer([{"type": "text", "text": '{"rows": [{"n": 1}, {"n": 2}], "next": null}'}]),
        "plain": ToolAnswer([{"type": "text", "text": "one\ntwo"}]),
        "broken": ToolAnswer([{"type": "text", "text": "{no json"}]),
    }
    wraps: ClassVar = {"type": "object", "properties": {"result": {"type": "array", "items": {"type": "object"}}}}

    def tools(self) -> list[Tool]:
        """Its tools: they change nothing."""
        return [
            Tool(
                self.server,
                name,
                f"Says something {name}. And more.",
                {"type": "object", "properties": {"n": {"type": "integer", "default": 3}, "city": {"type": "string"}}},
                self.wraps if name == "wrapped" else None,
                read_only=True,
                destructive=False,
            )
            for name in self.answers
        ]

    def find(self, name: str) -> Tool | None:
        """The tool of a name."""
        return next((tool for tool in self.tools() if tool.name == name), None)

    async def current(self, tool: Tool) -> Tool:
        """It does not change."""
        return tool

    async def call(self, tool: Tool, arguments: Any, timeout_s: float | None = None) -> ToolAnswer:
        """Answer in its way."""
        del arguments, timeout_s
        return self.answers[tool.name]
