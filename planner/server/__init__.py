"""The MCP server for planner models: check, run, follow and read, over stdio or HTTP on loopback.

`operations` is what can be done, without a word of MCP; `tools` declares it, `calls` answers one call. `protocol`
speaks MCP, and is the only room that loads its package.
"""
