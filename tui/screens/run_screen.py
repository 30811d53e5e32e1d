"""Places that show something of the run that is open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.widgets import Static

from infospace.core.plural import pluralize
from infospace.core.position import top_label
from tui.runtime.run_model import RunModel
from tui.screen_registry import key_of
from tui.screens.run_actions import RunActions
from tui.text.format import between, format_duration, question_line, sign, single_line

OF_RUNS = ("answer", "resume", "stop", "fork", "edit", "replay")
"""What is done with the run that is open."""
NOTHING = f"No run is open: enter opens one in Runs ({key_of('runs')}); Compose ({key_of('compose')}) makes one."


class Banner(Static):
    """What the run waits for; a click answers it."""

    def on_click(self, event: Click) -> None:
        event.stop()
        if isinstance(self.screen, RunScreen):
            self.screen.action_answer()


class RunScreen(RunActions):
    """A place that shows something of `infospace.subject`; `show_run` is called whenever that is to be drawn anew."""

    REASON: ClassVar[bool] = False
    """Whether the place says why the run ended as it did."""
    ACTIONS: ClassVar[list[BindingType]] = [
        Binding("a", "answer", "Answer", tooltip="answers the run's question, and resumes it"),
        Binding("r", "resume", "Resume", tooltip="resumes a suspended or interrupted run"),
        Binding("x", "stop", "Stop", tooltip="suspends the run after its current steps; again: ends it at once"),
        Binding("f", "fork", "Fork", tooltip="runs the plan again from the chosen step on, with a change"),
        Binding("o", "edit", "Edit", show=False, tooltip="edits its plan in Compose"),
        Binding("p", "replay", "Replay", show=False, tooltip="runs it again from its record, and shows what differs"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._drawn: tuple[RunModel | None, int] | None = None

    def content(self) -> ComposeResult:
        """What is open, what it waits for, and what the place shows of it."""
        yield Static(NOTHING, id="subject")
        yield Banner("", id="banner", markup=False)
        yield from self.body()

    def body(self) -> Iterable[Static] | ComposeResult:
        """Give what the place shows of the run."""
        raise NotImplementedError

    def shown(self) -> None:
        """Draw what has changed since the place was shown last; without a run, the latest one."""
        if self.infospace.subject is None and self.infospace.opened is None:
            self.infospace.open_latest()
        self.changed()

    def changed(self) -> None:
        """Draw the run that is open, where it is not drawn as it is."""
        subject = self.infospace.subject
        now = (subject, 0 if subject is None else subject.changes)
        if self._drawn == now or not self.is_mounted:
            return
        afresh = self._drawn is None or (self._drawn[0] is not subject and _name(self._drawn[0]) != _name(subject))
        self._drawn = now
        self._head(subject)
        self.show_run(subject, afresh=afresh)
        self.refresh_bindings()

    def is_action_available(self, action: str) -> bool:
        """Whether something can be done with the run that is open."""
        if action not in OF_RUNS:
            return super().is_action_available(action)
        subject = self.infospace.subject
        run = None if subject is None else subject.run
        asks = subject is not None and any(pending.kind != "wait" for pending in subject.pending)
        return self.can(action, run, asks=asks)

    def show_run(self, subject: RunModel | None, *, afresh: bool) -> None:
        """Draw a run, `afresh` when it is another one than before."""
        raise NotImplementedError

    def _head(self, subject: RunModel | None) -> None:
        self.query_one("#subject", Static).update(
            Text(NOTHING, "dim") if subject is None else self._render_status(subject)
        )
        waits = "" if subject is None else " ".join(_waiting(subject, reason=self.REASON))
        banner = self.query_one("#banner", Banner)
        banner.update(waits)
        banner.display = bool(waits)

    def _render_status(self, subject: RunModel) -> Text:
        colours = self.infospace.colours
        if subject.run is None:
            bad = sum(problem.severity == "error" for problem in subject.problems)
            state = "refused" if bad else ""
            text = Text.assemble(("a plan, not run  ", "bold")).append_text(sign(state, colours))
            return text.append(f" {pluralize(bad, 'error') if bad else 'may run'}  ").append(
                single_line(subject.plan.goal), "dim"
            )
        run = subject.run
        status = "running" if subject.here else run.status
        text = (
            Text(no_wrap=True, overflow="ellipsis")
            .append(f"{run.run} ", "bold")
            .append_text(sign(status, colours))
            .append(f" {status}  ")
        )
        spent = run.spent.get("seconds")
        elapsed = spent * 1000 if spent is not None and status != "running" else between(run.started, run.ended)
        text.append(f"{pluralize(len(subject.outline.rows), 'execution')} in {format_duration(elapsed)}  ", "dim")
        return text.append(single_line(run.goal or "(no goal)"))

    # Doing

    def _run(self) -> str | None:
        subject = self.infospace.subject
        if subject is None or subject.run is None:
            self.notify("No run is open.", severity="warning")
            return None
        return subject.run.run

    def action_answer(self) -> None:
        """Answer what it asks."""
        run = self._run()
        if run is not None:
            self.answer_run(run)

    def action_resume(self) -> None:
        """Go on with it."""
        run = self._run()
        if run is not None:
            self.resume_run(run)

    def action_stop(self) -> None:
        run = self._run()
        if run is not None:
            self.stop_run(run)

    def action_fork(self) -> None:
        """Fork it, from the step that is chosen."""
        run = self._run()
        if run is not None:
            chosen = self.infospace.chosen or ""
            self.fork_run(run, top_label(chosen))

    def action_edit(self) -> None:
        """Write on its plan."""
        run = self._run()
        if run is not None:
            self.edit_run(run)

    def action_replay(self) -> None:
        run = self._run()
        if run is not None:
            self.replay_run(run)

    def open_in_notes(self, pointed: tuple[str, int | None] | None) -> None:
        """Open a resource in Notes, at a version or as it is now."""
        if pointed is None:
            self.notify("There is no note here, and no Collection.", severity="warning")
        else:
            self.infospace.open_note(*pointed)


def _name(subject: RunModel | None) -> str | None:
    return None if subject is None else subject.name


def _waiting(subject: RunModel, *, reason: bool) -> Iterable[str]:
    """Say what a run waits for and what can be done about it; with `reason`, why it ended."""
    for pending in subject.pending[:1]:
        more = f" (and {len(subject.pending) - 1} more)" if len(subject.pending) > 1 else ""
        action = "r asks again" if pending.kind == "wait" else "a answers"
        yield f"step {pending.step} waits: {question_line(pending.question)}{more}  [{action}]"
    if reason and subject.run is not None and subject.run.reason and subject.run.status != "success":
        yield single_line(subject.run.reason)
