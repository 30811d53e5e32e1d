"""Keys that come in one burst, each handed on when what the one before did is done.

Textual hands a key on to what has the focus as soon as it comes; what the key is bound to runs only after it has
bubbled up to the app, and a focus moves later still. So the keys behind a `/` would go to the list, not to the field.
A key with priority would even overtake what was typed before it, and a dialog that opens after a question to the space
would miss what was typed for it: what is held is let go when it is there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, TypeAlias

from textual.events import Key, Paste
from textual.message import Message
from textual.message_pump import MessagePump
from textual.timer import Timer
from textual.widgets import Input, TextArea

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

Typed: TypeAlias = Key | Paste

POLL_SECONDS = 0.5
"""Seconds between two looks whether the key under way will be done: not where what had it is gone."""
MAX_POLLS = 60
"""Looks after which the next key is handed on though the one before is not done: what has it is busy for long."""

LONGER = 2.0
"""Seconds after which a key is handed on though it is held: what it is meant for does not come."""


class Done(Message):
    """Goes the way of a key, behind it: what is done when it arrives at the app is done with the key."""

    verbose = True

    def __init__(self, turn: int) -> None:
        super().__init__()
        self.turn = turn


class KeyQueue:
    """The keys that wait for their turn. `hand_on` is what Textual does with one."""

    def __init__(self, app: App[int], hand_on: Callable[[Typed], Awaitable[None]]) -> None:
        self._app = app
        self._hand_on = hand_on
        self._waiting: deque[Typed] = deque()
        self._turn = 0
        self._busy = False
        self._held: set[Hashable] = set()
        """For what keys are held: it is to come to the front, or to be found."""
        self._written = False
        """Whether the last key only wrote, and may not have arrived yet."""
        self._on: Screen[object] | None = None
        """The screen on which the key under way was pressed."""
        self._has: MessagePump | None = None
        """What has the key under way."""
        self._timer: Timer | None = None
        self._looks = 0

    async def feed(self, event: Typed) -> None:
        """Hand a key on, or keep it until it is its turn."""
        self._waiting.append(event)
        await self._hand_on_all()

    async def _hand_on_all(self) -> None:
        while self._waiting and not self._busy and not self._held:
            target: MessagePump = self._app.focused or self._app.screen
            writes = _stays(self._waiting[0], target)
            self._on = self._app.screen
            # Keys that only write need no turn: their widget takes them in order from its own queue. A key that does
            # more may go elsewhere, by a priority binding too, so what was written has to arrive before it.
            if self._written and not writes:
                self._written = False
                self._send_after(target)
                continue
            self._written = writes
            await self._hand_on(self._waiting.popleft())
            if not writes:
                self._send_after(target)
        if self._waiting:
            self._be_patient()
        else:
            self._be_at_ease()

    def _send_after(self, target: MessagePump) -> None:
        self._turn += 1
        self._has = target
        self._busy = target.post_message(Done(self._turn))

    def arrived(self, done: Done) -> None:
        """Go on, once what the key left to be done later is done too; a screen that it opened comes first."""
        if done.turn == self._turn and self._busy:
            self._app.call_later(self._next_key, done.turn)

    async def _next_key(self, turn: int) -> None:
        if turn != self._turn or not self._busy:  # patience ended before it arrived: a later key has its turn
            return
        self._busy = False
        self._be_at_ease()
        if self._on is not self._app.screen:
            self._on = self._app.screen
            self._send_after(self._app.screen)
        await self._hand_on_all()

    # Held keys

    def hold(self, reason: Hashable) -> None:
        """Hold the keys that come from now on, until they are let go for this reason, or a screen is shown in front."""
        self._held.add(reason)
        if self._waiting:
            self._be_at_ease()
            self._be_patient()

    def release(self, reason: Hashable) -> None:
        """Hand on what was held for a reason, unless there is another one."""
        self._held.discard(reason)
        if not self._held:
            self._app.call_later(self._hand_on_all)

    def release_all(self) -> None:
        """Hand on what was held: nothing comes to the front."""
        self._held.clear()
        self._app.call_later(self._hand_on_all)

    def opened(self) -> None:
        """Hand on what was held to the screen that has come to the front, once that is there."""
        if not self._held:
            return
        self._held.clear()
        if not self._busy:
            self._on = self._app.screen
            self._send_after(self._app.screen)

    # Patience

    def _be_patient(self) -> None:
        if self._timer is None:
            self._looks = 0
            self._timer = self._app.set_interval(POLL_SECONDS, self._check_progress)

    def _be_at_ease(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _check_progress(self) -> None:
        self._looks += 1
        if self._busy:
            if self._looks >= MAX_POLLS or not self._will_arrive():
                self._app.call_later(self._stop_waiting, self._turn)
        elif self._looks * POLL_SECONDS >= LONGER:
            self.release_all()

    async def _stop_waiting(self, turn: int) -> None:
        self._on = self._app.screen
        await self._next_key(turn)

    def _will_arrive(self) -> bool:
        """Whether nothing is gone that a key goes through on its way to the app."""
        pump = self._has
        while pump is not None and pump is not self._app:
            if pump._closing or pump._closed:  # noqa: SLF001 - nothing public says so
                return False
            pump = pump._parent  # noqa: SLF001 - nor who has it
        return pump is self._app


def _stays(event: Typed, target: MessagePump) -> bool:
    """Whether a key only writes where the cursor is, so that nothing has to be waited for."""
    return isinstance(target, Input | TextArea) and (isinstance(event, Paste) or event.is_printable)
