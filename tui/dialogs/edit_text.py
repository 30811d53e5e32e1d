"""A note as text, to be changed here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Static, TextArea

from infospace.core.errors import InfospaceError
from tui.dialogs.base import Dialog
from tui.dialogs.common import ConfirmDialog
from tui.widgets.writing_area import WritingArea

Save = Callable[[str], Awaitable[None]]


class EditTextDialog(Dialog[bool]):
    """A text to be changed, and kept by `save`; what that refuses is said, and nothing of the text is lost.

    One begins to write behind `before` characters.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "save", priority=True),
        Binding("escape", "leave", "leave", priority=True),
    ]

    def __init__(self, title: str, text: str, save: Save, *, language: str | None, before: int = 0) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._save = save
        self._begin = (text.count("\n", 0, before), before - text.rfind("\n", 0, before) - 1)
        self._language = language
        self._saving = False

    def compose(self) -> ComposeResult:
        """The text, what was refused, and the two ways out."""
        with Vertical(classes="dialog -tall -revising") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = "ctrl+s saves, escape leaves"
            yield WritingArea(self._text, language=self._language, tab_behavior="indent")
            yield Static("", classes="wrong", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Save", id="save", variant="primary", compact=True)
                yield Button("Leave", id="leave", compact=True)

    def on_mount(self) -> None:
        """Begin with the text."""
        area = self.query_one(TextArea)
        area.move_cursor(self._begin)
        area.focus()

    async def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "save":
            self.action_save()
        else:
            self.action_leave()

    def action_save(self) -> None:
        """Keep the text, and leave when it could be kept."""
        if not self._saving:
            self._saving = True
            self.run_worker(self._save_text(self.query_one(TextArea).text), group="save")

    async def _save_text(self, text: str) -> None:
        try:
            await self._save(text)
        except InfospaceError as error:
            self.query_one(".wrong", Static).update(f"Not saved: {error}")
        else:
            self.dismiss(True)
        finally:
            self._saving = False

    def action_leave(self) -> None:
        """Leave; what was changed is given up only when that is confirmed. What is being saved is left by that."""
        if self._saving:
            return
        if self.query_one(TextArea).text == self._text:
            self.dismiss(False)
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.dismiss(False)

        self.app.push_screen(ConfirmDialog("Leave without saving?", "What you changed is lost.", yes="Leave"), answered)
