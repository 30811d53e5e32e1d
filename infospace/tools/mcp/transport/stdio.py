"""A server that is a process: messages as lines on its standard input and output, nothing left of it afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError

from infospace.tools.mcp.sanitize import LARGEST, TOO_LARGE
from infospace.tools.mcp.transport import process_guard as guard
from infospace.tools.mcp.transport.wire import failure, read_message

KEPT_STDERR = 8_192
"""Bytes of a server's standard error that are kept, the last ones."""
NOISE = 4_000
"""Lines that are no message, one after the other, at which a server is given up."""
LAST_WORDS_S = 0.5
"""Seconds for which standard error is heard once standard output has ended."""
GUARD_GRACES = 10
"""How many times GRACE_S the owner waits for a guard to end. `Connection.close` waits a little longer than that."""
_CHUNK = 2**16
_ENDS = 4_096
"""Bytes at both ends of a line that cannot be read, in which its id is looked for."""
_ID_FIRST = re.compile(rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*[,}]')
_ID_LAST = re.compile(rb',\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


@dataclass(slots=True)
class ProcessOutput:
    """What was heard of a process beside its messages."""

    stderr: bytearray = field(default_factory=bytearray)
    """The end of what it said on standard error."""
    beginning_lost: bool = False
    """Whether it said more than is kept."""
    noise: bytes = b""
    """The beginning of what it wrote that is no message."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether it says nothing any more."""
    code: int | None = None
    """Its exit code, once it has ended."""
    left: bool = False
    """Whether it ended by itself."""
    closing: bool = False

    def failure_text(self) -> str:
        """What it said on standard error; else what it wrote that is no message.

        Where the beginning is left out, the first word is too: half a secret would not be recognized as one.
        """
        said = bytes(self.stderr)
        if self.beginning_lost:
            said = said[next((at for at, byte in enumerate(said) if byte in b" \t\r\n"), len(said)) :]
        return (said or self.noise).decode("utf-8", "replace").strip()

    def add(self, chunk: bytes) -> None:
        """Take what it said on standard error."""
        self.stderr += chunk
        self.beginning_lost |= len(self.stderr) > KEPT_STDERR
        del self.stderr[:-KEPT_STDERR]


def _beginning(line: bytes) -> bytes:
    """Return a line, or the whole words that its beginning has: half a secret would not be recognized as one."""
    if len(line) <= KEPT_STDERR:
        return line
    return line[: max(0, *(line.rfind(space, 0, KEPT_STDERR) for space in b" \t"))].rstrip()


@asynccontextmanager
async def stdio_transport(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, heard: ProcessOutput
) -> AsyncIterator[TransportStreams]:
    """Run a server while the context lasts; yields the streams of its messages. Raises OSError where that fails."""
    ours, theirs = os.pipe()[::-1]
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-S", guard.__file__, str(theirs)),
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            pass_fds=(theirs,),
            start_new_session=True,
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    sender, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, asked = anyio.create_memory_object_stream[SessionMessage](0)
    listening = asyncio.create_task(_listen(process, heard))
    tasks = [
        asyncio.create_task(_read(process, sender, heard, listening)),
        asyncio.create_task(_write(process, asked)),
        listening,
    ]
    try:
        yield incoming, outgoing
    finally:
        heard.closing = True
        os.close(ours)
        for stream in (sender, incoming, outgoing, asked):
            stream.close()
        await _surely(_end(process, tasks, heard))


async def _surely(work: Coroutine[Any, Any, None]) -> None:
    """Await work to its end, however often that is cancelled meanwhile: who cancels may not leave a process behind."""
    task, cancelled = asyncio.create_task(work), False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError


async def _end(process: asyncio.subprocess.Process, tasks: Sequence[asyncio.Task[None]], output: ProcessOutput) -> None:
    """Wait until the guard has ended what it guards: its standard input and the lifeline are closed."""
    reading, writing, listening = tasks
    writing.cancel()
    if process.stdin is not None:
        process.stdin.close()
    with contextlib.suppress(TimeoutError):
        # The guard ends within two of its graces, where the machine lets it run. Closing the transport kills a guard
        # that has not ended, and what it would have found and killed lives on: so it is given far longer than it needs.
        async with asyncio.timeout(GUARD_GRACES * guard.GRACE_S):
            output.code = await process.wait()
    for task in (reading, listening):
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    # What has outlived the guard may hold a pipe open, and nothing public closes our end of it.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


async def _listen(process: asyncio.subprocess.Process, output: ProcessOutput) -> None:
    assert process.stderr is not None  # noqa: S101 - it was asked for
    while chunk := await process.stderr.read(_CHUNK):
        output.add(chunk)


async def _write(process: asyncio.subprocess.Process, asked: MemoryObjectReceiveStream[SessionMessage]) -> None:
    assert process.stdin is not None  # noqa: S101 - it was asked for
    with contextlib.suppress(ConnectionError, anyio.ClosedResourceError):
        async for message in asked:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode("utf-8", "surrogatepass") + b"\n")
            await process.stdin.drain()


async def _read(
    process: asyncio.subprocess.Process,
    told: MemoryObjectSendStream[SessionMessage | Exception],
    heard: ProcessOutput,
    listening: asyncio.Task[None],
) -> None:
    """Hand messages over until the output ends; then drain what nobody takes, so that the server can end."""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    lines = _Lines()
    noise = 0
    with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError), told:
        while noise <= NOISE and (chunk := await process.stdout.read(_CHUNK)):
            for line in lines.split(chunk):
                message = read_message(line) if isinstance(line, bytes) else line
                if isinstance(line, bytes) and message is None:
                    noise += 1
                    heard.noise = heard.noise or _beginning(line)
                elif message is not None:
                    noise = 0
                    await told.send(SessionMessage(message))
            if lines.lost:
                heard.add(f"\n{TOO_LARGE}".encode())
                break
        # What it said last belongs to the sentence that whoever waits for it gets now.
        await asyncio.wait([listening], timeout=LAST_WORDS_S)
    heard.left = not heard.closing
    heard.ended.set()
    while await process.stdout.read(_CHUNK):
        pass


class _Lines:
    """Cuts chunks into lines. Of an over-long one the error that answers its request is given, if its id is found."""

    def __init__(self) -> None:
        self.lost = False
        """Whether an over-long line was read of which nobody knows what it answers."""
        self._parts: list[bytes] = []
        self._size = 0
        self._over = False

    def split(self, chunk: bytes) -> list[bytes | JSONRPCError]:
        """Return the lines that end in a chunk, without the blank ones."""
        results: list[bytes | JSONRPCError] = []
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            self._append(part)
            line = self._finished()
            if line is not None:
                results.append(line)
        self._append(rest)
        return results

    def _append(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)
        if self._size > LARGEST:
            self._over = True
            joined = b"".join(self._parts)
            self._parts = [joined[:_ENDS], joined[-_ENDS:]]

    def _finished(self) -> bytes | JSONRPCError | None:
        parts, over = self._parts, self._over
        self._parts, self._size, self._over = [], 0, False
        if not over:
            line = b"".join(parts)
            return line if line.strip() else None
        result = number_of(parts[0], b"".join(parts[1:]))
        if result is None:
            self.lost = True
            return None
        return failure(result, TOO_LARGE)


def number_of(first: bytes, last: bytes) -> int | None:
    """Return the number of a message that cannot be read, by how its line begins and ends; None without one."""
    match = _ID_FIRST.search(first[:_ENDS]) or _ID_LAST.search(last[-_ENDS:])
    return None if match is None else int(match[1])
