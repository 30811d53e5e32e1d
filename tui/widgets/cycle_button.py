"""A word that stands for one of several: a click, or a key of the place, goes on to the next."""

from __future__ import annotations

from collections.abc import Sequence

from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static


class CycleButton(Static):
    """One of several words; `Turned` tells of each change."""

    at: reactive[int] = reactive(0)

    class Turned(Message):
        """Another word is shown."""

        def __init__(self, cycle: CycleButton) -> None:
            super().__init__()
            self.cycle = cycle

        @property
        def control(self) -> CycleButton:
            return self.cycle

    def __init__(self, words: Sequence[str], at: str = "", *, name: str = "", tip: str = "") -> None:
        super().__init__(id=name or None, markup=False)
        self.words = tuple(words)
        self.tooltip = tip or None
        self.set_reactive(CycleButton.at, self.words.index(at) if at in self.words else 0)

    @property
    def word(self) -> str:
        """The word that is shown."""
        return self.words[self.at]

    def on_mount(self) -> None:
        self.update(f"{self.word} ▾")

    def watch_at(self) -> None:
        """Show another, and tell."""
        self.update(f"{self.word} ▾")
        self.post_message(self.Turned(self))

    def turn(self) -> None:
        """Go on to the next word."""
        self.at = (self.at + 1) % len(self.words)

    def on_click(self, event: Click) -> None:
        event.stop()
        self.turn()
