"""What the screen is drawn with where a browser looks at it: it ends, with its runs at rest, when the browser goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.drivers.web_driver import WebDriver

if TYPE_CHECKING:
    from tui.app import InfospaceApp


class BrowserDriver(WebDriver):
    """Speaks with the server of the page over standard input and output."""

    def run_input_thread(self) -> None:
        """Take what comes until it ends; a server that is gone ends the screen."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._suspend_app()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Take a message of the server: the browser went away, among others."""
        if packet_type == "quit":
            self._suspend_app()
        else:
            super().on_meta(packet_type, payload)

    def _suspend_app(self) -> None:
        app = cast("InfospaceApp", self._app)
        app.call_later(app.suspend_and_exit)
