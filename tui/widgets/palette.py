"""The command palette: Textual's, with a list that keys may reach before it is laid out."""

from __future__ import annotations

from textual.command import CommandList, CommandPalette


class Palette(CommandPalette):
    """What can be done, by name."""

    def _action_command_list(self, action: str) -> None:
        """Pass a key on to the list. One that is not laid out yet has no pages, and Textual would fail."""
        if self.query_one(CommandList)._lines:  # noqa: SLF001 - nothing public says so
            super()._action_command_list(action)
