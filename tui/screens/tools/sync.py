"""Keeping the servers up to date from the screen: listed, restarted, ended; with progress, and to be broken off."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from infospace.core.plural import pluralize
from infospace.tools.mcp.catalogue.sync import SyncReport, sync
from tui.dialogs.common import LineDialog
from tui.screens.search_screen import Progress
from tui.text.format import single_line
from tui.text.paths import path_of

if TYPE_CHECKING:
    from tui.screens.tools.tools import Tools


class ServerSync:
    """Lists servers for the screen, one listing at a time."""

    def __init__(self, screen: Tools) -> None:
        self._screen = screen
        self.running: asyncio.Future[SyncReport] | None = None
        self.status = ""
        """How far it is, "" where nothing is listed."""

    def start(self, only: Sequence[str] | None = None, *, restart: bool = False, mcp: Path | None = None) -> None:
        """List the servers whose list is not known, or holds no more; with `restart` all of `only`."""
        if self.running is not None:
            self._screen.notify("Servers are being listed; x breaks it off.")
            return
        self._screen.do(partial(self._sync, only, restart=restart, mcp=mcp), group="sync")

    async def _sync(self, only: Sequence[str] | None, *, restart: bool, mcp: Path | None) -> None:
        def message(text: str) -> None:
            self.status = text if self.running is not None else ""
            self._screen.show_work()

        self.status = "looking which servers are to be listed"
        work = sync(
            self._screen.infospace.space,
            mcp=mcp,
            restart=restart,
            only=only,
            listener=Progress(message, "{done} of {total} {what}"),
            embed=True,
        )
        self.running = future = self._screen.infospace.engine.submit(work)
        self._screen.show_work()
        try:
            report = await future
        except asyncio.CancelledError:
            if not future.cancelled():
                raise
            self._screen.notify("Listing was broken off; what was listed before that is kept.")
            return
        finally:
            self.running, self.status = None, ""
            self._screen.show_work()
            self._screen.search_now()
        self._notify_synced(report)

    def _notify_synced(self, report: SyncReport) -> None:
        if not report.files:
            message = "There is no mcp.json: M names one, or put one beside the space."
            self._screen.notify(message, severity="warning", markup=False)
            return
        counts = ((report.added, "added"), (report.changed, "changed"), (report.removed, "removed"))
        texts = [f"{pluralize(len(report.listed), 'server')} listed"] if report.listed else []
        texts += [f"{pluralize(len(names), 'tool')} {label}" for names, label in counts if names]
        if texts or not report.failed:
            self._screen.notify(single_line("; ".join(texts) or "Nothing new."), markup=False)
        for failed in report.failed[:3]:
            hint = f" ({failed.hint})" if failed.hint else ""
            who = f"{failed.server or failed.file}: "
            self._screen.notify(single_line(f"{who}{failed.reason}{hint}"), severity="error", markup=False)
        if len(report.failed) > 3:
            self._screen.notify(f"{len(report.failed) - 3:,} more failed; v shows the servers.", severity="error")

    def stop(self) -> bool:
        """Break listing off; whether there was any."""
        if self.running is None:
            return False
        self.running.cancel()
        return True

    def ask_file(self) -> None:
        """Ask for a file, and list its servers."""

        def on_path(path: str | None) -> None:
            if path and path.strip():
                self.start(mcp=path_of(path.strip()))

        detail = "It is remembered, and read again at each start; its servers are started and listed now."
        self._screen.app.push_screen(LineDialog("Which mcp.json?", detail), on_path)
