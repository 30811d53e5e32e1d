"""Run a plan again from one of its steps on, with a change. The steps before it are taken from the run.

The change is a JSON Patch of the plan: a file, or JSON itself. Exit codes and Ctrl-C are as in `run`.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from tui.command.common.approve_option import add_approve, approved
from tui.command.common.cache_option import add_cache, use_cache
from tui.command.common.ctrl_c import run_interruptible
from tui.command.common.open_space import open_from
from tui.command.runs.run import code_of
from tui.text.output import Output, UsageError

EXAMPLES = """examples:
  infospace fork run_7 3 '[{"op": "replace", "path": "/steps/2/limit", "value": 20}]'
  infospace fork run_7 3 change.json --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", metavar="RUN", help="the run, such as run_7")
    parser.add_argument("step", metavar="STEP", help="the first step of the plan to run again")
    parser.add_argument("patch", metavar="PATCH", nargs="?", default="[]", help="a JSON Patch, or a file with one")
    add_approve(parser)
    add_cache(parser)
    parser.add_argument("--data", action="store_true", help="with --json, the full content of every step")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Fork, and show how it ends."""
    from planner.lifecycle.fork import fork
    from tui.command.common.event_printer import EventPrinter, show_result

    patch = _patch(args.patch)
    with open_from(args, create=False) as space:
        use_cache(args, space)
        watch, approve = (lambda _event: None) if out.json else EventPrinter(out), approved(args, space, out)
        result = asyncio.run(
            run_interruptible(
                lambda emit, halt: fork(space, args.run, args.step, patch, emit, halt, approve), watch, out
            )
        )
        if result is None:
            out.talk(f"interrupted before it began: there is no fork of {args.run}")
            raise KeyboardInterrupt
        if out.json:
            out.document(result.to_json(space if args.data else None))
        else:
            show_result(result, out)
    return code_of(result)


def _patch(raw: str) -> list[dict[str, Any]]:
    from infospace.data.json_text import read_json
    from tui.text.paths import read_source

    text = raw if raw.lstrip().startswith("[") else read_source(raw)
    read = read_json(text, what="the patch")
    if not isinstance(read, list) or not all(isinstance(one, dict) and "op" in one and "path" in one for one in read):
        raise UsageError(
            "the patch is not a list of operations", hint='[{"op": "replace", "path": "/steps/2/limit", …}]'
        )
    return [dict(one) for one in read if isinstance(one, dict)]
