"""Time limits that stand still while a person is waited for: what a server may take is its own time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class Deadlines:
    """The time limits of one connection, in its event loop."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Timeout, float] = {}
        """Each limit, with the seconds that were left of it when its clock was stopped last."""
        self._paused = 0

    @asynccontextmanager
    async def time_limit(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        """Bound what is awaited here to these seconds. Raises TimeoutError."""
        async with asyncio.timeout(None if self._paused else seconds) as limit:
            self._running[limit] = seconds
            try:
                yield limit
            finally:
                del self._running[limit]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop all clocks; they go on with what was left of each."""
        loop = asyncio.get_running_loop()
        self._paused += 1
        if self._paused == 1:
            for limit in self._running:
                when = limit.when()
                if when is not None:
                    self._running[limit] = max(0.0, when - loop.time())
                    limit.reschedule(None)
        try:
            yield
        finally:
            self._paused -= 1
            if not self._paused:
                for limit, left in self._running.items():
                    if not limit.expired():
                        limit.reschedule(loop.time() + left)
