"""Telling clients that what they listed has changed, whoever changed it: this server, or another process.

The earlier protocol tells every client that was initialized; the later one those that listen (`subscriptions/listen`).
Prompts are never told of: the one prompt is always the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Hashable, Iterable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, Final

import mcp_types as types
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from infospace.core.errors import InfospaceError
from infospace.core.tool import Tool
from infospace.data.json_text import dump
from infospace.space import Space
from infospace.tools.builtin import SERVER
from planner.metatools.lookup import known_tools
from planner.parse.saved_plans import plan_tools
from planner.server.protocol.subscriptions import ResourceSubscriptions

POLL_SECONDS: Final = 0.5
"""Seconds between two looks at the space: two of them and the work between are well under two seconds."""
SEND_SECONDS: Final = 5.0
"""Seconds that a client has to take a notification; who does not read holds up nobody else."""
NOTIFICATIONS: Final = NotificationOptions(tools_changed=True, resources_changed=True)
"""What the earlier protocol promises at first."""

_log = logging.getLogger(__name__)


class Listings:
    """What can be listed in a space, as far as one caller knows of it, in the form of two values to compare.

    Each change of a space is a run's, a listing's of tools, or concerns discovery: so the two generations, the latest
    run and the files that name servers say whether anything may have moved. Only then are the tools looked at, and
    files that were written since are read again.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._resources: Hashable = None
        self._sources: Hashable = None
        self._of_servers = self._plans = b""

    def read_state(self) -> tuple[Hashable, Hashable]:
        """Return the tools and saved plans, and the resources: where nothing has changed, equal values."""
        servers = self._space.tools.servers
        files = None if servers is None else servers.follow()
        with self._space.store.reading() as snapshot:
            sources = (files, snapshot.tools_generation())
            resources = (snapshot.generation, *((row.run, row.status) for row in snapshot.runs(limit=1)))
        if resources != self._resources:
            self._plans = _digest(plan_tools(self._space))
        if sources != self._sources:
            others = known_tools(self._space, servers=True)
            self._of_servers = _digest(tool for tool in others if tool.server != SERVER)
        self._resources, self._sources = resources, sources
        return (self._of_servers, self._plans), resources


def _digest(tools: Iterable[Tool]) -> bytes:
    """Return the same for the same tools, in whatever order."""
    lines = sorted(dump([tool.kind, tool.full_name, tool.description, dict(tool.input_schema)]) for tool in tools)
    return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).digest()


class Changes:
    """Who is told of changes, and the task that looks for them while the server runs."""

    def __init__(self, space: Space) -> None:
        self._listings = Listings(space)
        self._bus = InMemorySubscriptionBus()
        self._sessions: dict[int, ServerSession] = {}
        self._listen = ListenHandler(self._bus)
        self.resources = ResourceSubscriptions(space, self._bus)
        """Who wants to know of changes of single resources."""

    async def listen(
        self, context: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Answer `subscriptions/listen`."""
        with self.resources.listening(params.notifications.resource_subscriptions or ()):
            return await self._listen(context, params)

    async def initialized(self, context: ServerRequestContext[Any, Any], _params: types.NotificationParams) -> None:
        """Tell a client of the earlier protocol from now on, until its connection ends."""
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return
        session = context.session
        # The SDK shows handlers no other way to learn that a connection has ended.
        ends = session._connection.exit_stack  # noqa: SLF001
        self._sessions[id(session)] = session
        ends.callback(self._sessions.pop, id(session), None)

    @asynccontextmanager
    async def watching(self, _server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        """Look at the space as long as the server runs."""
        before = await asyncio.to_thread(self._listings.read_state)
        task = asyncio.create_task(self._watch(before))
        try:
            yield {}
        finally:
            self._listen.close()
            task.cancel()
            await asyncio.wait([task])

    async def _watch(self, before: tuple[Hashable, Hashable]) -> None:
        failing = False
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                now = await asyncio.to_thread(self._listings.read_state)
            except InfospaceError as error:
                # A space that cannot be read now may be later; its calls say the same to whoever makes them.
                if not failing:
                    _log.warning("what other processes change is not seen now: %s", error)
                failing = True
                continue
            failing = False
            tools, resources = (one != other for one, other in zip(before, now, strict=True))
            before = now
            if tools:
                await self._bus.publish(ToolsListChanged())
                await self._notify(ServerSession.send_tool_list_changed)
            if resources:
                await self._bus.publish(ResourcesListChanged())
                await self._notify(ServerSession.send_resource_list_changed)
                await self.resources.tell(await asyncio.to_thread(self.resources.changed), _notify_one)

    async def _notify(self, send: Callable[[ServerSession], Any]) -> None:
        await asyncio.gather(*(_notify_one(send, session) for session in [*self._sessions.values()]))


async def _notify_one(send: Callable[[ServerSession], Any], session: ServerSession) -> None:
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await send(session)
    except TimeoutError:
        _log.warning("a client did not take a notification within %.0f seconds", SEND_SECONDS)
