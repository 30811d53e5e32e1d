"""Clients that want to know when a resource changes: by its URI, also of one that is not there yet."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Final

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ResourceUpdated, SubscriptionBus
from mcp.shared.exceptions import MCPError

from infospace.core.errors import InfospaceError
from infospace.space import Space
from planner.server.protocol.resources import read_uri

MAX_SUBSCRIPTIONS: Final = 200
"""Resources that one client may subscribe to."""
MAX_URI_CHARACTERS: Final = 2_000
"""Characters of a URI."""


class ResourceSubscriptions:
    """Which resources clients look at, and how each was when it was looked at last."""

    def __init__(self, space: Space, bus: SubscriptionBus) -> None:
        self._space = space
        self._bus = bus
        self._sessions: dict[int, tuple[ServerSession, set[str]]] = {}
        """Of the earlier protocol, by connection."""
        self._listening: list[frozenset[str]] = []
        """Of the later one, which tells by the bus."""
        self._seen: dict[str, bytes] = {}

    async def subscribe(
        self, context: ServerRequestContext[Any, Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Tell a client of a resource from now on, until its connection ends."""
        uri, connection = str(params.uri), context.session._connection  # noqa: SLF001 - its end is told nowhere else
        if id(connection) not in self._sessions:
            self._sessions[id(connection)] = context.session, set()
            connection.exit_stack.callback(self._sessions.pop, id(connection), None)
        _, uris = self._sessions[id(connection)]
        if len(uri) > MAX_URI_CHARACTERS or (uri not in uris and len(uris) >= MAX_SUBSCRIPTIONS):
            uri_limit = f"of URIs of at most {MAX_URI_CHARACTERS:,} characters"
            message = f"a client subscribes to at most {MAX_SUBSCRIPTIONS} resources, {uri_limit}"
            raise MCPError(types.INVALID_PARAMS, message)
        uris.add(uri)
        self._note_states([uri])
        return types.EmptyResult()

    async def unsubscribe(
        self, context: ServerRequestContext[Any, Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Tell a client of a resource no more."""
        known = self._sessions.get(id(context.session._connection))  # noqa: SLF001 - as above
        if known is not None:
            known[1].discard(str(params.uri))
        return types.EmptyResult()

    @contextmanager
    def listening(self, uris: Iterable[str]) -> Iterator[None]:
        """Look at some resources as long as the context lasts, for a client that listens to the bus."""
        expected = frozenset(list(uris)[:MAX_SUBSCRIPTIONS])
        self._listening.append(expected)
        self._note_states(expected)
        try:
            yield
        finally:
            self._listening.remove(expected)

    def changed(self) -> list[str]:
        """Return which of the resources that somebody looks at have changed since the last look; reads each."""
        expected = {uri for _, uris in self._sessions.values() for uri in uris}.union(*self._listening)
        for uri in self._seen.keys() - expected:
            del self._seen[uri]
        before = {uri: self._seen.get(uri) for uri in expected}
        self._note_states(expected, again=True)
        return sorted(uri for uri in expected if before[uri] is not None and before[uri] != self._seen[uri])

    async def tell(
        self, changed: Iterable[str], send: Callable[[Callable[[ServerSession], Any], ServerSession], Awaitable[None]]
    ) -> None:
        """Tell whoever looks at a resource that it has changed; `send` tells one client of the earlier protocol."""
        for uri in changed:
            await self._bus.publish(ResourceUpdated(uri))
            for session, uris in [*self._sessions.values()]:
                if uri in uris:
                    await send(lambda one, uri=uri: one.send_resource_updated(uri), session)  # type: ignore[misc]

    def _note_states(self, uris: Iterable[str], *, again: bool = False) -> None:
        for uri in uris:
            if again or uri not in self._seen:
                self._seen[uri] = _state(self._space, uri)


def _state(space: Space, uri: str) -> bytes:
    """Return what tells a resource as it is from one that is otherwise, or not there."""
    try:
        message = "\n".join(read_uri(space, uri))
    except InfospaceError as error:
        message = f"{error.kind}: {error}"
    return sha256(message.encode("utf-8", "surrogatepass")).digest()
