"""End a suspended or interrupted run for good. What it did stays; `undo` takes it back."""

from __future__ import annotations

import argparse

from tui.command.common.open_space import open_from
from tui.text.output import Output

EXAMPLES = """examples:
  infospace runs
  infospace cancel run_7"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", metavar="RUN", help="a suspended or interrupted run")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Cancel, and say so."""
    from planner.lifecycle.cancel import cancel

    with open_from(args, create=False) as space:
        cancel(space, args.run)
    if out.json:
        out.document({"run": args.run, "status": "cancelled"})
    else:
        out.text(f"{args.run} is cancelled; what it wrote stays, until `infospace undo {args.run}`")
    return 0
