"""Find the tools that are most like one of them, each with a score from 0 to 1 and a reason."""

from __future__ import annotations

import argparse

from tui.command.tools.common import answer, show
from tui.text.output import Output

EXAMPLES = """examples:
  infospace tools similar git/git_status
  infospace tools similar tool_17 --limit 10 --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("tool", metavar="TOOL", help="server/tool, or an id such as tool_17")
    parser.add_argument("--limit", type=int, default=5, metavar="N", help="at most this many, 1 to 20 (5)")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Find the tools most like one."""
    results = answer(args, "get_similar_tools", {"tool_name": args.tool, "limit": args.limit})
    if out.json:
        out.document(results)
        return 0
    for tool in results["tools"]:
        show(tool, out, f"{tool['score']:.3f}  ")
        out.text(f"       {tool['reason']}", "dim")
    if not results["tools"]:
        out.talk("no other tool is like it")
    if results["degraded"]:
        out.talk(results["degraded"], "yellow")
    return 0
