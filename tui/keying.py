"""Keys that come in one burst, each handed on when what the one before did is done.

Textual hands a key on to what has the focus as soon as it comes; what the key is bound to runs only after it has
bubbled up to the app, and a focus moves later still. So the keys behind a `/` would go to the list, not to the field.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
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

PATIENCE = 0.5
"""Seconds between two looks whether the key under way will be done: not where what had it is gone."""
MOST = 60
"""Looks after which the next key is handed on though the one before is not done: what has it is busy for long."""


class Done(Message):
    """Goes the way of a key, behind it: what is done when it arrives at the app is done with the key."""

    verbose = True

    def __init__(self, turn: int) -> None:
        super().__init__()
        self.turn = turn


class Keying:
    """The keys that wait for their turn. `hand_on` is what Textual does with one."""

    def __init__(self, app: App[int], hand_on: Callable[[Typed], Awaitable[None]]) -> None:
        self._app = app
        self._hand_on = hand_on
        self._waiting: deque[Typed] = deque()
        self._turn = 0
        self._busy = False
        self._on: Screen[object] | None = None
        """The screen on which the key under way was pressed."""
        self._has: MessagePump | None = None
        """What has the key under way."""
        self._timer: Timer | None = None
        self._looks = 0

    async def take(self, event: Typed) -> None:
        """Hand a key on, or keep it until it is its turn."""
        if self._busy:
            self._waiting.append(event)
            self._be_patient()
        else:
            await self._begin(event)

    async def _begin(self, event: Typed) -> None:
        app = self._app
        target: MessagePump = app.focused or app.screen
        self._on = app.screen
        await self._hand_on(event)
        if not _stays(event, target):
            self._send_after(target)

    def _send_after(self, target: MessagePump) -> None:
        self._turn += 1
        self._has = target
        self._busy = target.post_message(Done(self._turn))

    def arrived(self, done: Done) -> None:
        """Go on, once what the key left to be done later is done too; a screen that it opened comes first."""
        if done.turn == self._turn and self._busy:
            self._app.call_later(self._go_on, done.turn)

    async def _go_on(self, turn: int) -> None:
        if turn != self._turn or not self._busy:
            return
        app = self._app
        if self._on is not app.screen:
            self._on = app.screen
            self._send_after(app.screen)
            if self._busy:
                return
        self._busy = False
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        while self._waiting and not self._busy:
            await self._begin(self._waiting.popleft())
        if self._waiting:
            self._be_patient()

    def _be_patient(self) -> None:
        if self._timer is None:
            self._looks = 0
            self._timer = self._app.set_interval(PATIENCE, self._look)

    def _look(self) -> None:
        self._looks += 1
        if self._looks >= MOST or not self._will_arrive():
            self._app.call_later(self._give_up, self._turn)

    async def _give_up(self, turn: int) -> None:
        self._on = self._app.screen
        await self._go_on(turn)

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
