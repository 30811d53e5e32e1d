"""A server behind a URL: streamable HTTP with the headers of its entry, and answers of bounded length."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp_types import METHOD_NOT_FOUND, JSONRPCError

from infospace.core.errors import Invalid
from infospace.tools.mcp.sanitize import LARGEST, TOO_LARGE
from infospace.tools.mcp.transport.checked import AsyncCheckedTransport, HostCheck
from infospace.tools.mcp.transport.wire import failure, read_message

CONNECT_S = 15.0
SESSION = "mcp-session-id"
NONSENSE = "what it answers is not of the protocol"


ERROR_BYTES = 2**16
"""Bytes of the body of an error that are read."""
REFUSING = (401, 403)
"""Statuses of a server that wants a token, or one for more."""
LOST = "its server has ended the session"


@dataclass(slots=True)
class HttpStatus:
    """What was heard of a URL beside its messages."""

    status: int | None = None
    """The latest status that was an error."""
    unauthorized: str = ""
    """Why the latest request that was to be authorized was not, in words; empty where it was."""
    may_authorize: bool = False
    """Whether requests are authorized where the server asks for that."""
    lost: str = field(default_factory=lambda: secrets.token_hex(16))
    """The data of the error that stands for an answer of HTTP 404 to the id of a session. No server can know it."""
    barred: str = ""
    """Why the latest host was not asked; empty where it was."""
    refused: str = field(default_factory=lambda: secrets.token_hex(16))
    """The data of the error that stands for an answer that wants a token. No server can know it."""

    def failure_text(self) -> str:
        """What went wrong, to stand in a sentence; empty where nothing is known."""
        if self.unauthorized or self.barred:
            return self.unauthorized or self.barred
        return "" if self.status is None else f"it answered HTTP {self.status}"


@asynccontextmanager
async def http_transport(
    url: str, headers: Mapping[str, str], status: HttpStatus, check: HostCheck, auth: httpx2.Auth | None = None
) -> AsyncIterator[TransportStreams]:
    """Speak with a server while the context lasts; yields the streams of its messages. `auth` authorizes requests.

    No redirect is followed. `check` says where requests may go: those to the server, and those to get authorized.
    """

    async def on_response(response: httpx2.Response) -> None:
        if "text/event-stream" not in response.request.headers.get("accept", ""):
            return await _authorizing(response)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.StreamError("it compresses its answers though nobody asked for that")
        if response.request.method != "POST":
            return None
        if response.status_code >= 400:
            status.status = response.status_code
            await _refusal(response, status)
        elif response.headers.get("content-type", "").lower().startswith("application/json"):
            await _reply(response)
        return None

    # How long an answer may take is for whoever asks; only who cannot be reached is given up here.
    timeout = httpx2.Timeout(None, connect=CONNECT_S)
    hooks = {"response": [on_response]}
    values = {"Accept-Encoding": "identity", **headers}
    async with (
        httpx2.AsyncClient(
            headers=values, timeout=timeout, event_hooks=hooks, auth=auth, transport=_Checked(check, status)
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST) as streams,
    ):
        yield streams


class _Checked(AsyncCheckedTransport):
    """Connects to checked addresses; a host that is not asked is one that cannot be connected to."""

    def __init__(self, check: HostCheck, status: HttpStatus) -> None:
        super().__init__(check)
        self._status = status

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. A host that is not asked fails as one that cannot be reached, and `barred` says why."""
        self._status.barred = ""
        try:
            return await super().handle_async_request(request)
        except Invalid as error:
            self._status.barred = error.message
            raise httpx2.ConnectError(error.message, request=request) from error


async def _authorizing(response: httpx2.Response) -> None:
    """Read what an authorization server answers, as far as that is taken."""
    body = await _body(response, ERROR_BYTES)
    if body is None:
        raise httpx2.StreamError("its authorization server answers with more than is taken")
    _set_body(response, body)


async def _reply(response: httpx2.Response) -> None:
    """Read an answer as far as that is taken; what cannot be taken becomes the error that answers the request."""
    body = await _body(response, LARGEST)
    message = None if body is None else read_message(body)
    asked = _request_id(response.request)
    if message is None and asked is not None:
        message = failure(asked, TOO_LARGE if body is None else NONSENSE)
    if message is not None:
        body = message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8", "surrogatepass")
    _set_body(response, body or b"")


async def _refusal(response: httpx2.Response, status: HttpStatus) -> None:
    """Read the answer to what was refused: the server's own error, where it has one, else what the status says.

    Only HTTP 404 to the id of a session says that this is over, and that nothing was done.
    """
    body, asked = await _body(response, ERROR_BYTES) or b"", _request_id(response.request)
    if asked is None:
        return _set_body(response, body)
    own = read_message(body)
    over = response.status_code == 404 and SESSION in response.request.headers
    unknown = isinstance(own, JSONRPCError) and own.error.code == METHOD_NOT_FOUND
    if response.status_code in REFUSING and status.may_authorize:
        # Why it could not be authorized is known once whoever authorizes has seen this answer.
        own = failure(asked, f"it answered HTTP {response.status_code}", status.refused)
    elif over and not unknown:
        own = failure(asked, LOST, status.lost)
    elif not isinstance(own, JSONRPCError):
        if response.status_code == 404:
            return _set_body(response, body)
        own = failure(asked, f"it answered HTTP {response.status_code}")
    response.headers["content-type"] = "application/json"
    return _set_body(response, own.model_dump_json(by_alias=True, exclude_unset=True).encode())


def _request_id(request: httpx2.Request) -> int | str | None:
    """Return the number of the request that a POST carried, None where it carried none."""
    message = json.loads(request.content or b"null")
    value = message.get("id") if isinstance(message, dict) and "method" in message else None
    return value if isinstance(value, int | str) else None


async def _body(response: httpx2.Response, most: int) -> bytes | None:
    """Read the body of a response, None where it is longer."""
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)  # noqa: S101 - an asynchronous client has no other
    parts, size = list[bytes](), 0
    async for chunk in stream:
        size += len(chunk)
        if size > most:
            return None
        parts.append(chunk)
    return b"".join(parts)


def _set_body(response: httpx2.Response, body: bytes) -> None:
    """Have a response answer this; closing it closes what it came with."""
    assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - an asynchronous client has no other
    response.stream = _ReadBody(body, response.stream)


class _ReadBody(httpx2.AsyncByteStream):
    """A body that was read already."""

    def __init__(self, body: bytes, stream: httpx2.AsyncByteStream) -> None:
        self._body = body
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body

    async def aclose(self) -> None:
        """Close what the body came with."""
        await self._stream.aclose()
