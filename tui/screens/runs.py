"""All runs of the space, the latest first, as they go on: also those of other processes.

Type in the field above the list to see only some: every word has to be in a run's id, kind, status, goal or reason.
Runs that have the text in their plan or in the values of their steps are shown too, with `≈`.

`broken off` is a run whose process is gone without ending it: it can be resumed. A run that waits (`suspended`) may
ask something; answering it goes on with it, here. Above the list stands which schedule is due next, and when.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.markup import escape
from textual.timer import Timer
from textual.widgets import Input, Static

from infospace.core.plural import pluralize
from infospace.journal.gaps import format_gaps, gaps_in
from infospace.journal.rows import RunHead
from planner.journal.events import Event
from planner.lifecycle.resume import pending_of
from tui.dialogs.common import ConfirmDialog
from tui.runtime.workers import poll_delay
from tui.screen_registry import key_of
from tui.screens.run_actions import RunActions
from tui.tables.runs_table import RunList, state_of
from tui.text.format import format_bytes, next_scheduled, question_line, single_line
from tui.text.planning import attempts_of
from tui.widgets.lazy_table import LazyTable

if TYPE_CHECKING:
    from tui.runtime.runner import ActiveRun

POLL_SECONDS = 1.0
"""Seconds between two looks, at least."""
POLL_TO_COST_RATIO = 20
"""How many times as long as a look took is waited until the next one."""
TYPING = 0.15
"""Seconds without a key after which plans and values are searched."""
MIN_SEARCHED_CHARACTERS = 2
"""Characters from which on they are."""


class Runs(RunActions):
    """All runs of the space, kept up to date."""

    FIRST = "LazyTable"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", tooltip="opens the run: its plan, steps and variables"),
        Binding("slash", "filter", "Filter", key_display="/", tooltip="goes to the field above the list"),
        Binding("a", "answer", "Answer", tooltip="answers the run's question, and resumes it"),
        Binding("r", "resume", "Resume", tooltip="resumes a suspended or interrupted run"),
        Binding("x", "stop", "Stop", tooltip="suspends the run after its current steps; again: ends it at once"),
        Binding("m", "mark", "Mark", tooltip="marks the run for comparing"),
        Binding("c", "compare", "Compare", tooltip="compares the marked run with this one, or the two marked ones"),
        Binding("f", "fork", "Fork", show=False, tooltip="runs the plan again from a step on, with a change"),
        Binding("o", "edit", "Edit", show=False, tooltip="edits its plan in Compose"),
        Binding("p", "replay", "Replay", show=False, tooltip="runs it again from its record, and shows what differs"),
        Binding("d,delete", "delete", "Delete", tooltip="removes the run from the journal for good"),
        Binding("escape", "clear", "Clear", show=False, tooltip="back to the list; again shows all runs"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._runs = RunList()
        self._timer: Timer | None = None
        self._next = 0.0
        self._changed = False
        """Whether something happened here since the last look began."""
        self._scheduled = ""
        """What is due next of the schedules."""
        self._asking: str | None = None
        """The run at the cursor, once it is known that it waits for an answer."""

    def content(self) -> ComposeResult:
        """The field, the list, and what is to be said of the run at the cursor."""
        with Horizontal(id="filter"):
            yield Input(
                self.infospace.memory.get("runs.filter", ""), placeholder="filter; also searches plans and values"
            )
            yield Static("", id="found")
        makes = f"`infospace run plan.json`, or Compose ({key_of('compose')}), makes one"
        yield LazyTable(RunList.COLUMNS, empty=f"no runs yet: {makes}")
        yield Static("", id="about", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self._timer = self.set_interval(POLL_SECONDS, self._poll)

    def shown(self) -> None:
        self._runs.colours = self.infospace.colours
        self.do(self._load_runs, group="look")

    def handle_run_events(self, active: ActiveRun, events: Sequence[Event]) -> None:
        """Look soon when a run here began or ended."""
        del active, events
        self._changed = True

    # Looking

    def _poll(self) -> None:
        looks = any(worker.group == "look" and not worker.is_finished for worker in self.workers)
        if self.is_current and not looks and (self._changed or time.monotonic() >= self._next):
            self._next = float("inf")
            self.do(self._load_runs, group="look")

    async def _load_runs(self) -> None:
        started, self._changed = time.monotonic(), False
        grid = self.query_one(LazyTable)
        asked = self._runs.wanted | set(self._runs.unfinished(grid.in_sight))
        try:
            heads, tallies, schedules = await self.ask(
                lambda snapshot: (snapshot.run_heads(), snapshot.run_stats(sorted(asked)), snapshot.schedules())
            )
            self._scheduled = next_scheduled(schedules)
            first = not self._runs.heads
            self._runs.update(heads)
            self._runs.merge(tallies)
            if first:
                self._filter(self.query_one(Input).value)
            self._show()
        finally:
            now = time.monotonic()
            self._next = now + poll_delay(now - started, POLL_TO_COST_RATIO)

    def _show(self) -> None:
        grid = self.query_one(LazyTable)
        grid.empty = "no run matches" if self._runs.heads else grid.empty
        grid.show(self._runs)
        shown, all_of_them = len(self._runs.shown), len(self._runs.heads)
        message = (
            pluralize(all_of_them, "run") if shown == all_of_them else f"{shown:,} of {pluralize(all_of_them, 'run')}"
        )
        inside = f", {self._runs.matched_by_body:,} by what is in them" if self._runs.matched_by_body else ""
        gaps = gaps_in([head.run for head in self._runs.heads]) if shown == all_of_them else []
        scheduled = f"; {escape(self._scheduled)}" if self._scheduled else ""
        self.query_one("#found", Static).update(
            f"{message}{inside}{f' ({format_gaps(gaps)})' if gaps else ''}{scheduled}"
        )
        self._about()
        if self._runs.wanted:
            self.do(self._load_tallies, group="learn", exclusive=False)

    async def _load_tallies(self) -> None:
        """Ask how far the runs are that came into sight."""
        expected, self._runs.wanted = sorted(self._runs.wanted), set()
        if expected:
            self._runs.merge(await self.ask(lambda snapshot: snapshot.run_stats(expected)))
            self.query_one(LazyTable).refresh()

    def on_lazy_table_drawn(self) -> None:
        """Ask for what was missing in the rows that were drawn."""
        if self._runs.wanted:
            self.do(self._load_tallies, group="learn", exclusive=False)

    def _about(self) -> None:
        head = self._head()
        message = ""
        self.workers.cancel_group(self, "about")
        if head is not None:
            left = "its process is gone; r goes on with it" if state_of(head) == "left" else ""
            message = head.reason or left or head.goal
            if head.status == "suspended" and not head.reason:
                self.do(self._waits, head.run, group="about")
            elif head.kind == "session" and not head.reason:
                self.do(self._written, head.run, group="about")
        self.query_one("#about", Static).update(single_line(message))
        self.refresh_bindings()

    async def _waits(self, run: str) -> None:
        """Say what a run waits for."""
        waiting = await self.ask(lambda snapshot: pending_of(snapshot.steps(run)))
        if waiting and self.query_one(LazyTable).key == run:
            self._asking = run if any(pending.kind != "wait" for pending in waiting) else None
            self.refresh_bindings()
            action = "r looks again" if waiting[0].kind == "wait" else "a answers"
            self.query_one("#about", Static).update(
                f"step {waiting[0].step} waits: {question_line(waiting[0].question)} ({action})"
            )

    async def _written(self, run: str) -> None:
        """Say which model wrote the plan of a goal, and in how many attempts."""
        rows = await self.ask(lambda snapshot: snapshot.steps(run))
        texts = [attempts_of(row.extra) for row in rows if row.type == "write-plan"]
        head = self._head()
        if texts and head is not None and head.run == run:
            self.query_one("#about", Static).update(single_line(f"{head.goal} (written by {'; then '.join(texts)})"))

    def _head(self) -> RunHead | None:
        key = self.query_one(LazyTable).key
        return None if key is None else self._runs.head(key)

    # Filtering

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show what fits; search in what is in the runs when nothing is typed for a moment."""
        self.infospace.remember("runs.filter", event.value)
        self._filter(event.value)

    def _filter(self, text: str) -> None:
        self._runs.filter(text)
        self._show()
        if len(text.strip()) >= MIN_SEARCHED_CHARACTERS:
            self.do(self._search, text.strip(), group="bodies")

    async def _search(self, text: str) -> None:
        await asyncio.sleep(TYPING)
        results = await self.ask(lambda snapshot: snapshot.runs_containing(text))
        if self.query_one(Input).value.strip() == text:
            self._runs.filter(text, results)
            self._show()

    def on_input_submitted(self) -> None:
        """Go to the list."""
        self.query_one(LazyTable).focus()

    def action_filter(self) -> None:
        """Go to the field."""
        self.query_one(Input).focus()

    def action_clear(self) -> None:
        """Go to the list; from there, show all runs."""
        grid = self.query_one(LazyTable)
        if grid.has_focus:
            self.query_one(Input).value = ""
            self._runs.marked = []
            self._show()
        grid.focus()

    # Doing

    def is_action_available(self, action: str) -> bool:
        """Whether something can be done with the run at the cursor."""
        head = self._head()
        match action:
            case "answer" | "resume" | "stop" | "fork" | "edit" | "replay" | "delete":
                return self.can(action, head, asks=head is not None and head.run == self._asking)
            case "open" | "mark":
                return head is not None
            case "compare":
                return len({*self._runs.marked, *([] if head is None else [head.run])}) > 1 and bool(self._runs.marked)
            case "clear":
                return bool(self.query_one(Input).value or self._runs.marked) or not self.query_one(LazyTable).has_focus
        return super().is_action_available(action)

    def on_lazy_table_highlighted(self) -> None:
        """Say something of the run."""
        self._about()

    def on_lazy_table_chosen(self, event: LazyTable.Chosen) -> None:
        self.infospace.open_run(event.key)

    def action_open(self) -> None:
        """Open the run at the cursor."""
        self._with(self.infospace.open_run)

    def action_answer(self) -> None:
        """Answer what it asks."""
        self._with(self.answer_run)

    def action_resume(self) -> None:
        """Go on with it."""
        self._with(self.resume_run)

    def action_stop(self) -> None:
        self._with(self.stop_run)

    def action_fork(self) -> None:
        self._with(self.fork_run)

    def action_edit(self) -> None:
        """Write on its plan."""
        self._with(self.edit_run)

    def action_replay(self) -> None:
        self._with(self.replay_run)

    def _with(self, action: Callable[[str], object]) -> None:
        run = self.query_one(LazyTable).key
        if run is None:
            self.notify("There is no run here.", severity="warning")
        else:
            action(run)

    def action_mark(self) -> None:
        """Mark the run at the cursor, or take the mark away; a third mark takes that of the first, which is said."""
        run = self.query_one(LazyTable).key
        if run is None:
            return
        dropped = self._runs.mark(run)
        if dropped is not None:
            remaining, _ = self._runs.marked
            self.notify(f"Two runs are compared: {dropped} is not marked any more, {remaining} and {run} are.")
        self._show()

    def action_compare(self) -> None:
        """Compare two runs, the earlier one first."""
        marked = list(self._runs.marked)
        here = self.query_one(LazyTable).key
        if len(marked) == 1 and here is not None and here not in marked:
            marked.append(here)
        if len(marked) != 2:
            self.notify("Mark one run with m, and compare it with another one.", severity="warning")
            return
        self.infospace.compare(*sorted(marked, key=lambda run: int(run.removeprefix("run_"))))

    def action_delete(self) -> None:
        """Remove the run at the cursor for good, when that is confirmed."""
        self._with(lambda run: self.ask_for(self._delete, run, group="action"))

    async def _delete(self, run: str) -> None:
        store = self.infospace.space.store
        deleted = await asyncio.to_thread(store.forget, [run], really=False)
        text = f"{pluralize(deleted.resources, 'resource')} that nobody kept"
        detail = f"{pluralize(deleted.steps, 'step')} and {text} go with it: {format_bytes(deleted.bytes)}. "
        detail += "It cannot be undone, replayed or explained any more."
        if await self.app.push_screen_wait(ConfirmDialog(f"Delete {run} for good?", detail, yes="Delete")):
            await asyncio.to_thread(store.forget, [run], really=True)
            await self._load_runs()
