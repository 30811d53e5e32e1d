"""Calls on a session, one after the other, from whatever threads and event loops of this process they come."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Future, InvalidStateError
from contextlib import asynccontextmanager, suppress
from weakref import WeakKeyDictionary, WeakValueDictionary

from infospace.space import Space


class Queue:
    """Lets one in at a time, in the order in which they came."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[Future[None]] = deque()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for one's turn, and have it until the block is left."""
        mine: Future[None] = Future()
        with self._guard:
            self._waiting.append(mine)
            self._let_in()
        try:
            await asyncio.wrap_future(mine)
            yield
        finally:
            with self._guard:
                self._waiting.remove(mine)
                self._let_in()

    def _let_in(self) -> None:
        """Let the first in. One that was cancelled lets the next in when it goes."""
        if self._waiting:
            with suppress(InvalidStateError):
                self._waiting[0].set_result(None)


_QUEUES: WeakKeyDictionary[Space, WeakValueDictionary[str, Queue]] = WeakKeyDictionary()
_GUARD = threading.Lock()


def queue_of(space: Space, run: str) -> Queue:
    """Return the queue of a run, or of what is to become one, which all who use the same opened space share."""
    with _GUARD:
        queues = _QUEUES.setdefault(space.whole, WeakValueDictionary())
        queue = queues.get(run)
        if queue is None:
            queue = queues[run] = Queue()
        return queue
