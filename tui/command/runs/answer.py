"""Answer what a suspended run asks, and resume it.

VALUE is read as JSON if that fits the question's schema, else as text. A tool that asks before it is called takes
once (this call), run (all its calls in this run), always, or no. Without STEP and VALUE the questions are listed.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tui.command.common.approve_option import add_approve
from tui.command.common.cache_option import add_cache, use_cache
from tui.command.common.follow_run import add_wait
from tui.command.common.open_space import open_from
from tui.command.common.sign_in import offer_sign_in
from tui.command.runs.resume import resume_and_show
from tui.text.output import Output, UsageError
from tui.text.pending import choices, command, describe_schema, meanings, value_of

if TYPE_CHECKING:
    from infospace.space import Space
    from planner.journal.suspension import Pending

EXAMPLES = """examples:
  infospace answer run_7
  infospace answer run_7 3 1984
  infospace answer run_7 5 once
  infospace answer run_7 2.do[1].1 'yes, but shorter' --only"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", metavar="RUN", help="the run, such as run_7")
    parser.add_argument("step", metavar="STEP", nargs="?", help="the step that asks, such as 3")
    parser.add_argument("value", metavar="VALUE", nargs="?", help="the answer")
    then = parser.add_mutually_exclusive_group()
    then.add_argument("--only", action="store_true", help="keep the answer, and do not resume yet")
    add_wait(then.add_argument)
    add_approve(parser)
    add_cache(parser)
    parser.add_argument("--data", action="store_true", help="with --json, the full content of every step")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Answer and go on, or list what is asked."""
    from planner.lifecycle.resume import answer

    if args.only and (args.approve or args.cache or args.data):
        hint = f"`{command(out, 'resume', args.run)}` takes --approve, --cache and --data"
        raise UsageError("--only keeps the answer, and nothing goes on yet", hint=hint)
    with open_from(args, create=False) as space:
        use_cache(args, space)
        offer_sign_in(space, out)
        pending = _open_questions(space, args.run)
        if args.step is not None and args.value is None:
            raise _unanswered(pending, args, out)
        if args.step is None:
            return _list(pending, args, out)
        answer(space, args.run, args.step, value_of(args.value, pending.get(args.step)))
        if not args.only:
            return resume_and_show(space, args, out)
    out.talk(f"kept; `{command(out, 'resume', args.run)}` goes on")
    if out.json:
        out.document({"run": args.run, "step": args.step})
    return 0


def _open_questions(space: Space, run: str) -> dict[str, Pending]:
    from planner.lifecycle.resume import pending_of

    with space.store.reading() as snapshot:
        waiting = pending_of(snapshot.steps(run)) if snapshot.run(run).status == "suspended" else []
    return {pending.step: pending for pending in waiting if pending.kind != "wait"}


def _unanswered(pending: dict[str, Pending], args: argparse.Namespace, out: Output) -> UsageError:
    """Say what a command without VALUE lacks: the answer, or the step, where what stands there is none that asks."""
    if not pending:
        return UsageError(f"{args.run} asks nothing", hint="`infospace runs` says which runs are suspended")
    if args.step in pending:
        return UsageError(f"there is no answer to step {args.step}: {pending[args.step].question}", hint="add VALUE")
    step = next(iter(pending)) if len(pending) == 1 else "STEP"
    return UsageError(f"no step {args.step!r} asks", hint=f"`{command(out, 'answer', args.run, step, args.step)}`?")


def _list(pending: dict[str, Pending], args: argparse.Namespace, out: Output) -> int:
    if out.json:
        out.document([one.to_json() for one in pending.values()])
        return 0
    if not pending:
        out.talk(f"{args.run} asks nothing")
    for one in pending.values():
        out.text(f"{one.step}  {one.question}")
        for line in meanings(one.schema) if choices(one.schema) else [describe_schema(one.schema)]:
            out.talk(f"    {line}", "dim")
    return 0
