"""Runs that go on in this process, whoever waits for them: a client that stops waiting stops nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeAlias

from infospace.errors import Conflict, InfospaceError
from planner.events import Emit, Event, Progressed, RunFinished, RunStarted, StepFinished
from planner.outcome import RunResult

Playing: TypeAlias = "Callable[[Emit], Coroutine[Any, Any, RunResult]]"
"""Runs something to its end, telling its events."""
Tell: TypeAlias = "Callable[[int, str], Awaitable[None]]"
"""Takes how many steps have ended, and what happened last."""

MOST = 64
"""Runs that may go on side by side."""
REMEMBERED = 50
"""Runs that ended of which more is remembered than the journal has."""
BETWEEN = 0.2
"""Seconds between two words of progress, at least."""

_log = logging.getLogger(__name__)


class Live:
    """Something that runs, and how far it is."""

    def __init__(self, playing: Playing, run: str = "") -> None:
        self.run = run
        """The run's id, "" until it has one."""
        self.ended_steps = 0
        self.said = ""
        self._news = asyncio.Event()
        self.task = asyncio.create_task(playing(self._hear))
        self.task.add_done_callback(self._over)

    def _hear(self, event: Event) -> None:
        match event:
            case RunStarted():
                self.run = event.run
            case StepFinished():
                self.ended_steps += 1
                self.said = f"{event.row.position} {event.row.type}: {event.row.status}"
            case Progressed():
                self.said = f"{event.position} {event.what} {event.done:,} of {event.total:,}"
            case _:
                return
        self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _over(self, task: asyncio.Task[RunResult]) -> None:
        self._tell()
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, InfospaceError):
            _log.error("%s broke off", self.run or "a run", exc_info=error)

    async def begun(self) -> None:
        """Wait until the run has its id, or has ended without one."""
        while not self.run and not self.task.done():
            await self._news.wait()

    async def wait(self, seconds: float, tell: Tell | None = None) -> bool:
        """Wait for the end, at most so many seconds; return whether it has come. `tell` hears how far it is."""
        loop = asyncio.get_running_loop()
        end, told = loop.time() + seconds, 0.0
        while not self.task.done():
            news = self._news
            if tell is not None and self.said and loop.time() - told >= BETWEEN:
                told = loop.time()
                await tell(self.ended_steps, self.said)
                continue
            try:
                async with asyncio.timeout(end - loop.time()):
                    await news.wait()
            except TimeoutError:
                break
        return self.task.done()

    @property
    def failed(self) -> InfospaceError | None:
        """Why it could not be played, where it could not."""
        error = self.task.exception() if self.task.done() and not self.task.cancelled() else None
        return error if isinstance(error, InfospaceError) else None

    @property
    def result(self) -> RunResult | None:
        """How it ended; None where it goes on, was cancelled, or could not be played."""
        if not self.task.done() or self.task.cancelled() or self.task.exception() is not None:
            return None
        return self.task.result()


class Lives:
    """What runs here now, and what ran here lately."""

    def __init__(self) -> None:
        self._lives: list[Live] = []

    def start(self, playing: Playing, run: str = "") -> Live:
        """Start something. Raises Conflict where too much goes on already."""
        going = [live for live in self._lives if not live.task.done()]
        if len(going) >= MOST:
            raise Conflict(
                f"{len(going)} runs are going on already", hint="wait for one with get_run, or cancel_run one"
            )
        live = Live(playing, run)
        over = [live for live in self._lives if live.task.done()]
        self._lives = [*over[-REMEMBERED:], *going, live]
        return live

    def of(self, run: str) -> list[Live]:
        """Return what runs, or ran lately, for a run, oldest first: of a session there may be several."""
        return [live for live in self._lives if live.run == run]

    def going(self, run: str) -> list[Live]:
        """Return what goes on for a run."""
        return [live for live in self.of(run) if not live.task.done()]

    def count(self) -> int:
        """Count what goes on."""
        return sum(not live.task.done() for live in self._lives)

    async def cancel(self, lives: Sequence[Live]) -> None:
        """Cancel some, and wait until that is journalled."""
        for live in lives:
            live.task.cancel()
        if lives:
            await asyncio.wait([live.task for live in lives])

    async def close(self) -> None:
        """Cancel everything that goes on."""
        await self.cancel([live for live in self._lives if not live.task.done()])


def played(events: AsyncIterator[Event]) -> Playing:
    """Return the playing of a stream of events, whose last is `RunFinished`. Cancelling it cancels the run."""

    async def play(emit: Emit) -> RunResult:
        result = None
        async for event in events:
            emit(event)
            if isinstance(event, RunFinished):
                result = event.result
        assert result is not None  # noqa: S101 - a stream ends with RunFinished, or raises
        return result

    return play
