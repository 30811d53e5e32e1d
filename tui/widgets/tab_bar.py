"""The bar of places on top of the screen: where one is, and where one can go."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from tui.screen_registry import Entry, numbered


class Tab(Static):
    """The name of a place, with its key; that of the place that is shown leads to all that can be done there."""

    class Chosen(Message):
        """Somebody wants to go to a place."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, number: int, entry: Entry, *, here: bool) -> None:
        super().__init__(f"[dim]F{number}[/] {entry.title}", classes="-here" if here else "")
        self.tooltip = "all that can be done here, by name" if here else entry.summary
        self._entry = entry
        self._here = here

    def on_click(self, event: Click) -> None:
        """Go there, or offer what can be done here; of two clicks in a row, by the first."""
        event.stop()
        if event.chain == 1 and self._here:
            self.app.action_command_palette()
        elif event.chain == 1:
            self.post_message(self.Chosen(self._entry.name))


class TabBar(Horizontal):
    """The places in their order; the one that is shown is marked."""

    def __init__(self, here: str) -> None:
        super().__init__()
        self._here = here

    def compose(self) -> ComposeResult:
        """A tab for each place."""
        for number, entry in numbered():
            yield Tab(number, entry, here=entry.name == self._here)
