"""The runs that go on in this process: begun, resumed or forked here, followed, halted and broken off."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit, Event, RunFinished, RunStarted, StepFinished, StepStarted
from planner.journal.result import NOT_BEGUN, RunResult

if TYPE_CHECKING:
    from infospace.space import Space
    from planner.execute.start import Prepared
    from planner.goals.session import Agree
    from planner.language.problems import Patch
    from planner.lifecycle.breakpoints import Breakpoints
    from planner.metatools.execute_tool import PreparedToolCall
    from tui.runtime.background_loop import BackgroundLoop

Playing: TypeAlias = "Callable[[Emit, SuspendRequest], Coroutine[Any, Any, RunResult]]"
"""Runs something to its end, telling its events."""

TOGETHER = 0.05
"""Seconds for which events are gathered before they are told."""


@dataclass(eq=False, slots=True)
class ActiveRun:
    """A run that goes on here. `run` is "" until it has its id."""

    run: str = ""
    goal: str = ""
    begun: dict[str, float] = field(default_factory=dict)
    """When the steps began that are under way, by position (seconds since 1970)."""
    halt: SuspendRequest = field(default_factory=SuspendRequest)
    told_to_stop: bool = False
    """Whether `Runner.halt` was called: known at once, while the engine's thread sets `halt.now` a little later."""
    ended: RunResult | None = None
    """How it ended, once it has."""
    future: asyncio.Future[RunResult] | None = None

    @property
    def stopping(self) -> bool:
        """Whether it begins no more steps."""
        return self.told_to_stop or self.halt.now


OnEvents: TypeAlias = "Callable[[ActiveRun, list[Event]], None]"


class Runner:
    """Plays runs in the engine, and tells their events here, in their order and a few at a time."""

    def __init__(self, space: Space, engine: BackgroundLoop, hear: OnEvents) -> None:
        self._space = space
        self._engine = engine
        self._hear = hear
        self.going: list[ActiveRun] = []
        self._news: deque[tuple[ActiveRun, Event]] = deque()
        self._told = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def of(self, run: str) -> ActiveRun | None:
        """Return what goes on here for a run."""
        return next((active for active in self.going if active.run == run), None)

    async def start(self, prepared: Prepared, pausing: Breakpoints | None = None) -> RunResult:
        """Run a prepared plan to its end, or until it waits. Raises what the run raises."""
        from planner.execute.start import stream

        async def play(emit: Emit, halt: SuspendRequest) -> RunResult:
            result = None
            async for event in stream(self._space, prepared, halt):
                emit(event)
                if isinstance(event, RunFinished):
                    result = event.result
            assert result is not None  # noqa: S101 - a stream ends with RunFinished, or raises
            return result

        return await self.play(play, pausing=pausing)

    async def call(self, called: PreparedToolCall, take: Callable[[ActiveRun], None]) -> RunResult:
        """Make a call of a tool, as a run; `take` is given what goes on."""
        return await self.play(lambda emit, halt: _run_interruptible(called.play(self._space, emit), halt), take=take)

    async def work(
        self,
        work: Playing,
        run: str = "",
        pausing: Breakpoints | None = None,
        take: Callable[[ActiveRun], None] | None = None,
    ) -> RunResult:
        """Do the work of a run that another part of the planner drives, such as that of a goal."""
        return await self.play(lambda emit, halt: _run_interruptible(work(emit, halt), halt), run, pausing, take)

    async def resume(
        self,
        run: str,
        pausing: Breakpoints | None = None,
        take: Callable[[ActiveRun], None] | None = None,
        agree: Agree | None = None,
    ) -> RunResult:
        """Go on with a run; `agree` is asked before a plan is run that a model wrote. Raises Conflict, NotFound."""
        from planner.goals.resume import resume

        return await self.play(
            lambda emit, halt: _run_interruptible(resume(self._space, run, emit, halt, agree=agree), halt),
            run,
            pausing,
            take,
        )

    async def fork(self, run: str, step: str, patch: Patch, pausing: Breakpoints | None = None) -> RunResult:
        """Run a plan anew from one of its steps on. Raises Conflict, NotFound, Invalid."""
        from planner.lifecycle.fork import fork

        return await self.play(
            lambda emit, halt: _run_interruptible(fork(self._space, run, step, patch, emit, halt), halt),
            pausing=pausing,
        )

    async def play(
        self,
        playing: Playing,
        run: str = "",
        pausing: Breakpoints | None = None,
        take: Callable[[ActiveRun], None] | None = None,
    ) -> RunResult:
        """Play something in the engine until it ends, or `pausing` puts it to rest; its events are heard here.

        `take` is given what goes on before it begins. What is broken off before it had an id has ended as cancelled.
        """
        self._loop = asyncio.get_running_loop()
        active = ActiveRun(run, halt=SuspendRequest(pausing=pausing))
        self.going.append(active)
        if take is not None:
            take(active)

        def emit(event: Event) -> None:
            if isinstance(event, RunStarted):
                active.run, active.goal = event.run, event.goal
            if isinstance(event, RunFinished):
                active.ended = event.result
            # In the engine's thread. `_dispatch_events` clears `_told` before it empties the queue: an event that comes
            # meanwhile is taken now, or asks for another round; never neither.
            self._news.append((active, event))
            if not self._told and self._loop is not None:
                self._told = True
                self._loop.call_soon_threadsafe(self._soon)

        async def played() -> RunResult:
            try:
                return await playing(emit, active.halt)
            except asyncio.CancelledError:
                if active.ended is not None:
                    return active.ended
                if not active.halt.broken or active.run:
                    raise
                return RunResult(None, "cancelled", reason=NOT_BEGUN)

        active.future = self._engine.submit(played())
        try:
            # A worker that waits here may be ended by a later one of its group, or with its screen; the run goes on.
            return await asyncio.shield(active.future)
        finally:
            self.going.remove(active)
            self._dispatch_events()

    def halt(self, active: ActiveRun) -> bool:
        """Let the steps under way end, and put the run to rest; a second time, break it off. Return whether it was."""
        again = active.stopping
        if again:
            self.break_off(active)
        else:
            active.told_to_stop = True
            self._engine.call(active.halt.set)
        return again

    def break_off(self, active: ActiveRun) -> None:
        """End a run at once, as cancelled."""
        self._engine.call(active.halt.break_off)

    def _soon(self) -> None:
        if self._loop is not None:
            self._loop.call_later(TOGETHER, self._dispatch_events)

    def _dispatch_events(self) -> None:
        self._told = False
        news: dict[ActiveRun, list[Event]] = {}
        while self._news:
            active, event = self._news.popleft()
            if isinstance(event, StepStarted):
                active.begun[event.position] = time.time()
            elif isinstance(event, StepFinished):
                active.begun.pop(event.row.position, None)
            news.setdefault(active, []).append(event)
        for active, events in news.items():
            self._hear(active, events)


async def _run_interruptible(work: Coroutine[Any, Any, RunResult], halt: SuspendRequest) -> RunResult:
    """Do work that `halt` can break off."""
    task = asyncio.ensure_future(work)
    halt.hold(task)
    try:
        return await task
    finally:
        if not task.done():
            task.cancel()
