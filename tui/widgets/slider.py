"""A slider: a number from 0 to a most, by keys, clicks and the wheel."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

FAR = 10
"""Steps that are taken at once with shift."""


class Slider(Widget, can_focus=True):
    """A number on a line; `Moved` tells of each change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "by(-1)", show=False),
        Binding("right,l", "by(1)", show=False),
        Binding("shift+left,pageup", f"by(-{FAR})", show=False),
        Binding("shift+right,pagedown", f"by({FAR})", show=False),
        Binding("home,g", "to_first", show=False),
        Binding("end,G", "to_last", show=False),
    ]

    value: reactive[int] = reactive(0)
    most: reactive[int] = reactive(0)

    class Moved(Message):
        """The slider is somewhere else."""

        def __init__(self, slider: Slider, value: int) -> None:
            super().__init__()
            self.slider = slider
            self.value = value

        @property
        def control(self) -> Slider:
            return self.slider

    def validate_value(self, value: int) -> int:
        """Keep it in its bounds."""
        return max(0, min(value, self.most))

    def watch_value(self, value: int) -> None:
        self.post_message(self.Moved(self, value))

    def render(self) -> Text:
        """Draw the line, and where it is."""
        width = max(3, self.size.width)
        at = 0 if not self.most else round(self.value / self.most * (width - 1))
        return Text.assemble(("━" * at, "bold"), "●", ("─" * (width - at - 1), "dim"), no_wrap=True)

    def action_by(self, by: int) -> None:
        self.value += by

    def action_to_first(self) -> None:
        """Move to the beginning."""
        self.value = 0

    def action_to_last(self) -> None:
        """Move to the end."""
        self.value = self.most

    def on_click(self, event: Click) -> None:
        """Move to where it was clicked."""
        width = max(2, self.size.width)
        self.value = round(event.x / (width - 1) * self.most)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.value += 1

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.value -= 1
