"""What may stand at the cursor of an editor, shown as one types and taken by a key or a click."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from planner.check.space_facts import SnapshotFacts
from planner.editor import Completion, complete
from tui.runtime.workers import begin
from tui.widgets.editor.completion_popup import CompletionPopup
from tui.widgets.editor.editor import Editor

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot
    from tui.app import InfospaceApp

ASKING = '"$.'
"""Signs after which what may stand here is shown at once; of words, once they are begun."""


class Suggester:
    """Completes at the cursor of the editor of a screen, in which an `CompletionPopup` stands too.

    The screen hands on what it hears of the two.

    A tab or an enter typed right behind a sign is for the offer, though that is not found yet. So the editor is
    `expecting` from the sign on, hands such a key here, and the keys behind it are held. Whatever way the search ends,
    `_expect_nothing` lets them go: unless more was typed meanwhile, for then a later search does.
    """

    def __init__(self, screen: Screen[Any], infospace: InfospaceApp) -> None:
        self._screen = screen
        self._infospace = infospace
        self._asking = False
        self._wanted: tuple[str, int] | None = None
        """The text and the place for which offers are wanted."""
        self._number = 0
        """The number of the sign that was typed last before that."""
        self._found: Completion | None = None
        self._asked = False
        """Whether somebody asked for them."""
        self._behind = False
        """Whether what comes next behind a value is offered too: to whoever asked, as long as it is shown."""
        self._known: tuple[str, int] | None = None
        """The text and the place that those are for which are shown."""
        self._taking = ""
        """The key, `tab` or `enter`, that takes the first of them once they are known; "" where neither was pressed."""
        self._editor.held_for_offers = lambda: infospace.keying.hold(self._editor)

    @property
    def _editor(self) -> Editor:
        return self._screen.query_one(Editor)

    @property
    def _popup(self) -> CompletionPopup:
        return self._screen.query_one(CompletionPopup)

    @property
    def _here(self) -> tuple[str, int]:
        return self._editor.text, self._editor.offset_of_cursor

    def typed(self, event: Editor.Typed) -> None:
        """Look what may stand here, when a word is begun or goes on."""
        sign = event.sign
        if sign in ASKING or sign.isalnum() or sign in "_-/:@" or self._found is not None:
            self._screen.call_after_refresh(self.ask)
        else:
            self._expect_nothing(event.number)

    def _expect_nothing(self, number: int) -> None:
        """Let the keys go that were for what is offered, unless more was typed after the sign of that number."""
        if number == self._editor.typed:
            self._editor.expecting, self._taking = False, ""
            self._infospace.keying.release(self._editor)

    def ask(self, *, is_asked: bool = False) -> None:
        """Find out what may stand at the cursor; `is_asked` is for somebody who wants to see it before they begin."""
        self._wanted = self._here
        self._behind = is_asked or (self._behind and self._found is not None)
        self._asked = is_asked
        self._number, self._editor.expecting = self._editor.typed, True
        if not self._asking:
            self._asking = True
            begin(self._screen, self._infospace, self._completing, group="complete", exclusive=False)

    async def _completing(self) -> None:
        """Find what may stand at the cursor; where it has gone on meanwhile, there."""
        # One search goes on at a time and always ends at the place that is wanted last. The key that takes an offer is
        # read before `_expect_nothing` clears it.
        try:
            done, completion = None, None
            while self._wanted is not None and self._wanted != done:
                done = self._wanted
                completion = await asyncio.to_thread(
                    self._infospace.read_snapshot, partial(self._complete, *done, behind=self._behind)
                )
        finally:
            taken_by = self._taking
            self._asking = False
            self._expect_nothing(self._number)
        if done == self._here and self._wanted is not None:
            self._known = done
            self._offer(completion, taken_by)
        elif self._wanted is None or not self._more_typed:
            self.leave()

    @property
    def _more_typed(self) -> bool:
        """Whether a sign was typed for which is asked next: what is offered, and that it was asked for, holds on."""
        return self._editor.typed != self._number

    def _complete(self, text: str, offset: int, snapshot: Snapshot, *, behind: bool) -> Completion | None:
        return complete(text, offset, self._infospace.space.catalogue, SnapshotFacts(snapshot), behind=behind)

    def _offer(self, completion: Completion | None, taken_by: str) -> None:
        """Show what may stand here, or take it; not where only what stands here may, or nothing is begun."""
        if completion is None or self._is_there(completion) or not (self._asked or self._begun(completion)):
            if self._asked and completion is None:
                self._screen.notify("No completion is known here.")
            self.leave()
            self._pass_on(taken_by)
            return
        self._found, self._editor.offering = completion, True
        self._popup.show(completion.offers, self._editor.cursor_screen_offset, self._screen.size)
        if taken_by:
            self.accept(taken_by)

    def _pass_on(self, key: str) -> None:
        """Do what a key does where nothing is offered that it could take."""
        if key == "enter":
            self._editor.break_line()

    def _is_there(self, completion: Completion) -> bool:
        """Whether the only offer stands here already, and the cursor behind it: taking it would do nothing.

        A word without quotes gets them, and the cursor goes out of those that are there.
        """
        [first, *others] = completion.offers
        text, at = self._here
        return not others and at >= completion.end and first.insert == text[completion.start : completion.end]

    def _begun(self, completion: Completion) -> bool:
        """Whether a word, or a quote, was begun of what may stand here; a number is whole at each of its digits."""
        word = self._editor.text[completion.start : completion.end]
        return bool(completion.written or word.startswith('"')) and not word[:1].isdigit()

    def leave(self) -> None:
        self._found, self._editor.offering = None, False
        self._popup.hide()

    def moved(self) -> None:
        """Leave the offers where the cursor goes away from them."""
        completion = self._found
        outside = completion is not None and not completion.start <= self._editor.offset_of_cursor <= completion.end + 1
        if outside and self._wanted != self._here and not self._asking and not self._more_typed:
            self.leave()

    def steered(self, event: Editor.Steered) -> None:
        """Go through the offers, take one, or leave them."""
        takes = event.key in ("tab", "enter")
        if takes and self._found is None and self._editor.expecting:
            self._taking = event.key
        elif event.key == "escape" or self._popup.chosen is None:
            self._wanted = None  # what is being looked for is not to open the list again
            self.leave()
            self._pass_on(event.key)
        elif takes:
            self.accept(event.key)
        else:
            self._popup.steer(event.key)
        if not self._taking:
            self._infospace.keying.release(self._editor)

    def accept(self, key: str = "tab") -> None:
        """Put the offer that is chosen into the text; where those are for what stood there before, one of now."""
        if self._known != self._here:  # the stretch that would be replaced holds other text by now
            self._taking = key
            self.ask()
            return
        offer, completion = self._popup.chosen, self._found
        self.leave()
        if offer is None or completion is None:
            return
        self._editor.put(
            completion.start, completion.end, offer.insert, completion.start + len(offer.insert) - offer.back
        )
        if offer.again:
            self._editor.expecting = True
            self._screen.call_after_refresh(self.ask)
