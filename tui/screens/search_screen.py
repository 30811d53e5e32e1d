"""A field and a list: searched as one types, and again when others have changed what is listed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from textual.timer import Timer
from textual.widgets import Input, Static

from infospace.core.listener import Listener, Speech
from tui.base_screen import BaseScreen
from tui.text.format import single_line
from tui.widgets.cycle_button import CycleButton
from tui.widgets.lazy_table import LazyTable

QueryT = TypeVar("QueryT")
ResultsT = TypeVar("ResultsT")

TYPING = 0.12
"""Seconds without a key after which it is searched."""
SLOW = 0.3
"""Seconds after which it is said that it is searched."""
RESTING = 0.1
"""Seconds that the cursor stays on a row before that is read."""
POLL_SECONDS = 1.0
"""Seconds between two looks at what has changed, at least."""


class Progress:
    """Says how far work is, which is told in another thread; a listener. `form` has `{done}`, `{total}`, `{what}`."""

    def __init__(self, message: Callable[[str], None], form: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._says = message
        self._form = form

    def message(self, kind: Speech, text: str) -> None:
        """Such work says nothing."""

    def progress(self, done: int, total: int, what: str) -> None:
        text = self._form.format(done=f"{done:,}", total=f"{total:,}", what=what)
        self._loop.call_soon_threadsafe(self._says, text)


class SearchScreen(BaseScreen, Generic[QueryT, ResultsT]):
    """A place with a field in `#ask`, a list `#list`, and beside it what is chosen of that."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted: QueryT | None = None
        """What is to be listed next."""
        self._finding = False
        self._awaited = False
        """Whether a search is waited for."""
        self._typing: Timer | None = None
        self._resting: Timer | None = None
        self._followed = False
        """Whether something is shown that was followed to: other rows in the list do not take its place."""
        self._listed: QueryT | None = None
        """What was asked for when what is listed was found."""
        self._stamp: object = None
        """What was known of the space before that was read which is listed, or is being read."""

    # What a place says of itself

    @property
    def current_query(self) -> QueryT:
        """What is asked for as it stands."""
        raise NotImplementedError

    def find(self, sought: QueryT, listener: Listener) -> ResultsT:
        """Return what is to be listed. For a thread."""
        raise NotImplementedError

    def show_results(self, results: ResultsT) -> None:
        raise NotImplementedError

    async def stamp(self, sought: QueryT) -> object:
        """Return what is different when what was found may not be so any more."""
        raise NotImplementedError

    def is_outdated(self, sought: QueryT) -> bool:
        """Whether what was found is not to be listed, since something else is asked for now."""
        del sought
        return self.wanted is not None

    # Searching

    @property
    def grid(self) -> LazyTable:
        return self.query_one("#list", LazyTable)

    @property
    def field(self) -> Input:
        """Where it is typed what is searched."""
        return self.query_one("#ask Input", Input)

    def search_soon(self) -> None:
        """Search when nothing is typed for a moment."""
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPING, self.search_now)

    def search_now(self) -> None:
        """List what is asked for now: one search at a time, and after it what was asked for last meanwhile."""
        if not self.is_mounted:
            return
        self.wanted = self.current_query
        if not self._finding:
            self._finding = True
            self.do(self._find, group="find", exclusive=False)

    async def _find(self) -> None:
        # One search goes on at a time, and `wanted` is what comes after it: of many keys only the last is searched. A
        # search that raised may leave one there, which is begun in the end, when `_finding` is clear. The stamp is read
        # before the search reads: a change in between is searched once too often, never once too seldom.
        try:
            while self.wanted is not None:
                sought, self.wanted = self.wanted, None
                self._awaited = True
                slow = self.set_timer(SLOW, self._show_slow)
                try:
                    self._stamp = await self.stamp(sought)
                    progress = Progress(self.show_message, "{what} {done} of {total} before searching …")
                    results = await asyncio.to_thread(self.find, sought, progress)
                finally:
                    self._awaited = False
                    slow.stop()
                if not self.is_outdated(sought):
                    self._followed = self._followed and self._listed in (None, sought)
                    self._listed = sought
                    self.show_results(results)
        except Exception:
            self.show_message("")
            raise
        finally:
            self._finding = False
            if self.wanted is not None:
                self.search_now()

    def _show_slow(self) -> None:
        if self._awaited:
            self.show_message("searching …")

    def show_message(self, text: str) -> None:
        """Say something of what is listed; nothing where nobody looks any more."""
        for line in self.query("#found").results(Static):
            line.update(single_line(text))

    # Going about

    def rests(self, event: LazyTable.Highlighted, then: Callable[[], object]) -> None:
        """Do something when the cursor has rested on its row."""
        if self._followed and not event.moved:
            return
        self.follows(to=False)
        self._resting = self.set_timer(RESTING, then)

    def follows(self, *, to: bool = True) -> None:
        """Something is shown that was followed to, or not any more: where the cursor rested does not count now."""
        self._followed = to
        if self._resting is not None:
            self._resting.stop()

    def focus_inside(self) -> None:
        """Go into what is chosen."""
        raise NotImplementedError

    def cancel_focus(self) -> None:
        """Stay out of what is chosen: somebody went elsewhere."""
        raise NotImplementedError

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the list."""
        if event.input is self.field:
            self.grid.focus()

    def action_search(self) -> None:
        """Go to the field."""
        self.cancel_focus()
        self.field.focus()

    def action_to_list(self) -> None:
        """Go from the field to the list."""
        if self.field.has_focus:
            self.grid.focus()

    def action_mode(self) -> None:
        """Search in another way."""
        self.query_one("#mode", CycleButton).turn()

    def action_what(self) -> None:
        self.query_one("#what", CycleButton).turn()

    def action_into(self) -> None:
        """Go into what is chosen."""
        self.focus_inside()

    def action_whole(self) -> None:
        """Show what is chosen alone, or beside the list again."""
        self.toggle_class("-whole")
        if self.has_class("-whole"):
            self.focus_inside()
        else:
            self.grid.focus()

    def action_leave(self) -> None:
        """Go to the list; from there, list everything."""
        self.cancel_focus()
        grid = self.grid
        if grid.has_focus and not self.has_class("-whole"):
            self.field.value = ""
        self.remove_class("-whole")
        grid.focus()
