"""The MCP door for planner models: check, run, follow and read, over stdio or HTTP on loopback.

`door` is what can be done, without a word of MCP; `tools` declares it; `server`, `stdio` and `http` speak MCP, and
are the only modules that load its package.
"""
