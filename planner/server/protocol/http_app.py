"""What is answered over HTTP: MCP to each caller as its token lets it, whether the server is well, figures, discovery.

Each request but the one for health shows a bearer token; other hosts and origins are turned away.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from infospace.core.errors import InfospaceError, InvalidJSON
from infospace.data.json_text import read_json
from infospace.space import Space
from infospace.tools.mcp.catalogue.sync import sync
from planner.metatools.audit import write_audit
from planner.server.operations import Operations
from planner.server.protocol.event_store import RETRY_MS, RecentEvents
from planner.server.protocol.mcp_server import make_server
from planner.server.protocol.metrics import CONTENT_TYPE, prometheus_metrics

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH = "/mcp"
SESSION = b"mcp-session-id"
BAD = 400
"""From this status on a request was turned down."""
LONGEST_BODY = 10_000
"""Bytes of what is sent to `/discover`."""

Endpoint: TypeAlias = "Callable[[Request], Awaitable[Response]]"


class Caller:
    """Whoever shows one token: by its SHA-256, with operations and a server of its own."""

    def __init__(self, digest: bytes, operations: Operations, security: TransportSecuritySettings) -> None:
        self.digest = digest
        self.operations = operations
        self.app = make_server(operations).streamable_http_app(
            streamable_http_path=PATH, transport_security=security, event_store=RecentEvents(), retry_interval=RETRY_MS
        )


def create_app(space: Space, callers: Sequence[Caller], security: TransportSecuritySettings) -> ASGIApp:
    """Return what answers every request."""
    app = _App(space, callers, security)
    routes = [
        Route("/health", app.health, methods=["GET"]),
        Route("/metrics", app.metrics, methods=["GET"]),
        Route("/discover", app.discover, methods=["POST"]),
        Mount("/", app=app.mcp),
    ]
    return Starlette(routes=routes, lifespan=app.lifespan)


async def _end_session(app: ASGIApp, scope: Scope, session: bytes) -> None:
    """End the session that the protocol opened for a request which it then turned down: nobody uses it."""
    kept = [(key, value) for key, value in scope["headers"] if key.lower() in (b"host", b"origin")]
    asked = {**scope, "method": "DELETE", "headers": [*kept, (b"accept", b"application/json"), (SESSION, session)]}

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Message) -> None:
        """Whoever made the request has its answer."""

    await app(asked, receive, send)


class _App:
    def __init__(self, space: Space, callers: Sequence[Caller], security: TransportSecuritySettings) -> None:
        self._space = space
        self._callers = callers
        self._security = TransportSecurityMiddleware(security)

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Let the server of each caller run."""
        async with AsyncExitStack() as stack:
            for caller in self._callers:
                await stack.enter_async_context(caller.app.router.lifespan_context(caller.app))
            yield

    def _caller(self, request: Request) -> Caller | None:
        """Return whose token a request shows. All are compared, so that the time says nothing."""
        names = request.headers.getlist("authorization")
        kind, _, token = names[0].partition(" ") if len(names) == 1 else ("", "", "")
        digest = sha256(token.encode("latin-1")).digest()
        same = [caller for caller in self._callers if hmac.compare_digest(caller.digest, digest)]
        return same[0] if same and kind.lower() == "bearer" else None

    async def mcp(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request to the server of whose token it shows."""
        caller = self._caller(Request(scope))
        if caller is None:
            await _unknown()(scope, receive, send)
            return
        opened: list[bytes] = []

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= BAD:
                opened.extend(value for key, value in message["headers"] if key.lower() == SESSION)
            await send(message)

        await caller.app(scope, receive, noted)
        if opened and not any(key.lower() == SESSION for key, _ in scope["headers"]):
            await _end_session(caller.app, scope, opened[0])

    async def health(self, request: Request) -> Response:
        """Say that the server answers, and the space can be read; to anybody here."""
        turned_away = await self._security.validate_request(request)
        if turned_away is not None:
            return turned_away
        try:
            with self._space.store.reading() as snapshot:
                snapshot.tools_generation()
        except InfospaceError as error:
            return JSONResponse({"status": "failing", "reason": str(error)}, status_code=503)
        return JSONResponse({"status": "ok", "version": version("infospace")})

    async def metrics(self, request: Request) -> Response:
        """Answer figures as Prometheus reads them: of the tools that the caller knows, and of its own calls.

        An admin sees those of all callers.
        """
        caller = self._caller(request)
        refused = await self._turned_away(request, caller)
        if caller is None or refused is not None:
            return refused or _unknown()
        doors = [one.operations for one in self._callers] if caller.operations.access.admin else [caller.operations]
        text = await asyncio.to_thread(prometheus_metrics, caller.operations.space, doors)
        return PlainTextResponse(text, media_type=CONTENT_TYPE)

    async def discover(self, request: Request) -> Response:
        """List the servers anew, as `infospace tools sync` does; for an admin. The body may be `{"restart": true}`."""
        caller = self._caller(request)
        refused = await self._turned_away(request, caller)
        if caller is None or refused is not None:
            return refused or _unknown()
        name = caller.operations.access.caller
        if not caller.operations.access.admin:
            write_audit(self._space, name, "discover", "", "refused", "no admin")
            return JSONResponse({"error": "forbidden", "reason": "this token is not that of an admin"}, status_code=403)
        try:
            restart = _restart(await _body(request))
            report = await sync(self._space, restart=restart, embed=True)
        except InfospaceError as error:
            write_audit(self._space, name, "discover", "", "refused", error.kind)
            return JSONResponse({"error": error.kind, "reason": str(error)}, status_code=400)
        write_audit(self._space, name, "discover", "", "success")
        return JSONResponse(report.to_json())

    async def _turned_away(self, request: Request, caller: Caller | None) -> Response | None:
        return _unknown() if caller is None else await self._security.validate_request(request)


async def _body(request: Request) -> bytes:
    """Return what was sent; raises InvalidJSON for more than is taken."""
    result = b""
    async for chunk in request.stream():
        result += chunk
        if len(result) > LONGEST_BODY:
            raise InvalidJSON(f"the body has more than {LONGEST_BODY:,} bytes", hint='{"restart": true}, or nothing')
    return result


def _restart(body: bytes) -> bool:
    """Read whether all servers are to be started anew; raises InvalidJSON."""
    document: Any = read_json(body, what="the body") if body.strip() else {}
    if (
        not isinstance(document, dict)
        or set(document) - {"restart"}
        or not isinstance(document.get("restart", False), bool)
    ):
        raise InvalidJSON("the body is not what it may be", hint='{"restart": true}, or nothing')
    return bool(document.get("restart", False))


def _unknown() -> Response:
    return JSONResponse(
        {"error": "invalid_token", "error_description": "the bearer token is missing or wrong"},
        status_code=401,
        headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
    )
