"""Tabs that only whoever turns them opens."""

from __future__ import annotations

from textual.widgets import TabbedContent, TabPane


class Tabbed(TabbedContent):
    """Textual's, that goes to no tab because something in it had the focus: by then another one may be open."""

    def _on_tab_pane_focused(self, event: TabPane.Focused) -> None:
        event.stop()
        event.prevent_default()
