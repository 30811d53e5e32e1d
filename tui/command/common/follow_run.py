"""Staying with a run that waits: until its time has come, and on a terminal for the person's answers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from infospace.core.clock import seconds_until
from infospace.core.errors import Conflict, Invalid
from tui.command.common.ctrl_c import read_line
from tui.text.output import Output
from tui.text.pending import choices, command, describe_schema, meanings, show_pending, value_of

if TYPE_CHECKING:
    from infospace.journal.rows import RunRow
    from infospace.space import Space
    from planner.journal.events import Event
    from planner.journal.result import RunResult
    from planner.journal.suspension import Pending

FIRST, MAX_POLL_SECONDS = 1.0, 30.0
"""Seconds after which a condition is looked at again: twice as long each time, up to the longest."""

POLL_SECONDS = 5.0
"""Seconds between two looks at whether somebody else has answered, or taken the run over."""


class RunTakenOver(Exception):
    """Somebody else went on with a run that was waited for."""

    def __init__(self, row: RunRow) -> None:
        super().__init__(row.run)
        self.row = row


def add_wait(add_argument: Callable[..., object]) -> None:
    """Declare the option `--wait`."""
    add_argument(
        "--wait",
        action="store_true",
        help="stay while the run waits for a time or a condition; on a terminal, ask for the answers it waits for",
    )


def follow_until_done(space: Space, result: RunResult, watch: Callable[[Event], None], out: Output) -> RunResult:
    """Go on with a run for as long as it waits for what can be waited for here.

    It ends with the questions that were left out with an empty line. Raises LeaseLost.
    """
    attending = WaitLoop(space, out)
    try:
        while result.status == "suspended" and result.run is not None and not interrupted(result):
            if not attending.moved(result):
                break
            result = _resume(space, result, watch, out)
    except KeyboardInterrupt:
        result = replace(result, reason=f"interrupted; `{command(out, 'resume', result.run)}` goes on")
    if out.json:
        show_pending(result.run, result.pending, out, told=result.reason is not None)
    return result


def interrupted(result: RunResult) -> bool:
    """Whether a run rests since somebody interrupted it."""
    return result.status == "suspended" and (result.reason or "").startswith("interrupted")


def report_taken_over(space: Space, gone: RunTakenOver, out: Output) -> int:
    """Say where a run went, and how far it is; return the exit code."""
    from planner.server.run_json import recorded_run_json
    from tui.command.runs.run import CODES

    row = gone.row
    if row.status == "running":
        out.talk(f"{row.run} was resumed by another process: {row.owner} runs it now", "yellow")
    else:
        out.talk(f"{row.run} was resumed by another process, and is {row.status}", "yellow")
    out.talk(f"  → {command(out, 'show', row.run)}", "dim")
    if out.json:
        with space.store.reading() as snapshot:
            steps = snapshot.steps(row.run)
        out.document(recorded_run_json(space, row, steps, live=row.status == "running"))
    return CODES.get(row.status, CODES["suspended"])


def _resume(space: Space, result: RunResult, watch: Callable[[Event], None], out: Output) -> RunResult:
    """Go on with a run; of one that then waits on nothing is shown but what else it did."""
    from planner.journal.events import RunStarted, StepFinished
    from tui.command.runs.resume import resumed

    def on_event(event: Event) -> None:
        again = isinstance(event, RunStarted)
        if not again and not (isinstance(event, StepFinished) and event.row.status == "suspended"):
            watch(event)

    run = str(result.run)
    _require_suspended(space, run)
    try:
        return resumed(space, run, on_event, out)
    except Conflict:
        _require_suspended(space, run)
        raise


def _require_suspended(space: Space, run: str) -> None:
    with space.store.reading() as snapshot:
        row = snapshot.run(run)
    if row.status != "suspended":
        raise RunTakenOver(row)


@dataclass
class WaitLoop:
    """What was asked and waited for in one run."""

    space: Space
    out: Output
    left: set[str] = field(default_factory=set)
    """Questions that the person left open."""
    waited: set[str] = field(default_factory=set)
    pause: float = FIRST

    def moved(self, result: RunResult) -> bool:
        """Wait until there is something to go on with; whether there can be, as far as this process can wait."""
        run = str(result.run)
        questions = [
            pending for pending in result.pending if pending.kind != "wait" and pending.answer_key not in self.left
        ]
        if questions and sys.stdin.isatty() and sys.stderr.isatty():
            answered = [self._ask(run, pending) for pending in questions]
            if any(answered):
                self.pause = FIRST
                return True
        waits = [pending for pending in result.pending if pending.kind == "wait"]
        if not waits:
            return False
        self._wait(run, result.pending, waits)
        return True

    def _ask(self, run: str, one: Pending) -> bool:
        """Put a question to the person until the answer fits; whether there is one."""
        from planner.lifecycle.resume import answer

        self.out.talk(f"step {one.step} asks: {one.question}", "yellow")
        message = meanings(one.schema) if choices(one.schema) else [describe_schema(one.schema)]
        self.out.talk("\n".join(f"  {line}" for line in [*message, "an empty line leaves it open"]), "dim")
        while True:
            text = self._line()
            if not text:
                self.left.add(one.answer_key)
                return False
            try:
                answer(self.space, run, one.step, value_of(text, one))
            except Invalid as error:
                self.out.talk(error.message, "red")
                continue
            except Conflict:
                _require_suspended(self.space, run)
            return True

    def _line(self) -> str:
        """Read a line that the person types; empty at the end of input."""
        while True:
            try:
                line = read_line("> ")
                line.encode()
            except UnicodeError:
                self.out.talk("that is not UTF-8", "red")
                continue
            if not line:
                sys.stderr.write("\n")
            return line.strip()

    def _wait(self, run: str, pending: Sequence[Pending], waits: Sequence[Pending]) -> None:
        """Sleep until a time has come, a condition is to be looked at again, or somebody has answered elsewhere."""
        for one in waits:
            if one.step not in self.waited:
                self.waited.add(one.step)
                for_ = f"until {one.until}" if one.until is not None else f"for this: {one.question}"
                self.out.talk(f"step {one.step}: waiting {for_}; Ctrl-C leaves the run suspended", "dim")
        times = [one.until for one in waits if one.until is not None]
        conditions = len(times) < len(waits)
        due = time.monotonic() + min([*map(seconds_until, times), *([self.pause] if conditions else [])])
        self.pause = min(MAX_POLL_SECONDS, self.pause * 2)
        while (left := due - time.monotonic()) > 0:
            time.sleep(min(left, POLL_SECONDS))
            _require_suspended(self.space, run)
            if self._answered(run, pending):
                return

    def _answered(self, run: str, pending: Sequence[Pending]) -> bool:
        """Whether somebody answered what is asked, and left it to others to go on."""
        with self.space.store.reading() as snapshot:
            return not snapshot.answers(run).keys().isdisjoint(one.answer_key for one in pending)
