"""A list of notes: what is searched as one types, what is sorted, and what others change meanwhile."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from textual.widgets import Input, Static

from infospace.journal.rows import Use
from infospace.search.query import Mode
from tui.runtime.workers import poll_delay
from tui.screens.search_screen import LOOK, Seeking
from tui.tables.notes_query import Ids, NotesList, NotesQuery, What, by_column, listed, present
from tui.tables.notes_table import EMPTY, NoteList
from tui.tables.resource_context import stamp_of
from tui.widgets.cycle_button import Cycle
from tui.widgets.details.resource import Detail
from tui.widgets.lazy_table import Grid
from tui.widgets.slider import Slider

if TYPE_CHECKING:
    from infospace.core.listener import Listener
    from infospace.store.protocol import Snapshot

SHARE = 20
"""How many times as long as a look took is waited until the next one."""
FINE = 100
"""Steps of the slider from 0 to 1."""


class Browsing(Seeking[NotesQuery, tuple[NotesList, list[str] | None]]):
    """A place with a list of notes, a field, two words and a slider."""

    def __init__(self) -> None:
        super().__init__()
        self.notes = NoteList()
        self._threshold: float | None = None
        self._most = NotesQuery().most
        self._next = 0.0
        self._order: tuple[tuple[str, bool], Ids, list[str]] | None = None
        """What was sorted last: by what, which ids, and their order."""

    def on_mount(self) -> None:
        """Begin to look."""
        super().on_mount()
        self.query_one(Slider).most = FINE
        self.set_interval(LOOK, self._poll)

    @property
    def detail(self) -> Detail:
        """What is shown of one of them."""
        return self.query_one(Detail)

    # Searching

    @property
    def current_query(self) -> NotesQuery:
        """What is asked for as the field, the words and the slider stand."""
        mode, what = (self.query_one(f"#{name}", Cycle).word for name in ("mode", "what"))
        query = self.field.value
        return NotesQuery(cast("What", what), query, cast("Mode", mode), self._threshold, self._most)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search when nothing is typed for a moment."""
        self.infospace.remember("notes.query", event.value)
        self._most = NotesQuery().most
        self.seek_soon()

    def on_cycle_turned(self, event: Cycle.Turned) -> None:
        """Search otherwise, or for something else."""
        self.infospace.remember(f"notes.{event.cycle.id}", event.cycle.word)
        self._threshold = self._threshold if event.cycle.id == "mode" else None
        self._most = NotesQuery().most
        self.seek()

    def on_slider_moved(self, event: Slider.Moved) -> None:
        """Search with another threshold."""
        if self.notes.listed.sought.scored and round((self._threshold or 0.0) * FINE) != event.value:
            self._threshold = event.value / FINE
            self._least()
            self.seek()

    def find(self, sought: NotesQuery, listener: Listener) -> tuple[NotesList, list[str] | None]:
        """Return what is to be listed, and its ids in the order that was asked for where that is another one."""
        found = listed(self.infospace.space, sought, listener)
        return found, self._sorted(found)

    async def stamp(self, sought: NotesQuery) -> object:
        """Return what tells whether there is something else to be listed."""
        return await self.ask(lambda snapshot: _stamp(snapshot, sought))

    def is_overtaken(self, sought: NotesQuery) -> bool:
        """Whether something else was typed meanwhile, or is to be listed."""
        wanted = self.wanted
        return wanted is not None and (wanted.query, wanted.what) != (sought.query, sought.what)

    def _sorted(self, found: NotesList) -> list[str] | None:
        """Return the ids in the order that was asked for, where that is another one. For a thread."""
        by, ids, before = self.notes.sorted_by, found.ids, self._order
        if by is None or found.hits or found.sought.what == "stale":
            return None
        if before is not None and before[0] == by and isinstance(ids, Ids) and before[1].same(ids):
            return before[2]
        order = by_column(self.infospace.space, ids, by[0], downwards=by[1])
        self._order = (by, ids, order) if isinstance(ids, Ids) else None
        return order

    def show_results(self, both: tuple[NotesList, list[str] | None]) -> None:
        """List it."""
        found, ids = both
        before = self.notes.listed.sought
        self.notes.update(found)
        if ids is not None:
            self.notes.ids = ids
        afresh = (before.query, before.what, before.how) != (found.sought.query, found.sought.what, found.sought.how)
        if afresh and found.hits:
            self.notes.sorted_by = None
        grid = self.grid
        query = found.sought.query.strip()
        grid.empty = "nothing is found" if query else EMPTY[found.sought.what]
        to_top = afresh and (query or before.what != found.sought.what)
        at = self.notes.key(0) if to_top and len(self.notes) else None
        grid.show(self.notes, self.notes.columns, at=at)
        if at is not None:
            grid.cursor = 0
        self.show_message(found.message if len(found.ids) >= found.matched else f"{found.message} (+ lists more)")
        if found.threshold is not None and self._threshold is None:
            self.query_one(Slider).value = round(found.threshold * FINE)
        self._least()
        if len(self.notes):
            self.results_changed()
        elif afresh:
            self.detail.clear()

    def results_changed(self) -> None:
        """Something else is listed."""

    def _least(self) -> None:
        scored = self.current_query.scored
        self.query_one(Slider).display = self.query_one("#least").display = scored
        value = self.notes.listed.threshold if self._threshold is None else self._threshold
        self.query_one("#least", Static).update(f"≥ {value or 0.0:.2f}")

    # What is listed

    def _poll(self) -> None:
        if self.is_current and time.monotonic() >= self._next:
            self._next = float("inf")
            self.do(self._check_for_changes, group="look")

    async def _check_for_changes(self) -> None:
        begun, sought = time.monotonic(), self.notes.listed.sought
        shown = self.detail.shown
        try:
            stamp, of_shown = await self.ask(
                lambda snapshot: (
                    _stamp(snapshot, sought),
                    None if shown is None else stamp_of(snapshot, shown.id),
                )
            )
            if stamp != self._stamp:
                self.seek()
            self.notes.outdate()
            self.grid.refresh()
            self._load_visible()
            if shown is not None and self.detail.shown == shown:
                await self.refresh_shown(shown, of_shown)
        finally:
            now = time.monotonic()
            self._next = now + poll_delay(now - begun, SHARE)

    async def refresh_shown(self, shown: Use, now: tuple[object, ...] | None) -> None:
        """Show again what is shown, where somebody changed it; `now` is how it stands, None where it is not there."""
        raise NotImplementedError

    def _load_visible(self) -> None:
        if self.notes.wanted:
            self.do(self._read, group="learn", exclusive=False)

    async def _read(self) -> None:
        """Read what came into sight."""
        wanted, self.notes.wanted = sorted(self.notes.wanted), set()
        if wanted and self.notes.merge(wanted, await self.ask(lambda snapshot: present(snapshot, wanted))):
            self.grid.refresh()

    def on_grid_drawn(self, event: Grid.Drawn) -> None:
        """Read what came into sight."""
        if event.grid.id == "list":
            self.grid.refresh()
            self.call_after_refresh(self._load_visible)

    def on_grid_titled(self, event: Grid.Titled) -> None:
        """Sort by the column."""
        if event.grid.id == "list":
            self._sort(self.notes.columns[event.column].title.rstrip(" ▲▼"))

    def _sort(self, title: str) -> None:
        if self.notes.listed.hits or self.notes.listed.sought.what == "stale":
            self.notify("What was found is in the order of the search.")
            return
        by = self.notes.sorted_by
        self.notes.sorted_by = (title, by == (title, False))
        self.seek()


def _stamp(snapshot: Snapshot, sought: NotesQuery) -> object:
    return snapshot.generation, snapshot.count(sought.kind, kept=sought.kept)
