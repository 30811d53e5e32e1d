"""Two runs beside each other: what was asked otherwise, what came out otherwise, and what it took.

Choose them here (`l` the first, `r` the second, or click their lines), or mark two in Runs and press `c` there. The
list has what differs: steps with other arguments, other notes that they read, other results; inputs; the result; steps
that only one of them has. `o` lists the steps that are alike too.

Below, or beside it, the row at the cursor on both sides: what went in red, what came in green. Enter on a note opens it
in Notes. `b` opens the step in the first run, `a` in the second. What a run made itself is compared by its content,
everything else by identity; times do not count.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from infospace.core.errors import NotFound
from infospace.core.plural import pluralize
from infospace.journal.rows import FINISHED
from tui.base_screen import BaseScreen
from tui.dialogs.pick_run import PickRunDialog
from tui.runtime.run_model import stamp
from tui.tables.diff_text import render_pair
from tui.tables.run_diff import Comparison, DiffRow, DiffRows, compare, format_summary, render_run
from tui.text.table_model import NoRows
from tui.widgets.lazy_table import LazyTable
from tui.widgets.line_table import LineTable

POLL_SECONDS = 1.0
"""Seconds between two looks at runs that go on."""
NOTHING = "Choose two runs: l the first, r the second; or mark them in Runs with m, and press c."


class ChosenRun(Static):
    """One of the runs; a click chooses another."""

    class Clicked(Message):
        """Posted when the run is clicked, to choose another."""

        def __init__(self, side: int) -> None:
            super().__init__()
            self.side = side

    def __init__(self, side: int) -> None:
        super().__init__("", id=("first", "second")[side])
        self._side = side

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Clicked(self._side))


class Compare(BaseScreen):
    """Two runs side by side, step by step."""

    FIRST = "#pairs"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "choose(0)", "First", tooltip="chooses the first run"),
        Binding("r", "choose(1)", "Second", tooltip="chooses the second run"),
        Binding("x", "swap", "Swap", tooltip="changes first and second"),
        Binding("o", "everything", "All steps", tooltip="lists the steps that are alike too, or only what differs"),
        Binding("enter", "into", "Look", show=False, tooltip="goes into what differs; opens the note of a line there"),
        Binding("b", "open(0)", "Before", tooltip="opens the step in the first run"),
        Binding("a", "open(1)", "After", tooltip="opens the step in the second run"),
        Binding("y", "copy", "Copy", show=False, tooltip="copies both sides of what differs"),
        Binding("escape", "leave", "Leave", show=False, tooltip="back to the list"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._runs: list[str | None] = [None, None]
        self._found: Comparison | None = None
        self._rows: DiffRows | None = None
        self._everything = False
        self._stamp: object = None

    def content(self) -> ComposeResult:
        """The two runs, what differs, and that on both sides."""
        yield ChosenRun(0)
        yield ChosenRun(1)
        yield Static("", id="summary", markup=False)
        with Container(id="parts"):
            yield LazyTable(DiffRows.COLUMNS, empty="", name="pairs")
            with Container(id="sides"):
                yield LineTable(name="before")
                yield LineTable(name="after")

    def on_mount(self) -> None:
        """Begin with what was compared last."""
        super().on_mount()
        stored = self.infospace.memory.get("compare.runs", [])
        if len(stored) == 2 and all(isinstance(run, str) for run in stored):
            self._runs = list(stored)
        self.set_interval(POLL_SECONDS, self._poll)

    def shown(self) -> None:
        """Compare what is asked for, or look again."""
        asked, self.infospace.compared = self.infospace.compared, None
        if asked is not None:
            self._runs = list(asked)
            self.query_one("#pairs", LazyTable).cursor = 0
        self._compare()

    # Choosing

    def on_chosen_run_clicked(self, event: ChosenRun.Clicked) -> None:
        self.action_choose(event.side)

    def action_choose(self, side: int) -> None:
        """Ask for a run."""

        def chosen(run: str | None) -> None:
            if run is not None:
                self._runs[side] = run
                self._compare()

        question = ("The first run", "The second run")[side]
        self.app.push_screen(PickRunDialog(question, self._runs[side] or self._runs[1 - side]), chosen)

    def action_swap(self) -> None:
        """Change first and second."""
        self._runs.reverse()
        self._compare()

    # Comparing

    def _compare(self) -> None:
        self.do(self._read, group="compare")

    async def _read(self) -> None:
        first, second = self._runs
        if first is None or second is None:
            self._show_empty(NOTHING)
            for place, run in ((0, first), (1, second)):
                self.query_one(f"#{('first', 'second')[place]}", Static).update(Text(run or "no run is chosen", "dim"))
            return
        self.infospace.remember("compare.runs", [first, second])
        try:
            before = await self.ask(lambda snapshot: (stamp(snapshot, first), stamp(snapshot, second)))
            comparison = await self.ask(lambda snapshot: compare(snapshot, first, second))
        except NotFound as error:
            self._show_empty(f"{error}. l and r choose others.")
            return
        self._stamp, self._found = before, comparison
        self._draw()

    def _show_empty(self, message: str) -> None:
        self._found, self._rows, self._stamp = None, None, None
        self.workers.cancel_group(self, "tell")
        self.query_one("#summary", Static).update(message)
        for place, run in enumerate(self._runs):
            self.query_one(f"#{('first', 'second')[place]}", Static).update(Text(run or "", "dim"))
        self.query_one("#pairs", LazyTable).show(NoRows())
        for name in ("before", "after"):
            self.query_one(f"#{name}", LineTable).show_lines((), "")
        self.refresh_bindings()

    def _draw(self) -> None:
        comparison = self._found
        if comparison is None:
            return
        colours = self.infospace.colours
        for name, run, tally in zip(("first", "second"), comparison.runs, comparison.run_stats, strict=True):
            self.query_one(f"#{name}", Static).update(render_run(run, tally, colours))
        self.query_one("#summary", Static).update(format_summary(comparison))
        self._rows = DiffRows(comparison, colours, everything=self._everything)
        self.query_one("#pairs", LazyTable).show(self._rows)
        self._show_pair()
        self.refresh_bindings()

    def _poll(self) -> None:
        comparison = self._found
        compares = any(worker.group == "compare" and not worker.is_finished for worker in self.workers)
        if comparison is None or compares or not self.is_current:
            return
        if not all(run.status in FINISHED for run in comparison.runs):
            self.do(self._compare_if_changed, comparison, group="look")

    async def _compare_if_changed(self, comparison: Comparison) -> None:
        """Compare again while one of them goes on."""
        first, second = (run.run for run in comparison.runs)
        now = await self.ask(lambda snapshot: (stamp(snapshot, first), stamp(snapshot, second)))
        if now != self._stamp and self._found is comparison:
            self._compare()

    @property
    def _pair(self) -> DiffRow | None:
        grid, rows = self.query_one("#pairs", LazyTable), self._rows
        return rows.shown[grid.cursor] if rows is not None and grid.cursor < len(rows) else None

    def on_lazy_table_highlighted(self, event: LazyTable.Highlighted) -> None:
        """Tell the row at the cursor."""
        if event.grid.id == "pairs":
            self._show_pair()

    def _show_pair(self) -> None:
        pair, comparison = self._pair, self._found
        if pair is not None and comparison is not None:
            self.do(self._render_pair, comparison, pair, group="tell")

    async def _render_pair(self, comparison: Comparison, pair: DiffRow) -> None:
        sides = await asyncio.to_thread(render_pair, comparison, pair, self.infospace.colours)
        where = "" if pair.position is None else f" step {pair.position}"
        for name, run, lines in zip(("before", "after"), comparison.runs, sides, strict=True):
            self.query_one(f"#{name}", LineTable).show_lines(lines, f"{name}: {run.run}{where}")

    # Doing

    def is_action_available(self, action: str) -> bool:
        """Whether there are two runs, and a step on that side."""
        pair = self._pair
        match action:
            case "swap" | "everything" | "copy":
                return self._found is not None
            case "into":
                return pair is not None
            case "open(0)" | "open(1)":
                row = None if pair is None else (pair.before, pair.after)[action == "open(1)"]
                return pair is not None and (pair.position is None or row is not None)
        return super().is_action_available(action)

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        """Go into what differs, or open a note."""
        grid = event.grid
        if not isinstance(grid, LineTable):
            self.action_into()
        elif grid.leads_to is not None:
            self.infospace.open_note(grid.leads_to.id)

    def on_lazy_table_titled(self, event: LazyTable.Titled) -> None:
        """Open the step of the side whose title was clicked."""
        if event.grid.id in ("before", "after"):
            self.action_open(int(event.grid.id == "after"))

    def action_into(self) -> None:
        """Go to what came, or what was there before where nothing is."""
        self.query_one("#after", LineTable).focus()

    def action_open(self, side: int) -> None:
        """Open the run of a side, at the step at the cursor."""
        pair, comparison = self._pair, self._found
        if pair is None or comparison is None:
            self.notify(NOTHING, severity="warning")
            return
        row = (pair.before, pair.after)[side]
        if pair.position is not None and row is None:
            self.notify(f"{comparison.runs[side].run} has no step {pair.position}.", severity="warning")
            return
        run = comparison.runs[side].run
        self.infospace.open_run(run, pair.position, "plan" if pair.position is None else "step")

    def action_everything(self) -> None:
        """List all steps, or only what differs."""
        self._everything = not self._everything
        self._draw()

    def action_copy(self) -> None:
        text = "\n\n".join(self.query_one(f"#{name}", LineTable).copied() for name in ("before", "after"))
        self.app.copy_to_clipboard(text)
        self.notify(f"Copied {pluralize(len(text), 'character')}.")

    def action_leave(self) -> None:
        """Go to the list."""
        self.query_one("#pairs", LazyTable).focus()
