"""The connection to one server. One task opens and closes it, since a cancel scope must be left by its own task."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.client.context import ClientRequestContext
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    Implementation,
    ListRootsResult,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    Root,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import FileUrl, ValidationError

from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.core.redaction import hidden, shown_url
from infospace.core.tool import NoAnswer, ToolAnswer, ToolFailed, ToolKind
from infospace.store.tool_records import ListedTool
from infospace.tools.mcp.auth.provider import ServerAuth
from infospace.tools.mcp.auth.sign_in import SignIn
from infospace.tools.mcp.catalogue.listing import Listing, ToolNow, read_listing, read_tool
from infospace.tools.mcp.catalogue.sieve import filter_messages
from infospace.tools.mcp.config import Entry
from infospace.tools.mcp.deadlines import Deadlines
from infospace.tools.mcp.dialogue.conversation import Talk
from infospace.tools.mcp.dialogue.open_calls import OpenCall, OpenCalls
from infospace.tools.mcp.env_vars import expanded, values_in
from infospace.tools.mcp.errors import ServerFailed, format_output_tail
from infospace.tools.mcp.requests import ask
from infospace.tools.mcp.sanitize import TOO_LARGE
from infospace.tools.mcp.transport.checked import HostCheck
from infospace.tools.mcp.transport.environment import child_environment
from infospace.tools.mcp.transport.http import LOST, NONSENSE, HttpStatus, http_transport
from infospace.tools.mcp.transport.stdio import ProcessOutput, stdio_transport

CLOSING_S = 12.0
AGAIN_S = 5.0
"""Seconds before the stream of changes of a server is opened again after it ended, and before a list that could not be
read is asked for again; twice as long each time."""
LONGEST_AGAIN_S = 600.0

# What the official package logs is for programs that listen to it; without any it would go to the terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())

ENDED = "its server has ended"
_NOT_FOUND = "Not Found"
"""What the official package says of HTTP 404 without a session."""

_CHANGES = (ToolListChangedNotification, PromptListChangedNotification, ResourceListChangedNotification)

T = TypeVar("T")


class SessionExpired(ServerFailed):
    """A connection that the server does not know any more: nothing happened, and a new one may do."""


class Connection:
    """A server, spoken with in one event loop. `relisted` hears, in a thread, what it lists after a change.

    `sign_in` is a person who can sign in to it, None where nobody is asked.
    """

    def __init__(self, entry: Entry, relisted: Callable[[Listing], None], sign_in: SignIn | None = None) -> None:
        self.entry = entry
        self._sign_in = sign_in
        self._auth: ServerAuth | None = None
        self._deadlines = Deadlines()
        self._calls = OpenCalls(self._known_secrets)
        self._relisted = relisted
        self._process = ProcessOutput()
        self._http_status = HttpStatus()
        self._client: Client | None = None
        self._owner: asyncio.Task[None] | None = None
        self._is_closing = asyncio.Event()
        self._closed = asyncio.Event()
        self._changed = asyncio.Event()
        self._changes = 0
        """How often it told that its list changed."""
        self._listed: tuple[int, float, Listing] | None = None
        """Its latest list, after how many changes it was asked for, and until when it holds."""
        self._looked_up: dict[str, tuple[int, float, ToolNow]] = {}
        """The same of single tools that were asked for, by name."""
        self._listing = asyncio.Lock()
        self._secrets: tuple[str, ...] = entry.secrets()

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._client is not None and not self._is_closing.is_set() and not self._process.ended.is_set()

    @property
    def stderr(self) -> str:
        """The end of what the process said on its standard error."""
        return hidden(self._process.failure_text(), self._secrets)

    def ask(self, sign_in: SignIn | None) -> None:
        """Have another person asked from now on where a sign-in is needed, or nobody."""
        if self._auth is not None:
            self._auth.sign_in = sign_in

    async def open(self) -> None:
        """Start or reach the server. Raises ServerFailed."""
        transport = self._transport()
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._connection_task(transport, ready), name=f"server {self.entry.name}")
        try:
            self._client = await asyncio.shield(ready)
        except asyncio.CancelledError:
            await self.close()
            raise

    async def close(self) -> None:
        """End it; its process is gone afterwards."""
        was_closing = self._is_closing.is_set()
        self._is_closing.set()
        self._calls.close()
        if self._owner is None:
            return
        if self._client is None and not was_closing:
            self._owner.cancel()
        done, _ = await asyncio.wait([self._owner], timeout=CLOSING_S)
        if not done:
            self._owner.cancel()
            await asyncio.wait([self._owner], timeout=CLOSING_S)

    async def current(self) -> Listing:
        """Return what it lists: read once, and again after it told of a change or its list holds no longer.

        Raises ServerFailed.
        """
        async with self._listing:
            if self._listed is not None and self._listed[0] == self._changes and self._listed[1] > _now():
                return self._listed[2]
            listing = await self.listing()
        await asyncio.to_thread(self._relisted, listing)
        return listing

    async def lists(self, tool: ListedTool) -> bool:
        """Whether it lists a tool just as that is; the others are not read. Raises ServerFailed."""
        async with self._listing:
            for known in (self._listed, self._looked_up.get(tool.name)):
                if known is not None and known[0] == self._changes and known[1] > _now():
                    return self.known_tool(tool.name) == tool
            changes = self._changes
            result = await self._asked(read_tool(self._live(), tool.name))
            self._looked_up[tool.name] = changes, _now() + result.ttl_s, result
            return result.tool == tool

    def known_tool(self, name: str) -> ListedTool | None:
        """Return what it listed last under a name on this connection."""
        whole, alone = self._listed, self._looked_up.get(name)
        if whole is not None and (alone is None or whole[0] >= alone[0]):
            return whole[2].find("tool", name)
        return None if alone is None else alone[2].tool

    async def listing(self) -> Listing:
        """Read all that it lists. Raises ServerFailed."""
        return await self._asked(self._read(self._live()))

    async def _asked(self, asking: Coroutine[Any, Any, T]) -> T:
        """Await what it lists, for so long as a start may take. Raises ServerFailed."""
        try:
            async with self._deadlines.time_limit(self.entry.start_timeout_s):
                return await self._until_closed(asking)
        except TimeoutError:
            message = f"did not list its tools within {self.entry.start_timeout_s:g} s"
            raise self._failed(message) from None
        except Invalid as error:
            raise self._failed(f"cannot be listed: {error.message}", lasting=True) from error
        except (MCPError, ValidationError) as error:
            raise self._failed(f"cannot be listed: {self._why(error)}") from error

    async def call(
        self, kind: ToolKind, name: str, arguments: Mapping[str, JSON], seconds: float, talk: Talk
    ) -> ToolAnswer:
        """Call a tool, get a prompt, or read a resource; `talk` answers what the server asks meanwhile.

        Raises ToolFailed: it may have had its effect; SessionExpired; ToolInputRequired where somebody is to be asked.
        """

        def asking(call: OpenCall) -> Coroutine[Any, Any, ToolAnswer]:
            return self._request(kind, name, arguments, seconds, call)

        return await self._calls.make(talk, asking)

    async def _request(
        self, kind: ToolKind, name: str, arguments: Mapping[str, JSON], seconds: float, call: OpenCall
    ) -> ToolAnswer:
        what = f"{self.entry.name}/{name}"
        try:
            async with call.deadlines.time_limit(seconds):
                answer = await self._until_closed(ask(self._live(), kind, name, arguments, self._calls, call))
                return self._without_secrets(answer) if answer.is_error else answer
        except TimeoutError:
            hint = "`timeout_s` of the step, or of the server's entry, gives it longer"
            raise NoAnswer(f"{what} did not answer within {seconds:g} s", hint=hint) from None
        except MCPError as error:
            if error.error.data == self._http_status.lost:
                self._is_closing.set()
                raise SessionExpired(self.entry.name, f"{what} was not called: {LOST}") from error
            raise ToolFailed(f"{what} failed: {self._why(error)}") from error
        except ValidationError as error:
            raise ToolFailed(f"{what} failed: {self._why(error)}") from error

    def _without_secrets(self, answer: ToolAnswer) -> ToolAnswer:
        """Return a failure in the tool's words without what its entry keeps secret: it is journalled and shown."""
        blocks = [
            {**block, "text": hidden(block["text"], self._secrets)} if isinstance(block.get("text"), str) else block
            for block in answer.blocks
        ]
        return replace(answer, blocks=blocks)

    async def _read(self, client: Client) -> Listing:
        changes = self._changes
        listing = await read_listing(client)
        self._listed = changes, _now() + listing.ttl_s, listing
        return listing

    async def _until_closed(self, asking: Coroutine[Any, Any, T]) -> T:
        """Await what the server is asked; where it ends before, that is a failure and no endless wait."""
        asked, gone = asyncio.create_task(asking), asyncio.create_task(self._closed.wait())
        try:
            await asyncio.wait([asked, gone], return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
            raise MCPError(CONNECTION_CLOSED, ENDED)
        finally:
            asked.cancel()
            gone.cancel()
            await asyncio.gather(asked, gone, return_exceptions=True)

    def _live(self) -> Client:
        if self._client is None or not self.alive:
            raise ServerFailed(self.entry.name, f"the server {self.entry.name!r} has ended", stderr=self.stderr)
        return self._client

    def _transport(self) -> AbstractAsyncContextManager[TransportStreams]:
        """Return what speaks with the server. Raises ServerFailed where its entry cannot be followed here."""
        name = self.entry.name
        try:
            entry = expanded(self.entry, os.environ)
        except Invalid as error:
            raise ServerFailed(name, error.message, hint=error.hint, lasting=True) from error
        self._secrets = (*entry.secrets(), *values_in(self.entry, os.environ))
        if entry.command is not None and os.name != "posix":
            message = f"the server {name!r} cannot be started: processes are looked after on POSIX systems alone"
            raise ServerFailed(name, message, hint="give it a URL", lasting=True)
        if entry.command is None:
            headers = _headers(entry)
            self._auth = self._authorization(entry, headers)
            self._http_status.may_authorize = self._auth is not None
            return http_transport(entry.url or "", headers, self._http_status, _host_check(entry), self._auth)
        environment = child_environment(os.environ, entry.env)
        if not entry.folder.is_dir():
            raise ServerFailed(name, f"the server {name!r} has no folder to run in: {entry.folder}", lasting=True)
        if not _is_there(entry, environment):
            message = f"the server {name!r} cannot be started: there is no command {entry.command!r}"
            raise ServerFailed(name, message, hint="install it, or give its whole path", lasting=True)
        return stdio_transport([entry.command, *entry.args], environment, entry.folder, self._process)

    def _authorization(self, entry: Entry, headers: Mapping[str, str]) -> ServerAuth | None:
        """Return what authorizes the requests; None where the entry has a header for that, or wants none."""
        if entry.oauth is None or any(name.lower() == "authorization" for name in headers):
            return None

        def failed(why: str) -> None:
            self._http_status.unauthorized = why

        settings, url, paused = entry.oauth, entry.url or "", self._paused
        return ServerAuth(entry.name, url, settings, sign_in=self._sign_in, failed=failed, paused=paused)

    @contextlib.contextmanager
    def _paused(self) -> Iterator[None]:
        """Stop the clocks of all that waits for the server."""
        with self._deadlines.paused(), self._calls.paused():
            yield

    async def _connection_task(self, transport: AbstractAsyncContextManager[TransportStreams], ready: Any) -> None:
        """Open, hold and close the connection: all of it in this one task."""
        failure: BaseException | None = None
        limit: asyncio.Timeout | None = None
        try:
            async with contextlib.AsyncExitStack() as stack:
                info = Implementation(name="infospace", version="1")
                client = Client(
                    filter_messages(transport),
                    client_info=info,
                    message_handler=self._on_message,
                    cache=None,
                    elicitation_callback=self._calls.elicit,
                    sampling_callback=self._calls.sample,
                    list_roots_callback=self._roots if self.entry.roots else None,
                    logging_callback=self._calls.log,
                    log_level="info",
                )
                async with self._deadlines.time_limit(self.entry.start_timeout_s) as limit:
                    await stack.enter_async_context(client)
                self._http_status.status = None
                ready.set_result(client)
                await self._keep_open(client)
        except (Exception, asyncio.CancelledError, BaseExceptionGroup) as error:  # noqa: BLE001 - whatever it is, it is of this server alone
            failure = error
        finally:
            self._is_closing.set()
            self._closed.set()
        if not ready.done():
            ready.set_exception(self._not_started(failure, late=limit is not None and limit.expired()))
            ready.exception()

    async def _roots(self, context: ClientRequestContext) -> ListRootsResult:
        """Tell the folders that the entry names."""
        del context
        return ListRootsResult(roots=[Root(uri=FileUrl(uri), name=name) for name, uri in self.entry.root_uris()])

    async def _keep_open(self, client: Client) -> None:
        watching = [asyncio.create_task(self._relist(client)), asyncio.create_task(self._follow(client))]
        ends = [asyncio.create_task(event.wait()) for event in (self._is_closing, self._process.ended)]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._closed.set()
            for task in (*watching, *ends):
                task.cancel()
            await asyncio.gather(*watching, *ends, return_exceptions=True)

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, _CHANGES):
            self._has_changed()

    def _has_changed(self) -> None:
        self._changes += 1
        self._changed.set()

    async def _follow(self, client: Client) -> None:
        """Listen for changes as the later protocol has it; the earlier one tells them unasked."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        can = client.server_capabilities
        tools, prompts, resources = (
            bool(offered and offered.list_changed) for offered in (can.tools, can.prompts, can.resources)
        )
        wait = AGAIN_S
        while tools or prompts or resources:
            with contextlib.suppress(SubscriptionLost, MCPError):
                async with client.listen(
                    tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
                ) as changes:
                    wait = AGAIN_S
                    async for _ in changes:
                        self._has_changed()
            # What changed since nobody listens is not told again.
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_AGAIN_S)
            self._has_changed()

    async def _relist(self, client: Client) -> None:
        wait = AGAIN_S
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                async with asyncio.timeout(self.entry.start_timeout_s):
                    listing = await self._read(client)
            except (MCPError, ValidationError, Invalid, TimeoutError):
                # A change is told once.
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_AGAIN_S)
                self._changed.set()
            else:
                wait = AGAIN_S
                await asyncio.to_thread(self._relisted, listing)

    def _not_started(self, failure: BaseException | None, *, late: bool) -> ServerFailed:
        process, entry = self._process, self.entry
        if late:
            noise = f", and wrote {process.noise[:60]!r}, which is not a message" if process.noise else ""
            return self._failed(f"did not answer within {entry.start_timeout_s:g} s of its start{noise}")
        if process.left and process.code is not None:
            how = (
                f"was ended by signal {process.code - 128}" if process.code > 128 else f"ended with code {process.code}"
            )
            return self._failed(f"{how} at its start{format_output_tail(self.stderr)}")
        if any(isinstance(leaf, httpx2.ConnectError | httpx2.ConnectTimeout) for leaf in _leaf_errors(failure)):
            if self._http_status.barred:
                return self._failed(f"is not asked: {self._http_status.barred}", lasting=True)
            return self._failed(f"cannot be reached at {shown_url(entry.url or '')}")
        if self._http_status.unauthorized:
            return self._failed(self._http_status.unauthorized.removeprefix("it "), lasting=True)
        refused = self._http_status.status is not None and self._http_status.status < 500
        return self._failed(f"cannot be spoken with: {self._why(failure)}", lasting=refused)

    def _failed(self, message: str, *, lasting: bool = False) -> ServerFailed:
        whole = hidden(f"the server {self.entry.name!r} {message}", self._known_secrets())
        hint = f"`infospace tools connect {self.entry.name}`" if self._http_status.unauthorized else None
        return ServerFailed(self.entry.name, whole, hint=hint, stderr=self.stderr, lasting=lasting)

    def _known_secrets(self) -> tuple[str, ...]:
        return self._secrets if self._auth is None else (*self._secrets, *self._auth.secrets())

    def _has_ended(self, code: int, text: str) -> bool:
        """Whether an error is our own sign that the process says nothing any more, and none of the server's."""
        return code == CONNECTION_CLOSED and text in (ENDED, "Connection closed") and self._process.ended.is_set()

    def _why(self, failure: BaseException | None) -> str:
        """Say in a few words what went wrong."""
        words = self._http_status.failure_text()
        for leaf in _leaf_errors(failure):
            match leaf:
                case MCPError(code=code, message=said) if self._has_ended(code, said):
                    message = format_output_tail(self.stderr) if self._process.left else ""
                    return f"its server has ended{message}"
                case MCPError(error=message) if (
                    self._http_status.unauthorized and message.data == self._http_status.refused
                ):
                    return self._http_status.unauthorized
                case MCPError(message=said):
                    return hidden(words if said == _NOT_FOUND and words else _plain(said), self._known_secrets())
                case ValidationError():
                    return NONSENSE
                case httpx2.ConnectError() | httpx2.ConnectTimeout():
                    return self._http_status.barred or "it cannot be reached"
                case OSError(strerror=str(strerror)):
                    return strerror
        message = next((str(leaf) for leaf in _leaf_errors(failure) if str(leaf)), "the connection broke off")
        return hidden(words or message, self._known_secrets())


def _now() -> float:
    return asyncio.get_running_loop().time()


def _plain(text: str) -> str:
    """Say in our words what the official package says of a stream of events that cannot be read."""
    if text.startswith("SSE stream failed") and "byte limit" in text:
        return TOO_LARGE
    return NONSENSE if text.startswith("Failed to parse SSE message") else text


def _leaf_errors(failure: BaseException | None) -> Iterator[BaseException]:
    if isinstance(failure, BaseExceptionGroup):
        for inner in failure.exceptions:
            yield from _leaf_errors(inner)
    elif failure is not None:
        yield failure


def _headers(entry: Entry) -> Mapping[str, str]:
    """Return the headers. Raises ServerFailed for one that cannot be sent, without telling its value."""
    for name, value in entry.headers.items():
        if (
            not (name.isascii() and name.isprintable() and name and not set(name) & set(" :"))
            or not value.isprintable()
        ):
            message = f"the header {name!r} of the server {entry.name!r} cannot be sent"
            raise ServerFailed(entry.name, message, hint="a header is one line of text", lasting=True)
    return entry.headers


def _host_check(entry: Entry) -> HostCheck:
    """Return where requests may go: a public server may not send them into a private network to be authorized there."""
    named = (entry.url or "", "" if entry.oauth is None else entry.oauth.issuer)
    return HostCheck(public=False, declared=[host for url in named if (host := urlsplit(url).hostname)])


def _is_there(entry: Entry, environment: Mapping[str, str]) -> bool:
    command = entry.command or ""
    if os.sep in command:
        return os.access(entry.folder / command, os.X_OK)
    return shutil.which(command, path=environment.get("PATH")) is not None
