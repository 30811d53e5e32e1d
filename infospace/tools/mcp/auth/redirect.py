"""The address on loopback to which a browser is sent back when somebody has signed in, or has refused."""

from __future__ import annotations

import asyncio
import html
from contextlib import suppress
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import OAuthFlowError
from mcp.shared.auth import AuthorizationCodeResult

HOST, PATH = "127.0.0.1", "/callback"
LONGEST_LINE = 16_384
READ_S = 10.0
DONE = "You are signed in. You can close this page and go back to infospace."
REFUSED = "The sign-in was refused. You can close this page and go back to infospace."


class RedirectListener:
    """Listens while a person signs in. Only an answer with the `state` of the request counts; all else is refused."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self._server: asyncio.Server | None = None
        self._state = ""
        self._answer: asyncio.Future[AuthorizationCodeResult] | None = None

    @property
    def uri(self) -> str:
        """The address that the browser is sent back to."""
        return f"http://{HOST}:{self.port}{PATH}"

    async def open(self) -> None:
        """Listen; another port where the given one is taken. Raises OSError."""
        try:
            self._server = await asyncio.start_server(self._serve, HOST, self.port, limit=LONGEST_LINE)
        except OSError:
            if not self.port:
                raise
            self._server = await asyncio.start_server(self._serve, HOST, 0, limit=LONGEST_LINE)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def __aenter__(self) -> RedirectListener:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def expect(self, url: str) -> None:
        """Take the `state` of the address that the browser is sent to."""
        self._state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        self._answer = asyncio.get_running_loop().create_future()

    async def answer(self) -> AuthorizationCodeResult:
        """Wait for the answer. Raises OAuthFlowError for a refusal, and where nobody was sent to an address yet."""
        if self._answer is None:
            raise OAuthFlowError("no browser was sent to sign in")
        return await self._answer

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(READ_S):
                line = await reader.readline()
                while (await reader.readline()).strip():
                    pass
                method, target, *_ = line.decode("latin-1").split()
                status, text = self._took(method, target)
                page = f"<!doctype html><meta charset=utf-8><title>infospace</title><p>{html.escape(text)}</p>".encode()
                head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(page)}\r\n"
                writer.write(f"{head}Cache-Control: no-store\r\nConnection: close\r\n\r\n".encode() + page)
                await writer.drain()
        writer.close()

    def _took(self, method: str, target: str) -> tuple[str, str]:
        parts = urlsplit(target)
        document = {name: values[0] for name, values in parse_qs(parts.query).items()}
        waiting, state = self._answer, self._state
        if waiting is None or waiting.done() or not state or document.get("state") != state:
            return "404 Not Found", "There is nothing here."
        if method != "GET" or parts.path != PATH:
            return "404 Not Found", "There is nothing here."
        if "code" in document:
            code = AuthorizationCodeResult(code=document["code"], state=document["state"], iss=document.get("iss"))
            waiting.set_result(code)
            return "200 OK", DONE
        words = document.get("error_description") or document.get("error") or "it said nothing"
        waiting.set_exception(OAuthFlowError(f"the sign-in was refused: {words[:200]}"))
        waiting.exception()
        return "200 OK", REFUSED
