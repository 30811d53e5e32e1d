"""A container that takes the focus once it is drawn, unless the user has put the focus elsewhere by then."""

from __future__ import annotations

from textual.containers import Container
from textual.widget import Widget


class FocusContainer(Container):
    """A container whose inside can be gone into."""

    def __init__(self, *, name: str = "") -> None:
        super().__init__(id=name or None)
        self._enters = False
        """Whether somebody is to go into it."""
        self._left: Widget | None = None
        """What had the focus when somebody wanted to."""

    def focus_inside(self) -> None:
        """Let the keys go through it."""
        raise NotImplementedError

    def focus_soon(self) -> None:
        """Let the keys go through it as soon as it is drawn."""
        self._enters, self._left = True, self.screen.focused
        self.call_after_refresh(self._enter)

    def cancel_focus(self) -> None:
        """Let the keys go where they go: somebody went elsewhere."""
        self._enters = False

    def _enter(self) -> None:
        enters, self._enters = self._enters, False
        if enters and self._is_waited_in():
            self.focus_inside()

    def _is_waited_in(self) -> bool:
        """Whether the focus is where it was, or here, or nowhere."""
        now = self.screen.focused
        return now is None or now is self._left or self.has_focus_within
