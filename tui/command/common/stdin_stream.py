"""A plan on standard input, as it is written: enough of it to know what comes, and the rest as it comes."""

from __future__ import annotations

import asyncio
import select
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.command.common.open_space import address_of
from tui.command.common.plan_input import parse_inputs
from tui.text.output import UsageError
from tui.text.paths import lies_there

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from infospace.core.json_types import JSON
    from infospace.space import Space
    from planner.journal.commit_order import SuspendRequest
    from planner.journal.events import Event
    from planner.parse.text import Document, Lines

MAX_READ_BYTES = 1 << 20
"""Bytes that are read at once."""


class IncomingPlan:
    """A document that has begun to arrive, and the inputs of its run."""

    def __init__(self, prefix: bytes, read: Callable[[], bytes], given: Callable[[JSON], Mapping[str, JSON]]) -> None:
        self._begun = prefix
        self._read = read
        self._given = given

    def events(self, space: Space, approve: Sequence[str]) -> Callable[[SuspendRequest], AsyncIterator[Event]]:
        """Return what runs it as it comes."""
        from planner.streaming.run import stream_arriving

        return lambda halt: stream_arriving(space, self._chunks(), self._given, halt, approve)

    async def _chunks(self) -> AsyncIterator[bytes]:
        yield self._begun
        queue: asyncio.Queue[bytes | OSError] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def put(what: bytes | OSError) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(queue.put_nowait, what)

        def pump() -> None:
            try:
                while chunk := self._read():
                    put(chunk)
                put(b"")
            except OSError as error:
                put(error)

        # A daemon, since nothing interrupts its reading when the run is cancelled.
        threading.Thread(target=pump, name="standard input", daemon=True).start()
        while chunk := await queue.get():
            if isinstance(chunk, OSError):
                raise UsageError(f"standard input cannot be read: {chunk.strerror}") from chunk
            yield chunk


def read_stdin(args: argparse.Namespace) -> Document | Lines | IncomingPlan:
    """Read a plan from standard input until it is known what comes: of a document all steps are still to come.

    Where there is no space yet a document is read to its end, so that a refused one makes none. Raises InvalidJSON.
    """
    from planner.parse.text import PartialDocument, read_beginning, read_stream

    if not lies_there(Path(address_of(args))):
        return read_stream(sys.stdin.buffer)
    given, read = _inputs(args), _reader()
    begun = read_beginning(read)
    return IncomingPlan(begun.text, read, given) if isinstance(begun, PartialDocument) else begun


def _inputs(args: argparse.Namespace) -> Callable[[JSON], Mapping[str, JSON]]:
    """Return the inputs of the command line, by what a document declares; the file is read once."""
    file = parse_inputs([], args.input_file, {})
    parse_inputs(args.input, None, {})

    def read_inputs(declared: JSON) -> Mapping[str, JSON]:
        return file | parse_inputs(args.input, None, declared if isinstance(declared, dict) else {})

    return read_inputs


def _reader() -> Callable[[], bytes]:
    """Read standard input past its buffer, whose lock a thread that waits would hold to the end of the process."""
    stream: Any = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)

    def read() -> bytes:
        while (chunk := stream.read(MAX_READ_BYTES)) is None:
            select.select([stream], [], [])
        return bytes(chunk)

    return read
