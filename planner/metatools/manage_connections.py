"""`manage_connections`: how the servers' connections stand, and signing in to one that asks for it."""

from __future__ import annotations

import asyncio
from typing import Any

from infospace.core.errors import NotFound
from infospace.space import Space
from infospace.tools.mcp.connections import connection_states, initiate
from infospace.tools.scope import EVERYTHING
from planner.metatools.arguments import ManageConnections


async def manage_connections(space: Space, args: ManageConnections) -> dict[str, Any]:
    """Answer the states of the servers that may be known, of one, or of one that is being connected.

    A state is `connected`, `disconnected`, `not_required`, `expired` or `error`. Where a person has to sign in,
    `initiate` answers `connect_url`, and goes on once that is done. No secret stands in any of it. Raises NotFound for
    a server that is not there or may not be known, Invalid for one that is disabled.
    """
    servers = space.tools.servers
    states = [] if servers is None else await asyncio.to_thread(connection_states, servers)
    if space.tools.scope != EVERYTHING:
        known_names = {tool.server for tool in (*space.tools.everything(), *space.tools.never_listed())}
        states = [connection for connection in states if connection.server in known_names]
    if args.action == "list":
        return {"connections": [connection.to_json() for connection in states]}
    result = next((connection for connection in states if connection.server == args.server), None)
    if result is None or servers is None:
        needs = next((tool.needs for tool in space.tools.never_listed() if tool.server == args.server), None)
        if needs is not None:
            raise NotFound(f"the server {args.server!r:.80} has no entry in `mcp.json` yet", hint=needs)
        there = f"there are {', '.join(connection.server for connection in states)}" if states else "there are none"
        raise NotFound(f"there is no server {args.server!r:.80}", hint=there)
    if args.action == "initiate":
        result = await initiate(servers, result.server)
    return result.to_json()
