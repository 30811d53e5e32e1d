"""Ctrl-C while a plan runs: once, the steps under way end and the run can be resumed; twice, it stops at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.events import Emit, Event
    from planner.lanes import Halt
    from planner.outcome import RunResult
    from tui.command.output import Output


@contextmanager
def interrupting(out: Output) -> Iterator[Halt]:
    """Give what the first SIGINT sets; the second breaks off what runs by it."""
    from planner.lanes import Halt

    halt, loop = Halt(), asyncio.get_running_loop()

    def interrupt() -> None:
        if halt.now:
            halt.break_off()
            return
        halt.set()
        out.talk("finishing the steps under way; Ctrl-C again stops at once", "yellow")

    try:
        loop.add_signal_handler(signal.SIGINT, interrupt)
    except (NotImplementedError, RuntimeError, ValueError):
        yield halt
        return
    try:
        yield halt
    finally:
        loop.remove_signal_handler(signal.SIGINT)


async def held(
    play: Callable[[Emit, Halt], Coroutine[Any, Any, RunResult]], watch: Callable[[Event], None], out: Output
) -> RunResult | None:
    """Play a run, telling its events to `watch`; Ctrl-C once suspends it. None where it was broken off before it began.

    Raises what playing raises.
    """
    from planner.events import RunFinished

    ended: list[RunResult] = []

    def told(event: Event) -> None:
        if isinstance(event, RunFinished):
            ended.append(event.result)
        watch(event)

    with interrupting(out) as halt:
        halt.task = task = asyncio.create_task(play(told, halt))
        try:
            return await task
        except asyncio.CancelledError:
            if not halt.now:
                raise
            return ended[-1] if ended else None
