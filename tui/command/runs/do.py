"""Let a language model write a plan for a goal, show it, ask once, and run it.

A plan that only reads and computes runs without asking. `--yes` runs any other without asking, too; a tool that may
take something away is asked about all the same, unless `--approve` names it. When a step fails, the model writes a new
plan for the rest. Exit codes are those of `infospace run`, and 130 when you answer no.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from tui.command.common.approve_option import add_approve, approved
from tui.command.common.cache_option import add_cache, use_cache
from tui.command.common.goal_input import (
    add_goal,
    add_inputs,
    add_limits,
    add_memory,
    goal_of,
    inputs_of,
    limits_of,
    require_model,
    watcher,
)
from tui.command.common.open_space import open_from
from tui.command.common.plan_consent import agreed
from tui.text.output import Output

if TYPE_CHECKING:
    from infospace.space import Space
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
        "--mode",
        choices=("whole", "steps"),
        default="whole",
        help="whether the model writes a whole plan (the default), or one step after another",
    )
    add_limits(parser, run=True)
    add_memory(parser)
    add_cache(parser)
    parser.add_argument(
        "--yes",
        action="store_true",
        help="run the plan without asking; tools that may take something away still ask (--approve)",
    )
    add_approve(parser)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Write the plan, ask, run it, show the answer."""
    from planner.goals.session import do

    goal, inputs = goal_of(args), inputs_of(args)
    with open_from(args, create=True) as space:
        require_model(space)
        use_cache(args, space)
        approve = approved(args, space, out)
        doing = do(
            space,
            goal,
            lambda session: agreed(session, out, yes=args.yes, can_ask=args.goal != "-"),
            inputs,
            mode=args.mode,
            approve=approve,
            max_repairs=args.max_repairs,
            limits=limits_of(args),
            memory=not args.no_memory,
            emit=watcher(out),
        )
        return _show(asyncio.run(doing), space, out)


def _show(result: RunResult, space: Space, out: Output) -> int:
    from tui.command.common.event_printer import show_result
    from tui.command.runs.run import code_of

    if out.json:
        out.document(result.to_json(space))
    else:
        show_result(result, out)
    return code_of(result)
