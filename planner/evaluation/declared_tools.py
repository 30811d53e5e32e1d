"""Tools that answer what a suite declares, and keep what they were called with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.core.tool import Tool, ToolAnswer
from infospace.data.json_text import same
from planner.evaluation.suite import DeclaredTool, GoldCall


class DeclaredTools:
    """The tools of one server, as a provider for `space.tools`. `calls` are those made, in order."""

    def __init__(self, server: str, declared: Sequence[DeclaredTool], calls: list[GoldCall]) -> None:
        self.server = server
        self.calls = calls
        self._declared = {tool.name.partition("/")[2]: tool for tool in declared}
        self._tools = [
            Tool(
                server,
                name,
                tool.description,
                tool.input_schema,
                tool.output_schema,
                read_only=not tool.changes,
                idempotent=not tool.changes,
                destructive=False,
            )
            for name, tool in self._declared.items()
        ]

    def tools(self) -> Sequence[Tool]:
        """Return its tools."""
        return self._tools

    def find(self, name: str) -> Tool | None:
        """Return the tool of a name."""
        return next((tool for tool in self._tools if tool.name == name), None)

    async def current(self, tool: Tool) -> Tool:
        """Return the tool as it is: a suite does not change."""
        return tool

    async def call(self, tool: Tool, arguments: Mapping[str, JSON], timeout_s: float | None = None) -> ToolAnswer:
        """Return the first declared answer whose `when` the arguments have; an error where none fits."""
        del timeout_s
        declared = self._declared.get(tool.name)
        if declared is None:
            raise NotFound(f"there is no tool {tool.full_name}")
        self.calls.append(GoldCall(tool.full_name, dict(arguments)))
        for canned in declared.answers:
            if all(name in arguments and same(arguments[name], value) for name, value in canned.when.items()):
                if isinstance(canned.result, str):
                    return ToolAnswer([{"type": "text", "text": canned.result}])
                return ToolAnswer(structured=canned.result)
        return ToolAnswer([{"type": "text", "text": "nothing is known for these arguments"}], is_error=True)


def providers(declared: Sequence[DeclaredTool], calls: list[GoldCall]) -> list[DeclaredTools]:
    """Return a provider for each server that the tools name."""
    servers = dict.fromkeys(tool.name.partition("/")[0] for tool in declared)
    return [
        DeclaredTools(server, [tool for tool in declared if tool.name.startswith(f"{server}/")], calls)
        for server in servers
    ]
