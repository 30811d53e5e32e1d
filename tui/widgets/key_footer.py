"""The keys of a place, at the bottom of the screen: those that can do something now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.keys import REPLACED_KEYS, key_to_character
from textual.screen import Screen
from textual.widgets import Footer, Input, TextArea
from textual.widgets._footer import FooterKey

from tui.base_screen import BaseScreen
from tui.widgets.lazy_table import LazyTable

AROUND = 3
"""Characters of room around a key and its word."""
LAST = ("app.leave", "help")
"""The actions that stand last."""


class ShownKey(NamedTuple):
    """A key as it stands in the line."""

    key: str
    display: str
    word: str
    action: str
    tooltip: str

    @property
    def name(self) -> str:
        """What it does, whichever way: `tab` of `tab(-1)`."""
        return self.action.partition("(")[0]

    @property
    def width(self) -> int:
        """The characters that it takes."""
        return cell_len(self.display) + cell_len(self.word) + AROUND


class KeyFooter(Footer):
    """Textual's footer, drawn anew only when its keys are others: each focus that moves says that they may be.

    What a place does not offer is left out, and in a text field every key that would be typed. Where there is room,
    keys stand there that otherwise only the help names.
    """

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._due = False
        self._shown: list[ShownKey] | None = None

    def compose(self) -> ComposeResult:
        for one in self._shown or ():
            key = FooterKey(one.key, one.display, one.word, one.action, tooltip=one.tooltip)
            # It begins as compact: unless it is told so before it is mounted, it is styled twice more.
            key.set_reactive(FooterKey.compact, False)
            yield key

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Look at the keys, once whatever goes on is done."""
        if screen.app.app_focus and screen is self.screen:
            self._soon()

    def on_resize(self) -> None:
        """Show as many as there is room for."""
        self._soon()

    def _soon(self) -> None:
        if not self._due and self.is_attached:
            self._due = True
            self.call_after_refresh(self._recompose_if_changed)

    async def _recompose_if_changed(self) -> None:
        self._due = False
        shown = list(self._fitting())
        if shown != self._shown:
            self._shown = shown
            await self.recompose()
            if not self.screen.is_current:
                self.screen._refresh_layout()  # noqa: SLF001 - what stands behind a dialog Textual lays out too late
                self.app.screen.refresh()

    def _fitting(self) -> Iterator[ShownKey]:
        """Give the keys that are shown as far as there is room, then others, the way out and the help.

        The help has its room always, and the way out before the others.
        """
        results = list(self._available_keys())
        last = sorted((one for one, _ in results if one.action in LAST), key=lambda one: LAST.index(one.action))
        room = self.size.width - sum(one.width for one in last if one.action == LAST[-1])
        kept: set[str] = {LAST[-1]}
        names: set[str] = set()
        expected = [one for one, show in results if show and one not in last]
        others = [one for one, show in results if not show and one not in last]
        for one in (*expected, *last[:-1], *others):
            if one in others and one.name in names:
                continue
            if one.width > room:
                room = 0
                continue
            room -= one.width
            kept.add(one.action)
            names.add(one.name)
        yield from (one for one in (*expected, *others, *last) if one.action in kept)

    def _available_keys(self) -> Iterator[tuple[ShownKey, bool]]:
        """Give each thing that can be done now, once, and whether its key is one of those that are to be shown."""
        place, screen = self.screen, self.screen
        writes = isinstance(screen.focused, Input | TextArea)
        actions = {binding.action: binding for binding in place.key_bindings()} if isinstance(place, BaseScreen) else {}
        entered = next((binding for binding in actions.values() if binding.key == "enter"), None)
        names: set[str] = set()
        for active in screen.active_bindings.values():
            binding = active.binding
            if binding.key == "enter" and entered is not None and isinstance(active.node, LazyTable):
                binding = entered  # a list takes the key, and tells the place
            typed = writes and _types(binding.key)
            own = binding.action in actions or binding.action in LAST
            if not own or not active.enabled or typed or binding.action in names or not binding.description:
                continue
            if isinstance(place, BaseScreen) and not place.is_action_available(binding.action):
                continue
            names.add(binding.action)
            yield self._shown_key(binding), binding.show

    def _shown_key(self, binding: Binding) -> ShownKey:
        place = self.screen
        word = place.key_label(binding) if isinstance(place, BaseScreen) else binding.description
        display = self.app.get_key_display(binding)
        if binding.key == "f1":
            display = "?" if not isinstance(self.screen.focused, Input | TextArea) else "F1"
        return ShownKey(binding.key, display, word, binding.action, binding.tooltip)


def _types(key: str) -> bool:
    """Whether a key writes something in a text field."""
    sign = key_to_character(REPLACED_KEYS.get(key, key))
    return sign is not None and sign.isprintable()
