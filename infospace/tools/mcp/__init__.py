"""Servers of the Model Context Protocol: what `mcp.json` says of them, what they list, and calls of it."""
