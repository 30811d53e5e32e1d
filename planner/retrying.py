"""Waiting between the attempts of a call that failed."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from planner.plan import Retry

LONGEST_PAUSE = 3_600.0
"""Seconds between two attempts at most, however often their wait is multiplied."""


async def pause(retry: Retry | None, attempt: int, heard: asyncio.Event) -> None:
    """Wait after a failed attempt, the 1-based `attempt`, for `wait_s * backoff ** (attempt - 1)` seconds.

    No longer than until `heard` is set.
    """
    if retry is not None and retry.wait_s:
        seconds = min(retry.wait_s * retry.backoff ** (attempt - 1), LONGEST_PAUSE)
        with suppress(TimeoutError):
            await asyncio.wait_for(heard.wait(), seconds)
