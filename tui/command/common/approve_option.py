"""The option `--approve`: tools that a run calls without asking."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from infospace.core.errors import Invalid
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from infospace.space import Space


def add_approve(parser: argparse.ArgumentParser) -> None:
    """Declare the option `--approve`."""
    parser.add_argument(
        "--approve",
        action="append",
        default=[],
        metavar="SERVER/TOOL",
        help="call this tool without asking; SERVER/* means all of a server; may be repeated; the run remembers it",
    )


def approved(args: argparse.Namespace, space: Space, out: Output) -> list[str]:
    """Return the tools that are approved; of one that is not there, say so. Raises UsageError for no tool's name."""
    from infospace.tools.approvals import parse_tool_names, unknown_tool_names

    try:
        results = parse_tool_names(args.approve)
        for message in unknown_tool_names(results, space.tools) if results else ():
            out.talk(f"--approve: {message}", "yellow")
    except Invalid as error:
        raise UsageError(error.message, hint=error.hint) from error
    return results
