"""The keys of a place, at the bottom of the screen."""

from __future__ import annotations

from textual.screen import Screen
from textual.widgets import Footer


class Keys(Footer):
    """Textual's footer, drawn anew only when its keys are others: each focus that moves says that they may be."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._due = False
        self._drawn: list[tuple[str, str, bool]] | None = None

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Look at the keys, once whatever goes on is done."""
        if not self._due and screen.app.app_focus and self.is_attached and screen is self.screen:
            self._due = True
            self.call_after_refresh(self._look)

    async def _look(self) -> None:
        self._due = False
        active = self.screen.active_bindings.values()
        keys = [(one.binding.key, one.binding.description, one.enabled) for one in active if one.binding.show]
        if keys != self._drawn:
            self._drawn = keys
            self._bindings_ready = True
            await self.recompose()
