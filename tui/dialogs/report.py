"""Something to be read in front of a place: lines with their styles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from tui.dialogs.common import ClosableDialog
from tui.text.output import escape_controls


class ReportDialog(ClosableDialog[None]):
    """Lines to be read, and copied."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "close"),
        Binding("y", "copy", "copy"),
    ]

    def __init__(self, title: str, lines: Iterable[tuple[str, str | None]]) -> None:
        super().__init__()
        self._title = title
        self._text = Text("\n").join(Text(escape_controls(text), style or "") for text, style in lines)

    def compose(self) -> ComposeResult:
        """The lines, which may be more than fit."""
        with VerticalScroll(classes="dialog -tall") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = "y copies; escape, or a click beside it, closes"
            yield Static(self._text)

    def on_mount(self) -> None:
        """Let the keys scroll it."""
        self.query_one(VerticalScroll).focus()

    def action_copy(self) -> None:
        """Copy it as text."""
        self.app.copy_to_clipboard(self._text.plain)
        self.notify("Copied.")
