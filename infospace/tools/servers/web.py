"""A server behind a URL: streamable HTTP with the headers of its entry, and answers of bounded length."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from infospace.tools.servers.blocks import LARGEST, TOO_LARGE

CONNECT_S = 15.0


@dataclass(slots=True)
class Answered:
    """What was heard of a URL beside its messages."""

    status: int | None = None
    """The latest status that was an error."""
    too_large: bool = False

    def words(self) -> str:
        """What went wrong, to stand in a sentence; empty where nothing is known."""
        if self.too_large:
            return TOO_LARGE
        return "" if self.status is None else f"it answered HTTP {self.status}"


@asynccontextmanager
async def reaching(url: str, headers: Mapping[str, str], answered: Answered) -> AsyncIterator[TransportStreams]:
    """Speak with a server while the context lasts; yields the streams of its messages."""

    async def look(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.StreamError("it compresses its answers though nobody asked for that")
        if response.status_code >= 400 and response.request.method == "POST":
            answered.status = response.status_code
        if response.headers.get("content-type", "").lower().startswith("application/json"):
            response.stream = _Bounded(response.stream, answered)

    # How long an answer may take is for whoever asks; only who cannot be reached is given up here.
    timeout = httpx2.Timeout(None, connect=CONNECT_S)
    hooks = {"response": [look]}
    given = {"Accept-Encoding": "identity", **headers}
    async with (
        httpx2.AsyncClient(headers=given, timeout=timeout, event_hooks=hooks) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST) as streams,
    ):
        yield streams


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response, which ends in an error where it is too long."""

    def __init__(self, stream: httpx2.SyncByteStream | httpx2.AsyncByteStream | None, answered: Answered) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)  # noqa: S101 - an asynchronous client has no other
        self._stream = stream
        self._answered = answered

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST:
                self._answered.too_large = True
                raise httpx2.StreamError(TOO_LARGE)
            yield chunk

    async def aclose(self) -> None:
        """Close the body."""
        await self._stream.aclose()
