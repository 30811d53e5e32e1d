"""Calls on a session, one after the other, from whatever threads and event loops of this process they come."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import asynccontextmanager, suppress
from weakref import WeakKeyDictionary, WeakValueDictionary

from infospace.space import Space


class Place:
    """A place in a queue, to be left once, whether its turn came or not."""

    def __init__(self, leave: Callable[[Place], None]) -> None:
        self.turn: Future[None] = Future()
        """Has a result when its turn has come."""
        self._leave = leave

    def leave(self) -> None:
        """Let the next one in. Leaving again does nothing."""
        self._leave(self)


class Queue:
    """Lets one in at a time, in the order in which they came."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[Place] = deque()

    def join(self) -> Place:
        """Take the last place. Whoever takes one leaves it, also where nothing comes of it: the others wait."""
        mine = Place(self._remove)
        with self._guard:
            self._waiting.append(mine)
            self._let_in()
        return mine

    @asynccontextmanager
    async def turn(self, place: Place | None = None) -> AsyncIterator[None]:
        """Wait for the turn of a place, the last one where none was taken, and have it until the block ends."""
        mine = place or self.join()
        try:
            await asyncio.wrap_future(mine.turn)
            yield
        finally:
            mine.leave()

    def _remove(self, place: Place) -> None:
        with self._guard, suppress(ValueError):
            self._waiting.remove(place)
            self._let_in()

    def _let_in(self) -> None:
        """Let the first in. One that was cancelled lets the next in when it goes."""
        if self._waiting:
            with suppress(InvalidStateError):
                self._waiting[0].turn.set_result(None)


_QUEUES: WeakKeyDictionary[Space, WeakValueDictionary[str, Queue]] = WeakKeyDictionary()
_GUARD = threading.Lock()


def queue_of(space: Space, run: str) -> Queue:
    """Return the queue of a run, or of what is to become one, which all who use the same opened space share."""
    with _GUARD:
        queues = _QUEUES.setdefault(space.unscoped, WeakValueDictionary())
        queue = queues.get(run)
        if queue is None:
            queue = queues[run] = Queue()
        return queue
