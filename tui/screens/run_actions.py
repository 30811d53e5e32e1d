"""What can be done with a run, whichever place shows it: the same as on the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from infospace.core.errors import NotFound
from infospace.core.json_types import JSON
from infospace.journal.rows import RunHead, RunRow, StepRow
from planner.goals.effects import Effect, needs_consent
from planner.journal.lease import is_live
from planner.journal.result import RunResult
from planner.journal.suspension import Pending
from planner.language.json_patch import apply_patch
from planner.lifecycle.resume import answer, pending_of, plan_of
from tui.base_screen import BaseScreen
from tui.dialogs.common import ConfirmDialog
from tui.dialogs.fork import ForkDialog, ForkRequest
from tui.dialogs.question import Answer, QuestionDialog
from tui.dialogs.report import ReportDialog
from tui.text.planning import effect_lines

if TYPE_CHECKING:
    from infospace.space import Space
    from infospace.store.protocol import Snapshot
    from planner.goals.session import Agree, GoalSession


def _effects_of_waiting_plan(space: Space, run: str) -> list[Effect]:
    """Return what the plan of a goal would do that waits for a person's word; nothing for another run."""
    from planner.goals.session import GoalSession, is_of_goal

    with space.store.reading() as snapshot:
        if not is_of_goal(snapshot.run(run).document):
            return []
    session = GoalSession.reopen(space, run)
    return [] if session.document is None else session.effects()


def _agree_once() -> Agree:
    """Agree to the plan that was shown; of what is written after it only to what reads."""
    agreed: list[bool] = []

    def agree(session: GoalSession) -> Sequence[str] | None:
        from planner.goals.session import reads_only

        if agreed:
            return reads_only(session)
        agreed.append(True)
        return []

    return agree


class RunActions(BaseScreen):
    """A place whose runs can be resumed, answered, stopped, forked and replayed."""

    def can(self, action: str, run: RunHead | RunRow | None, *, asks: bool) -> bool:
        """Whether something can be done with a run now; `asks` is whether it waits for an answer."""
        return run is not None and possible(action, run, here=self.infospace.runner.of(run.run) is not None, asks=asks)

    def resume_run(self, run: str) -> None:
        """Go on with a run; where it asks something, ask that first."""
        self.ask_for(self._resume, run, group="action")

    async def _resume(self, run: str) -> None:
        questions = await self.ask(lambda snapshot: _questions(snapshot.steps(run), snapshot.answers(run)))
        if questions:
            await self._answer(run, questions)
            return
        effects = await asyncio.to_thread(_effects_of_waiting_plan, self.infospace.space, run)
        if not needs_consent(effects):
            self.continue_run(run)
        elif await self.app.push_screen_wait(
            ConfirmDialog("Run the plan that the model wrote?", ". ".join(effect_lines(effects)), yes="Run it")
        ):
            self.infospace.follow(self.infospace.runner.resume, run, None, None, _agree_once())

    def continue_run(self, run: str) -> None:
        """Go on with a run that asks nothing."""
        self.infospace.follow(self.infospace.runner.resume, run)

    def answer_run(self, run: str) -> None:
        """Ask what a run waits for, and go on with it."""
        self.ask_for(self._ask_run, run, group="action")

    async def _ask_run(self, run: str) -> None:
        def read(snapshot: Snapshot) -> tuple[str, list[Pending]]:
            return snapshot.run(run).status, _questions(snapshot.steps(run), snapshot.answers(run))

        status, questions = await self.ask(read)
        if status != "suspended" or not questions:
            raise NotFound(f"{run} asks nothing", hint="r resumes it" if status == "suspended" else None)
        await self._answer(run, questions)

    async def _answer(self, run: str, questions: list[Pending]) -> None:
        answered: Answer | None = await self.app.push_screen_wait(QuestionDialog(run, questions))
        if answered is not None:
            self.do(self._hand_in, run, questions, answered, group="answer", exclusive=False)

    async def _hand_in(self, run: str, questions: list[Pending], answered: Answer) -> None:
        """Keep an answer and go on, whatever action is begun meanwhile; ask the next question first."""
        await asyncio.to_thread(answer, self.infospace.space, run, answered.step, answered.value)
        if questions[1:]:
            await self._answer(run, questions[1:])
        else:
            self.continue_run(run)

    def edit_run(self, run: str) -> None:
        """Write on the plan of a run."""
        self.ask_for(self._edit, run, group="action")

    async def _edit(self, run: str) -> None:
        row = await self.ask(lambda snapshot: snapshot.run(run))
        if row.kind != "plan" or row.document is None:
            raise NotFound(f"{run} has no plan to be written on", hint="runs of plans have one")
        await self.infospace.edit_plan(run, row.document)

    def stop_run(self, run: str) -> None:
        """Put a run that goes on here to rest, or at once when it was told before; end one that rests."""
        active = self.infospace.runner.of(run)
        if active is None:
            self.ask_for(self._cancel, run, group="action")
            return
        again = self.infospace.runner.halt(active)
        message = (
            f"{run} is broken off." if again else f"{run} finishes the steps under way; once more ends it at once."
        )
        self.notify(message)

    async def _cancel(self, run: str) -> None:
        row = await self.ask(lambda snapshot: snapshot.run(run))
        if row.status in {"suspended", "running"} and not is_live(row):
            detail = "What it did stays. It cannot be resumed any more."
            if not await self.app.push_screen_wait(ConfirmDialog(f"End {run} as cancelled?", detail, yes="End it")):
                return
        from planner.lifecycle.cancel import cancel

        await asyncio.to_thread(cancel, self.infospace.space, run)
        self.shown()

    def fork_run(self, run: str, step: str | None = None) -> None:
        """Ask from which step on a plan is to be run anew, and how it is changed; run it."""
        self.ask_for(self._fork, run, step, group="action")

    async def _fork(self, run: str, step: str | None) -> None:
        row = await self.ask(lambda snapshot: snapshot.run(run))
        labels = [(one.label, one.type) for one in plan_of(row).steps]
        if row.kind != "plan" or not labels:
            raise NotFound(f"{run} has no steps to begin from", hint="runs of plans can be forked")
        forked = await self.app.push_screen_wait(ForkDialog(run, row.document, labels, step))
        if forked is not None:
            self.infospace.follow(self._forked, run, forked, row.document)

    async def _forked(self, run: str, forked: ForkRequest, document: JSON) -> RunResult:
        """Run the fork; where it is refused, show why."""
        result = await self.infospace.runner.fork(run, forked.step, forked.patch)
        if result.status == "refused":
            self.infospace.open_plan(apply_patch(document, forked.patch), show=True)
        return result

    def replay_run(self, run: str) -> None:
        """Run a run once more from its record, and show what differs."""
        self.do(self._replay, run, group="replay")

    async def _replay(self, run: str) -> None:
        from planner.lifecycle.replay import replay
        from tui.text.diff_lines import difference_lines

        self.notify(f"Replaying {run} …")
        replayed = await self.infospace.engine.do(replay(self.infospace.space, run))
        why = [] if replayed.why is None else [(replayed.why, "yellow")]
        lines = [*difference_lines(replayed.difference), *why]
        await self.app.push_screen_wait(ReportDialog(f"Replay of {run}", lines))


def _questions(rows: list[StepRow], answers: Mapping[str, JSON]) -> list[Pending]:
    """Return what is asked and not answered yet."""
    return [pending for pending in pending_of(rows) if pending.kind != "wait" and pending.answer_key not in answers]


def possible(action: str, run: RunHead | RunRow, *, here: bool, asks: bool) -> bool:
    """Whether something can be done with a run; `here` is whether it goes on in this process."""
    left = run.status == "running" and not here and not is_live(run)
    rests = (run.status == "suspended" and not here) or left
    match action:
        case "answer":
            return rests and asks
        case "resume":
            return rests
        case "stop":
            return here or rests
        case "fork" | "edit" | "replay":
            return run.kind == "plan"
        case "delete":
            return not here and (left or run.status != "running")
    return True
