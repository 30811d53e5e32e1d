"""How long the screen is held up while something is done."""

from __future__ import annotations

import asyncio
import time
from typing import Any

BUSY = 20
"""How many times as long any machine is given: a screen that hangs is told from one that pauses."""


async def longest_pause(doing: Any) -> float:
    """Return for how many seconds the event loop was held up while something was done."""
    longest, ended = 0.0, False

    async def watch() -> None:
        nonlocal longest
        while not ended:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - before)

    watching = asyncio.create_task(watch())
    try:
        await doing
    finally:
        ended = True
        await watching
    return longest
