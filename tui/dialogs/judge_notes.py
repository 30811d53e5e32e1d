"""Notes that were drawn by chance, to be judged one by one: whether each is what the query looks for."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Static

from infospace.core.errors import NotFound
from infospace.search.query import DEFAULT_JUDGEMENTS
from tui.dialogs.base import Dialog
from tui.runtime.workers import begin
from tui.text.format import single_line
from tui.text.output import escape_controls

if TYPE_CHECKING:
    from infospace.search.certainty.judging import DrawnNote, RecallSample
    from infospace.store.protocol import Snapshot
    from tui.app import InfospaceApp

Judgements: TypeAlias = "MutableMapping[tuple[str, int], bool]"
"""What was said of versions of notes, for one query."""

MAX_SHOWN = 20_000
"""Characters of a note that are shown."""


class JudgeNotesDialog(Dialog[None]):
    """Has the next `DEFAULT_JUDGEMENTS` notes of a sample judged; what was said stays in it, and in `judgements`.

    Notes go by in the order in which they were drawn, and only where that is kept is the estimate right. So what is
    known of a version already is told when its turn comes, not before. Nothing shows the score of a note, or whether it
    was found: that would say what to answer.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "end"),
        Binding("y", "judge(True)", "right"),
        Binding("n", "judge(False)", "not right"),
        Binding("b,backspace", "back", "back"),
        Binding("z", "whole", "whole"),
    ]

    def __init__(self, query: str, sample: RecallSample, judgements: Judgements) -> None:
        super().__init__()
        self._query = query
        self._sample = sample
        self._judgements = judgements
        self._order = sample.waiting
        self._at = 0
        """The place in the order of the note that is shown."""
        self._end: int | None = None
        """The place at which this is over, once it is known where it begins."""
        self._drawn: DrawnNote | None = None
        """What is shown; None while the next note is read, so that no key judges what nobody has seen."""
        self._shows_whole = False

    @property
    def infospace(self) -> InfospaceApp:
        return cast("InfospaceApp", self.app)

    def compose(self) -> ComposeResult:
        """The question, the note, what was said of it before, and the answers."""
        with Vertical(classes="dialog -tall -judging") as dialog:
            dialog.border_title = "How much is missed?"
            dialog.border_subtitle = "z: the whole note; escape keeps what was judged, and ends"
            asked = f"Is it right for “{single_line(self._query)}”? Right is what answers that, or helps to."
            yield Static(asked, id="asked", markup=False)
            yield Static("", id="title", markup=False)
            with VerticalScroll(id="text"):
                yield Static("", id="passage", markup=False)
            yield Static("", id="before", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Right (y)", id="right", variant="primary", compact=True)
                yield Button("Not right (n)", id="wrong", compact=True)
                yield Button("Back (b)", id="back", compact=True)
                yield Button("End (esc)", id="end", compact=True)

    def on_mount(self) -> None:
        """Begin with the first of which nothing is known; let the keys scroll it."""
        self.query_one(VerticalScroll).focus()
        self._go_on(0)

    def _go_on(self, at: int) -> None:
        begin(self, self.infospace, self._show_next, at, group="judge")

    async def _show_next(self, at: int) -> None:
        at, drawn = await asyncio.to_thread(self.infospace.read_snapshot, lambda snapshot: self._next(snapshot, at))
        if drawn is None:
            self.dismiss()
        else:
            self._show(at, drawn)

    def _next(self, snapshot: Snapshot, at: int) -> tuple[int, DrawnNote | None]:
        """Return the next note of which nothing is known with its place, None at the end. For a thread.

        A note that was deleted since it was drawn is not judged: it is neither right nor missed.
        """
        while at < (len(self._order) if self._end is None else self._end):
            try:
                drawn = self._sample.read(snapshot, self._order[at])
            except NotFound:
                at += 1
                continue
            known = self._judgements.get((drawn.id, drawn.version))
            if known is None:
                return at, drawn
            self._sample.tell(drawn.id, right=known)
            at += 1
        return at, None

    def _show(self, at: int, drawn: DrawnNote) -> None:
        self._at, self._drawn, self._shows_whole = at, drawn, False
        if self._end is None:
            self._end = min(len(self._order), (at // DEFAULT_JUDGEMENTS + 1) * DEFAULT_JUDGEMENTS)
        self.query_one(".dialog").border_title = f"How much is missed? Note {at + 1:,} of {self._end:,}"
        self.query_one("#title", Static).update(single_line(drawn.title or drawn.id))
        known = self._judgements.get((drawn.id, drawn.version))
        before = "" if known is None else f"You said: {'right' if known else 'not right'}."
        self.query_one("#before", Static).update(before)
        self._show_text()

    def _show_text(self) -> None:
        drawn = self._drawn
        if drawn is None:
            return
        text = (drawn.text if self._shows_whole else drawn.passage).strip()
        cut = f"{text[:MAX_SHOWN]}…" if len(text) > MAX_SHOWN else text
        self.query_one("#passage", Static).update(escape_controls(cut) or "(empty)")
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Do what its key does."""
        match event.button.id:
            case "right" | "wrong":
                self.action_judge(event.button.id == "right")
            case "back":
                self.action_back()
            case _:
                self.dismiss()
        self.query_one(VerticalScroll).focus()

    def action_judge(self, right: bool) -> None:
        """Say of the note that is shown whether it is right, and go on."""
        if self._drawn is not None:
            drawn, self._drawn = self._drawn, None
            self._judgements[drawn.id, drawn.version] = right
            self._sample.tell(drawn.id, right=right)
            self._go_on(self._at + 1)

    def action_back(self) -> None:
        """Show the note before again: what is said of it then counts."""
        if self._drawn is None:
            return
        if not self._at:
            self.notify("This is the first note.")
            return
        self._drawn = None
        begin(self, self.infospace, self._show_before, self._at, group="judge")

    async def _show_before(self, at: int) -> None:
        result = await asyncio.to_thread(self.infospace.read_snapshot, lambda snapshot: self._before(snapshot, at))
        if result is None:
            self.notify("There is no earlier note.")
            self._go_on(at)
        else:
            self._show(*result)

    def _before(self, snapshot: Snapshot, at: int) -> tuple[int, DrawnNote] | None:
        """Return the note before that still is there, with its place; None where there is none. For a thread."""
        while at:
            at -= 1
            try:
                return at, self._sample.read(snapshot, self._order[at])
            except NotFound:
                continue
        return None

    def action_whole(self) -> None:
        """Show the whole note, or the passage that is nearest to the query."""
        self._shows_whole = not self._shows_whole
        self._show_text()
