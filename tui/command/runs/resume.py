"""Resume a suspended run, or one whose process is gone. Steps that ended are not repeated.

The run of a goal (`infospace do`) is continued to its end: a plan that writes or calls something is shown, and run
after you agree. Exit codes are those of `run`; 4 when it still waits.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tui.command.common.approve_option import add_approve, approved
from tui.command.common.cache_option import add_cache, use_cache
from tui.command.common.ctrl_c import run_interruptible
from tui.command.common.follow_run import RunTakenOver, add_wait, follow_until_done, report_taken_over
from tui.command.common.open_space import open_from
from tui.command.common.plan_consent import agreed
from tui.command.common.sign_in import offer_sign_in
from tui.command.runs.run import code_of
from tui.text.output import Output

if TYPE_CHECKING:
    from infospace.space import Space
    from planner.goals.session import Agree, GoalSession
    from planner.journal.events import Event
    from planner.journal.result import RunResult

EXAMPLES = """examples:
  infospace resume run_7
  infospace resume run_7 --approve files/write
  infospace resume run_7 --wait"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", metavar="RUN", help="the run, such as run_7")
    parser.add_argument("--data", action="store_true", help="with --json, the full content of every step")
    parser.add_argument("--yes", action="store_true", help="agree to the plan that the run of a goal goes on with")
    add_approve(parser)
    add_cache(parser)
    add_wait(parser.add_argument)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Go on, and show how it ends."""
    with open_from(args, create=False) as space:
        use_cache(args, space)
        offer_sign_in(space, out)
        return resume_and_show(space, args, out)


def resume_and_show(space: Space, args: argparse.Namespace, out: Output) -> int:
    """Go on with a run and show it; return the exit code."""
    from tui.command.common.event_printer import EventPrinter, show_result

    watch = (lambda _event: None) if out.json else EventPrinter(out)
    agree = _agree(out, yes=getattr(args, "yes", False))
    result = resumed(space, args.run, watch, out, approved(args, space, out), agree)
    if args.wait:
        try:
            result = follow_until_done(space, result, watch, out)
        except RunTakenOver as gone:
            return report_taken_over(space, gone, out)
    if out.json:
        out.document(result.to_json(space if args.data else None))
    else:
        show_result(result, out)
    return code_of(result)


def _agree(out: Output, *, yes: bool) -> Agree:
    """Return what agrees to plans in the name of whoever called the command, where somebody can be asked."""

    def agree(session: GoalSession) -> Sequence[str] | None:
        from planner.goals.session import reads_only

        return agreed(session, out, yes=yes) if yes or sys.stdin.isatty() else reads_only(session)

    return agree


def resumed(
    space: Space,
    run: str,
    watch: Callable[[Event], None],
    out: Output,
    approve: Sequence[str] = (),
    agree: Agree | None = None,
) -> RunResult:
    """Go on with a run, telling its events to `watch`; Ctrl-C once suspends it again."""
    from planner.goals.resume import resume

    going = run_interruptible(lambda emit, halt: resume(space, run, emit, halt, approve, agree), watch, out)
    result = asyncio.run(going)
    if result is None:
        out.talk(f"interrupted before it went on: {run} is as it was")
        raise KeyboardInterrupt
    return result
