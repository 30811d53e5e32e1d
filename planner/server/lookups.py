"""What a planner can look at: pieces of resources, the vocabulary, and notes by what they are about."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from infospace.context.invoke import call_directly
from infospace.contract.arguments import ParseMode
from infospace.core.errors import InfospaceError, NotFound
from planner.metatools import manage_connections as connections
from planner.metatools.arguments import ManageConnections
from planner.metatools.audit import outcome_of, write_audit
from planner.metatools.chaining.plan_tools import PlanTools, SelectTool, plan_tools, select_tool
from planner.metatools.compat.debug_list_tools import DebugListTools, debug_list_tools
from planner.metatools.compat.discover import Discover
from planner.metatools.compat.select_servers import SelectServers, select_servers
from planner.parse.vocabulary import conditions_in_full, full, short
from planner.server import arguments
from planner.server.live_runs import Tell
from planner.server.operations import Operations
from planner.server.read import ReadRequest, read_piece
from planner.server.truncate import truncate_hits

CONDITIONS = "conditions"
"""The name under which all conditions are described."""
DISCOVER = "discover-notes"
"""The primitive that answers `discover_notes`."""


async def read(operations: Operations, args: arguments.Read, tell: Tell) -> dict[str, Any]:
    """Return a piece of what is long."""
    del tell
    part = args.slice or slice(None)
    return read_piece(operations.space, ReadRequest(args.ref, part, args.fields or (), args.max_chars))


async def describe_primitives(operations: Operations, args: arguments.DescribePrimitives, tell: Tell) -> str:
    """Return the language in short, or contracts in full; of a name that is not there, a sentence beside the others."""
    del tell
    catalogue = operations.space.catalogue
    if not args.names:
        return short(catalogue)
    messages, missing = [], []
    for name in dict.fromkeys(args.names):
        try:
            messages.append(conditions_in_full() if name.lower() == CONDITIONS else full(catalogue, [name]))
        except NotFound as error:
            missing.append(str(error))
    if not messages:
        raise NotFound("; ".join(missing))
    return "\n\n".join([*messages, *missing])


async def discover(operations: Operations, args: Discover, tell: Tell) -> dict[str, Any]:
    """Find tools in the shape of CodeSpar's `discover`; the same question is answered once in a conversation."""
    del tell
    limit = min(args.limit, operations.access.results)
    return {**await asyncio.to_thread(operations.discovery.discover, args.query, limit)}


async def choose_servers(operations: Operations, args: SelectServers, tell: Tell) -> dict[str, Any]:
    """Say which servers a message needs, of those that the caller may know."""
    del tell
    return await select_servers(operations.space, args)


async def list_services(operations: Operations, args: DebugListTools, tell: Tell) -> dict[str, Any]:
    """List the tools of some servers, of those that the caller may know."""
    del tell
    return await debug_list_tools(operations.space, args)


async def choose_tool(operations: Operations, args: SelectTool, tell: Tell) -> dict[str, Any]:
    """Name the one tool that does what is asked for, of those that the caller may know."""
    del tell
    return await select_tool(operations.space, args)


async def chain_tools(operations: Operations, args: PlanTools, tell: Tell) -> dict[str, Any]:
    """Make a plan without a language model, of the tools that the caller may know."""
    del tell
    return await plan_tools(operations.space, args)


async def manage_connections(operations: Operations, args: ManageConnections, tell: Tell) -> dict[str, Any]:
    """Say how the servers that the caller may know are connected, or connect one; what came of that is audited."""
    del tell
    if args.action != "initiate":
        return await connections.manage_connections(operations.space, args)
    keep = partial(write_audit, operations.space, operations.access.caller, "manage_connections", args.server or "")
    try:
        answer = await connections.manage_connections(operations.space, args)
    except InfospaceError as error:
        keep("refused", error.kind)
        raise
    except asyncio.CancelledError:
        keep("cancelled")
        raise
    keep(outcome_of(answer))
    return answer


async def discover_notes(operations: Operations, values: dict[str, Any]) -> dict[str, Any]:
    """Search, and return the answer of the primitive. Raises what is wrong with the arguments, all at once."""
    entry = operations.space.catalogue.get(DISCOVER)
    context = operations.space.context(scratch=True)
    resolved = dict(values)
    for name, argument in entry.arguments.items():
        if argument.reading is ParseMode.RESOURCE and isinstance(values.get(name), str):
            resolved[name] = context.get(values[name])
    entry.validate(resolved)
    result = await call_directly(entry, resolved, context)
    if result.status != "success":
        raise InfospaceError(result.reason or "the search failed")
    return truncate_hits(result.to_json())
