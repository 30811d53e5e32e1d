"""MCP itself and its transports; the only modules that import `mcp`."""
