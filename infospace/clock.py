"""Times as the space writes them: ISO 8601 in UTC, to the millisecond, so that text order is time order."""

from __future__ import annotations

import time
from functools import lru_cache


def now() -> str:
    """Return the present as `2026-04-01T09:30:00.123Z`."""
    seconds = time.time()
    whole = int(seconds)
    return f"{_second(whole)}.{int((seconds - whole) * 1000):03d}Z"


@lru_cache(maxsize=2)
def _second(whole: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
