"""How much the search of the place Notes misses: notes are drawn by chance, and somebody judges them here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from infospace.core.plural import pluralize
from tui.dialogs.judge_notes import Judgements, JudgeNotesDialog
from tui.dialogs.report import ReportDialog
from tui.screens.search_screen import Progress
from tui.tables.notes_query import draw_recall_sample
from tui.text.render import format_recall, strata_lines

if TYPE_CHECKING:
    from infospace.search.certainty.judging import RecallSample
    from tui.screens.notes.notes import Notes
    from tui.tables.notes_query import NotesQuery


class RecallJudging:
    """Estimates recall, by the judgements of whoever sits here.

    They are kept by query for as long as the screen is open: the same search goes on where it was left, and with
    another threshold, mode or folder no version of a note is asked about twice.
    """

    def __init__(self, screen: Notes) -> None:
        self._screen = screen
        self._judgements: dict[str, Judgements] = {}
        self._latest: tuple[object, str] | None = None
        """The latest estimate, and of which search of which state of the space it is."""

    def start(self) -> None:
        """Draw notes for what is searched now, have them judged, and tell the estimate."""
        self._screen.ask_for(self._judge, self._screen.current_query, group="action")

    def summary(self, sought: NotesQuery, stamp: object) -> str:
        """Return recall with its interval where this search was judged and the space is as it was, else nothing."""
        return self._latest[1] if self._latest is not None and self._latest[0] == _search_key(sought, stamp) else ""

    async def _judge(self, sought: NotesQuery) -> None:
        screen = self._screen
        key = _search_key(sought, await screen.stamp(sought))
        progress = Progress(screen.show_message, "{what} {done} of {total} before notes are drawn …")
        known = screen.notes.listed.places
        try:
            sample = await asyncio.to_thread(draw_recall_sample, screen.infospace.space, sought, progress, known)
        finally:
            screen.show_listed()
        judgements = self._judgements.setdefault(sought.query, {})
        await screen.app.push_screen_wait(JudgeNotesDialog(sought.query, sample, judgements))
        if sample.judged:
            await self._tell(sample, key)

    async def _tell(self, sample: RecallSample, key: object) -> None:
        results = await asyncio.to_thread(sample.estimate)
        message = format_recall(results)
        self._latest = key, message.partition(", by ")[0] if results.recall is not None else ""
        self._screen.show_listed()
        lines: list[tuple[str, str | None]] = [(message, "bold"), ("", None)]
        lines += [(line, None) for line in strata_lines(results)]
        left = len(sample.waiting)
        more = f"R goes on: {pluralize(left, 'note')} not judged yet." if left else "All notes are judged."
        lines += [("", None), (f"Read the interval, not the number. {more}", "dim")]
        await self._screen.app.push_screen_wait(ReportDialog("How much is missed?", lines))


def _search_key(sought: NotesQuery, stamp: object) -> object:
    """Return what tells one search from another, however many hits of it are listed."""
    return sought.subject, sought.how, sought.threshold, stamp
