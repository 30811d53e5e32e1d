"""Where a fork is described: the step from which the plan runs again, and the plan as it is to be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Button, Label, Select, Static, TextArea

from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from planner.editor.draft import Draft, Mark, check_draft
from planner.editor.text_patch import patch_text
from planner.language.problems import Patch, replace
from tui.dialogs.base import Dialog
from tui.dialogs.common import ConfirmDialog
from tui.runtime.workers import begin
from tui.text.fix_text import format_fix
from tui.text.format import single_line
from tui.text.format_plan import format_plan
from tui.widgets.editor.completion_popup import CompletionPopup
from tui.widgets.editor.editor import Editor, MarkedRange
from tui.widgets.editor.suggester import Suggester

if TYPE_CHECKING:
    from tui.app import InfospaceApp


SETTLED = 0.2
"""Seconds without typing after which the plan is checked."""


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """From which step on, and what is changed."""

    step: str
    patch: Patch


class ForkDialog(Dialog[ForkRequest | None]):
    """Asks for a step of a plan, and lets the plan be changed from there on: checked and completed as in Compose."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", priority=True),
        Binding("ctrl+s", "fork", "fork", priority=True),
        Binding("ctrl+space,ctrl+@", "complete", "complete", priority=True),
        Binding("ctrl+n", "problem", "next problem", priority=True),
        Binding("ctrl+f", "fix", "fix", priority=True),
    ]

    def __init__(self, run: str, document: JSON, labels: Sequence[tuple[str, str]], step: str | None) -> None:
        super().__init__()
        self._run = run
        self._document = document
        self._labels = [(f"{label}  {type_}", label) for label, type_ in labels]
        self._step = step if step in {label for label, _ in labels} else labels[0][0]
        self._written = format_plan(document)
        self._draft = Draft("")
        self._timer: Timer | None = None

    @property
    def infospace(self) -> InfospaceApp:
        return cast("InfospaceApp", self.app)

    @property
    def editor(self) -> Editor:
        """Where the plan is written."""
        return self.query_one(Editor)

    def compose(self) -> ComposeResult:
        """The step, the plan, and what is wrong with it."""
        with Vertical(classes="dialog -tall") as dialog:
            dialog.border_title = f"Fork {self._run}"
            dialog.border_subtitle = "^s forks, ^n next problem, ^f fixes it, escape leaves"
            with Horizontal(classes="field"):
                yield Label("run again from step")
                yield Select(self._labels, value=self._step, allow_blank=False, compact=True)
            yield Static("Steps before it are taken as they were. Change the plan from it on:", classes="detail -close")
            yield Editor(self._written)
            yield Static("", classes="told", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Fork (^s)", id="fork", variant="primary", compact=True)
                yield Button("Cancel", id="cancel", compact=True)
        yield CompletionPopup()

    def on_mount(self) -> None:
        """Begin with the text."""
        self.editor.colours = self.infospace.colours
        self._suggester = Suggester(self, self.infospace)
        self.editor.focus()
        begin(self, self.infospace, self._check, group="check")

    # Checking

    def _check_soon(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(SETTLED, lambda: begin(self, self.infospace, self._check, group="check"))

    async def _check(self) -> None:
        """Check the text; what was typed meanwhile ends this, and begins it anew."""
        first = not self._draft.text
        self._draft = await asyncio.to_thread(check_draft, self.infospace.space, self.editor.text, self._run)
        marks = self._draft.marks
        self.editor.mark(
            [MarkedRange(mark.start, mark.end, mark.problem.severity == "error") for mark in marks], (), None
        )
        if first:
            self._go_to_step(self._step)
        self._show_problems()

    @property
    def _mark(self) -> Mark | None:
        """The problem in the line of the cursor, else the first."""
        marks = self._draft.marks
        lines = self.editor.lines_of(mark.start for mark in marks)
        row = self.editor.cursor_location[0]
        return next((mark for mark, at in zip(marks, lines, strict=True) if at == row), marks[0] if marks else None)

    def _show_problems(self) -> None:
        """Say whether it may run, and what is wrong."""
        label, mark = self.query_one(".told", Static), self._mark
        label.set_class(bool(self._draft.errors), "wrong")
        if mark is None:
            label.update(f"✓ may run  {pluralize(len(self._draft.steps), 'step')}")
            return
        problem, [row] = mark.problem, self.editor.lines_of([mark.start])
        message = f"line {row + 1}: {single_line(problem.message)}"
        message = (
            f"{pluralize(len(self._draft.marks), 'problem')}; {message}" if len(self._draft.marks) > 1 else message
        )
        if problem.fix is not None:
            message += f"  (^f: {single_line(format_fix(problem.fix))})"
        elif problem.hint:
            message += f"  ({single_line(problem.hint)})"
        label.update(f"{'✗' if self._draft.errors else '!'} {message}")

    def action_problem(self) -> None:
        """Go to the next problem after the cursor."""
        marks, at = self._draft.marks, self.editor.offset_of_cursor
        if marks:
            self._go_to(next((mark.start for mark in marks if mark.start > at), marks[0].start))
            self._show_problems()

    def action_fix(self) -> None:
        """Mend the problem that is told of."""
        mark = self._mark
        if mark is None or mark.problem.fix is None or self._draft.text != self.editor.text:
            self.notify("There is no fix for what is wrong here.", severity="warning")
        else:
            self.editor.become(patch_text(self._draft.text, mark.problem.fix))

    def _go_to(self, place: int) -> None:
        self.editor.go_to(place)
        self.editor.focus()

    def _go_to_step(self, label: str) -> None:
        result = next((one for one in self._draft.steps if one.step.label == label), None)
        if result is not None:
            self.editor.go_to(result.start)

    # What is heard

    def on_text_area_changed(self) -> None:
        self._check_soon()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """Leave the offers where the cursor goes away from them; say what is wrong there."""
        del event
        self._suggester.moved()
        if self._draft.text == self.editor.text:
            self._show_problems()

    def on_editor_typed(self, event: Editor.Typed) -> None:
        """Look what may stand here."""
        self._suggester.typed(event)

    def on_editor_steered(self, event: Editor.Steered) -> None:
        """Hand a key on to the offers."""
        self._suggester.steered(event)

    def on_completion_popup_selected(self) -> None:
        """Take the one that was clicked."""
        self._suggester.accept()
        self.editor.focus()

    def action_complete(self) -> None:
        """Show what may stand at the cursor."""
        self._suggester.ask(is_asked=True)

    def on_select_changed(self, event: Select.Changed) -> None:
        """Go to the step."""
        self._go_to_step(str(event.value))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Fork, or leave it."""
        if event.button.id == "fork":
            self.action_fork()
        else:
            self.action_leave()

    # Leaving

    def action_leave(self) -> None:
        """Close the offers, else leave; what was changed is given up only when that is confirmed."""
        if self.editor.offering:
            self._suggester.leave()
        elif self.editor.text == self._written:
            self.dismiss(None)
        else:

            def answered(yes: bool | None) -> None:
                if yes:
                    self.dismiss(None)

            self.app.push_screen(
                ConfirmDialog("Leave without forking?", "What you changed is lost.", yes="Leave"), answered
            )

    def action_fork(self) -> None:
        """Give the change, if the plan may run; else go to what is wrong."""
        begin(self, self.infospace, self._fork, group="fork")

    async def _fork(self) -> None:
        await self._check()
        errors = [mark for mark in self._draft.marks if mark.problem.severity == "error"]
        if errors or self._draft.plan is None:
            self.notify("It may not run.", severity="warning")
            self._go_to(errors[0].start if errors else 0)
            self._show_problems()
            return
        document, step = self._draft.document, str(self.query_one(Select).value)
        self.dismiss(ForkRequest(step, [] if document == self._document else replace("", document)))
