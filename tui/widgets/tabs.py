"""Tabs that only whoever turns them opens."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import TabbedContent, TabPane, Tabs


class StableTabs(TabbedContent):
    """Textual's, that goes to no tab because something in it had the focus: by then another one may be open."""

    def open(self, name: str) -> bool:
        """Open a tab; return whether the focus was in one. What is hidden would hand it on to anything."""
        inside = self.has_focus_within
        if inside:
            self.screen.set_focus(self.query_one(Tabs))
        self.active = name
        return inside

    def relabel(self, name: str, label: str) -> None:
        """Write on a tab. Where it says that already, nothing is laid out anew."""
        tab = self.get_tab(name)
        if tab.label_text != label:
            tab.label = Text(label)

    def _on_tab_pane_focused(self, event: TabPane.Focused) -> None:
        event.stop()
        event.prevent_default()
