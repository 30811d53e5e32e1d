"""Trying a draft: run it, a part of it, step by step; without leaving anything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.widgets import Static

from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.data.json_text import same
from planner.editor.draft import Draft, marked
from planner.execute.start import Prepared, Refused, prepare
from planner.inspect.variable_history import VariableHistory, members_of
from planner.journal.events import Event, Progressed, Spoke, StepFinished, StepStarted
from planner.journal.result import RunResult
from planner.language.problems import Problem
from planner.lifecycle.breakpoints import Breakpoints
from planner.lifecycle.resume import plan_of
from tui.dialogs.inputs import InputsDialog
from tui.dialogs.report import ReportDialog
from tui.screens.compose.tables import ValueRow, ValueRows
from tui.text.format import question_line, sign, single_line
from tui.text.format_plan import format_plan
from tui.text.table_model import NoRows
from tui.widgets.lazy_table import LazyTable

if TYPE_CHECKING:
    from infospace.store.protocol import Snapshot
    from tui.app import InfospaceApp
    from tui.runtime.runner import ActiveRun
    from tui.screens.compose.compose import Compose


class DraftRun:
    """Runs the draft. A run that stops rests in the journal, and is gone on with here or elsewhere."""

    def __init__(self, screen: Compose) -> None:
        self._screen = screen
        self.run_id: str | None = None
        """The run that the draft is of, or was tried in last."""
        self.ran: JSON = None
        """Its plan."""
        self.pausing: Breakpoints | None = None
        """Where it is to rest, or rests."""
        self.result: RunResult | None = None
        """How it ended, or rests."""
        self._given: dict[str, JSON] = {}
        self._busy = False

    @property
    def _infospace(self) -> InfospaceApp:
        return self._screen.infospace

    def edit(self, run: str, document: JSON) -> None:
        """Write on the plan of a run, which can be forked then."""
        self._screen.files.open_text("", format_plan(document))
        self.run_id, self.ran = run, document
        text = Text.assemble("the plan of ", (run, "bold"), ": alt+k runs it again from the first step that you change")
        self.show_status(text)
        self._screen.render_status()

    def title(self, name: str) -> str:
        """Return what the draft is called, with the run that it is the plan of."""
        return f"{name}, the plan of {self.run_id}" if self.run_id is not None and self.result is None else name

    @property
    def goes_on(self) -> bool:
        """Whether a run goes on here."""
        return self._busy

    @property
    def rests(self) -> bool:
        """Whether a run of this rests, and can be gone on with."""
        return not self._busy and self.pausing is not None and self.pausing.paused is not None

    @property
    def asks(self) -> bool:
        """Whether a run of this very plan waits for an answer, as far as is known here."""
        result = self.result
        waits = result is not None and any(pending.kind != "wait" for pending in result.pending)
        return waits and self.run_id is not None and not self.rests and same(self._screen.draft.document, self.ran)

    def forget(self) -> None:
        """Let go of the run: another text is here."""
        self.run_id, self.ran, self.pausing, self.result = None, None, None, None
        self.show_status(Text(""))
        self._screen.query_one("#bound", LazyTable).show(NoRows())

    # Running

    def start(self) -> None:
        """Run it; where a run of it rests, go on with that."""
        self._screen.ask_for(self.alone, self._start, False, False, group="try", exclusive=False)

    def step(self) -> None:
        self._screen.ask_for(self.alone, self._start, True, False, group="try", exclusive=False)

    def run_here(self) -> None:
        """Run as far as the step at the cursor, and that."""
        self._screen.ask_for(self.alone, self._start, False, True, group="try", exclusive=False)

    async def alone(self, course: Callable[..., Coroutine[Any, Any, RunResult | None]], *given: bool) -> None:
        """Run something where no run goes on, and show where it rests."""
        if self._busy:
            self._screen.notify(f"{self.run_id or 'A run'} goes on; alt+x stops it.", severity="warning")
            return
        # Set before anything is awaited: two keys of one burst begin one run. While it is set no other run begins,
        # so `pausing` below is that of this one, or None where another draft was put here.
        self._busy = True
        try:
            result = await course(*given)
        finally:
            self._busy = False
        if result is None:
            return
        if self.pausing is None:  # another draft was put here meanwhile
            self._infospace.notify_ended(result)
        else:
            await self._rests(result)

    async def _start(self, each: bool, here: bool) -> RunResult | None:
        draft = await self._screen.checked()
        until = None
        if here:
            step = draft.step_at(self._screen.editor.offset_of_cursor)
            if step is None and draft.steps:
                self._screen.notify("There is no step at the cursor, nor before it.", severity="warning")
                return None
            until = None if step is None else step.step.pointer
        if await self._ask_pending():
            return None
        return await self._further(draft, each, until) or await self._begin(draft, each, until)

    async def _ask_pending(self) -> bool:
        """Ask again what a run of this very plan waits for; whether there is one that does."""
        run = self.run_id
        if run is None or not self.asks:
            return False
        status = await self._screen.ask(lambda snapshot: snapshot.run(run).status)
        if status == "suspended":
            self._screen.answer_run(run)
        return status == "suspended"

    async def _further(self, draft: Draft, each: bool, until: str | None) -> RunResult | None:
        """Go on with a run of this very plan that rests, None where there is none."""
        pausing, run = self.pausing, self.run_id
        if pausing is None or pausing.paused is None or run is None or not same(draft.document, self.ran):
            return None
        pausing.steps, pausing.when = self._screen.breakpoints.pointers(draft), self._screen.breakpoints.when
        pausing.resume(each=each, until=until)
        self.show_running()
        return await self._infospace.runner.resume(run, pausing)

    async def _begin(self, draft: Draft, each: bool, until: str | None) -> RunResult | None:
        prepared = await self._prepared(draft)
        if prepared is None:
            return None
        pausing = self.afresh(draft)
        pausing.resume(each=each, until=until)
        self.run_id, self.ran, self.pausing, self.result = None, draft.document, pausing, None
        self._screen.query_one("#bound", LazyTable).show(NoRows())
        self.show_running()
        of_goal = self._screen.goal.run_for(draft)
        if of_goal is not None and not (each or until is not None or pausing.steps or pausing.when):
            self.run_id = of_goal
            return await self._screen.goal.run(draft.document, pausing)
        self._screen.goal.forget()
        return await self._infospace.runner.start(prepared, pausing)

    def afresh(self, draft: Draft) -> Breakpoints:
        """Return where a new run of a draft is to rest."""
        for when in self._screen.breakpoints.when:
            when.held = False
        return Breakpoints(steps=self._screen.breakpoints.pointers(draft), when=self._screen.breakpoints.when)

    async def _prepared(self, draft: Draft) -> Prepared | None:
        """Return the plan with its inputs, for which somebody is asked; None where it may not run, which is said."""
        if draft.lines:
            message = "A session in JSON Lines is run by `infospace run`; alt+l makes one plan of its lines."
            self._screen.notify(message, severity="warning", markup=False)
            return None
        if draft.plan is None or draft.errors:
            if draft.marks:
                self._screen.report_problems(draft)
            else:
                self._screen.notify("Nothing is written yet; ^o opens an example.", severity="warning")
            return None
        space, document, inputs = self._infospace.space, draft.document, draft.plan.inputs
        if inputs:

            def check(values: object) -> Sequence[Problem]:
                result = prepare(space, document, values if isinstance(values, dict) else None)
                return result.problems if isinstance(result, Refused) else ()

            known = {name: value for name, value in self._given.items() if name in inputs}
            values = await self._screen.app.push_screen_wait(
                InputsDialog(draft.plan.goal, list(inputs.values()), known, check)
            )
            if values is None:
                return None
            self._given = values
        prepared = await asyncio.to_thread(prepare, space, document, self._given if inputs else None)
        if isinstance(prepared, Refused):
            self._screen.show_draft(marked(draft, prepared.problems))
            self._screen.report_problems(self._screen.draft)
            return None
        return prepared

    def halt(self) -> None:
        """Put the run to rest, or at once when it was told before; end one that rests."""
        if self.run_id is None:
            self._screen.notify("No run of this goes on.")
        else:
            self._screen.stop_run(self.run_id)

    def watch(self) -> None:
        """Open the run in Plan."""
        if self.run_id is None:
            self._screen.notify("It was not run yet.", severity="warning")
        else:
            self._infospace.open_run(self.run_id)

    def continue_run(self, run: str) -> bool:
        """Go on with a run that was answered, to where it stops next; whether it is the one that rests here."""
        if run != self.run_id or self.pausing is None:
            return False
        self._screen.do(self.alone, self._answered, run, self.pausing, group="try", exclusive=False)
        return True

    async def _answered(self, run: str, pausing: Breakpoints) -> RunResult:
        pausing.resume()
        self.show_running()
        return await self._infospace.runner.resume(run, pausing)

    # What is seen of it

    def show_running(self) -> None:
        """Show that a run begins or goes on; nobody is asked for anything before it rests."""
        # The key that began this holds those behind it for a dialog; no dialog comes now, and the run may last long.
        self._infospace.keying.release_all()
        self._screen.here = None
        self._screen.draw_marks()
        self._screen.tabs.active = "run"
        self.show_status(self.headed("running", "begins" if self.run_id is None else "goes on"))

    def handle_run_events(self, active: ActiveRun, events: Sequence[Event]) -> None:
        """Tell how far the run is."""
        # A run of this draft is known by its breakpoints, the very object: it has no id before its first event. Events
        # that arrive after its end would undo what `_rests` shows.
        if self.pausing is None or active.halt.pausing is not self.pausing or active.ended is not None:
            return
        self.run_id = active.run or self.run_id
        for event in reversed(events):
            match event:
                case StepStarted(position, type_):
                    self.show_status(self.headed("running", f"step {position} {type_}"))
                case StepFinished(row):
                    self.show_status(self.headed("running", f"step {row.position} {row.type}: {row.status}"))
                case Progressed(position, done, total, what):
                    self.show_status(self.headed("running", f"step {position}: {done:,} of {total:,} {what}"))
                case Spoke("say", _, text):
                    self.show_status(self.headed("running", f"says: {single_line(text)}"))
                case _:
                    continue
            return

    async def _rests(self, result: RunResult) -> None:
        """Show where a run rests, or how it ended."""
        self.run_id, self.result = result.run or self.run_id, result
        paused = None if self.pausing is None else self.pausing.paused
        state = "suspended" if paused is not None else result.status
        text = str(paused) if paused is not None else result.reason or ""
        if result.status in ("success", "stopped") and result.result is not None:
            text = single_line(result.result.value)
        if paused is None and result.pending:
            text = f"step {result.pending[0].step} asks: {question_line(result.pending[0].question)}"
        self.show_status(self.headed(state, text, has_ended=paused is None))
        at = None if paused is None else self._screen.draft.of(paused.pointer)
        self._screen.here = None if at is None else at.start
        self._screen.draw_marks()
        if at is not None:
            self._screen.editor.go_to(at.start)
        self._screen.render_status()
        if result.run is not None:
            await self._bound(result.run, None if paused is None else paused.position)
        if paused is None and any(pending.kind != "wait" for pending in result.pending) and result.run is not None:
            self._screen.answer_run(result.run)

    def headed(self, state: str, message: str, *, has_ended: bool = False) -> Text:
        """Return what is said of the run."""
        text = Text.assemble((f"{self.run_id or 'the run'} ", "bold")).append_text(sign(state, self._infospace.colours))
        text.append(f" {state}  " if has_ended else " ")
        return text.append(single_line(message), self._infospace.colours.get("error", "") if state == "failed" else "")

    def show_status(self, text: Text) -> None:
        """Say it of the run."""
        self._screen.query_one("#told", Static).update(text)
        self._screen.refresh_bindings()

    async def _bound(self, run: str, position: str | None) -> None:
        """Show what is bound where a run rests."""
        values, latest = await self._screen.ask(lambda snapshot: self._values(snapshot, run, position))
        if self.run_id == run:  # another draft, or another run, may be here by now
            self._screen.query_one("#bound", LazyTable).show(ValueRows(values, latest, self._infospace.colours))

    def _values(self, snapshot: Snapshot, run: str, position: str | None) -> tuple[list[ValueRow], str | None]:
        """Return what is bound, and the variable that was bound last; for a thread."""
        row, rows = snapshot.run(run), snapshot.steps(run)
        moments = VariableHistory(plan_of(row), row, rows, members_of(snapshot))
        context, results = self._infospace.space.context(), []
        for bound in moments.after(len(moments)) if position is None else moments.before(position):
            preview = "(deleted since)"
            with suppress(NotFound):
                preview = context.preview(snapshot.get(bound.id, bound.version))
            results.append(ValueRow(bound.name, bound.id, preview, bound.step))
        latest = moments.ended[-1].out if moments.ended else None
        return results, latest

    def open_variables(self) -> None:
        """Open the variables of the run."""
        if self.run_id is not None:
            self._infospace.open_run(self.run_id, place="variables")

    # Without leaving anything

    def try_out(self) -> None:
        """Run it so that nothing stays, and show what it would write and call."""
        self._screen.do(self._try, group="dry", exclusive=False)

    async def _try(self) -> None:
        from planner.lifecycle.dry_run import dry_run
        from tui.text.fix_text import dry_lines

        prepared = await self._prepared(await self._screen.checked())
        if prepared is not None:
            dry = await self._infospace.engine.do(dry_run(self._infospace.space, prepared))
            await self._screen.app.push_screen_wait(ReportDialog("Dry run: nothing of it stays", dry_lines(dry)))
