"""All runs of the space, the latest first."""

from __future__ import annotations

from textual.app import ComposeResult

from tui.place import Place
from tui.widgets.grid import Column, Grid


class Runs(Place):
    """All runs, live."""

    FIRST = "Grid"

    def content(self) -> ComposeResult:
        """The list."""
        yield Grid([Column("run", 8), Column("goal")], empty="no runs yet")
