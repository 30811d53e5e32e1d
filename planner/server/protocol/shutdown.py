"""Serving until the client goes, or the process is told to end: then what runs is cancelled, and journalled."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from planner.server.operations import Operations

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def serve_until_signal(
    doors: Sequence[Operations], serving: Coroutine[Any, Any, None], stop: Callable[[], None] | None = None
) -> int | None:
    """Serve until that is over, or one of SIGNALS comes; close the doors. Returns the signal's number.

    SIGHUP means nothing where whoever started this ignores it, as `nohup` does. What runs is journalled before the
    connections end. `stop` lets the serving end, which else is cancelled.
    """
    loop = asyncio.get_running_loop()
    signalled: asyncio.Future[int] = loop.create_future()
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    handled_signals = [number for number in SIGNALS if not (ignored and number == signal.SIGHUP)]
    for number in handled_signals:
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
        for number in handled_signals:
            loop.remove_signal_handler(number)
    return signalled.result() if signalled.done() else None


def _set_signal(signalled: asyncio.Future[int], number: int) -> None:
    if not signalled.done():
        signalled.set_result(number)
