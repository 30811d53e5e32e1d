"""Ctrl-C while a plan runs: once, the steps under way end and the run can be resumed; twice, it stops at once.

At a question it ends the command.
"""

from __future__ import annotations

import asyncio
import select
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.journal.commit_order import SuspendRequest
    from planner.journal.events import Emit, Event
    from planner.journal.result import RunResult
    from tui.text.output import Output


@contextmanager
def interruptible(out: Output) -> Iterator[SuspendRequest]:
    """Give what the first SIGINT sets; the second breaks off what runs by it."""
    from planner.journal.commit_order import SuspendRequest

    halt, loop = SuspendRequest(), asyncio.get_running_loop()

    def interrupt(*_: object) -> None:
        if halt.now:
            loop.call_soon_threadsafe(halt.break_off)
        else:
            halt.now = True
            loop.call_soon_threadsafe(suspend)

    def suspend() -> None:
        halt.set()
        out.talk("finishing the steps under way; Ctrl-C again stops at once", "yellow")

    try:
        # Not by the loop: that would hear of it in its next turn, which comes too late where this was the last one.
        before = signal.signal(signal.SIGINT, interrupt)
    except ValueError:  # only the main thread hears signals
        yield halt
        return
    try:
        yield halt
    finally:
        signal.signal(signal.SIGINT, before)


def read_line(prompt: str) -> str:
    """Put a question on the terminal and read the line that answers it; empty at the end of input.

    A read that blocks does not notice a signal that came just before it, or to another thread. So the read begins only
    when there is a line, and what is waited for until then ends by a signal whenever it comes, also in a coroutine,
    where SIGINT would cancel the task alone, which waits here. Call it in the main thread. Raises KeyboardInterrupt
    and UnicodeError.
    """
    signalled, by_signal = socket.socketpair()
    with signalled, by_signal:
        by_signal.setblocking(False)
        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        descriptor = signal.set_wakeup_fd(by_signal.fileno(), warn_on_full_buffer=False)
        try:
            sys.stderr.write(prompt)
            sys.stderr.flush()
            while sys.stdin not in select.select([sys.stdin, signalled], [], [])[0]:
                signalled.recv(1)
        finally:
            signal.set_wakeup_fd(descriptor)
            signal.signal(signal.SIGINT, handler)
    return sys.stdin.readline()


def final_result(result: RunResult, halt: SuspendRequest) -> RunResult:
    """Return how a run ended; one that began to wait by itself when somebody interrupted it was interrupted."""
    if not halt.now or result.status != "suspended" or (result.reason or "").startswith("interrupted"):
        return result
    return replace(result, reason=f"interrupted; `infospace resume {result.run}` goes on")


async def run_interruptible(
    play: Callable[[Emit, SuspendRequest], Coroutine[Any, Any, RunResult]], watch: Callable[[Event], None], out: Output
) -> RunResult | None:
    """Play a run, telling its events to `watch`; Ctrl-C once suspends it. None where it was broken off before it began.

    Raises what playing raises.
    """
    from planner.journal.events import RunFinished

    ended: list[RunResult] = []

    def on_event(event: Event) -> None:
        if isinstance(event, RunFinished):
            ended.append(event.result)
        watch(event)

    with interruptible(out) as halt:
        task = asyncio.create_task(play(on_event, halt))
        halt.hold(task)
        try:
            result = await task
        except asyncio.CancelledError:
            if not halt.now:
                raise
            return ended[-1] if ended else None
    # Asked only now: until the handler of before is back, an interrupt does nothing but set `halt.now`.
    return final_result(result, halt)
