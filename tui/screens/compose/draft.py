"""Writing a draft: it is checked while it is typed, mended by a key, and completed at the cursor."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.events import Click, Paste
from textual.timer import Timer
from textual.widgets import Input, Static, TabbedContent, TabPane, TextArea

from planner.editor.draft import Draft, Mark, check_draft
from planner.editor.text_patch import changed_range, rewritten
from tui.screens.compose.format_plan import laid_out, plan_document
from tui.screens.compose.tables import Flaws, Stops, Values
from tui.screens.run_actions import Deeds
from tui.text.fix_text import format_fix
from tui.text.format import pluralize, single_line
from tui.widgets.action_links import Links
from tui.widgets.editor.editor import Editor, Flaw
from tui.widgets.lazy_table import Grid
from tui.widgets.tabs import Tabbed

SETTLED = 0.2
"""Seconds without typing after which a draft is checked."""
LOOK = 1.0
"""Seconds between two looks whether the space has changed."""
KEPT = 300_000
"""Characters of a draft up to which it is remembered between starts."""


class Drafting(Deeds):
    """The text, what is wrong with it, and what may stand at the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.draft = Draft("")
        """What was last known of the text; `marks` move with what is typed meanwhile."""
        self.stops: list[int] = []
        """Where the steps begin before which runs stop."""
        self.here: int | None = None
        """Where the step begins before which a run rests."""
        self._before = ""
        self._known_for = ""
        """The text in which the places are that are known: of marks, of stops, of where a run rests."""
        self._timer: Timer | None = None
        self._checking = False
        self._checked_with: object = None
        """What told the space from others when the text was checked last."""
        self._check_again = False
        """Whether the text, or the space, may have changed since the check began that goes on."""

    def content(self) -> ComposeResult:
        """The text, and beside it what is known of it."""
        yield Static("", id="head", markup=False)
        with Container(id="work"):
            yield Editor(self.infospace.memory.get("compose.draft", ""))
            with Tabbed(id="side"):
                with TabPane("Problems", id="problems"), Vertical():
                    yield Grid(Flaws.COLUMNS, name="flaws")
                    with VerticalScroll(id="about", can_focus=False):
                        yield Static("", markup=False, classes="fixes")
                    yield Links("problem(1)", "fix", "lay_out")
                with TabPane("Run", id="run"), Vertical():
                    yield Static("It was not run yet.", id="told", markup=False)
                    yield Grid(Values.COLUMNS, empty="nothing is bound yet", name="bound")
                    yield Links("run", "next", "halt", "watch", "fork_here")
                with TabPane("Breaks", id="stopping"), Vertical():
                    yield Grid(
                        Stops.COLUMNS, empty="a click on a line's number sets a breakpoint at its step", name="stops"
                    )
                    yield Links("stop_here", "stop_when", "unstop")

    def on_mount(self) -> None:
        """Check what was written when this was left, and again whenever the space has changed."""
        self.set_interval(LOOK, self._poll_space)
        self.editor.colours = self.infospace.colours
        self._before = self._known_for = self.editor.text
        self._check_soon()

    def shown(self) -> None:
        """Check again: the space may have changed."""
        self.editor.colours = self.infospace.colours
        self._check_soon()

    def arrived(self) -> None:
        """Whoever comes here wants to write, or to paste."""
        self.set_focus(self.editor)

    def on_paste(self, event: Paste) -> None:
        """Paste into the text, where nothing else that is written in has the focus."""
        if not isinstance(self.focused, Input | TextArea):
            self.set_focus(self.editor)
            self.editor.paste(event.text)

    @property
    def editor(self) -> Editor:
        """Where it is written."""
        return self.query_one(Editor)

    @property
    def tabs(self) -> TabbedContent:
        """What is beside it."""
        return self.query_one("#side", TabbedContent)

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self.editor.text

    # Checking

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Move what was known with the text, and check it once nothing is typed."""
        if event.text_area is not self.editor:
            return
        text = self.text
        if text == self._before:
            return
        self._before = text
        self._follow()
        self._draw_marks()
        self._render_status()
        self.infospace.remember("compose.draft", text if len(text) <= KEPT else "")
        self._check_soon()

    def _follow(self) -> None:
        """Move what is known to where it is in the text as it is now: a check may be ahead of the word of a change."""
        if self._known_for != self.text:
            start, end, new = changed_range(self._known_for, self.text)
            self._known_for = self.text
            self._move(start, end, len(new))

    def _move(self, start: int, end: int, length: int) -> None:
        def moved(place: int) -> int:
            if place <= start:
                return place
            return place + length - (end - start) if place >= end else start

        marks = [Mark(mark.problem, moved(mark.start), moved(mark.end)) for mark in self.draft.marks]
        self.draft = replace(self.draft, marks=[mark for mark in marks if mark.start < mark.end])
        if self.stops:
            self.stops = list(dict.fromkeys(moved(stop) for stop in self.stops))
            self._draw_stops()
        self.here = None if self.here is None else moved(self.here)

    def _check_soon(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(SETTLED, lambda: self.do(self._check, group="check", exclusive=False))

    async def _check(self) -> None:
        """Check the text; a check that goes on looks itself at what has changed meanwhile."""
        self._check_again = True
        if self._checking:
            return
        self._checking = True
        try:
            draft = self.draft
            while self._check_again or draft.text != self.text:
                self._check_again = False
                draft = await asyncio.to_thread(self._checked, self.text)
            self.show_draft(draft)
        finally:
            self._checking = False

    def _poll_space(self) -> None:
        if self.is_current and not self._checking:
            self.do(self._follow_space, group="look", exclusive=False)

    async def _follow_space(self) -> None:
        """Check again where something else is in the space, or its tools are others, than when it was checked last."""
        if await asyncio.to_thread(self._stamp) != self._checked_with:
            await self._check()

    def _stamp(self) -> object:
        """Return what tells whether a check of the same text may find something else; for a thread."""
        servers = self.infospace.space.tools.servers
        files = None if servers is None else servers.follow()
        with self.infospace.space.store.reading() as snapshot:
            return files, snapshot.generation, snapshot.tools_generation()

    def _checked(self, text: str) -> Draft:
        """Check a text against the space as it is; for a thread."""
        self._checked_with = self._stamp()
        return check_draft(self.infospace.space, text)

    async def checked(self) -> Draft:
        """Return what is to be said of the text as it is now."""
        draft = await asyncio.to_thread(self._checked, self.text)
        if draft.text == self.text:
            self.show_draft(draft)
        return draft

    async def _of_now(self) -> Draft:
        """Return what is known of the text as it is when this returns: what is typed meanwhile is checked too."""
        draft = self.draft
        while draft.text != self.text:
            draft = await self.checked()
        return draft

    def show_draft(self, draft: Draft) -> None:
        """Show what is known of the text."""
        self._follow()
        self.draft = draft
        if draft.plan is not None:
            begun = {one.start for one in draft.steps}
            self.stops = [stop for stop in self.stops if stop in begun]
        lines = [line + 1 for line in self.editor.lines_of(mark.start for mark in draft.marks)]
        grid = self.query_one("#flaws", Grid)
        grid.show(Flaws(draft.marks, lines, self.infospace.colours), at=grid.key)
        self._draw_marks()
        self._draw_stops()
        self._render_status()
        self._about()

    def _draw_marks(self) -> None:
        flaws = [Flaw(mark.start, mark.end, mark.problem.severity == "error") for mark in self.draft.marks]
        self.editor.mark(flaws, self.stops, self.here)

    def _draw_stops(self) -> None:
        """Show where runs stop."""

    @property
    def title_of_draft(self) -> str:
        """What the draft is called."""
        return "a draft"

    def _render_status(self) -> None:
        """Say on top what is written here, and whether it may run."""
        draft, colours = self.draft, self.infospace.colours
        text = Text.assemble((f"{self.title_of_draft}  ", "bold"))
        errors, all_ = draft.errors, len(draft.marks)
        if draft.text != self.text:
            text.append("…", "dim")
        elif not draft.text.strip():
            text.append("nothing is written yet: ^space begins a plan, ^o opens one", "dim")
        elif errors:
            text.append(f"✗ {pluralize(errors, 'error')}", colours.get("error", ""))
        else:
            kind = "a session in JSON Lines" if draft.lines else f"{pluralize(len(draft.steps), 'step')}"
            text.append("✓ may run ", colours.get("success", "")).append(f" {kind}", "dim")
        if all_ > errors and draft.text == self.text:
            text.append(f"  ! {pluralize(all_ - errors, 'warning')}", colours.get("warning", ""))
        self.query_one("#head", Static).update(text)
        tab = self.tabs.get_tab("problems")
        tab.label = f"Problems {all_}" if all_ else "Problems"
        self.refresh_bindings()

    # Problems

    @property
    def _marked(self) -> Mark | None:
        grid = self.query_one("#flaws", Grid)
        return self.draft.marks[grid.cursor] if grid.cursor < len(self.draft.marks) else None

    def _about(self) -> None:
        """Say what is wrong at the cursor of the list, and how it is mended."""
        mark, text = self._marked, Text("")
        if mark is not None:
            problem = mark.problem
            text = Text.assemble((f"{problem.code}: ", "bold")).append(single_line(problem.message))
            if problem.hint:
                text.append(f"\n→ {single_line(problem.hint)}", "dim")
            if problem.fix is not None:
                words = single_line(format_fix(problem.fix))
                text.append(f"\n⚒ ^f, or a click here: {words}", self.infospace.colours.get("accent", ""))
        elif self.draft.text == self.text:
            message = (
                "Nothing is wrong with it."
                if self.draft.text.strip()
                else "Write or paste a plan, begin one (^space), or open one or an example (^o)."
            )
            text = Text(message, "dim")
        self.query_one("#about Static", Static).update(text)

    def on_grid_highlighted(self, event: Grid.Highlighted) -> None:
        """Say what is wrong."""
        if event.grid.id == "flaws":
            self._about()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Go to the problem."""
        mark = self._marked
        if event.grid.id == "flaws" and mark is not None:
            self._go_to(mark)

    def _go_to(self, mark: Mark) -> None:
        self.editor.go_to(mark.start + (self.text[mark.start : mark.start + 1] == '"'))
        self.editor.focus()

    def action_problem(self, by: int) -> None:
        """Go to the next problem after the cursor, or the one before it."""
        marks = self.draft.marks
        if not marks:
            self.notify("Nothing is wrong with it." if self.draft.text.strip() else "Nothing is written yet.")
            return
        at, grid = self.editor.offset_of_cursor, self.query_one("#flaws", Grid)
        if by > 0:
            index = next((index for index, mark in enumerate(marks) if mark.start > at), 0)
        else:
            before = [index for index, mark in enumerate(marks) if mark.end < at]
            index = before[-1] if before else len(marks) - 1
        self.tabs.active = "problems"
        grid.cursor = index
        self._go_to(marks[index])

    def action_fix(self) -> None:
        """Use the fix of the problem at the cursor, or else of the one that is chosen in the list."""
        self.do(self._fix, group="fix")

    async def _fix(self) -> None:
        chosen = self._marked
        draft = await self._of_now()
        fixable = [mark for mark in draft.marks if mark.problem.fix is not None]
        at = self.editor.offset_of_cursor
        line_here, *lines = self.editor.lines_of([at, *(mark.start for mark in fixable)])
        same = [mark for mark, line in zip(fixable, lines, strict=True) if line == line_here]
        mark = next((mark for mark in fixable if mark.start <= at <= mark.end), None)
        if mark is None and not self.editor.has_focus and chosen is not None and chosen in fixable:
            mark = chosen
        mark = mark or next(iter(same), None) or (chosen if chosen in fixable else None)
        if mark is None or mark.problem.fix is None:
            self.notify("There is no fix for what is wrong here.", severity="warning")
            return
        self.editor.become(rewritten(draft.text, mark.problem.fix))
        self.notify(f"Mended: {mark.problem.message}. ^z undoes it.", markup=False)
        await self.checked()

    def on_click(self, event: Click) -> None:
        """Mend what is told of, where it was clicked."""
        if event.widget is not None and event.widget.has_class("fixes"):
            self.action_fix()

    # The text as a whole

    def action_lay_out(self) -> None:
        """Write the plan as JSON is usually laid out; a session in JSON Lines as a document."""
        self.do(self._lay_out, group="lay-out")

    async def _lay_out(self) -> None:
        await self.checked()
        draft = await self._of_now()
        if draft.document is None:
            message = draft.marks[0].problem.message if draft.marks else "nothing is written yet"
            self.notify(f"It cannot be laid out: {message}", severity="warning", markup=False)
            return
        self.editor.become(laid_out(plan_document(draft)))

    def report_problems(self, draft: Draft) -> None:
        """Say how many things are wrong, and go to the first."""
        self.notify(f"It may not run: {pluralize(draft.errors, 'error')}.", severity="warning", timeout=3)
        first = next((mark for mark in self.draft.marks if mark.problem.severity == "error"), None)
        if first is not None:
            self.tabs.active = "problems"
            self._go_to(first)
