"""Forking a draft: it is run anew from the first step that differs from the run that it is the plan of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infospace.core.errors import InfospaceError
from infospace.data.json_text import same
from planner.editor.draft import Draft, marked
from planner.journal.result import RunResult
from planner.language.problems import Problems, replace
from planner.parse.document import parse_plan
from tui.dialogs.common import ConfirmDialog
from tui.screens.compose.run import DraftRun

if TYPE_CHECKING:
    from tui.screens.compose.compose import Compose


class DraftFork:
    """Runs the draft from a step of an earlier run on."""

    def __init__(self, screen: Compose, run: DraftRun) -> None:
        self._screen = screen
        self._run = run

    def fork(self) -> None:
        """Run the changed plan anew from the first step that was changed."""
        self._screen.ask_for(self._run.alone, self._fork_here, group="try", exclusive=False)

    async def _fork_here(self) -> RunResult | None:
        run, draft = self._run.run_id, await self._screen.checked()
        if run is None:
            self._screen.notify(
                "Only what was run can be forked: run it, or edit a run from Runs or Plan.", severity="warning"
            )
            return None
        if draft.plan is None or draft.lines:
            self._screen.notify("What cannot be read as a plan cannot be run.", severity="warning")
            return None
        step, changed = self._from(draft)
        if step is None:
            self._screen.notify(f"The plan of {run} has no steps to begin from.", severity="warning")
            return None
        what = f"It is changed from step {step} on." if changed else "It is not changed."
        detail = f"{what} Steps before step {step} are taken from {run} as they were."
        if not await self._screen.app.push_screen_wait(
            ConfirmDialog(f"Fork {run} at step {step}?", detail, yes="Fork")
        ):
            return None
        patch = [] if same(draft.document, self._run.ran) else replace("", draft.document)
        self._run.pausing, self._run.result = self._run.afresh(draft), None
        self._run.show_running()
        try:
            result = await self._screen.infospace.runner.fork(run, step, patch, self._run.pausing)
        except InfospaceError as error:
            self._run.show_status(self._run.headed("refused", str(error)))
            raise
        if result.status == "refused":
            self._screen.show_draft(marked(draft, result.problems))
            self._screen.report_problems(self._screen.draft)
            self._run.show_status(self._run.headed("refused", f"the fork of {run} is refused"))
            return None
        self._run.ran = draft.document
        return result

    def _from(self, draft: Draft) -> tuple[str | None, bool]:
        """Return the step of the run at which a fork begins: the first that is changed, else that at the cursor."""
        before = parse_plan(self._run.ran, Problems()).steps
        after = () if draft.plan is None else draft.plan.steps
        if not before:
            return None, False
        differs = next(
            (index for index, (old, new) in enumerate(zip(before, after, strict=False)) if old != new),
            min(len(before), len(after)),
        )
        if differs < len(before) or len(after) > len(before):
            return before[min(differs, len(before) - 1)].label, True
        at = draft.step_at(self._screen.editor.offset_of_cursor)
        pointer = "" if at is None else at.step.pointer
        own = [step for step in after if pointer == step.pointer or pointer.startswith(f"{step.pointer}/")]
        return (own[0] if own else after[-1]).label, False
