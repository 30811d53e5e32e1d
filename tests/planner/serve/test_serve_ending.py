"""What tells the server to end, and what does not."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from planner.server.protocol.shutdown import serve_until_signal


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Whoever runs the tests may ignore the signal, or not: afterwards that is so again."""
    before = signal.getsignal(signal.SIGHUP)
    yield
    signal.signal(signal.SIGHUP, before)


def served(disposition: Any, ends: bool) -> int | None:
    """Serve with SIGHUP as it is given, send one, and then end by itself or not; return what was heard."""
    signal.signal(signal.SIGHUP, disposition)

    async def serving() -> None:
        os.kill(os.getpid(), signal.SIGHUP)
        if not ends:
            await asyncio.Event().wait()

    async def until() -> int | None:
        async with asyncio.timeout(60):
            return await serve_until_signal([], serving())

    return asyncio.run(until())


def test_a_terminal_that_is_closed_ends_the_server_in_order() -> None:
    """As SIGTERM does: what runs is cancelled, and journalled."""
    assert served(lambda *_: None, ends=False) == signal.SIGHUP


def test_what_was_started_to_outlive_its_terminal_does() -> None:
    """`nohup` says so."""
    assert served(signal.SIG_IGN, ends=True) is None
