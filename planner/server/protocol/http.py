"""Serving clients over HTTP on loopback, until the process is told to end."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

import uvicorn
from h11 import IDLE
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.h11_impl import H11Protocol

from infospace.core.errors import Invalid
from infospace.space import Space
from planner.server.config import Token
from planner.server.operations import Operations
from planner.server.protocol.http_app import Caller, create_app
from planner.server.protocol.shutdown import serve_until_signal

HOST = "127.0.0.1"
REQUEST_SECONDS = 20.0
"""Seconds in which a request has to arrive whole."""
MOST_CONNECTIONS = 256
"""Connections at once; one more is told that the server is busy (503)."""
IDLE_SECONDS = 75
"""Seconds that a connection stays open between two requests. Clients give up theirs after 5 (httpx) to 60 seconds, and
whoever closes second loses nothing: a request that meets the closing of its connection is lost, and none is resent."""
CLOSE_SECONDS = 1
"""Seconds that connections have to end once the server ends."""


def create_token() -> str:
    """Return a new token: 32 bytes of chance."""
    return secrets.token_urlsafe(32)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 is any that is free.

    Raises Invalid for a host that is not loopback, or a port that is taken.
    """
    try:
        address = ip_address(host)
    except ValueError:
        address = None
    if address is None or not address.is_loopback or address.version != 4:
        raise Invalid(f"the server is for this machine alone, and {host!r} is not a loopback address", hint=HOST)
    # With the protocol named, asyncio sets TCP_NODELAY on what is accepted. Without, the body of an answer waits up to
    # 40 ms for the client's system to acknowledge its head.
    result = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        result.bind((host, port))
        result.listen()
    except OSError as error:
        result.close()
        raise Invalid(
            f"{host}:{port} cannot be listened on: {error.strerror}", hint="port 0 takes a free one"
        ) from error
    return result


async def serve_http(space: Space, listening: socket.socket, tokens: Sequence[Token]) -> int | None:
    """Serve whoever shows one of the tokens, on a socket of `bound`, until SIGINT, SIGTERM or SIGHUP comes.

    Returns the signal's number.
    """
    host, port = listening.getsockname()[:2]
    hosts = [f"{name}:{port}" for name in (host, "localhost")]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{name}" for name in hosts])
    callers = [Caller(token.digest, Operations(space, token.access), security) for token in tokens]
    config = uvicorn.Config(
        create_app(space, callers, security),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=CLOSE_SECONDS,
        timeout_keep_alive=IDLE_SECONDS,
        http=_Impatient,
        limit_concurrency=MOST_CONNECTIONS,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_no_end_of_a_stream)
    server = _Server(config)
    return await serve_until_signal([caller.operations for caller in callers], server.serve([listening]), server.stop)


def _is_no_end_of_a_stream(record: logging.LogRecord) -> bool:
    """Whether something is to be logged: not that the streams of clients end with the server, which is no fault."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, asyncio.CancelledError) and "timeout graceful shutdown exceeded" not in record.msg


class _Impatient(H11Protocol):
    """A connection that is closed when a request does not arrive whole in time: who sends half of one holds nothing."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request. The time is that of the whole: parts that trickle in do not prolong it."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.more_body:
            self._forget()
        elif self._late is None:
            self._expect()

    def on_response_complete(self) -> None:
        """Wait for the rest of the next request, where a part of it came along with the one that was answered."""
        super().on_response_complete()
        if self._late is None and self.conn.their_state is IDLE and self.conn.trailing_data[0]:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._forget()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._late = asyncio.get_running_loop().call_later(request_seconds(), self._end)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _end(self) -> None:
        self._late = None
        if self.transport is not None:
            self.transport.close()


def request_seconds() -> float:
    """Return the seconds in which a request has to arrive whole: INFOSPACE_REQUEST_SECONDS, else 20."""
    try:
        seconds = float(os.environ.get("INFOSPACE_REQUEST_SECONDS", ""))
    except ValueError:
        return REQUEST_SECONDS
    return seconds if seconds > 0 else REQUEST_SECONDS


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    def stop(self) -> None:
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
