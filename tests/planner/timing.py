"""Time limits that run out when a test says so: how far a run comes within some milliseconds is nobody's promise."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import SimpleNamespace

import pytest

TURNS = 50
"""Turns of the event loop after which what could begin has begun."""


async def turns() -> None:
    """Let everything come as far as it can by itself."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


class Limits:
    """The time limits of steps and of runs: none of them runs out by the clock, all of them do when that is said."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._set: list[tuple[asyncio.AbstractEventLoop, asyncio.Timeout]] = []
        held = SimpleNamespace(**{**vars(asyncio), "timeout": self._timeout})
        for module in ("planner.execute.step", "planner.execute.run"):
            monkeypatch.setattr(f"{module}.asyncio", held)

    def _timeout(self, seconds: float | None) -> asyncio.Timeout:
        limit = asyncio.timeout(None)
        if seconds is not None:
            self._set.append((asyncio.get_running_loop(), limit))
        return limit

    def run_out(self) -> None:
        """Let the time of all that runs be over; any thread may say so."""
        for loop, limit in self._set:
            loop.call_soon_threadsafe(_end, limit)


def _end(limit: asyncio.Timeout) -> None:
    with suppress(RuntimeError):  # what it limited has ended
        limit.reschedule(0.0)
