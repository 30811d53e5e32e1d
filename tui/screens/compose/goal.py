"""A goal in words: a language model writes the plan, which arrives in the text, and its run goes on with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.widgets import Input

from infospace.core.errors import InfospaceError
from infospace.core.json_types import JSON
from planner.editor.draft import Draft
from planner.goals.arriving import arriving_plan
from planner.journal.events import Event, Spoke
from planner.journal.result import RunResult
from tui.text.format import pluralize, single_line
from tui.text.format_plan import format_plan
from tui.text.planning import attempts_of, effect_lines

if TYPE_CHECKING:
    from planner.goals.session import GoalSession
    from planner.journal.commit_order import SuspendRequest
    from planner.journal.events import Emit
    from planner.lifecycle.breakpoints import Breakpoints
    from tui.runtime.runner import ActiveRun
    from tui.screens.compose.compose import Compose

LONGEST = 200_000
"""Characters of an answer up to which its plan is shown as it arrives."""
SHARE = 4
"""How many times as long as showing it took is waited until it is shown again."""


class DraftGoal:
    """Has a model write the draft. The run in which it was written waits for the plan to be run, and then has all."""

    def __init__(self, screen: Compose) -> None:
        self._screen = screen
        self.run_id: str | None = None
        """The run of the goal whose plan is here, and was not run yet."""
        self._goal: JSON = None
        """The goal that the plan names: a plan that names another one is another plan."""
        self._asked: object = None
        """What was asked last; None since another text is here."""
        self._going: ActiveRun | None = None
        """What goes on while the model writes."""
        self._answer = ""
        self._answers = 0
        self._next = 0.0
        """When the plan is shown next, in seconds of the monotonic clock."""

    @property
    def writes(self) -> bool:
        """Whether the model is writing."""
        return self._going is not None

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
        from tui.command.common.goal_input import MAX_GOAL

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
        runner, space = self._screen.infospace.runner, self._screen.infospace.space
        written: list[GoalSession] = []

        async def work(emit: Emit, halt: SuspendRequest) -> RunResult:
            from planner.goals.session import GoalSession

            session = GoalSession(space, goal, emit=emit, halt=halt)
            written.append(session)
            try:
                result = await session.write()
            except asyncio.CancelledError:
                return await _stopped(session, halt)
            if session.document is not None or session.is_over or session.id is None:
                return result
            return await session.end(result)

        self._screen.files.open_text("", "")
        asked = self._asked = object()
        self._answer, self._answers, self._next = "", 0, 0.0
        self._screen.editor.read_only = True
        try:
            result = await runner.work(work, take=self._take)
        finally:
            self._going = None
            self._screen.editor.read_only = False
            self._screen.refresh_bindings()
        document = written[0].document if written else None
        if self._asked is not asked:
            if document is not None and result.run is not None:
                await self._abandon(result.run)
            return
        if document is None:
            self._screen.infospace.notify_ended(result)
            self._show(f"no plan: {result.reason or result.status}", failed=True)
            self._screen.check_soon()
            return
        self.run_id, self._goal = result.run, _goal_of(document)
        self._screen.editor.grow(format_plan(document))
        self._screen.editor.go_to(0)
        effects = await asyncio.to_thread(written[0].effects)
        row = next((row for row in reversed(result.steps) if row.type == "write-plan"), None)
        written_by = "" if row is None else f"written by {attempts_of(row.extra)}"
        self._show(written_by, *effect_lines(effects), "^r runs it")
        self._field.value = ""
        self._screen.editor.focus()
        self._screen.check_soon()

    def _take(self, going: ActiveRun) -> None:
        self._going = going
        self._screen.tabs.active = "run"
        self._show("the model is asked …")

    def _show(self, *lines: str, failed: bool = False) -> None:
        """Say how far the writing is, or how it was."""
        colours = self._screen.infospace.colours
        run = self._going.run if self._going is not None else self.run_id
        said = ". ".join(single_line(line) for line in lines if line)
        told = Text.assemble((f"{run} " if run else "", "bold"), (said, colours.get("error", "") if failed else ""))
        self._screen.draft_run.show_status(told)

    # Arriving

    def handle_run_events(self, going: ActiveRun, events: Sequence[Event]) -> None:
        """Put what has arrived into the text."""
        if going is not self._going or going is None:
            return
        fresh = False
        for event in events:
            if isinstance(event, Spoke) and event.kind == "draft":
                fresh = True
                if not event.text:
                    self._answers += 1
                    self._answer = ""
                self._answer += event.text
        if fresh:
            self._arrived()

    def _arrived(self) -> None:
        attempt = f"attempt {self._answers}, " if self._answers > 1 else ""
        self._show(f"the model writes: {attempt}{pluralize(len(self._answer), 'character')}")
        begun = time.monotonic()
        if len(self._answer) > LONGEST or begun < self._next:
            return
        plan = arriving_plan(self._answer)
        if plan is not None:
            self._screen.editor.grow(format_plan(plan))
        self._next = begun + (time.monotonic() - begun) * SHARE

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
        if self._going is None:
            return False
        self._screen.infospace.runner.break_off(self._going)
        return True

    def run_for(self, draft: Draft) -> str | None:
        """Return the run that the draft is to be run in, None where it is the plan of no goal, or of another."""
        plan = draft.plan
        fits = plan is not None and not plan.inputs and _goal_of(draft.document) == self._goal
        return self.run_id if fits else None

    async def run(self, run: str, document: JSON, pausing: Breakpoints) -> RunResult:
        """Run the plan, as it is here now, in the run in which it was written, to its end."""
        from planner.goals.session import go_on, reads_only

        self.run_id = None
        agreed: list[bool] = []

        def agree(session: GoalSession) -> Sequence[str] | None:
            if agreed:  # what the model writes after a failure nobody has seen
                return reads_only(session)
            agreed.append(True)
            session.document = document
            return []

        async def work(emit: Emit, halt: SuspendRequest) -> RunResult:
            from planner.goals.session import GoalSession

            space = self._screen.infospace.space
            try:
                return await go_on(space, run, agree, emit=emit, halt=halt)
            except asyncio.CancelledError:
                return await _stopped(GoalSession.reopen(space, run), halt)

        return await self._screen.infospace.runner.work(work, run, pausing)

    def forget(self) -> None:
        """Let go of what is being written, or was and was not run: its run ends."""
        self.stop()
        self._asked = None
        run, self.run_id = self.run_id, None
        if run is not None:
            self._screen.do(self._abandon, run, group="abandon", exclusive=False)

    async def _abandon(self, run: str) -> None:
        from planner.goals.session import GoalSession

        space = self._screen.infospace.space
        await self._screen.infospace.engine.do(GoalSession.reopen(space, run).abandon("the plan was not wanted"))


def _goal_of(document: JSON) -> JSON:
    return document.get("goal") if isinstance(document, dict) else None


async def _stopped(session: GoalSession, halt: SuspendRequest) -> RunResult:
    """End the run of a goal that somebody broke off; whatever else cancelled it goes on doing so."""
    if not halt.broken or session.id is None:
        raise asyncio.CancelledError
    return await session.abandon("stopped by hand")


def _is_error_in(pointer: str, severity: str, done: Sequence[str]) -> bool:
    return severity == "error" and any(pointer == one or pointer.startswith(f"{one}/") for one in done)
