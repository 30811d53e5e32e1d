"""Garbage is collected when nobody types: going through all that a screen holds takes a third of a second."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (10_000, 50, 100_000)
"""Thresholds of the collector: what is young is gone through as ever, but seldom; all of it only in `look`."""

AFTER = 60.0
"""Seconds from one look at everything to the next."""

RARER = (10_000, 10, 10)
"""Thresholds while much is read that stays: what is young is gone through a fourteenth as often."""

IDLE_SECONDS = 3.0
"""Seconds after a key or a click before that."""


class IdleGarbageCollector:
    """Python's garbage collector while a screen is shown; `end` leaves it as it was."""

    def __init__(self) -> None:
        self._usual = gc.get_threshold()
        self._freezes = False
        """Whether objects are frozen here. Python can only unfreeze all, so what the process has frozen stays so."""
        self._looked = self._touched = time.monotonic()

    def begin(self) -> None:
        """Have what is there now stay, and the rest be gone through seldom."""
        self._freezes = gc.get_freeze_count() == 0
        if self._freezes:
            gc.freeze()
        gc.set_threshold(*SELDOM)

    def touched(self) -> None:
        self._touched = time.monotonic()

    def collect_if_idle(self) -> None:
        """Collect all garbage there is, where it is time and nobody does anything."""
        now = time.monotonic()
        if now - self._looked > AFTER and now - self._touched > IDLE_SECONDS:
            if self._freezes:
                gc.unfreeze()
            gc.collect()
            if self._freezes:
                gc.freeze()
            self._looked = time.monotonic()

    def end(self) -> None:
        """Leave the collector as it was."""
        if self._freezes:
            gc.unfreeze()
        gc.set_threshold(*self._usual)


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Have Python's collector look less often at what is made, most of which stays; it is left as it was."""
    usual = gc.get_threshold()
    gc.set_threshold(*RARER)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
