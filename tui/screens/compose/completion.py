"""Completion in the place where plans are written."""

from __future__ import annotations

from textual.app import ComposeResult

from tui.screens.compose.draft import Drafting
from tui.screens.compose.suggester import Suggester
from tui.widgets.editor.completion_popup import Offers
from tui.widgets.editor.editor import Editor


class Suggesting(Drafting):
    """Completes at the cursor."""

    def content(self) -> ComposeResult:
        """The offers stand in front of the text."""
        yield from super().content()
        yield Offers()

    def on_mount(self) -> None:
        """What is typed behind a key for the offers waits for them."""
        self.suggester = Suggester(self, self.infospace)

    def action_complete(self) -> None:
        """Show what may stand at the cursor."""
        self.suggester.ask(asked=True)

    def on_editor_typed(self, event: Editor.Typed) -> None:
        """Look what may stand here."""
        self.suggester.typed(event)

    def on_editor_steered(self, event: Editor.Steered) -> None:
        """Hand a key on to the offers."""
        self.suggester.steered(event)

    def on_text_area_selection_changed(self) -> None:
        """Leave the offers where the cursor goes away from them."""
        self.suggester.moved()

    def on_offers_taken(self) -> None:
        """Take the one that was clicked."""
        self.suggester.accept()
        self.editor.focus()
