"""A goal in words: a language model writes the plan, which arrives in the text, and its run goes on with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.widgets import Input

from infospace.core.errors import InfospaceError
from infospace.core.json_types import JSON
from infospace.core.plural import pluralize
from planner.editor.draft import Draft
from planner.goals.arriving import arriving_plan
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Event, Spoke, StepRanAhead
from planner.journal.result import RunResult
from tui.text.format import single_line
from tui.text.format_plan import format_plan
from tui.text.planning import MAX_GOAL, attempts_of, effect_lines

if TYPE_CHECKING:
    from infospace.space import Space
    from planner.goals.session import GoalSession
    from planner.journal.events import Emit
    from planner.lifecycle.breakpoints import Breakpoints
    from tui.runtime.runner import ActiveRun
    from tui.screens.compose.compose import Compose

MAX_SHOWN_CHARACTERS = 200_000
"""Characters of an answer up to which its plan is shown as it arrives."""
POLL_TO_COST_RATIO = 4
"""How many times as long as showing it took is waited until it is shown again."""


class DraftGoal:
    """Has a model write the draft. The run in which it was written waits for the plan to be run, and then has all."""

    def __init__(self, screen: Compose) -> None:
        self._screen = screen
        self.run_id: str | None = None
        """The run of the goal whose plan is here, and was not run yet."""
        self._document: JSON = None
        """The plan as it was written."""
        self._session: tuple[GoalSession, SuspendRequest] | None = None
        """What writes the plan, or wrote it, and what halts that; None since another text is here, or it was run."""
        self._emit_of_part: Emit = lambda _event: None
        """Tells the events of the part of the run that goes on."""
        self._active_run: ActiveRun | None = None
        """What goes on while the model writes."""
        self._answer = ""
        self._answers = 0
        self._ran_ahead = ""
        """What ran ahead last, while the model writes."""
        self._next = 0.0
        """When the plan is shown next, in seconds of the monotonic clock."""

    @property
    def writes(self) -> bool:
        """Whether the model is writing."""
        return self._active_run is not None

    @property
    def _field(self) -> Input:
        return self._screen.query_one("#goal", Input)

    def why_not(self) -> InfospaceError | None:
        """Return why no model can be asked, with how to set one; None where one can."""
        return self._screen.infospace.space.catalogue.why_unasked()

    # Asking

    def ask(self, goal: str) -> None:
        """Let the model write a plan for a goal."""
        self._screen.do(self._ask, goal.strip(), group="goal", exclusive=False)

    async def _ask(self, goal: str) -> None:
        error = self.why_not()
        if error is not None:
            raise error
        if not goal:
            self._screen.notify("Say first what you want.", severity="warning")
        elif len(goal) > MAX_GOAL:
            message = f"The goal has {len(goal):,} characters, and at most {MAX_GOAL:,} are taken."
            self._screen.notify(message, severity="warning")
        elif self.writes or self._screen.draft_run.goes_on:
            self._screen.notify("A run goes on; alt+x stops it.", severity="warning")
        else:
            await self._write(goal)

    async def _write(self, goal: str) -> None:
        from planner.goals.session import GoalSession

        self._screen.files.open_text("", "")
        halt = SuspendRequest()
        session = GoalSession(self._screen.infospace.space, goal, emit=self._emit, halt=halt)
        self._session = (session, halt)
        self._answer, self._answers, self._next, self._ran_ahead = "", 0, 0.0, ""
        self._screen.editor.read_only = True
        try:
            result = await self._play(_writing(session), "", halt, self._follow)
        finally:
            self._active_run = None
            self._screen.editor.read_only = False
            self._screen.refresh_bindings()
        document = session.document
        if self._session is None or self._session[0] is not session:
            if document is not None:
                await self._abandon(session)
        elif document is None:
            self._screen.infospace.notify_ended(result)
            self._show(f"no plan: {result.reason or result.status}", failed=True)
            self._screen.check_soon()
        else:
            self.run_id, self._document = result.run, document
            await self._written(session, document, result)

    async def _written(self, session: GoalSession, document: JSON, result: RunResult) -> None:
        """Show the plan, how it was written and what it would do."""
        self._screen.editor.grow(format_plan(document))
        self._screen.editor.go_to(0)
        self._field.value = ""
        self._screen.editor.focus()
        self._screen.check_soon()
        row = next((row for row in reversed(result.steps) if row.type == "write-plan"), None)
        by = "" if row is None else f"written by {attempts_of(row.extra)}"
        self._show(by, "^r runs it")
        effects = await asyncio.to_thread(session.effects)
        if self._session is not None and self._session[0] is session:  # else it runs meanwhile, or another text is here
            self._show(by, *effect_lines(effects), "^r runs it")

    async def _play(
        self,
        work: Callable[[SuspendRequest], Coroutine[Any, Any, RunResult]],
        run: str,
        halt: SuspendRequest,
        take: Callable[[ActiveRun], None] = lambda _going: None,
    ) -> RunResult:
        """Play a part of the run of a goal. The session has the same `halt` and teller of events from its beginning."""

        def on_begun(active: ActiveRun) -> None:
            active.halt = halt
            take(active)

        def begin(emit: Emit, halt: SuspendRequest) -> Coroutine[Any, Any, RunResult]:
            self._emit_of_part = emit
            return work(halt)

        return await self._screen.infospace.runner.work(begin, run, take=on_begun)

    def _emit(self, event: Event) -> None:
        self._emit_of_part(event)

    def _follow(self, active: ActiveRun) -> None:
        self._active_run = active
        self._screen.tabs.active = "run"
        self._show("the model is asked …")

    def _show(self, *lines: str, failed: bool = False) -> None:
        """Say how far the writing is, or how it was."""
        colours = self._screen.infospace.colours
        run = self._active_run.run if self._active_run is not None else self.run_id
        message = ". ".join(single_line(line) for line in lines if line)
        text = Text.assemble((f"{run} " if run else "", "bold"), (message, colours.get("error", "") if failed else ""))
        self._screen.draft_run.show_status(text)

    # Arriving

    def handle_run_events(self, active: ActiveRun, events: Sequence[Event]) -> None:
        """Put what has arrived into the text."""
        if active is not self._active_run or active is None:
            return
        fresh = False
        for event in events:
            if isinstance(event, Spoke) and event.kind == "draft":
                fresh = True
                if not event.text:
                    self._answers += 1
                    self._answer = ""
                self._answer += event.text
            elif isinstance(event, StepRanAhead):
                row, fresh = event.row, True
                self._ran_ahead = f"step {row.position} {row.type} gave {row.value}" if row.status == "success" else ""
        if fresh:
            self._arrived()

    def _arrived(self) -> None:
        attempt = f"attempt {self._answers}, " if self._answers > 1 else ""
        self._show(f"the model writes: {attempt}{pluralize(len(self._answer), 'character')}", self._ran_ahead)
        started = time.monotonic()
        if len(self._answer) > MAX_SHOWN_CHARACTERS or started < self._next:
            return
        plan = arriving_plan(self._answer)
        if plan is not None:
            self._screen.editor.grow(format_plan(plan))
        self._next = started + (time.monotonic() - started) * POLL_TO_COST_RATIO

    def as_arriving(self, draft: Draft) -> Draft:
        """Leave out of what is wrong with a draft that arrives what may only be missing yet."""
        if not self.writes:
            return draft
        steps: Any = draft.document.get("steps") if isinstance(draft.document, dict) else None
        done = tuple(f"/steps/{number}" for number in range(len(steps) - 1)) if isinstance(steps, list) else ()
        marks = [mark for mark in draft.marks if _is_error_in(mark.problem.pointer, mark.problem.severity, done)]
        return replace(draft, marks=marks)

    # Running and leaving

    def stop(self) -> bool:
        """Stop the model; return whether it was writing."""
        if self._active_run is None:
            return False
        self._screen.infospace.runner.break_off(self._active_run)
        return True

    def run_for(self, draft: Draft) -> str | None:
        """Return the run that the draft is to be run in; None where nothing is left of a plan that a model wrote."""
        plan = draft.plan
        fits = plan is not None and not plan.inputs and _have_something_in_common(draft.document, self._document)
        return self.run_id if fits else None

    async def run(self, document: JSON, pausing: Breakpoints) -> RunResult:
        """Run the plan, as it is here now, in the run in which it was written, to its end.

        Where a step fails the model writes the rest anew; that is run only where it reads, for nobody has seen it.
        """
        run, kept = str(self.run_id), self._session
        assert kept is not None  # noqa: S101 - it is there as long as `run_id` is
        session, halt = kept
        self.run_id = self._session = None
        session.document, halt.pausing = document, pausing
        return await self._play(_running(self._screen.infospace.space, session, run, self._emit), run, halt)

    def forget(self) -> None:
        """Let go of what is being written, or was and was not run: its run ends."""
        self.stop()
        kept, waits = self._session, self.run_id is not None
        self.run_id = self._session = None
        if kept is not None and waits:
            self._screen.do(self._abandon, kept[0], group="abandon", exclusive=False)

    async def _abandon(self, session: GoalSession) -> None:
        await self._screen.infospace.engine.do(session.abandon("the plan was not wanted"))


def _writing(session: GoalSession) -> Callable[[SuspendRequest], Coroutine[Any, Any, RunResult]]:
    async def work(halt: SuspendRequest) -> RunResult:
        try:
            result = await session.write()
        except asyncio.CancelledError:
            return await _stopped(session, halt)
        if session.document is not None or session.is_over or session.id is None:
            return result
        return await session.end(result)

    return work


def _running(
    space: Space, session: GoalSession, run: str, emit: Emit
) -> Callable[[SuspendRequest], Coroutine[Any, Any, RunResult]]:
    async def work(halt: SuspendRequest) -> RunResult:
        from planner.goals.session import reads_only, resume_goal

        try:
            result = await session.run()
            if result.status == "failed" and not session.is_over:
                return await resume_goal(space, run, reads_only, emit=emit, halt=halt)
            return await session.end(result)
        except asyncio.CancelledError:
            return await _stopped(session, halt)

    return work


def _have_something_in_common(draft: JSON, value: JSON) -> bool:
    """Whether two plans have the goal or a step in common."""
    if not isinstance(draft, dict) or not isinstance(value, dict):
        return False
    steps, known = draft.get("steps"), value.get("steps")
    both = isinstance(steps, list) and isinstance(known, list) and any(step in known for step in steps)
    return both or draft.get("goal") == value.get("goal")


async def _stopped(session: GoalSession, halt: SuspendRequest) -> RunResult:
    """End the run of a goal that somebody broke off; whatever else cancelled it goes on doing so."""
    if not halt.broken or session.id is None:
        raise asyncio.CancelledError
    return await session.abandon("stopped by hand")


def _is_error_in(pointer: str, severity: str, done: Sequence[str]) -> bool:
    return severity == "error" and any(pointer == one or pointer.startswith(f"{one}/") for one in done)
