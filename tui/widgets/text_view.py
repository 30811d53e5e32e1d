"""A long text to be read: only the lines in sight are drawn."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from infospace.core.plural import pluralize
from tui.text.output import escape_controls

MAX_SHOWN_CHARACTERS = 100_000
"""Characters that are laid out at once; `more` gives the next ones."""
COPIED = 1_000_000
"""Characters that are copied at most: a terminal takes no more in one piece."""


class TextView(ScrollView, can_focus=True):
    """A text, wrapped at the width of the widget, a piece at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", show=False),
        Binding("down,j", "scroll_down", show=False),
        Binding("home,g", "scroll_home", show=False),
        Binding("end,G", "scroll_end", show=False),
        Binding("plus", "more", "More", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"text-view--note"}

    def __init__(self, *, name: str = "") -> None:
        super().__init__(id=name or None)
        self.text = ""
        """All of it."""
        self._at = 0
        """Where the piece begins that is laid out."""
        self._lines: list[str] = []
        self._width = 0

    def read(self, text: str) -> None:
        """Show a text from its beginning."""
        if text == self.text:
            return
        self.text = text
        self._at = 0
        self._lay_out()
        self.scroll_to(y=0, animate=False, force=True)

    def action_more(self) -> None:
        """Show the next piece of a very long text, or the first again."""
        self._at = self._at + MAX_SHOWN_CHARACTERS if self._at + MAX_SHOWN_CHARACTERS < len(self.text) else 0
        self._lay_out()
        self.scroll_to(y=0, animate=False, force=True)

    def copied(self) -> tuple[str, bool]:
        """Return what is to be copied, and whether that is all."""
        return self.text[:COPIED], len(self.text) <= COPIED

    def on_resize(self, event: Resize) -> None:
        del event
        if self.scrollable_content_region.width != self._width:
            self._lay_out()

    def _lay_out(self) -> None:
        self._width = max(1, self.scrollable_content_region.width)
        piece = self.text[self._at : self._at + MAX_SHOWN_CHARACTERS]
        self._lines = []
        if self._at:
            self._lines.append(f"… from character {self._at + 1:,} of {len(self.text):,}; + shows the next ones")
        for logical in piece.split("\n"):
            self._lines += wrapped(escape_controls(logical.expandtabs(4)), self._width)
        if self._at + MAX_SHOWN_CHARACTERS < len(self.text):
            left = len(self.text) - self._at - MAX_SHOWN_CHARACTERS
            self._lines.append(f"… {left:,} more of {pluralize(len(self.text), 'character')}; + shows the next ones")
        self.virtual_size = Size(self._width, len(self._lines))
        self._refresh_scrollbars()  # see LazyTable
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a line in sight."""
        index = y + round(self.scroll_offset.y)
        style = self.rich_style
        if index >= len(self._lines):
            return Strip.blank(self._width, style)
        text = self._lines[index]
        if text.startswith("… ") and text.endswith("; + shows the next ones"):
            style += self.get_component_rich_style("text-view--note")
        return Strip([Segment(text, style)]).adjust_cell_length(self.scrollable_content_region.width, style)


def wrapped(logical: str, width: int) -> list[str]:
    """Return a line in pieces no wider than that, broken between words where there are any."""
    if len(logical) <= width and (logical.isascii() or cell_len(logical) <= width):
        return [logical]
    if not logical.isascii():
        return chop_cells(logical, width) or [""]
    results = []
    start, end = 0, len(logical)
    while end - start > width:
        space = logical.rfind(" ", start + width // 2, start + width + 1)
        stop = space if space > start else start + width
        results.append(logical[start:stop])
        start = stop + (space > start)
    results.append(logical[start:])
    return results
