"""The servers of a space that run: all in one event loop, in a thread of its own, whatever loop asks them."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from infospace.core.errors import StoreError
from infospace.core.installation import REINSTALL
from infospace.core.json_types import JSON
from infospace.core.tool import NotCalled, ToolAnswer, ToolKind
from infospace.tools.mcp.config import Entry
from infospace.tools.mcp.dialogue.conversation import CONVERSATION, Talk
from infospace.tools.mcp.errors import ServerFailed

if TYPE_CHECKING:
    from infospace.store.tool_records import ListedTool
    from infospace.tools.mcp.auth.sign_in import SignIn
    from infospace.tools.mcp.catalogue.listing import Listing
    from infospace.tools.mcp.connection import Connection
    from infospace.tools.openapi.connection import ApiConnection

T = TypeVar("T")

RETRY_S = (0.5, 1.5)
"""Seconds before a server that did not start is tried again."""
LONGEST_REST_S = 60.0
"""Seconds for which a server that fails again and again is left alone, at most; from 2 on, twice as long each time."""


@dataclass(slots=True)
class _Backoff:
    """A server that failed `times` over, and is left alone until then."""

    times: int
    until: float
    error: ServerFailed


class ConnectionPool:
    """Connections by the server's name, each opened when it is first needed. Any thread may ask."""

    def __init__(self, relisted: Callable[[Entry, Listing], None], sign_in: SignIn | None = None) -> None:
        """`relisted` hears, in some thread, what a server lists after it said that this changed.

        `sign_in` is a person who can sign in to servers, None where nobody is asked.
        """
        self.sign_in = sign_in
        self._relisted = relisted
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connections: dict[str, Connection | ApiConnection] = {}
        self._open_connections: set[Connection | ApiConnection] = set()
        """All that are open, being opened or being closed."""
        self._opening: dict[str, asyncio.Lock] = {}
        self._backoffs: dict[str, _Backoff] = {}

    async def call(
        self, entry: Entry, kind: ToolKind, name: str, arguments: Mapping[str, JSON], seconds: float
    ) -> ToolAnswer:
        """Call a tool, get a prompt, or read a resource; may be cancelled.

        Raises ServerFailed, ToolFailed, ToolInputRequired.

        The conversation that is set here answers what the server asks meanwhile.
        """
        talk = Talk(CONVERSATION.get(), asyncio.get_running_loop())
        return await self._run_in_pool_loop(self._call(entry, kind, name, arguments, seconds, talk))

    async def listing(self, entry: Entry, *, restart: bool = False, sign_in: SignIn | None = None) -> Listing:
        """Read all that a server lists, of one that runs or is started now. Raises ServerFailed.

        `sign_in` is a person for this connection; else it is whoever the pool has.
        """
        return await self._run_in_pool_loop(self._listing(entry, restart, sign_in))

    async def current(self, entry: Entry) -> Listing:
        """Return what a server lists, of one that runs or is started now: read once, and after each change.

        Raises ServerFailed.
        """
        return await self._run_in_pool_loop(self._current(entry))

    async def lists(self, entry: Entry, tool: ListedTool) -> bool:
        """Whether a server lists a tool just as that is, of one that runs or is started now. Raises ServerFailed."""
        return await self._run_in_pool_loop(self._lists(entry, tool))

    def running(self) -> dict[str, str]:
        """Return the servers that run, with the end of what each said on its standard error."""
        return {name: one.stderr for name, one in list(self._connections.items()) if one.alive}

    def output_tail(self, name: str) -> str | None:
        """Return the end of what a server said that was started here, also of one that has ended; else None."""
        known = self._connections.get(name)
        return None if known is None else known.stderr

    def end(self, names: Sequence[str]) -> None:
        """End some servers, without waiting for it."""
        ended = [self._connections.pop(name) for name in names if name in self._connections]
        if self._loop is not None and ended:
            asyncio.run_coroutine_threadsafe(self._end(*ended), self._loop)

    def close(self) -> None:
        """End all servers, and the loop. Afterwards none of their processes is left."""
        with self._starting:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        atexit.unregister(self.close)
        asyncio.run_coroutine_threadsafe(self._close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    async def _run_in_pool_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Do work in the pool's loop; cancelling here cancels there."""
        try:
            loop = self._started()
        except NotCalled:
            work.close()
            raise
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                _must_have_client()
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="servers of tools", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            return self._loop

    async def _call(
        self, entry: Entry, kind: ToolKind, name: str, arguments: Mapping[str, JSON], seconds: float, talk: Talk
    ) -> ToolAnswer:
        from infospace.tools.mcp.connection import SessionExpired

        connection = await self._connected(entry)
        try:
            return await connection.call(kind, name, arguments, seconds, talk)
        except SessionExpired:
            before = connection.known_tool(name)
        again = await self._connected(entry)
        if kind == "tool" and before is not None and not await again.lists(before):
            message = (
                f"{entry.name}/{name} was not called: it says something else of itself since its session was ended"
            )
            raise ServerFailed(entry.name, message, hint="call it again")
        return await again.call(kind, name, arguments, seconds, talk)

    async def _current(self, entry: Entry) -> Listing:
        return await (await self._connected(entry)).current()

    async def _lists(self, entry: Entry, tool: ListedTool) -> bool:
        return await (await self._connected(entry)).lists(tool)

    async def _listing(self, entry: Entry, restart: bool, sign_in: SignIn | None) -> Listing:
        self._backoffs.pop(entry.name, None)
        connection = await self._connected(entry, restart=restart, sign_in=sign_in)
        try:
            return await connection.listing()
        finally:
            connection.ask(self.sign_in)

    async def _connected(
        self, entry: Entry, *, restart: bool = False, sign_in: SignIn | None = None
    ) -> Connection | ApiConnection:
        async with self._opening.setdefault(entry.name, asyncio.Lock()):
            known = self._connections.get(entry.name)
            if known is not None and known.alive and known.entry == entry and not restart:
                return known
            if known is not None:
                del self._connections[entry.name]
                await self._end(known)
            self._refuse_resting(entry.name)
            try:
                opened = await self._opened(entry, sign_in or self.sign_in)
            except ServerFailed as error:
                self._back_off(error)
                raise
            self._backoffs.pop(entry.name, None)
            self._connections[entry.name] = opened
            return opened

    async def _opened(self, entry: Entry, sign_in: SignIn | None) -> Connection | ApiConnection:
        """Open a server; one that ends at once is tried again, one that hangs or is not there is not."""
        for wait in (*RETRY_S, None):
            connection = self._connection(entry, sign_in)
            self._open_connections.add(connection)
            started = asyncio.get_running_loop().time()
            try:
                await connection.open()
            except asyncio.CancelledError:
                self._open_connections.discard(connection)
                raise
            except ServerFailed as error:
                self._open_connections.discard(connection)
                slow = asyncio.get_running_loop().time() - started >= entry.start_timeout_s
                if wait is None or error.lasting or slow:
                    raise
                await asyncio.sleep(wait)
            else:
                return connection
        raise AssertionError("the last try returns or raises")

    def _connection(self, entry: Entry, sign_in: SignIn | None) -> Connection | ApiConnection:
        if entry.rest:
            from infospace.tools.openapi.connection import ApiConnection

            return ApiConnection(entry, lambda listing: self._notify_relisted(entry, listing))
        from infospace.tools.mcp.connection import Connection

        return Connection(entry, lambda listing: self._notify_relisted(entry, listing), sign_in)

    def _notify_relisted(self, entry: Entry, listing: Listing) -> None:
        with suppress(StoreError):
            self._relisted(entry, listing)

    def _refuse_resting(self, name: str) -> None:
        rest = self._backoffs.get(name)
        left = 0.0 if rest is None else rest.until - asyncio.get_running_loop().time()
        if rest is not None and left > 0:
            hint = f"it is tried again in {left:.0f} s at the earliest"
            raise ServerFailed(name, rest.error.message, hint=hint, stderr=rest.error.stderr, lasting=True)

    def _back_off(self, error: ServerFailed) -> None:
        before = self._backoffs.get(error.server)
        times = 1 if before is None else before.times + 1
        seconds = min(2.0**times, LONGEST_REST_S)
        self._backoffs[error.server] = _Backoff(times, asyncio.get_running_loop().time() + seconds, error)

    async def _end(self, *connections: Connection | ApiConnection) -> None:
        await asyncio.gather(*(connection.close() for connection in connections), return_exceptions=True)
        self._open_connections.difference_update(connections)

    async def _close(self) -> None:
        me = asyncio.current_task()
        self._connections.clear()
        await self._end(*self._open_connections)
        rest = [task for task in asyncio.all_tasks() if task is not me]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        loop = asyncio.get_running_loop()
        await loop.shutdown_asyncgens()
        await loop.shutdown_default_executor()


def _must_have_client() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise NotCalled("tools of servers need the package `mcp`", hint=REINSTALL)
