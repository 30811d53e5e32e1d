"""An event loop in a thread of its own, for callers that have none: what waits outside lives as long as the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from infospace.core.errors import Conflict

T = TypeVar("T")

NOTICED = 0.2
"""Seconds after which a signal is noticed that came just before a wait: Python tells of it only between two waits."""


class LoopThread:
    """Runs coroutines for callers in other threads, each of which waits for its own. Close it."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closing: asyncio.Event | None = None
        self._going: set[asyncio.Task[Any]] = set()
        self._guard = threading.Lock()

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine returns. Interrupted meanwhile, it is cancelled, and waited for.

        Raises Conflict where it was cancelled by another thread, and where that of the loop itself would wait.
        """
        if threading.current_thread() is self._thread:
            doing.close()
            raise Conflict("a session cannot be called by what listens to it", hint="call it after the call")
        loop, outcome = self._running(), Future[T]()

        def start() -> None:
            task = loop.create_task(doing)
            self._going.add(task)
            task.add_done_callback(on_done)

        def on_done(task: asyncio.Task[T]) -> None:
            self._going.discard(task)
            if task.cancelled():
                outcome.set_exception(Conflict("the call was cancelled", hint="what it did stays"))
            elif (error := task.exception()) is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(task.result())

        loop.call_soon_threadsafe(start)
        try:
            _await(outcome)
        except (KeyboardInterrupt, SystemExit):
            self.cancel()
            _await(outcome)
            raise
        return outcome.result()

    def cancel(self) -> None:
        """Cancel all that goes on; whoever waits for it is told."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in self._going])

    def close(self) -> None:
        """Cancel what goes on, and end the thread."""
        thread, closing = self._thread, self._closing
        if thread is None or closing is None or self._loop is None:
            return
        self.cancel()
        self._loop.call_soon_threadsafe(closing.set)
        thread.join()
        self._thread = self._loop = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None:
                ready: Future[asyncio.AbstractEventLoop] = Future()
                self._thread = threading.Thread(target=lambda: asyncio.run(self._until_closed(ready)), daemon=True)
                self._thread.start()
                self._loop = ready.result()
            return self._loop

    async def _until_closed(self, ready: Future[asyncio.AbstractEventLoop]) -> None:
        self._closing = asyncio.Event()
        ready.set_result(asyncio.get_running_loop())
        await self._closing.wait()
        while self._going:
            await asyncio.wait(self._going)


def _await(outcome: Future[Any]) -> None:
    while not outcome.done():
        wait([outcome], timeout=NOTICED)
