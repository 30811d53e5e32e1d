"""What can be done with a click, each with its key: beside what it is done with."""

from __future__ import annotations

from dataclasses import replace

from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Static

from tui.base_screen import BaseScreen


class ActionLinks(Static):
    """Some actions of a place, as far as they can be done now."""

    def __init__(self, *actions: str) -> None:
        super().__init__(classes="links")
        self._actions = actions
        self._written = ""

    def on_mount(self) -> None:
        """Look whenever other things can be done."""
        self._show_links(self.screen)
        self.screen.bindings_updated_signal.subscribe(self, self._show_links)

    def _key(self, binding: Binding) -> str:
        return self.app.get_key_display(replace(binding, key=binding.key.partition(",")[0]))

    def _show_links(self, screen: Screen[object]) -> None:
        place = self.screen
        if screen is not place or not isinstance(place, BaseScreen):
            return
        actions = {binding.action: binding for binding in place.key_bindings()}
        texts = [
            f"[@click=screen.{name}]{self._key(actions[name])} {place.key_label(actions[name]).lower()}[/]"
            for name in self._actions
            if place.is_action_available(name)
        ]
        text = "  ".join(texts)
        if text != self._written:
            self._written = text
            self.update(text)
