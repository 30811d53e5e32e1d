"""Who holds the connections: real servers behind the official client, and what a model gets to see of them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import Tool

from context.workplace import Workplace
from infospace.data.json_text import dump

FASTMCP = Path(__file__).parent / "fastmcp_server.py"
DOORS = "infospace"
"""The server that the space itself is."""
DOOR = "the door of infospace"
"""The same server with its small door alone, through which tasks are planned."""


class Listed(NamedTuple):
    """A tool as JSON: what a model is given of it (name, description, input schema), and all that `tools/list` says."""

    given: str
    whole: str


@dataclass
class Host:
    """Connections by server, and the tools of each by name."""

    place: Workplace
    clients: Mapping[str, Client]
    tools: Mapping[str, Mapping[str, Listed]]
    told: str = ""
    """What the space says to a client at first."""
    doors: Mapping[str, Listed] = field(default_factory=dict)
    """The tools of the small door."""
    searched: Mapping[str, Mapping[str, Listed]] = field(default_factory=dict)
    """The tools of FastMCP's search before the same servers, by connection; none where it is not installed."""

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
        """Call a tool; return what the model writes for it, and the text that it reads.

        Raises RuntimeError where the tool fails.
        """
        told = dump({"name": tool, "arguments": dict(arguments)})
        real = {key: self._there(value) for key, value in arguments.items()}
        try:
            answer = await self.clients[server].call_tool(tool, real)
        except MCPError as error:
            raise RuntimeError(f"{server}/{tool}: {error}") from error
        text = self.place.told("\n".join(getattr(block, "text", "") for block in answer.content))
        if answer.is_error:
            raise RuntimeError(f"{server}/{tool}: {text}")
        return told, text

    def _there(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.place.there(value)
        if isinstance(value, list):
            return [self._there(item) for item in value]
        return {key: self._there(item) for key, item in value.items()} if isinstance(value, dict) else value


@asynccontextmanager
async def hosting(place: Workplace) -> AsyncIterator[Host]:
    """Start every server of a workplace, and the server that its space is."""
    words = ["-m", "tui.command", "--space", str(place.space), "serve", "--tools"]
    serve = {"command": sys.executable, "args": [*words, "full"]}
    door = {DOOR: {"command": sys.executable, "args": [*words, "core"]}}
    clients, tools, searched = {}, {}, {}
    everybody = place.folder / "everybody.json"
    everybody.write_text(json.dumps({"mcpServers": {**place.servers, DOORS: serve}}))
    fastmcp = {
        f"FastMCP, {form}": {"command": sys.executable, "args": [str(FASTMCP), str(everybody), form]}
        for form in ("json", "markdown")
        if find_spec("fastmcp") is not None
    }
    with TemporaryFile("w", encoding="utf-8") as said:
        async with AsyncExitStack() as stack:
            for name, entry in {**place.servers, DOORS: serve, **door, **fastmcp}.items():
                command = StdioServerParameters(
                    command=entry["command"], args=entry.get("args", []), env={**os.environ, **entry.get("env", {})}
                )
                mode = "legacy" if name in fastmcp else "auto"
                made = Client(stdio_client(command, errlog=said), mode=mode)
                client = clients[name] = await stack.enter_async_context(made)
                found = (await client.list_tools()).tools
                of = searched if name in fastmcp else tools
                of[name] = {tool.name: _listed(tool) for tool in found}
            yield Host(place, clients, tools, clients[DOOR].instructions or "", tools.pop(DOOR), searched)


def _listed(tool: Tool) -> Listed:
    given = {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
    return Listed(dump(given), dump(tool.model_dump(mode="json", by_alias=True, exclude_none=True)))
