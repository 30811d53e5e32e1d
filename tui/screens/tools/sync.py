"""Keeping the servers up to date from the screen: listed, restarted, ended; with progress, and to be broken off."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from infospace.tools.mcp.catalogue.sync import Synced, sync
from tui.dialogs.common import Line
from tui.screens.search_screen import Progress
from tui.screens.tools.tool_list import Looking
from tui.text.format import pluralize, single_line
from tui.text.paths import path_of


class Syncing(Looking):
    """A place in which servers are listed."""

    def __init__(self) -> None:
        super().__init__()
        self.syncing: asyncio.Future[Synced] | None = None
        self.sync_said = ""
        """How far it is, "" where nothing is listed."""

    def start_sync(self, only: Sequence[str] | None = None, *, restart: bool = False, mcp: Path | None = None) -> None:
        """List the servers whose list is not known, or holds no more; with `restart` all of `only`."""
        if self.syncing is not None:
            self.notify("Servers are being listed; x breaks it off.")
            return
        self.do(partial(self._sync, only, restart=restart, mcp=mcp), group="sync")

    async def _sync(self, only: Sequence[str] | None, *, restart: bool, mcp: Path | None) -> None:
        def message(text: str) -> None:
            self.sync_said = text if self.syncing is not None else ""
            self.show_work()

        self.sync_said = "looking which servers are to be listed"
        work = sync(
            self.infospace.space,
            mcp=mcp,
            restart=restart,
            only=only,
            listener=Progress(message, "{done} of {total} {what}"),
        )
        self.syncing = future = self.infospace.engine.submit(work)
        self.show_work()
        try:
            done = await future
        except asyncio.CancelledError:
            if not future.cancelled():
                raise
            self.notify("Listing was broken off; what was listed before that is kept.")
            return
        finally:
            self.syncing, self.sync_said = None, ""
            self.show_work()
            self.seek()
        self._notify_synced(done)

    def _notify_synced(self, done: Synced) -> None:
        if not done.files:
            message = "There is no mcp.json: M names one, or put one beside the space."
            self.notify(message, severity="warning", markup=False)
            return
        counts = ((done.added, "added"), (done.changed, "changed"), (done.removed, "removed"))
        said = [f"{pluralize(len(done.listed), 'server')} listed"] if done.listed else []
        said += [f"{pluralize(len(names), 'tool')} {word}" for names, word in counts if names]
        if said or not done.failed:
            self.notify(single_line("; ".join(said) or "Nothing new."), markup=False)
        for failed in done.failed[:3]:
            hint = f" ({failed.hint})" if failed.hint else ""
            who = f"{failed.server or failed.file}: "
            self.notify(single_line(f"{who}{failed.reason}{hint}"), severity="error", markup=False)
        if len(done.failed) > 3:
            self.notify(f"{len(done.failed) - 3:,} more failed; v shows the servers.", severity="error")

    def stop_sync(self) -> bool:
        """Break listing off; whether there was any."""
        if self.syncing is None:
            return False
        self.syncing.cancel()
        return True

    def action_sync(self) -> None:
        """List the servers that are to be listed."""
        self.start_sync()

    def action_mcp(self) -> None:
        """Ask for a file, and list its servers."""

        def given(path: str | None) -> None:
            if path and path.strip():
                self.start_sync(mcp=path_of(path.strip()))

        detail = "It is remembered, and read again at each start; its servers are started and listed now."
        self.app.push_screen(Line("Which mcp.json?", detail), given)
