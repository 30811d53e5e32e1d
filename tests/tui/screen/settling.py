"""Waiting until the screen has handled all that it was told, where Textual waits until the processor rests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from textual._context import active_app
from textual.app import App
from textual.message_pump import MessagePump

LONGEST = 30.0
"""Seconds after which a handler that still goes on is left to itself."""

UNSEEN = 8
"""Turns of a busy loop for which no widget is asked whether it rests: something is about to be done."""


async def settled(*_: float) -> None:
    """Wait until every message has been handled, and what was said in answer to it, and all of it is drawn.

    What goes on in threads is not waited for.
    """
    await settled_within(LONGEST)


async def settled_within(seconds: float) -> None:
    """Wait until all is handled and drawn, no longer than that: where a run goes on, there is always something."""
    app = active_app.get()
    end = time.monotonic() + seconds
    turns = 0
    while time.monotonic() < end and app._running and not app._exit:
        await asyncio.sleep(0)
        turns = turns + 1 if _is_busy() else 0
        if turns % UNSEEN == 0 and all(map(_rests, _pumps(app))):
            if not _is_to_be_drawn(app):
                return
            app.screen._on_timer_update()


def _is_busy() -> bool:
    """Whether anything else is to be done in the loop's next turn; others who wait like this one count, too."""
    return bool(asyncio.get_running_loop()._ready)  # type: ignore[attr-defined] - nothing public says so


def _pumps(app: App[object]) -> Iterator[MessagePump]:
    yield app
    for screen in app.screen_stack:
        yield from screen.walk_children(with_self=True)


def _rests(pump: MessagePump) -> bool:
    queue = pump._message_queue
    waits = queue.empty() and bool(queue.ready_event._waiters)  # type: ignore[attr-defined] - nothing public says so
    return pump._closed or pump._closing or (waits and not pump._next_callbacks)


def _is_to_be_drawn(app: App[object]) -> bool:
    screen = app.screen
    return bool(
        screen._callbacks
        or screen._dirty_widgets
        or screen._layout_required
        or screen._repaint_required
        or screen._recompose_required
    )
