"""Where runs go on while the screen stays quick: an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """An event loop in another thread, for whatever may be long: runs of plans, calls of tools.

    All sessions with servers are begun and used in it. It is started by its first task.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
        """Start work there; what is returned is awaited here. Cancelling it cancels the work."""
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._running()))

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Do work there, and return what it gives. Raises what it raises."""
        return await self.submit(work)

    def call(self, function: Any, *given: Any) -> None:
        """Call a function there soon, without waiting for it."""
        self._running().call_soon_threadsafe(function, *given)

    def close(self) -> None:
        """Cancel what goes on, wait until it has ended, and end the thread."""
        if self._loop is None or self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(_ended(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = self._thread = None

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="runs", daemon=True)
            self._thread.start()
        return self._loop


async def _ended() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.get_running_loop().shutdown_default_executor()
