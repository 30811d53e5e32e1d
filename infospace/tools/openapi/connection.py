"""An HTTP interface that is called by its document: what a server is to its tools, without any process of its own."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import httpx2

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.redaction import hidden, shown_url
from infospace.core.tool import NoAnswer, ToolAnswer, ToolFailed, ToolKind
from infospace.tools.mcp.catalogue.listing import LONGEST_TEXT, TTL_S, Listing
from infospace.tools.mcp.config import Entry
from infospace.tools.mcp.env_vars import expanded, values_in
from infospace.tools.mcp.errors import ServerFailed
from infospace.tools.mcp.sanitize import LARGEST, TOO_LARGE, sanitize
from infospace.tools.mcp.transport.checked import AsyncCheckedTransport, HostCheck
from infospace.tools.mcp.transport.http import CONNECT_S
from infospace.tools.openapi.answers import error_answer, good_answer
from infospace.tools.openapi.document import Document, read_document
from infospace.tools.openapi.operations import Operations, read_operations
from infospace.tools.openapi.requests import Request, base_of, make_request, origin

if TYPE_CHECKING:
    from infospace.store.tool_records import ListedTool
    from infospace.tools.mcp.auth.sign_in import SignIn
    from infospace.tools.mcp.dialogue.conversation import Talk

ERROR_BYTES = 2**16
"""Bytes of the body of an error that are read."""

_ASKED = itertools.count(1)


class ApiConnection:
    """An interface that an entry names by its document. `relisted` hears, in a thread, what it lists."""

    def __init__(self, entry: Entry, relisted: Callable[[Listing], None]) -> None:
        self.entry = entry
        self._relisted = relisted
        self._secrets: tuple[str, ...] = entry.secrets()
        self._filled = entry
        self._base = ""
        self._client: httpx2.AsyncClient | None = None
        self._operations = Operations()
        self._listed: tuple[object, float, Listing] | None = None
        """The latest list, what told the document's file from others when it was read, and until when it holds."""
        self._reading = asyncio.Lock()
        self._over = False

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not self._over

    @property
    def stderr(self) -> str:
        """Nothing: no process says anything."""
        return ""

    def ask(self, sign_in: SignIn | None) -> None:
        """Do nothing: nobody signs in by a browser here, the entry has the keys."""

    async def open(self) -> None:
        """Be ready; the document is read when it is first needed. Raises ServerFailed for an unset variable."""
        try:
            self._filled = expanded(self.entry, os.environ)
        except Invalid as error:
            raise ServerFailed(self.entry.name, error.message, hint=error.hint, lasting=True) from error
        self._secrets = (*self._filled.secrets(), *values_in(self.entry, os.environ))
        self._must_send(self._filled.headers)
        timeout = httpx2.Timeout(None, connect=CONNECT_S)
        # No cookie of one call is sent with another.
        jar = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        self._client = httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity", "User-Agent": "infospace"},
            timeout=timeout,
            cookies=jar,
            follow_redirects=False,
            transport=AsyncCheckedTransport(HostCheck(public=False)),
        )

    async def close(self) -> None:
        """End its connections."""
        self._over = True
        if self._client is not None:
            await self._client.aclose()

    async def current(self) -> Listing:
        """Return what it lists: read once, and again when the document's file is another or its time is over."""
        async with self._reading:
            known = self._listed
            if known is not None and known[0] == self.entry.document_stamp and known[1] > _now():
                return known[2]
        listing = await self.listing()
        await asyncio.to_thread(self._relisted, listing)
        return listing

    async def lists(self, tool: ListedTool) -> bool:
        """Whether its document has an operation just as that is. Raises ServerFailed."""
        return (await self.current()).find("tool", tool.name) == tool

    def known_tool(self, name: str) -> ListedTool | None:
        """Return what was read last of an operation."""
        return None if self._listed is None else self._listed[2].find("tool", name)

    async def listing(self) -> Listing:
        """Read the document, and all operations in it. Raises ServerFailed."""
        async with self._reading:
            stamp = self.entry.document_stamp
            try:
                async with asyncio.timeout(self.entry.start_timeout_s):
                    data = await self._document()
                    document, operations = await asyncio.to_thread(_read, data)
                self._base = self._base_url(document)
            except TimeoutError:
                raise self._failed(f"was not read within {self.entry.start_timeout_s:g} s") from None
            except Invalid as error:
                raise self._failed(f"cannot be read: {error.message}", hint=error.hint) from error
            self._operations = operations
            listing = _listing(document, operations)
            self._listed = stamp, _now() + listing.ttl_s, listing
            return listing

    async def call(
        self,
        kind: ToolKind,
        name: str,
        arguments: Mapping[str, JSON],
        seconds: float,
        talk: Talk,  # noqa: ARG002 - an interface asks nothing back
    ) -> ToolAnswer:
        """Call an operation. Raises ServerFailed where nothing happened, ToolFailed: it may have had its effect."""
        what = f"{self.entry.name}/{name}"
        if self._listed is None:
            await self.current()
        operation = self._operations.found.get(name)
        if kind != "tool" or operation is None or self._client is None:
            raise ServerFailed(self.entry.name, f"{what} was not called: its document has no such {kind}")
        try:
            request = make_request(operation, self._base, arguments, self._filled.headers, self._filled.auth)
        except Invalid as error:
            raise ServerFailed(self.entry.name, f"{what} was not called: {error.message}", hint=error.hint) from error
        try:
            async with asyncio.timeout(seconds):
                status, headers, charset, body = await self._sent(self._client, request)
        except Invalid as error:
            raise ServerFailed(self.entry.name, f"{what} was not called: {error.message}", hint=error.hint) from error
        except TimeoutError:
            hint = "`timeout_s` of the step, or of the server's entry, gives it longer"
            raise NoAnswer(f"{what} did not answer within {seconds:g} s", hint=hint) from None
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            message = f"{what} was not called: {shown_url(self._base)} cannot be reached"
            raise ServerFailed(self.entry.name, self._hidden(message)) from error
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            why = str(error) or "the connection broke off"
            raise ToolFailed(f"{what} failed: {self._hidden(why)}") from error
        if status >= 300:
            return self._without_secrets(error_answer(operation, status, headers, body, charset, self._filled.auth))
        if len(body) > LARGEST:
            raise ToolFailed(f"{what} failed: {TOO_LARGE}")
        return good_answer(status, headers.get("content-type", ""), charset, body)

    async def _sent(self, client: httpx2.AsyncClient, request: Request) -> tuple[int, Any, str, bytes]:
        """Send a request; return status, headers, charset and as much of the body as is taken."""
        files: Any = [(name, (file, content, kind)) for name, content, file, kind in request.fields] or None
        result = client.build_request(
            request.method, request.url, headers=dict(request.headers), content=request.content, files=files
        )
        response = await client.send(result, stream=True)
        try:
            most = ERROR_BYTES if response.status_code >= 300 else LARGEST + 1
            body = await _body(response, most)
        finally:
            await response.aclose()
        return response.status_code, response.headers, response.charset_encoding or "utf-8", body

    async def _document(self) -> bytes:
        where = self._filled.openapi or ""
        if not where.startswith(("http://", "https://")):
            return await asyncio.to_thread(_file, self.entry.document_path(where))
        assert self._client is not None  # noqa: S101 - `open` made it
        base = self._filled.base_url
        same_origin = base is not None and origin(base) == origin(where)
        request = Request("GET", where, {"Accept": "application/json, application/yaml, */*"})
        if same_origin:
            request = replace(request, headers={**request.headers, **self._filled.headers})
        try:
            status, headers, _, body = await self._sent(self._client, request)
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL):
            raise Invalid(f"{shown_url(where)} cannot be reached") from None
        if 300 <= status < 400:
            redirect_target = shown_url(headers.get("location", ""))
            raise Invalid(
                f"{shown_url(where)} leads to {redirect_target!r:.200}", hint="write the URL where the document is"
            )
        if status >= 400:
            raise Invalid(f"{shown_url(where)} answered HTTP {status}")
        return body

    def _base_url(self, document: Document) -> str:
        """Return the one URL under which calls are made. Raises Invalid where the entry has to say it."""
        if self._filled.base_url is not None:
            return base_of(self._filled.base_url)
        name = _named_server(document)
        where = self._filled.openapi or ""
        if name and where.startswith(("http://", "https://")):
            whole = urljoin(where, name)
            if origin(whole) == origin(where):
                return base_of(whole)
        message = f'"base_url": "{shown_url(name)}"' if urlsplit(name).hostname else '"base_url": "https://…"'
        raise Invalid(
            "the entry does not say where it is called", hint=f"add {message:.300} to the entry, if you trust that"
        )

    def _must_send(self, headers: Mapping[str, str]) -> None:
        for name, value in headers.items():
            sound = name.isascii() and name.isprintable() and name and not set(name) & set(" :")
            if not sound or not value.isprintable():
                message = f"the header {name!r} of the server {self.entry.name!r} cannot be sent"
                raise ServerFailed(self.entry.name, message, hint="a header is one line of text", lasting=True)

    def _without_secrets(self, answer: ToolAnswer) -> ToolAnswer:
        blocks = [{**block, "text": self._hidden(str(block["text"]))} for block in answer.blocks]
        return replace(answer, blocks=blocks)

    def _hidden(self, text: str) -> str:
        return hidden(text, self._secrets)

    def _failed(self, message: str, hint: str | None = None) -> ServerFailed:
        whole = self._hidden(f"the document of the server {self.entry.name!r} {message}")
        return ServerFailed(self.entry.name, whole, hint=None if hint is None else self._hidden(hint), lasting=True)


def _read(data: bytes) -> tuple[Document, Operations]:
    document = read_document(data)
    return document, read_operations(document)


def _listing(document: Document, operations: Operations) -> Listing:
    info = document.root["info"]
    title, version, description = (info.get(key) for key in ("title", "version", "description"))
    return Listing(
        [operation.listed for operation in operations.found.values()],
        title if isinstance(title, str) else "",
        str(version or ""),
        description[:LONGEST_TEXT] if isinstance(description, str) else "",
        TTL_S,
        next(_ASKED),
        operations.refused,
    )


def _named_server(document: Document) -> str:
    """Return the URL of the first server that a document names, its variables filled in; empty where it names none."""
    servers = document.root.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else None
    if not isinstance(first, Mapping) or not isinstance(first.get("url"), str):
        return ""
    url: str = first["url"]
    variables = first.get("variables")
    for name, one in variables.items() if isinstance(variables, Mapping) else ():
        if isinstance(one, Mapping):
            url = url.replace(f"{{{name}}}", str(one.get("default", "")))
    return str(sanitize(url))


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except FileNotFoundError:
        raise Invalid(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise Invalid(f"{str(path)!r}: {error.strerror}") from None


async def _body(response: httpx2.Response, most: int) -> bytes:
    """Read a body, no more of it than is wanted."""
    parts, size = list[bytes](), 0
    with suppress(httpx2.StreamConsumed):
        async for chunk in response.aiter_bytes():
            parts.append(chunk)
            size += len(chunk)
            if size >= most:
                break
    return b"".join(parts)[:most]


def _now() -> float:
    return asyncio.get_running_loop().time()
