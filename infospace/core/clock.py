"""Times as the space writes them: ISO 8601 in UTC, to the millisecond, so that text order is time order."""

from __future__ import annotations

import time
from datetime import datetime
from functools import lru_cache


def now() -> str:
    """Return the present as `2026-04-01T09:30:00.123Z`."""
    return _written(time.time())


@lru_cache(maxsize=2)
def _second(whole: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))


def today_and_now() -> tuple[str, str]:
    """Return the present day of the machine's time zone, `2026-04-01`, and the moment, `2026-04-01T09:30:00.123Z`."""
    moment = time.time()
    return time.strftime("%Y-%m-%d", time.localtime(moment)), _written(moment)


def day_and_moment(moment: str) -> tuple[str, str]:
    """Return a time in that form as `today_and_now` gave it, had it been read in the present time zone."""
    return time.strftime("%Y-%m-%d", time.localtime(seconds(moment))), moment


def later(seconds: float) -> str:
    """Return the time so many seconds from now, in the same form."""
    return _written(time.time() + seconds)


def seconds_until(moment: str) -> float:
    """Return the seconds from now to a time in that form, 0 where it is past."""
    return max(0.0, datetime.fromisoformat(moment).timestamp() - time.time())


def at(moment: float) -> str:
    """Return a time in seconds since 1970 in that form."""
    return _written(moment)


def seconds(moment: str) -> float:
    """Return a time in that form in seconds since 1970."""
    return datetime.fromisoformat(moment).timestamp()


def _written(moment: float) -> str:
    whole = int(moment)
    return f"{_second(whole)}.{int((moment - whole) * 1000):03d}Z"
