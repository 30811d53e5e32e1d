"""What a step says while it runs, on its way to the run's events."""

from __future__ import annotations

import asyncio
import threading

from infospace.core.listener import Speech
from planner.journal.events import Emit, Event, Progressed, Spoke


class StepListener:
    """Passes what a step says to the run's events, from whatever thread it comes."""

    def __init__(self, emit: Emit, position: str) -> None:
        self._emit = emit
        self._position = position
        self._thread = threading.get_ident()
        self._loop = asyncio.get_running_loop()
        self.spoken: list[str] = []

    def message(self, kind: Speech, text: str) -> None:
        """Pass on something said."""
        if kind not in ("draft", "log"):
            self.spoken.append(text)
        self._send(Spoke(kind, self._position, text))

    def progress(self, done: int, total: int, what: str) -> None:
        """Pass on how far it has come."""
        self._send(Progressed(self._position, done, total, what))

    def _send(self, event: Event) -> None:
        if threading.get_ident() == self._thread:
            self._emit(event)
        else:
            self._loop.call_soon_threadsafe(self._emit, event)
