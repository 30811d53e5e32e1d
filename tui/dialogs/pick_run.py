"""Choosing a run: the list of all of them, in front of a place."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from tui.dialogs.common import ClosableDialog
from tui.runtime.workers import begin
from tui.tables.runs_table import RunList
from tui.widgets.lazy_table import LazyTable

if TYPE_CHECKING:
    from tui.app import InfospaceApp


class PickRunDialog(ClosableDialog[str | None]):
    """Gives the id of a run, None where none is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "cancel"),
        Binding("down", "to_list", show=False),
    ]

    def __init__(self, question: str, at: str | None = None) -> None:
        super().__init__()
        self._question = question
        self._runs = RunList()
        self._at = at

    @property
    def infospace(self) -> InfospaceApp:
        return cast("InfospaceApp", self.app)

    def compose(self) -> ComposeResult:
        """A field that filters, and the runs."""
        with Vertical(classes="dialog -tall -pick") as dialog:
            dialog.border_title = self._question
            dialog.border_subtitle = "enter chooses; escape, or a click beside it, leaves"
            yield Input(placeholder="filter")
            yield LazyTable(RunList.COLUMNS, empty="no run matches")

    def on_mount(self) -> None:
        self._runs.colours = self.infospace.colours
        self.query_one(LazyTable).focus()
        begin(self, self.infospace, self._read, group="pick")

    async def _read(self) -> None:
        heads = await asyncio.to_thread(self.infospace.read_snapshot, lambda snapshot: snapshot.run_heads())
        self._runs.update(heads)
        self.query_one(LazyTable).show(self._runs, at=self._at)
        self.on_lazy_table_drawn()

    def on_lazy_table_drawn(self) -> None:
        """Ask how far the runs are that came into sight."""
        if self._runs.wanted:
            begin(self, self.infospace, self._load_tallies, group="pick-learn", exclusive=False)

    async def _load_tallies(self) -> None:
        expected, self._runs.wanted = sorted(self._runs.wanted), set()
        self._runs.merge(
            await asyncio.to_thread(self.infospace.read_snapshot, lambda snapshot: snapshot.run_stats(expected))
        )
        self.query_one(LazyTable).refresh()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._runs.filter(event.value)
        self.query_one(LazyTable).show(self._runs)

    def on_input_submitted(self) -> None:
        """Choose the run at the cursor."""
        self.query_one(LazyTable).action_choose()

    def action_to_list(self) -> None:
        """Go to the list."""
        self.query_one(LazyTable).focus()

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        self.dismiss(event.key)
