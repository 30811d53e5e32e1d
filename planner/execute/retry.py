"""Waiting between the attempts of a call that failed."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from planner.language.plan import Retry

_log = logging.getLogger(__name__)

LONGEST_PAUSE = 3_600.0
"""Seconds between two attempts at most, however often their wait is multiplied."""


async def retry_delay(retry: Retry | None, attempt: int, heard: asyncio.Event, step: str) -> None:
    """Wait after a failed attempt of a step, the 1-based `attempt`, for `wait_s * backoff ** (attempt - 1)` seconds.

    No longer than until `heard` is set.
    """
    wait = retry.wait_s if retry is not None else 0
    seconds = min(wait * retry.backoff ** (attempt - 1), LONGEST_PAUSE) if retry is not None and wait else 0.0
    _log.info("step %s failed at attempt %d; it is tried again in %.1f s", step, attempt, seconds)
    if seconds:
        with suppress(TimeoutError):
            await asyncio.wait_for(heard.wait(), seconds)
