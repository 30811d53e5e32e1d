"""How long the screen is held up while something is done."""

from __future__ import annotations

import asyncio
import time
from typing import Any

BUSY = 5
"""How many times as long any machine is given: a screen that hangs is told from one that pauses."""


async def longest_pause(doing: Any) -> float:
    """Return for how many seconds the event loop was held up while something was done, at most.

    What counts is the time that its thread computed: the time that a busy machine gives to others is none of it.
    A loop that waits for a lock or a file instead ends with the patience of what is done.
    """
    longest, ended = 0.0, False

    async def watch() -> None:
        nonlocal longest
        while not ended:
            before = time.thread_time()
            await asyncio.sleep(0.005)
            longest = max(longest, time.thread_time() - before)

    watching = asyncio.create_task(watch())
    try:
        await doing
    finally:
        ended = True
        await watching
    return longest
