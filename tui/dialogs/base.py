"""What stands in front of a place until it is answered or closed."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType


class Dialog(ModalScreen[ScreenResultType]):
    """Textual's, that closes itself and nothing else: once, with all that was opened in front of it meanwhile."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close it with a result; where it is closed already, do nothing."""
        app = self.app
        if self not in app.screen_stack:
            return AwaitComplete()
        while app.screen is not self:
            app.pop_screen()
        return super().dismiss(result)
