"""Serving clients over HTTP on loopback: each shows the bearer token; other hosts and origins are turned away."""

from __future__ import annotations

import hmac
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from infospace.errors import Invalid
from infospace.space import Space
from planner.serve.door import Door
from planner.serve.ending import until_told
from planner.serve.server import make_server

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
HOST = "127.0.0.1"
SHORTEST_TOKEN = 16
"""Characters of a token, at least."""
PATIENCE = 1
"""Seconds that connections have to end once the server ends."""


def made_token() -> str:
    """Return a new token: 32 bytes of chance."""
    return secrets.token_urlsafe(32)


def checked_token(token: str) -> str:
    """Return a token that may serve. Raises Invalid for one that is too short, or that a header cannot carry."""
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        says = f"a token has at least {SHORTEST_TOKEN} characters, ASCII without spaces"
        raise Invalid(says, hint="leave it out, and one is made")
    return token


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 is any that is free.

    Raises Invalid for a host that is not loopback, StoreError where the port is taken.
    """
    try:
        address = ip_address(host)
    except ValueError:
        address = None
    if address is None or not address.is_loopback or address.version != 4:
        raise Invalid(f"the server is for this machine alone, and {host!r} is not a loopback address", hint=HOST)
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen()
    except OSError as error:
        made.close()
        raise Invalid(
            f"{host}:{port} cannot be listened on: {error.strerror}", hint="port 0 takes a free one"
        ) from error
    return made


async def serve_http(space: Space, listening: socket.socket, token: str) -> int | None:
    """Serve on a socket of `bound` until SIGINT or SIGTERM comes, whose number is returned."""
    host, port = listening.getsockname()[:2]
    door = Door(space)
    hosts = [f"{name}:{port}" for name in (host, "localhost")]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{name}" for name in hosts])
    app = make_server(door).streamable_http_app(streamable_http_path=PATH, transport_security=security)
    config = uvicorn.Config(
        _Guard(app, checked_token(token)),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    server = _Server(config)
    return await until_told(door, server.serve([listening]), server.stop)


class _Guard:
    """Lets through who shows the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._knows(scope):
            refusal = JSONResponse(
                {"error": "invalid_token", "error_description": "the bearer token is missing or wrong"},
                status_code=401,
                headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        return kind.lower() == b"bearer" and hmac.compare_digest(token, self._token)


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    def stop(self) -> None:
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
