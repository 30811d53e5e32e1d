"""Runs that go on in this process, whoever waits for them: a client that stops waiting stops nothing."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeAlias

from infospace.core.bounds import Bounds, Stop, at_most, stopped_by
from infospace.core.errors import Conflict, InfospaceError
from infospace.core.position import holds
from planner.journal.events import Emit, Event, Progressed, RunFinished, RunStarted, StepFinished, StepStarted
from planner.journal.result import RunResult

Playing: TypeAlias = "Callable[[Emit], Coroutine[Any, Any, RunResult]]"
"""Runs something to its end, telling its events."""
Tell: TypeAlias = "Callable[[int, str], Awaitable[None]]"
"""Takes how many steps have ended, and what happened last."""

MAX_LIVE_RUNS = 64
"""Runs that may go on side by side."""
REMEMBERED = 50
"""Runs that ended of which more is remembered than the journal has."""
BETWEEN = 0.2
"""Seconds between two words of progress, at least."""

_log = logging.getLogger(__name__)


class LiveRun:
    """Something that runs, and how far it is."""

    def __init__(self, playing: Playing, run: str = "", bounds: Bounds | None = None) -> None:
        self.run = run
        """The run's id, "" until it has one."""
        self.ended_steps = 0
        self.said = ""
        self._running: dict[str, str] = {}
        self._news = asyncio.Event()
        self.task = asyncio.create_task(_in_its_own_loop(playing, self._on_event, bounds))
        self.task.add_done_callback(self._on_done)

    def _on_event(self, event: Event) -> None:
        match event:
            case RunStarted():
                self.run = event.run
            case StepStarted():
                self._running[event.position] = event.type
                return
            case StepFinished():
                self._running.pop(event.row.position, None)
                self.ended_steps += 1
                self.said = f"{event.row.position} {event.row.type}: {event.row.status}"
            case Progressed():
                of = f" of {event.total:,}" if event.total else ""
                self.said = f"{event.position} {event.what} {event.done:,}{of}"
            case _:
                return
        self._notify()

    @property
    def running(self) -> list[str]:
        """The steps that run now and have none inside them that does, each as `4.do[3].2 git/git_show`."""
        inside = {position for position in self._running for other in self._running if holds(position, other)}
        return [f"{position} {type_}" for position, type_ in self._running.items() if position not in inside]

    def _notify(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _on_done(self, task: asyncio.Task[RunResult]) -> None:
        self._notify()
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
        end, last_told = loop.time() + seconds, 0.0
        while not self.task.done():
            news = self._news
            if tell is not None and self.said and loop.time() - last_told >= BETWEEN:
                last_told = loop.time()
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


async def _in_its_own_loop(playing: Playing, hear: Emit, bounds: Bounds | None) -> RunResult:
    """Play in a thread and an event loop of its own, so that what a step computes or writes holds up nobody else.

    Its events come to this loop, all of them before its end does. A cancellation goes there, also to what just
    computes, and the end of that is waited for: what was done is journalled by then.
    """
    loop, stop = asyncio.get_running_loop(), Stop()
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()
    ended: Future[RunResult] = Future()

    async def play() -> RunResult:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine that runs has one
        begun.set_result((asyncio.get_running_loop(), task))

        def emit_in_loop(event: Event) -> None:
            loop.call_soon_threadsafe(hear, event)

        return await playing(emit_in_loop)

    def run() -> None:
        stopped_by(stop)
        try:
            with at_most(bounds):
                ended.set_result(asyncio.run(play()))
        except asyncio.CancelledError:
            ended.cancel()
        except BaseException as error:  # noqa: BLE001 - whoever waits for the end is told, whatever it is
            ended.set_exception(error)

    threading.Thread(target=run, name="run", daemon=True).start()
    end = asyncio.wrap_future(ended)
    try:
        return await asyncio.shield(end)
    except asyncio.CancelledError:
        if not end.done():
            inner, task = await asyncio.wrap_future(begun)
            stop.now = True
            with suppress(RuntimeError):  # its loop is closed: it has just ended
                inner.call_soon_threadsafe(task.cancel)
            await asyncio.wait([end])
            end.cancelled() or end.exception()
        raise


class LiveRuns:
    """What runs here now, and what ran here lately."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        """`bounds`: what a step of these runs may make at most, whatever its plan says."""
        self._bounds = bounds
        self._lives: list[LiveRun] = []

    def start(self, playing: Playing, run: str = "") -> LiveRun:
        """Start something. Raises Conflict where too much goes on already."""
        live_runs = [live for live in self._lives if not live.task.done()]
        if len(live_runs) >= MAX_LIVE_RUNS:
            raise Conflict(
                f"{len(live_runs)} runs are going on already", hint="wait for one with get_run, or cancel_run one"
            )
        live = LiveRun(playing, run, self._bounds)
        over = [live for live in self._lives if live.task.done()]
        self._lives = [*over[-REMEMBERED:], *live_runs, live]
        return live

    def of(self, run: str) -> list[LiveRun]:
        """Return what runs, or ran lately, for a run, oldest first: of a session there may be several."""
        return [live for live in self._lives if live.run == run]

    def going(self, run: str) -> list[LiveRun]:
        """Return what goes on for a run."""
        return [live for live in self.of(run) if not live.task.done()]

    def count(self) -> int:
        """Count what goes on."""
        return sum(not live.task.done() for live in self._lives)

    async def cancel(self, lives: Sequence[LiveRun]) -> None:
        """Cancel some, and wait until that is journalled.

        Of what waits for one another, as the calls of a session do, the last goes first: else the end of one would
        let the next begin.
        """
        runs: dict[object, list[LiveRun]] = {}
        for live in lives:
            runs.setdefault(live.run or live, []).append(live)
        await asyncio.gather(*map(_cancel_from_the_last, runs.values()))

    async def close(self) -> None:
        """Cancel everything that goes on."""
        await self.cancel([live for live in self._lives if not live.task.done()])


async def _cancel_from_the_last(lives: Sequence[LiveRun]) -> None:
    for live in reversed(lives):
        live.task.cancel()
        await asyncio.wait([live.task])


def play_run(events: AsyncIterator[Event]) -> Playing:
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
