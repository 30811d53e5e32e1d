"""Serving one client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import select
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from anyio import to_thread
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from infospace.core.errors import Invalid
from infospace.space import Space
from infospace.tools.mcp.transport.stdio import number_of
from planner.server.config import OPEN, STDIO, Config
from planner.server.operations import Operations
from planner.server.protocol.mcp_server import make_server
from planner.server.protocol.shutdown import serve_until_signal

if TYPE_CHECKING:
    import anyio
    from mcp.shared._context_streams import ContextSendStream

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of one message; a longer one ends the connection, since nobody can tell which request it was."""
_CHUNK = 65_536
_AHEAD = 16
"""Lines that are read before they are wanted."""

_log = logging.getLogger(__name__)


async def serve_stdio(space: Space, config: Config = OPEN) -> int | None:
    """Serve until standard input ends, or SIGINT, SIGTERM or SIGHUP comes, whose number is returned.

    Raises Invalid where there is no standard input or output.
    """
    if sys.stdin is None or sys.stdout is None:
        which = "input" if sys.stdin is None else "output"
        raise Invalid(f"there is no standard {which} to serve on", hint="a client starts this; or --http")
    operations = Operations(space, config.access(STDIO, STDIO))
    return await serve_until_signal([operations], _serve(operations))


async def _serve(operations: Operations) -> None:
    server = make_server(operations)
    lines = _Lines(_claimed_input())
    with _claimed_output() as output:
        answers = cast("anyio.AsyncFile[str]", _Answers(output, lines.end))
        async with stdio_server(cast("anyio.AsyncFile[str]", lines), answers) as (read, write):
            lines.answers.set_result(write)
            await server.run(read, write, server.create_initialization_options())


def _claimed_input() -> int:
    """Return standard input under another number; under its own, what runs here finds nothing to read."""
    private = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return private


@contextmanager
def _claimed_output() -> Iterator[int]:
    """Give standard output under another number; under its own, what else is written here goes to standard error."""
    sys.stdout.flush()
    private = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.close(nothing)
    try:
        yield private
    finally:
        sys.stdout.flush()
        os.dup2(private, 1)


class _Answers:
    """What is written to a file descriptor, as far as `stdio_server` writes: a whole message before each flush.

    A pipe that has room takes PIPE_BUF bytes without waiting, and nobody else writes into this one: such a message
    needs no thread. Any other is written by one, and a client that does not read holds up nothing else.
    """

    def __init__(self, descriptor: int, unread: Callable[[], None]) -> None:
        """`unread` is called where nobody reads any more: what is written then is lost."""
        self._descriptor = descriptor
        self._unread = unread
        self._text = ""
        self._room = None
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            self._room = select.poll()
            self._room.register(descriptor, select.POLLOUT)

    async def write(self, text: str) -> None:
        self._text += text

    async def flush(self) -> None:
        data, self._text = self._text.encode(), ""
        try:
            if len(data) <= select.PIPE_BUF and self._has_room():
                os.write(self._descriptor, data)
            else:
                await to_thread.run_sync(self._write, data)
        except (BrokenPipeError, ConnectionResetError):
            self._unread()

    def _has_room(self) -> bool:
        return self._room is not None and self._room.poll(0) == [(self._descriptor, select.POLLOUT)]

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._descriptor, left) :]


class _Lines:
    """The lines of a file descriptor. A thread that ends with the process reads them: reading cannot be cancelled.

    A request that cannot be read is answered here, since nobody else would.
    """

    def __init__(self, descriptor: int) -> None:
        self.answers: asyncio.Future[ContextSendStream[SessionMessage]] = asyncio.get_running_loop().create_future()
        """Where answers go."""
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        """Lines that may still be read before the first of those in the queue is taken."""
        threading.Thread(target=self._read, name="standard input", daemon=True).start()

    def end(self) -> None:
        """Take no more lines: whoever writes them reads no answers."""
        self._queue.put_nowait(None)

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        while True:
            line = await self._queue.get()
            self._room.release()
            if line is None:
                raise StopAsyncIteration
            refused = _refused(line)
            if refused is None:
                return line
            await (await self.answers).send(SessionMessage(refused))

    def _read(self) -> None:
        kept: list[bytes] = []
        while chunk := self._chunk():
            first, *others = chunk.split(b"\n")
            kept.append(first)
            for other in others:
                if not self._put(b"".join(kept)):
                    return
                kept = [other]
            if sum(map(len, kept)) > LONGEST_LINE:
                _log.error("a message is longer than %d bytes, and the connection ends", LONGEST_LINE)
                break
        self._put(None)

    def _chunk(self) -> bytes:
        """Return what came; nothing at the end, or where there is nothing to read any more: a terminal that is gone."""
        try:
            return os.read(self._descriptor, _CHUNK)
        except OSError as error:
            _log.error("standard input cannot be read any more: %s", error.strerror)
            return b""

    def _put(self, line: bytes | None) -> bool:
        """Hand a line over once there is room; False when nobody takes lines any more."""
        self._room.acquire()
        text = None if line is None else line.decode("utf-8", "replace")
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, text)
        except RuntimeError:  # the loop is closed
            return False
        return True


def _refused(line: str) -> JSONRPCError | None:
    """Return the error that answers a request which cannot be read; None for one that can, and for what is none."""
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        number = _request_id(line)
        if number is None:
            return None
        code, why = INVALID_REQUEST, "it is not a message of JSON-RPC 2.0"
        if fault["type"] == "json_invalid":
            code, why = PARSE_ERROR, fault["msg"]
            if "hex escape" in why:
                why = "a text holds half of a character, a lone surrogate, which has no UTF-8 form"
        data = ErrorData(code=code, message=f"the request cannot be read: {why}")
        return JSONRPCError(jsonrpc="2.0", id=number, error=data)
    return None


def _request_id(line: str) -> int | str | None:
    """Return the id of a request that cannot be read, None where it has none, or is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        ends = line.encode("utf-8", "surrogatepass")
        return number_of(ends, ends)
    value = message.get("id") if isinstance(message, dict) and "method" in message else None
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None
