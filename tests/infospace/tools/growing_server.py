"""A server made with the official package, of the later protocol, whose list grows when it is told to."""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("growing")


@server.tool()
async def grow(name: str, context: Context) -> str:
    """Have one more tool."""

    def more() -> str:
        return f"this is {name}"

    server.add_tool(more, name=name)
    await context.notify_tools_changed()
    return "grown"


if __name__ == "__main__":
    server.run()
