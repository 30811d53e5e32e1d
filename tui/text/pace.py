"""How fast work goes, and how long what is left will take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW = 60.0
"""Seconds over which a rate is measured: so long that it holds still, so short that it is true."""

MIN_RATE_SECONDS = 2.0
"""Seconds after which a first rate is told."""


class RateMeter:
    """How fast work goes, over the last minute. What was done when it was first heard of counts for nothing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque()

    def mark(self, done: int) -> None:
        """Take how much is done now."""
        now = self._clock()
        self._marks.append((now, done))
        while len(self._marks) > 2 and self._marks[1][0] <= now - WINDOW:
            self._marks.popleft()

    def rate(self) -> float | None:
        """Return how much is done in a second; None as long as that cannot be told."""
        if not self._marks:
            return None
        (began, before), (ended, after) = self._marks[0], self._marks[-1]
        return (after - before) / (ended - began) if ended - began >= MIN_RATE_SECONDS and after > before else None

    def format_rate(self, left: int) -> str:
        """Return the rate, and how long what is left will take."""
        rate = self.rate()
        if rate is None:
            return ""
        seconds = round(left / rate)
        text = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
        return f"{text}/s  {seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
