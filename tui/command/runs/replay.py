"""Run a run again from its record, and show what differs.

Answers of tools, models and people come from the record. Notes are read as they are now; with --recorded as they were
then. Nothing that the replay writes is kept. Exit code 0 when nothing differs, 1 when something does.
"""

from __future__ import annotations

import argparse
import asyncio

from tui.command.common.open_space import open_from
from tui.text.output import Output

EXAMPLES = """examples:
  infospace replay run_7
  infospace replay run_7 --recorded
  infospace replay run_7 --live --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", metavar="RUN", help="the run, such as run_7")
    parser.add_argument("--recorded", action="store_true", help="take the notes that it read from the record, too")
    parser.add_argument("--live", action="store_true", help="make the calls that the record does not have")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Replay, and show what differs."""
    from planner.lifecycle.replay import replay
    from tui.command.runs.diff import difference_json

    with open_from(args, create=False) as space:
        if out.json:
            replayed = asyncio.run(replay(space, args.run, recorded=args.recorded, live=args.live))
            results = difference_json(replayed.difference)
            out.document({"replayed": replayed.document, "difference": results, "why": replayed.why})
        else:
            from tui.command.common.event_printer import EventPrinter
            from tui.text.diff_lines import show_difference

            replayed = asyncio.run(replay(space, args.run, EventPrinter(out), recorded=args.recorded, live=args.live))
            show_difference(replayed.difference, out)
            if replayed.why is not None:
                out.talk(replayed.why, "yellow")
    return 0 if replayed.difference.same else 1
