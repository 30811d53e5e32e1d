"""Undo a run: what it made goes, what it changed or deleted is as it was.

Refused when something that it wrote was changed since. Undoing is a run itself, and can be undone.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from tui.command.common.open_space import open_from
from tui.text.output import Output

EXAMPLES = """examples:
  infospace runs
  infospace undo run_3"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", metavar="RUN", help="the id of a run that has ended")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Undo, and say what was done."""
    from infospace.editing.undo import describe, undo

    with open_from(args, create=False) as space:
        undone = undo(space.store, args.run)
    if out.json:
        out.document({"undid": args.run, **asdict(undone)})
    else:
        out.text(f"{args.run} is undone: {', '.join(describe(undone))} ({undone.run})")
    return 0
