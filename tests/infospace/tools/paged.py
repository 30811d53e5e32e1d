"""A server that is spoken with in this process: what it lists, page by page, is written out by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from infospace.tools.mcp.catalogue.sieve import filter_messages

ALL: Mapping[str, Any] = {"tools": {}, "prompts": {}, "resources": {}}


class Paged:
    """Answers each list with its pages in turn, the first again at last; `asked` has each list with its cursor.

    `later`: it speaks the protocol of 2026-07-28, in which a page says how long it holds.
    """

    def __init__(self, pages: Mapping[str, Sequence[Mapping[str, Any]]], *, later: bool = False, **told: Any) -> None:
        self.asked: list[tuple[str, Any]] = []
        self._pages = pages
        self._later: Mapping[str, Any] = (
            {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if later else {}
        )
        self._told = {
            "protocolVersion": "2025-11-25",
            "capabilities": ALL,
            "serverInfo": {"name": "paged", "version": "1"},
            **told,
        }

    def answer(self, request: JSONRPCRequest) -> JSONRPCResponse | JSONRPCError:
        """Return the answer to a request."""
        if request.method == "initialize":
            return JSONRPCResponse(jsonrpc="2.0", id=request.id, result=self._told)
        if request.method == "server/discover" and self._later:
            told = {**self._later, "supportedVersions": ["2026-07-28"], "capabilities": self._told["capabilities"]}
            return JSONRPCResponse(jsonrpc="2.0", id=request.id, result=told)
        kind, _, rest = request.method.rpartition("/")
        if rest != "list":
            error = {"code": -32601, "message": f"no method {request.method}"}
            return JSONRPCError.model_validate({"jsonrpc": "2.0", "id": request.id, "error": error})
        number = sum(one == kind for one, _ in self.asked)
        self.asked.append((kind, (request.params or {}).get("cursor")))
        key = "resourceTemplates" if kind == "resources/templates" else kind
        pages = self._pages.get(kind, [{key: []}])
        return JSONRPCResponse(jsonrpc="2.0", id=request.id, result={**self._later, **pages[number % len(pages)]})

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Speak with it while the context lasts."""
        async with create_client_server_memory_streams() as (ours, (incoming, outgoing)):

            async def serve() -> None:
                async for item in incoming:
                    if not isinstance(item, Exception) and isinstance(item.message, JSONRPCRequest):
                        await outgoing.send(SessionMessage(self.answer(item.message)))

            @asynccontextmanager
            async def transport() -> AsyncIterator[TransportStreams]:
                yield ours

            serving = asyncio.create_task(serve())
            try:
                async with Client(filter_messages(transport()), cache=None) as client:
                    yield client
            finally:
                serving.cancel()
                await asyncio.gather(serving, return_exceptions=True)
