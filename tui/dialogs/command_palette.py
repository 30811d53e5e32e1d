"""The command palette: Textual's, which takes keys before it has found, or laid out, what is looked for."""

from __future__ import annotations

from typing import Any

from textual.command import CommandList, CommandPalette
from textual.widgets import Input
from textual.worker import Worker


class Palette(CommandPalette):
    """What can be done, by name."""

    _gathering: Worker[Any] | None = None
    """Finds what is looked for now."""
    _chosen = False
    """Whether the first of what is found is to be done as soon as it is found."""

    def _gather_commands(self, search_value: str) -> Worker[Any]:
        """Find what is looked for; what was chosen before is given up."""
        self._chosen = False
        self._gathering = super()._gather_commands(search_value)
        return self._gathering

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Choose; what is listed still may be what was looked for before, so wait for what is looked for now."""
        if self._gathering is not None and not self._gathering.is_finished:
            self._chosen = True
            event.stop()
            event.prevent_default()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Do what was chosen, now that it is found."""
        if event.worker is self._gathering and event.worker.is_finished and self._chosen:
            self._chosen = False
            self.call_after_refresh(self._select_or_command)

    def _action_command_list(self, action: str) -> None:
        """Pass a key on to the list. One that is not laid out yet has no pages, and Textual would fail."""
        if action == "select" or self.query_one(CommandList)._lines:  # noqa: SLF001 - nothing public says so
            super()._action_command_list(action)
