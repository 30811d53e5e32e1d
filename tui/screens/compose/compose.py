"""Write a plan, or paste it, or say what you want; it is checked as you type, and run from here.

`alt+g` goes to the field "what do you want?": enter asks the language model, and the plan arrives in the text as it is
written, checked as it arrives. Change what you like, then `^r` runs it. One run has the goal, the model's attempts with
their tokens, and the steps. Which model that is, INFOSPACE_LLM_MODEL and INFOSPACE_LLM_URL say.

Problems are underlined, and listed beside the text: `^n` goes to the next, `^f` mends the one at the cursor where a
fix is known (`⚒`), `^z` undoes that. What may stand at the cursor is shown as you type: types, arguments, variables
(those that fit first), fields after `$x.`, arguments of tools; `tab` or `enter` takes it, `escape` closes the list,
`^space` asks for it.

`^r` runs it, `^t` only tries it (nothing stays), `^g` runs as far as the step at the cursor, `^l` one step further. A
run rests before a step with a breakpoint (`^b`, or a click on the line's number), and when a condition comes to hold
(`alt+w`: `$hits is empty`). It is suspended then: its variables are in the tab Run, `^r` goes on with it, and so can
Runs later, or `infospace resume`.

`alt+k` forks the run that the plan is of: what comes before the first step that you changed is taken as it was.
`escape` leaves the text, so that the keys of the other places work; `tab` and `shift+tab` go on from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.events import Click, Paste
from textual.timer import Timer
from textual.widgets import Input, Static, TabPane, TextArea

from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from planner.editor.draft import Draft, Mark, check_draft
from planner.editor.text_patch import changed_range, patch_text
from planner.execute.start import check_plan
from tui.screens.compose.breakpoints import DraftBreakpoints
from tui.screens.compose.files import DraftFiles
from tui.screens.compose.fork import DraftFork
from tui.screens.compose.goal import DraftGoal
from tui.screens.compose.run import DraftRun
from tui.screens.compose.tables import BreakpointRows, ProblemRows, ValueRows
from tui.screens.run_actions import RunActions
from tui.text.fix_text import format_fix
from tui.text.format import single_line
from tui.text.format_plan import format_plan, plan_document
from tui.widgets.action_links import ActionLinks
from tui.widgets.editor.completion_popup import CompletionPopup
from tui.widgets.editor.editor import Editor, MarkedRange
from tui.widgets.editor.suggester import Suggester
from tui.widgets.lazy_table import LazyTable
from tui.widgets.tabs import StableTabs

if TYPE_CHECKING:
    from planner.journal.events import Event
    from tui.runtime.runner import ActiveRun

SETTLED = 0.2
"""Seconds without typing after which a draft is checked."""
POLL_SECONDS = 1.0
"""Seconds between two looks whether the space has changed."""
KEPT = 300_000
"""Characters of a draft up to which it is remembered between starts."""


class Compose(RunActions):
    """Where plans are written: the text, what is wrong with it, and what may stand at the cursor.

    Where a draft lies, where its runs stop, its runs and its forks are parts of their own.
    """

    FIRST = "Editor"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "alt+g", "goal", "Ask", show=False, tooltip="to the field: say what you want, and a model writes the plan"
        ),
        Binding("ctrl+r", "run", "Run", tooltip="runs the plan; resumes its suspended run, or answers its question"),
        Binding("ctrl+t", "try", "Try", tooltip="dry run: shows what the plan would write and call"),
        Binding("ctrl+g", "here", "Here", tooltip="runs up to and including the step at the cursor"),
        Binding("ctrl+l", "next", "Step", tooltip="runs one step, and shows the variables"),
        Binding(
            "ctrl+b", "stop_here", "Break", tooltip="sets a breakpoint at the step at the cursor, or takes it away"
        ),
        Binding("ctrl+f", "fix", "Fix", tooltip="fixes the problem at the cursor"),
        Binding("alt+f", "fix_all", "Fix all", show=False, tooltip="applies all fixes, one round after another"),
        Binding("ctrl+n,alt+down", "problem(1)", "Next", show=False, tooltip="goes to the next problem"),
        Binding("alt+up", "problem(-1)", "Problem before", show=False, tooltip="goes to the problem before"),
        Binding("ctrl+o", "open", "Open", tooltip="opens a file, a saved plan, an example or an empty plan"),
        Binding("ctrl+s", "save", "Save", tooltip="saves it to a file, or as a saved plan"),
        Binding("ctrl+space,ctrl+@", "complete", "Complete", show=False, tooltip="shows what may stand at the cursor"),
        Binding(
            "alt+w",
            "stop_when",
            "Break when",
            show=False,
            tooltip="stops the run as soon as a condition holds",
        ),
        Binding("alt+k", "fork_here", "Fork", show=False, tooltip="runs it again from the first changed step on"),
        Binding("alt+x", "halt", "Halt", show=False, tooltip="suspends the run; again: ends it at once"),
        Binding("alt+p", "watch", "In Plan", show=False, tooltip="opens the run in Plan"),
        Binding("alt+l", "lay_out", "Lay out", show=False, tooltip="formats the text; turns JSON Lines into one plan"),
        Binding(
            "delete", "unstop", "Take away", show=False, tooltip="takes away the breakpoint at the cursor of the list"
        ),
    ]

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
        self.files = DraftFiles(self)
        self.breakpoints = DraftBreakpoints(self)
        self.draft_run = DraftRun(self)
        self.goal = DraftGoal(self)
        self._draft_fork = DraftFork(self, self.draft_run)

    def content(self) -> ComposeResult:
        """The text, and beside it what is known of it."""
        yield Static("", id="head", markup=False)
        yield Input(
            placeholder="what do you want? alt+g comes here; enter: a model writes the plan", id="goal", compact=True
        )
        with Container(id="work"):
            yield Editor(self.infospace.memory.get("compose.draft", ""))
            with StableTabs(id="side"):
                with TabPane("Problems", id="problems"), Vertical():
                    yield LazyTable(ProblemRows.COLUMNS, name="flaws")
                    with VerticalScroll(id="about", can_focus=False):
                        yield Static("", markup=False, classes="fixes")
                    yield ActionLinks("problem(1)", "fix", "lay_out")
                with TabPane("Run", id="run"), Vertical():
                    yield Static("It was not run yet.", id="told", markup=False)
                    yield LazyTable(ValueRows.COLUMNS, empty="nothing is bound yet", name="bound")
                    yield ActionLinks("run", "next", "halt", "watch", "fork_here")
                with TabPane("Breaks", id="stopping"), Vertical():
                    yield LazyTable(
                        BreakpointRows.COLUMNS,
                        empty="a click on a line's number sets a breakpoint at its step",
                        name="stops",
                    )
                    yield ActionLinks("stop_here", "stop_when", "unstop")
        yield CompletionPopup()

    def on_mount(self) -> None:
        """Check what was written when this was left, and again whenever the space has changed."""
        self.files.load()
        self.breakpoints.load()
        self.suggester = Suggester(self, self.infospace)
        self.set_interval(POLL_SECONDS, self._poll_space)
        self.editor.colours = self.infospace.colours
        self._before = self._known_for = self.editor.text
        self.check_soon()

    def shown(self) -> None:
        """Check again: the space may have changed."""
        self.editor.colours = self.infospace.colours
        self.check_soon()

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
    def tabs(self) -> StableTabs:
        """What is beside it."""
        return self.query_one("#side", StableTabs)

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self.editor.text

    # Checking

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Move what was known with the text, and check it once nothing is typed."""
        if event.text_area is not self.editor:
            return
        self.files.text_changed()
        text = self.text
        if text == self._before:
            return
        self._before = text
        self._follow()
        self.draw_marks()
        self.render_status()
        self.infospace.remember("compose.draft", text if len(text) <= KEPT else "")
        self.breakpoints.remember()
        self.check_soon()

    def _follow(self) -> None:
        """Move what is known to where it is in the text as it is now: a check may be ahead of the word of a change."""
        # Textual tells of a change by a message, so a check may come back when the text has changed and the message has
        # not arrived yet. Whoever is first moves the places; for the other `_known_for` is the text already.
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
            self.breakpoints.draw()
        self.here = None if self.here is None else moved(self.here)

    def check_soon(self) -> None:
        """Check the text once nothing is typed for a moment."""
        if self._timer is not None:
            self._timer.stop()
        if self.goal.writes:  # it changes all the time: a check begins whenever the one before is over
            self.do(self._check, group="check", exclusive=False)
            return
        self._timer = self.set_timer(SETTLED, lambda: self.do(self._check, group="check", exclusive=False))

    async def _check(self) -> None:
        """Check the text; a check that goes on looks itself at what has changed meanwhile."""
        # One check goes on at a time; who comes meanwhile leaves `_check_again`. From the last look at it to the end of
        # `_checking` nothing is awaited, so nobody can leave it where it is not looked at any more.
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
        # The stamp is older than what the check reads: a change in between is checked once too often, never once too
        # seldom.
        self._checked_with = self._stamp()
        return self.goal.as_arriving(check_draft(self.infospace.space, text))

    async def checked(self) -> Draft:
        """Return what is to be said of the text as it is now."""
        draft = await asyncio.to_thread(self._checked, self.text)
        if draft.text == self.text:  # else its places are those of another text, and the next check shows its own
            self.show_draft(draft)
        return draft

    async def draft_of_now(self) -> Draft:
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
        grid = self.query_one("#flaws", LazyTable)
        grid.show(ProblemRows(draft.marks, lines, self.infospace.colours), at=grid.key)
        self.draw_marks()
        self.breakpoints.draw()
        self.render_status()
        self._show_problem()

    def draw_marks(self) -> None:
        """Show in the text what is wrong, where runs stop, and where one rests."""
        flaws = [MarkedRange(mark.start, mark.end, mark.problem.severity == "error") for mark in self.draft.marks]
        self.editor.mark(flaws, self.stops, self.here)

    @property
    def title_of_draft(self) -> str:
        """What the draft is called."""
        return self.draft_run.title(self.files.title)

    def forget(self) -> None:
        """Let go of what belongs to the text that was here."""
        self.stops, self.here = [], None
        self.breakpoints.remember()
        self.goal.forget()
        self.draft_run.forget()

    def render_status(self) -> None:
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
            kind = "a session in JSON Lines" if draft.lines else pluralize(len(draft.steps), "step")
            text.append("✓ may run ", colours.get("success", "")).append(f" {kind}", "dim")
        if all_ > errors and draft.text == self.text:
            text.append(f"  ! {pluralize(all_ - errors, 'warning')}", colours.get("warning", ""))
        self.query_one("#head", Static).update(text, layout=False)
        self.tabs.relabel("problems", f"Problems {all_}" if all_ else "Problems")
        self.refresh_bindings()

    # Problems

    @property
    def _marked(self) -> Mark | None:
        grid = self.query_one("#flaws", LazyTable)
        return self.draft.marks[grid.cursor] if grid.cursor < len(self.draft.marks) else None

    def _show_problem(self) -> None:
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
            text = Text("Nothing is wrong with it." if self.draft.text.strip() else self._beginnings(), "dim")
        about = self.query_one("#about Static", Static)
        if about.content != text:
            about.update(text)

    def _beginnings(self) -> str:
        """Say how a plan is begun: by a model, an example, a file, or by hand."""
        error = self.goal.why_not()
        asks = "say what you want, and the model writes the plan" if error is None else single_line(error.message)
        return f"alt+g: {asks}.\n^o: opens an example, a file or a saved plan. ^space: begins a plan; or paste one."

    def on_lazy_table_highlighted(self, event: LazyTable.Highlighted) -> None:
        """Say what is wrong."""
        if event.grid.id == "flaws":
            self._show_problem()

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        """Go to the problem or the breakpoint, or open the variables of the run."""
        mark = self._marked
        match event.grid.id:
            case "flaws" if mark is not None:
                self._go_to(mark)
            case "stops":
                self.breakpoints.chosen(event.key)
            case "bound":
                self.draft_run.open_variables()

    def _go_to(self, mark: Mark) -> None:
        self.editor.go_to(mark.start + (self.text[mark.start : mark.start + 1] == '"'))
        self.editor.focus()

    def action_problem(self, by: int) -> None:
        """Go to the next problem after the cursor, or the one before it."""
        marks = self.draft.marks
        if not marks:
            self.notify("Nothing is wrong with it." if self.draft.text.strip() else "Nothing is written yet.")
            return
        at, grid = self.editor.offset_of_cursor, self.query_one("#flaws", LazyTable)
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
        # The problem that was chosen is read before anything is awaited, since a check shows a new list; the text to be
        # mended is that of now, since what was typed meanwhile has to stay.
        chosen = self._marked
        draft = await self.draft_of_now()
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
        self.editor.become(patch_text(draft.text, mark.problem.fix))
        self.notify(f"Mended: {mark.problem.message}. ^z undoes it.", markup=False)
        await self.checked()

    def action_fix_all(self) -> None:
        """Apply all fixes, and those that are offered then, as long as there are any."""
        self.do(self._fix_all, group="fix")

    async def _fix_all(self) -> None:
        from planner.editor.apply_fixes import apply_fixes

        draft = await self.draft_of_now()
        if draft.plan is None or not any(mark.problem.fix is not None for mark in draft.marks):
            self.notify("There is no fix for what is wrong here.", severity="warning")
            return
        space = self.infospace.space
        mended = await asyncio.to_thread(apply_fixes, draft.text, lambda document: check_plan(space, document)[1].found)
        if self.text != draft.text:
            self.notify("The text was changed meanwhile: nothing was fixed.", severity="warning")
            return
        self.editor.become(mended.text)
        count = len(mended.fixed)
        self.notify(f"Mended: {count} problem{'s' * (count != 1)}. ^z undoes it.", markup=False)
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
        draft = await self.draft_of_now()
        if draft.document is None:
            message = draft.marks[0].problem.message if draft.marks else "nothing is written yet"
            self.notify(f"It cannot be laid out: {message}", severity="warning", markup=False)
            return
        self.editor.become(format_plan(plan_document(draft)))

    def report_problems(self, draft: Draft) -> None:
        """Say how many things are wrong, and go to the first."""
        self.notify(f"It may not run: {pluralize(draft.errors, 'error')}.", severity="warning", timeout=3)
        first = next((mark for mark in self.draft.marks if mark.problem.severity == "error"), None)
        if first is not None:
            self.tabs.active = "problems"
            self._go_to(first)

    # Completion

    def action_complete(self) -> None:
        """Show what may stand at the cursor."""
        self.suggester.ask(is_asked=True)

    def on_editor_typed(self, event: Editor.Typed) -> None:
        """Look what may stand here."""
        self.suggester.typed(event)

    def on_editor_steered(self, event: Editor.Steered) -> None:
        """Hand a key on to the offers."""
        self.suggester.steered(event)

    def on_text_area_selection_changed(self) -> None:
        """Leave the offers where the cursor goes away from them."""
        self.suggester.moved()

    def on_completion_popup_selected(self) -> None:
        """Take the one that was clicked."""
        self.suggester.accept()
        self.editor.focus()

    # Files, breakpoints, runs

    def action_goal(self) -> None:
        """Go to where it is said what is wanted."""
        self.query_one("#goal", Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Let the model write a plan."""
        if event.input.id == "goal":
            self.goal.ask(event.value)

    def action_open(self) -> None:
        """Ask what is to be opened."""
        self.files.ask_open()

    def action_save(self) -> None:
        """Ask where it is to be kept."""
        self.files.ask_save()

    def action_stop_here(self) -> None:
        """Stop before the step at the cursor, or no more."""
        self.breakpoints.toggle_here()

    def on_editor_clicked(self, event: Editor.Clicked) -> None:
        """Stop before the step whose line was clicked, or no more."""
        self.breakpoints.toggle_line(event.line)

    def action_stop_when(self) -> None:
        """Ask for a condition at which runs stop."""
        self.breakpoints.ask_condition()

    def action_unstop(self) -> None:
        """Take away the breakpoint at the cursor of the list."""
        self.breakpoints.remove_chosen()

    def action_run(self) -> None:
        """Run it; where a run of it rests, go on with that."""
        self.draft_run.start()

    def action_next(self) -> None:
        self.draft_run.step()

    def action_here(self) -> None:
        """Run as far as the step at the cursor, and that."""
        self.draft_run.run_here()

    def action_halt(self) -> None:
        """Put the run to rest, or at once when it was told before; end one that rests."""
        if not self.goal.stop():
            self.draft_run.halt()

    def action_watch(self) -> None:
        """Open the run in Plan."""
        self.draft_run.watch()

    def action_try(self) -> None:
        """Run it so that nothing stays, and show what it would write and call."""
        self.draft_run.try_out()

    def action_fork_here(self) -> None:
        """Run the changed plan anew from the first step that was changed."""
        self._draft_fork.fork()

    def continue_run(self, run: str) -> None:
        """Go on with a run that was answered: to where it stops next."""
        if not self.draft_run.continue_run(run):
            super().continue_run(run)

    def edit(self, run: str, document: JSON) -> None:
        """Write on the plan of a run, which can be forked then."""
        self.draft_run.edit(run, document)

    def handle_run_events(self, active: ActiveRun, events: Sequence[Event]) -> None:
        """Tell how far the run is."""
        self.goal.handle_run_events(active, events)
        self.draft_run.handle_run_events(active, events)

    def is_action_available(self, action: str) -> bool:
        """Whether something can be done with the text, with what is wrong with it, or with its run."""
        draft = self.draft
        match action:
            case "try" | "save" | "lay_out":
                return bool(draft.text.strip())
            case "here" | "next" | "stop_here" | "stop_when":
                return bool(draft.steps)
            case "fix":
                return any(mark.problem.fix is not None for mark in draft.marks)
            case "fix_all":
                return draft.plan is not None and sum(mark.problem.fix is not None for mark in draft.marks) > 1
            case "problem(1)" | "problem(-1)":
                return bool(draft.marks)
            case "unstop":
                return bool(self.stops or self.breakpoints.when)
            case "halt":
                return self.goal.writes or self.draft_run.goes_on or self.draft_run.rests
            case "watch" | "fork_here":
                return self.draft_run.run_id is not None
        return super().is_action_available(action)

    def key_label(self, binding: Binding) -> str:
        """Return the word that stands beside a key: a run that rests is gone on with, one that asks is answered."""
        if binding.action == "run" and (self.draft_run.rests or self.draft_run.asks):
            return "Go on" if self.draft_run.rests else "Answer"
        return super().key_label(binding)
