"""Ctrl-C while a plan runs: once, the steps under way end and the run can be resumed; twice, it stops at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.lanes import Halt
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
