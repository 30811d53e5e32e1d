"""Serving until the client goes, or the process is told to end: then what runs is cancelled, and journalled."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from planner.server.operations import Operations

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def serve_until_signal(
    doors: Sequence[Operations], serving: Coroutine[Any, Any, None], stop: Callable[[], None] | None = None
) -> int | None:
    """Serve until that is over, or one of SIGNALS comes; close the doors. Returns the signal's number.

    SIGHUP means nothing where whoever started this ignores it, as `nohup` does. What runs is journalled before the
    connections end. `stop` lets the serving end, which else is cancelled. Further signals change nothing until the
    loop is closed, which takes the handlers away.
    """
    loop = asyncio.get_running_loop()
    signalled: asyncio.Future[int] = loop.create_future()
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    for number in SIGNALS:
        if not (ignored and number == signal.SIGHUP):
            loop.add_signal_handler(number, _set_signal, signalled, number)
    task = asyncio.create_task(serving)
    ends: set[asyncio.Future[Any]] = {task, signalled}
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await asyncio.gather(*(operations.close() for operations in doors))
        (stop or task.cancel)()
        with suppress(asyncio.CancelledError):
            await task
    return signalled.result() if signalled.done() else None


def _set_signal(signalled: asyncio.Future[int], number: int) -> None:
    if not signalled.done():
        signalled.set_result(number)


@contextmanager
def ignoring_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP change nothing while the process ends in order anyway. Ctrl-C still breaks that off.

    A client over standard input closes it, and sends SIGTERM to a server that has not ended a moment later
    (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown). Ending the servers of tools
    may take longer than that moment.
    """
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in SIGNALS if number != signal.SIGINT]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
