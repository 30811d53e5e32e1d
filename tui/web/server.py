"""The page on loopback, by textual-serve: whoever has its address gets a screen of the space.

The address has a secret in it, as whoever sees the screen may call tools: no other user of the machine can guess it,
and a page of somebody else can neither read it nor open a socket here. Nothing is fetched from a network.
"""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from string import Template

import textual_serve
from aiohttp import WSMsgType, web

from infospace.core.errors import Conflict
from tui.web.session import Session

HOST = "127.0.0.1"
FONT_SIZE = 16
MIN_FONT_PIXELS, MAX_FONT_PIXELS = 8, 48
"""Sizes of the font, which `?fontsize=` gives, in pixels."""
WIDEST = 1000
"""Columns and lines that a browser may say it has."""

_HERE = Path(__file__).parent
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class WebScreen:
    """Serves a command that draws the screen of one space."""

    def __init__(self, command: Sequence[str], space: str) -> None:
        self._command = list(command)
        self._space = space
        self._secret = secrets.token_urlsafe(18)
        self._sessions: set[Session] = set()
        self._page = Template((_HERE / "page.html").read_text(encoding="utf-8"))

    async def serve(self, port: int, ready: Callable[[str], None]) -> None:
        """Serve until SIGINT or SIGTERM; `ready` is given the address. No process is left afterwards.

        Port 0 is any free one. Raises Conflict for one that cannot be had.
        """
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        runner = web.AppRunner(self._app(), handle_signals=False, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, HOST, port).start()
            except OSError as error:
                message = f"port {port} of {HOST} cannot be had: {error.strerror}"
                raise Conflict(message, hint="--port names another one; without it any free one is taken") from error
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, ended.set)
            ready(f"http://{HOST}:{runner.addresses[0][1]}/{self._secret}/")
            await ended.wait()
        finally:
            await asyncio.gather(*(session.end() for session in self._sessions), return_exceptions=True)
            await runner.cleanup()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def _app(self) -> web.Application:
        within = f"/{self._secret}"
        app = web.Application()
        app.add_routes(
            [
                web.get(f"{within}/", self._shown),
                web.get(f"{within}/page.js", self._script),
                web.get(f"{within}/ws", self._connect),
                web.static(f"{within}/static", Path(textual_serve.__file__).parent / "static"),
            ]
        )
        return app

    async def _shown(self, request: web.Request) -> web.Response:
        socket = f"ws://{request.host}/{self._secret}/ws"
        size = _number(request.query.get("fontsize"), FONT_SIZE, MIN_FONT_PIXELS, MAX_FONT_PIXELS)
        page = self._page.substitute(space=escape(self._space), socket=escape(socket), size=size)
        headers = {
            "Content-Security-Policy": _POLICY.format(host=request.host),
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }
        return web.Response(text=page, content_type="text/html", headers=headers)

    async def _script(self, _request: web.Request) -> web.FileResponse:
        return web.FileResponse(_HERE / "page.js")

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        """Speak with one browser for as long as it looks."""
        if request.headers.get("Origin") != f"http://{request.host}":
            raise web.HTTPForbidden(text="another page may not speak with the screen")
        socket = web.WebSocketResponse(heartbeat=15)
        await socket.prepare(request)
        session = Session(self._command, socket.send_bytes, socket.send_str, socket.close)
        self._sessions.add(session)
        try:
            width = _number(request.query.get("width"), 80, 1, WIDEST)
            height = _number(request.query.get("height"), 24, 1, WIDEST)
            await session.start(width, height)
            await _pass_on(socket, session)
        finally:
            await asyncio.shield(self._end(session))
            with suppress(ConnectionError):
                await socket.close()
        return socket

    async def _end(self, session: Session) -> None:
        await session.end()
        self._sessions.discard(session)


async def _pass_on(socket: web.WebSocketResponse, session: Session) -> None:
    """Give a screen what its browser says, until that ends."""
    async for message in socket:
        if message.type != WSMsgType.TEXT:
            continue
        match message.json():
            case ["stdin", str(typed)]:
                await session.send_bytes(typed.encode("utf-8", "surrogatepass"))
            case ["resize", {"width": int(width), "height": int(height)}]:
                if 0 < width <= WIDEST and 0 < height <= WIDEST:
                    await session.set_terminal_size(width, height)
            case ["ping", answer]:
                await socket.send_json(["pong", answer])
            case ["focus", *_]:
                await session.focus()
            case ["blur", *_]:
                await session.blur()


def _number(text: str | None, usual: int, least: int, most: int) -> int:
    """Return a number that a browser gave, within bounds; the usual one for anything else."""
    if text is None or not (text.isascii() and text.isdecimal() and len(text) < 6):
        return usual
    return min(most, max(least, int(text)))
