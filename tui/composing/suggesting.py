"""What may stand at the cursor, shown as one types and taken by a key or a click."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from planner.completing import Completion, complete
from planner.known import KnownSpace
from tui.composing.drafting import Drafting
from tui.widgets.editor import Editor
from tui.widgets.offers import Offers

if TYPE_CHECKING:
    from infospace.memory.store import Snapshot

ASKING = '"$.'
"""Signs after which what may stand here is shown at once; of words, once they are begun."""


class Suggesting(Drafting):
    """Completes at the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self._asking = False
        self._wanted: tuple[str, int] | None = None
        """The text and the place for which offers are wanted."""
        self._number = 0
        """The number of the sign that was typed last before that."""
        self._found: Completion | None = None
        self._asked = False
        """Whether somebody asked for them."""
        self._known: tuple[str, int] | None = None
        """The text and the place that those are for which are shown."""
        self._taking = False
        """Whether the first of them is to be taken as soon as they are known."""

    def content(self) -> ComposeResult:
        """The offers stand in front of the text."""
        yield from super().content()
        yield Offers()

    def on_mount(self) -> None:
        """What is typed behind a key for the offers waits for them."""
        self.editor.held_for_offers = lambda: self.infospace.keying.hold(self.editor)

    def on_editor_typed(self, event: Editor.Typed) -> None:
        """Look what may stand here, when a word is begun or goes on."""
        sign = event.sign
        if sign in ASKING or sign.isalnum() or sign in "_-/:@" or self._found is not None:
            self.call_after_refresh(self._ask)
        else:
            self._expect_nothing(event.number)

    def _expect_nothing(self, number: int) -> None:
        """Let the keys go that were for what is offered, unless more was typed after the sign of that number."""
        if number == self.editor.typed:
            self.editor.expecting = self._taking = False
            self.infospace.keying.let_go(self.editor)

    def action_complete(self) -> None:
        """Show what may stand at the cursor."""
        self._ask(asked=True)

    def _ask(self, *, asked: bool = False) -> None:
        self._wanted = (self.text, self.editor.offset_of_cursor)
        self._asked = asked
        self._number, self.editor.expecting = self.editor.typed, True
        if not self._asking:
            self._asking = True
            self.do(self._completing, group="complete", exclusive=False)

    async def _completing(self) -> None:
        """Find what may stand at the cursor; where it has gone on meanwhile, there."""
        try:
            done, found = None, None
            while self._wanted is not None and self._wanted != done:
                done = self._wanted
                found = await self.ask(partial(self._complete, *done))
        finally:
            self._asking, taking = False, self._taking
            self._expect_nothing(self._number)
        if done == (self.text, self.editor.offset_of_cursor):
            self._known = done
            self._offer(found, taking=taking)
        else:
            self._leave_offers()

    def _complete(self, text: str, offset: int, snapshot: Snapshot) -> Completion | None:
        return complete(text, offset, self.infospace.space.catalogue, KnownSpace(snapshot))

    def _offer(self, found: Completion | None, *, taking: bool) -> None:
        """Show what may stand here, or take it; not where only what stands here may, or nothing is begun."""
        asked = self._asked
        same = found is not None and [one.label for one in found.offers[:1]] == [found.written] and not found.offers[1:]
        if found is None or same or not (asked or found.written or self._begun(found)):
            if asked and found is None:
                self.notify("Nothing that is known may stand here.")
            self._leave_offers()
            return
        self._found, self.editor.offering = found, True
        self.query_one(Offers).show(found.offers, self.editor.cursor_screen_offset, self.size)
        if taking:
            self._take_offer()

    def _begun(self, found: Completion) -> bool:
        """Whether a quote was opened for what may stand here."""
        return self.text[found.start : found.start + 1] == '"' and found.end > found.start

    def _leave_offers(self) -> None:
        self._found, self.editor.offering = None, False
        self.query_one(Offers).hide()

    def on_text_area_selection_changed(self) -> None:
        """Leave the offers where the cursor goes away from them."""
        found = self._found
        if found is not None and not found.start <= self.editor.offset_of_cursor <= found.end + 1:
            at = (self.text, self.editor.offset_of_cursor)
            if self._wanted != at and not self._asking:
                self._leave_offers()

    def on_editor_steered(self, event: Editor.Steered) -> None:
        """Go through the offers, take one, or leave them."""
        offers = self.query_one(Offers)
        if event.key == "tab" and self._found is None and self.editor.expecting:
            self._taking = True
        elif event.key == "escape" or offers.chosen is None:
            self._leave_offers()
        elif event.key in ("tab", "enter"):
            self._take_offer()
        else:
            offers.steer(event.key)
        if not self._taking:
            self.infospace.keying.let_go(self.editor)

    def on_offers_taken(self) -> None:
        """Take the one that was clicked."""
        self._take_offer()
        self.editor.focus()

    def _take_offer(self) -> None:
        if self._known != (self.text, self.editor.offset_of_cursor):
            self._taking = True
            self._ask()
            return
        offer, found = self.query_one(Offers).chosen, self._found
        self._leave_offers()
        if offer is None or found is None:
            return
        self.editor.put(found.start, found.end, offer.insert, found.start + len(offer.insert) - offer.back)
        if offer.again:
            self.editor.expecting = True
            self.call_after_refresh(self._ask)
