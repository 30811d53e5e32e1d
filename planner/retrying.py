"""Waiting between the attempts of a call that failed."""

from __future__ import annotations

import asyncio

from planner.plan import Retry

LONGEST_PAUSE = 3_600.0
"""Seconds between two attempts at most, however often their wait is multiplied."""


async def pause(retry: Retry | None, attempt: int) -> None:
    """Wait after a failed attempt, the 1-based `attempt`, for `wait_s * backoff ** (attempt - 1)` seconds."""
    if retry is not None and retry.wait_s:
        await asyncio.sleep(min(retry.wait_s * retry.backoff ** (attempt - 1), LONGEST_PAUSE))
