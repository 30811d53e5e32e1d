"""Let a language model write a plan for a goal, show it, ask once, and run it.

A plan that only reads and computes runs without asking. `--yes` answers yes, also to questions about the tools that
the plan names. When a step fails, the model writes a new plan for the rest. Exit codes are those of `infospace run`,
and 130 when you answer no.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from tui.command.common.approve_option import add_approve, approved
from tui.command.common.goal_input import add_goal, add_inputs, goal_of, inputs_of, require_model, watcher
from tui.command.common.open_space import open_from
from tui.command.runs.plan import show_plan
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infospace.space import Space
    from planner.goals.session import GoalSession
    from planner.journal.result import RunResult

EXAMPLES = """examples:
  infospace do 'what did we decide about the re-ranker?'
  infospace do 'write the report weekly out of all notes about ranking' --yes
  echo 'count the notes by folder' | infospace do - --json --yes"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_goal(parser)
    add_inputs(parser)
    parser.add_argument(
        "--yes", action="store_true", help="run the plan, and call the tools that it names, without asking"
    )
    add_approve(parser)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Write the plan, ask, run it, show the answer."""
    from planner.goals.session import do

    goal, inputs = goal_of(args), inputs_of(args)
    with open_from(args, create=True) as space:
        require_model(space)
        approve = approved(args, space, out)
        doing = do(
            space,
            goal,
            lambda session: _agreed(session, args, out),
            inputs,
            approve=approve,
            max_repairs=args.max_repairs,
            emit=watcher(out),
        )
        return _show(asyncio.run(doing), space, out)


def _agreed(session: GoalSession, args: argparse.Namespace, out: Output) -> Sequence[str] | None:
    """Show the plan and ask for consent where it has effects; return the tools that were agreed to, None for no."""
    from planner.goals.effects import needs_consent, tools_called

    effects = session.effects()
    if not out.json:
        show_plan(session.document, effects, out)
    if args.yes:
        return tools_called(effects)
    if not needs_consent(effects):
        return []
    if not sys.stdin.isatty() or args.goal == "-":
        hint = "--yes agrees; `infospace plan` shows a plan and runs nothing"
        raise UsageError("the plan writes or calls, and nobody can be asked here", hint=hint)
    sys.stderr.write("Run it? [y/N] ")
    sys.stderr.flush()
    return tools_called(effects) if sys.stdin.readline().strip().lower() in ("y", "yes") else None


def _show(result: RunResult, space: Space, out: Output) -> int:
    from tui.command.common.event_printer import show_result
    from tui.command.runs.run import code_of

    if out.json:
        out.document(result.to_json(space))
    else:
        show_result(result, out)
    return code_of(result)
