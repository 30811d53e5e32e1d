"""What was sent over HTTP lately, so that a client whose stream broke off is sent the rest of it."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Final

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage

LARGEST: Final = 8 * 2**20
"""Characters of all messages that are kept; the oldest go first."""
MAX_MESSAGES: Final = 10_000
"""Messages that are kept."""
RETRY_MS: Final = 1_000
"""Milliseconds after which a client is to come back whose stream was closed."""


class RecentEvents(EventStore):
    """Keeps the latest messages of one caller's streams. An id is known to whoever was sent the event alone."""

    def __init__(self) -> None:
        self._events: OrderedDict[str, tuple[str, JSONRPCMessage | None, int]] = OrderedDict()
        self._size = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message, None for the event that only begins a stream; return its id."""
        size = 0 if message is None else len(message.model_dump_json(by_alias=True, exclude_unset=True))
        identifier = secrets.token_urlsafe(16)
        self._events[identifier] = stream_id, message, size
        self._size += size
        while len(self._events) > MAX_MESSAGES or (self._size > LARGEST and len(self._events) > 1):
            _, (_, _, gone) = self._events.popitem(last=False)
            self._size -= gone
        return identifier

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what came after an event on its stream; return the stream, None for an event that is not kept."""
        known = self._events.get(last_event_id)
        if known is None:
            return None
        events = list(self._events.items())
        place = next(index for index, (identifier, _) in enumerate(events) if identifier == last_event_id)
        for identifier, (stream, message, _) in events[place + 1 :]:
            if stream == known[0] and message is not None:
                await send_callback(EventMessage(message, identifier))
        return known[0]
