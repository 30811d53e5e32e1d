"""A text of several lines to be written in, whose cursor never stands behind its end."""

from __future__ import annotations

from textual.widgets import TextArea


class WritingArea(TextArea):
    """Textual's text, whose cursor is in it whenever it is measured.

    An undo of Textual's measures a text that it made shorter while the cursor still stands where it was: where a
    scrollbar goes by that, the line of the cursor is asked for, and there is none.
    """

    def _refresh_size(self) -> None:
        self.selection = self._validate_selection(self.selection)
        super()._refresh_size()
