"""A word, or a line, that does something when it is clicked: the mouse's way to what a key of the place does."""

from __future__ import annotations

from textual.events import Click
from textual.widgets import Static


class ActionWord(Static):
    """A text; a click on it runs an action of the place, or of the app."""

    def __init__(self, text: str, action: str, *, name: str, tip: str = "") -> None:
        super().__init__(text, id=name, markup=False)
        self.tooltip = tip or None
        self._action = action

    async def on_click(self, event: Click) -> None:
        event.stop()
        await self.screen.run_action(self._action)
