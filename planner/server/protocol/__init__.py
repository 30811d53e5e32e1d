"""MCP itself and its transports. On the server's side only these modules import `mcp`."""
