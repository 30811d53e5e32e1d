"""A provider of tools that a test gives: what is called, how long it may take, and how it ends are the test's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infospace.core.json_types import JSON
from infospace.core.tool import Tool, ToolAnswer


class GivenTools:
    """Tools of one server. A call answers `answer`, or raises it; `called` has the time that each was given."""

    def __init__(self, server: str, *tools: Tool, answer: ToolAnswer | BaseException | None = None) -> None:
        self.server = server
        self.answer = ToolAnswer() if answer is None else answer
        self.now: dict[str, Tool] = {}
        """Tools that are another now."""
        self.called: list[float | None] = []
        self._tools = tools

    def tools(self) -> Sequence[Tool]:
        """Return them as they were given."""
        return self._tools

    def find(self, name: str) -> Tool | None:
        """Return the tool of a name."""
        return next((tool for tool in self._tools if (tool.kind, tool.name) == ("tool", name)), None)

    async def current(self, tool: Tool) -> Tool:
        """Return it as it is now."""
        return self.now.get(tool.name, tool)

    async def call(self, tool: Tool, arguments: Mapping[str, JSON], timeout_s: float | None = None) -> ToolAnswer:
        """Answer, or raise."""
        del tool, arguments
        self.called.append(timeout_s)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def taking(server: str, name: str, *required: str, **members: Any) -> Tool:
    """Return a tool that takes texts of these names, all of which it needs."""
    properties = {one: {"type": "string"} for one in required}
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return Tool(server, name, input_schema=schema, **members)
