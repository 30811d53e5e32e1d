"""The keys of a place, at the bottom of the screen: those that can do something now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.text import Text
from textual.binding import Binding
from textual.events import MouseDown, MouseMove
from textual.keys import REPLACED_KEYS, key_to_character
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

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


class KeyFooter(Widget, can_focus=False):
    """One line of keys and words; a click is the key, and a tooltip says more of it.

    It is one widget without others in it: keys change with each focus that moves, and to mount them anew is to lay out
    the whole screen. What a place does not offer is left out, and in a text field every key that would be typed. Where
    there is room, keys stand there that otherwise only the help names.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-footer--key", "key-footer--word", "key-footer--hover"}
    DEFAULT_CSS = """
    KeyFooter {
        dock: bottom;
        height: 1;
        text-wrap: nowrap;
        color: $footer-foreground;
        background: $footer-background;
        .key-footer--key {
            color: $footer-key-foreground;
            background: $footer-key-background;
            text-style: bold;
        }
        .key-footer--word {
            color: $footer-description-foreground;
            background: $footer-description-background;
        }
        .key-footer--hover {
            background: $block-hover-background;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._due = False
        self.keys: list[ShownKey] = []
        self._hovered: ShownKey | None = None

    def on_mount(self) -> None:
        """Look at the keys whenever they may be others."""
        self.screen.bindings_updated_signal.subscribe(self, self.bindings_changed)

    def render(self) -> Text:
        """Draw the keys, each with its word."""
        key_style = self.get_component_rich_style("key-footer--key")
        word_style = self.get_component_rich_style("key-footer--word")
        line = Text(no_wrap=True, end="")
        for one in self.keys:
            part = Text.assemble((f" {one.display} ", key_style), (f"{one.word} ", word_style))
            if one == self._hovered:
                part.stylize(self.get_component_rich_style("key-footer--hover", partial=True))
            line.append_text(part)
        return line

    def key_at(self, x: int) -> ShownKey | None:
        """Return the key that stands at a column."""
        for one in self.keys:
            if x < one.width:
                return one
            x -= one.width
        return None

    def on_mouse_down(self, event: MouseDown) -> None:
        """Do what the key does."""
        if (one := self.key_at(event.x)) is not None:
            self.app.simulate_key(one.key)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Mark the key below the pointer, and let the tooltip be its own."""
        self._hover(self.key_at(event.x))

    def on_leave(self) -> None:
        """Mark no key once the pointer is elsewhere."""
        self._hover(None)

    def _hover(self, one: ShownKey | None) -> None:
        if one != self._hovered:
            self._hovered = one
            self.tooltip = None if one is None else one.tooltip or None
            self.refresh()

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
            self.call_after_refresh(self._show_keys)

    def _show_keys(self) -> None:
        self._due = False
        keys = list(self._fitting())
        if keys != self.keys:
            self.keys = keys
            self._hover(self._hovered if self._hovered in keys else None)
            self.refresh()
            if not self.screen.is_current:
                self.app.screen.refresh()  # it stands behind a dialog, which draws it

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
