"""One step of the run that is open: how it ended and why, what it was called with, and all that it gave.

On the left (above, where there is little room) the step itself and its arguments: as written, what each reference
was bound to when the step began, and what that was then. Beside it the whole result, the calls of models and tools
that it made, and its JSON. A very long result is shown in pieces: `+` goes on. `v` opens the result in Notes, enter on
an item of it that item.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.widgets import Static, TabbedContent, TabPane

from infospace.core.plural import pluralize
from infospace.core.resources import Collection
from infospace.journal.rows import CallRow, StepRow
from planner.inspect.step_arguments import Argument, step_arguments
from planner.inspect.variable_history import VariableHistory
from planner.journal.context_after_step import ContextAfterStep
from planner.parse.positions import step_at, written_step
from tui.runtime.run_model import RunModel
from tui.screens.run_screen import RunScreen
from tui.text.planning import render_attempts
from tui.text.step_text import format_raw, render_arguments, render_calls, render_result, render_step
from tui.widgets.details.resource_data import ResourceData
from tui.widgets.tabs import StableTabs
from tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot


class Step(RunScreen):
    """One step of the open run: its arguments, result and calls."""

    FIRST = "#told"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "go(1)", "Next", tooltip="to the next step"),
        Binding("b", "go(-1)", "Back", tooltip="to the step before"),
        Binding("w", "where", "In the plan", show=False, tooltip="shows the step in its plan"),
        Binding("right_square_bracket", "tab(1)", "Next tab", key_display="]", show=False, tooltip="to the next tab"),
        Binding(
            "left_square_bracket", "tab(-1)", "Tab before", key_display="[", show=False, tooltip="to the one before"
        ),
        Binding("y", "copy", "Copy", tooltip="copies what is on the tab"),
        Binding("s", "sort", "Sort", show=False, tooltip="sorts a result that is a table by the next column"),
        Binding("v", "note", "In Notes", show=False, tooltip="opens the result, or an item of it, in Notes"),
        *RunScreen.ACTIONS,
    ]

    def __init__(self) -> None:
        super().__init__()
        self._position: str | None = None
        self._at: tuple[object, ...] = ()

    def body(self) -> ComposeResult:
        """The step, and tabs."""
        with Container(id="halves"):
            with VerticalScroll(id="told"):
                yield Static("", id="step")
                yield Static("", id="arguments")
                yield Static("", id="rest")
            with StableTabs(id="tabs"):
                with TabPane("Result", id="result"):
                    yield ResourceData(name="data")
                with TabPane("Calls", id="calls"), VerticalScroll():
                    yield Static("", id="called")
                with TabPane("JSON", id="json"):
                    yield TextView(name="raw")

    def on_mount(self) -> None:
        """Watch which step is chosen."""
        super().on_mount()
        self.watch(self.app, "chosen", self._chosen, init=False)

    def _chosen(self) -> None:
        if self.is_current:
            self.show_run(self.infospace.subject, afresh=False)

    def show_run(self, subject: RunModel | None, *, afresh: bool) -> None:
        """Tell the step that is chosen, else the first, or the one that failed."""
        del afresh
        position = self.infospace.chosen
        if subject is not None and position is None:
            position = _first(subject)
        row = None if subject is None else subject.row(position)
        at = (subject and subject.name, position, row)
        if at == self._at:
            return
        self._at, self._position = at, position
        step = None if subject is None or position is None else step_at(subject.plan, position)
        text = Text("") if position is None else render_step(row, step, position, self.infospace.colours)
        self.query_one("#step", Static).update(text)
        self.query_one("#arguments", Static).update("")
        calls = [] if subject is None or position is None else _calls(subject, position)
        attempts = Text("") if row is None else render_attempts(row.extra, calls, self.infospace.colours)
        self.query_one("#rest", Static).update(attempts.append_text(render_result(row)))
        self.query_one("#told", VerticalScroll).scroll_home(animate=False)
        if subject is None or position is None:
            self._clear()
            return
        value = None if subject.run is None else written_step(subject.run, position)
        self.query_one("#raw", TextView).read(format_raw(row, value))
        self.query_one("#called", Static).update(render_calls(calls, self.infospace.colours))
        self.query_one(StableTabs).relabel("calls", f"Calls {len(calls)}" if calls else "Calls")
        self.do(self._read, subject, row, group="read")

    def _clear(self) -> None:
        """Show nothing of any step."""
        self.workers.cancel_group(self, "read")
        self.query_one("#data", ResourceData).show_text("")
        self.query_one("#raw", TextView).read("")
        self.query_one("#called", Static).update("")
        self.query_one(StableTabs).relabel("calls", "Calls")

    async def _read(self, subject: RunModel, row: StepRow | None) -> None:
        """Read the arguments and the result, which may be long."""
        data = self.query_one("#data", ResourceData)
        if row is None or subject.run is None:
            data.show_text("")
            return
        arguments = await asyncio.to_thread(self._arguments, subject, row)
        arguments_text = render_arguments(arguments, self.infospace.colours)
        if arguments:
            arguments_text = Text.assemble("\n", ("called with", "underline"), "\n\n", arguments_text)
        self.query_one("#arguments", Static).update(arguments_text)
        if row.resource is None:
            data.show_text(row.value or row.reason or "")
        else:
            await data.show(row.resource, row.version, ContextAfterStep(self.infospace.space, subject.rows, row))

    def _arguments(self, subject: RunModel, row: StepRow) -> list[Argument]:
        """Return the arguments; for a thread."""
        space, run = self.infospace.space, subject.run
        if run is None:
            return []
        with space.store.reading() as snapshot:
            moments = VariableHistory(subject.plan, run, subject.rows, lambda one, at: _members(snapshot, one, at))
            bindings = moments.before(row.position)
        return step_arguments(space, run, row, bindings)

    # Doing

    def is_action_available(self, action: str) -> bool:
        """Whether something can be done with the step."""
        subject = self.infospace.subject
        match action:
            case "go(1)" | "go(-1)":
                return subject is not None and len(subject.by_sequence) > 1
            case "where" | "copy":
                return self._position is not None
            case "sort":
                return self.query_one("#data", ResourceData).table is not None
            case "note":
                row = None if subject is None or self._position is None else subject.row(self._position)
                return row is not None and row.resource is not None
        return super().is_action_available(action)

    def action_go(self, by: int) -> None:
        """Go to another step of the run, in their order."""
        subject = self.infospace.subject
        if subject is None:
            return
        positions = [row.position for row in subject.rows]
        here = positions.index(self._position) if self._position in positions else -by
        if 0 <= here + by < len(positions):
            self.infospace.chosen = positions[here + by]

    def action_where(self) -> None:
        """Show the step in its plan."""
        self.app.call_later(self.infospace.action_go, "plan")

    def action_tab(self, by: int) -> None:
        """Go to another tab."""
        tabs = self.query_one(TabbedContent)
        names = ["result", "calls", "json"]
        tabs.active = names[(names.index(tabs.active) + by) % len(names)]

    def on_lazy_table_chosen(self) -> None:
        """Open an item of the result."""
        self.action_note()

    def action_note(self) -> None:
        """Open the result in Notes, or the item of it at the cursor."""
        self.open_in_notes(self.query_one("#data", ResourceData).pointed)

    def action_sort(self) -> None:
        self.query_one("#data", ResourceData).sort()

    def action_copy(self) -> None:
        """Copy what is on the tab."""
        active = self.query_one(TabbedContent).active
        if active == "result":
            text, whole = self.query_one("#data", ResourceData).copied()
        elif active == "json":
            text, whole = self.query_one("#raw", TextView).copied()
        else:
            text, whole = str(self.query_one("#called", Static).content), True
        self.app.copy_to_clipboard(text)
        self.notify(
            f"Copied {pluralize(len(text), 'character')}."
            if whole
            else f"Copied the first {pluralize(len(text), 'character')}."
        )


def _first(subject: RunModel) -> str | None:
    rows = subject.rows
    bad = next((row.position for row in rows if row.status in {"failed", "suspended"}), None)
    return bad or next((row.position for row in rows), None)


def _calls(subject: RunModel, position: str) -> list[CallRow]:
    """Return the calls of a step, those of its items too."""
    return [call for call in subject.calls if call.position == position or call.position.startswith(f"{position}[")]


def _members(snapshot: Snapshot, identifier: str, version: int) -> list[str]:
    resource = snapshot.get(identifier, version)
    return [member.id for member in resource.members] if isinstance(resource, Collection) else []
