"""Tools of servers: list what they offer, find them, describe them, call them.

The servers are those of the `mcp.json` files that the space was synced with; without any, of the one beside the space.
"""

from __future__ import annotations

import argparse
import importlib
from types import ModuleType

from tui.text.output import Output, UsageError

EXAMPLES = """examples:
  infospace tools sync --mcp ~/project/mcp.json
  infospace tools search 'what changed in the repository'
  infospace tools call git/git_status --input repo_path=.
  infospace tools servers --json
  infospace tools connect mail
  infospace tools registry add https://registry.example
  infospace tools sync --forget ~/project/mcp.json

`infospace help using-tools` is the page about them."""

ACTIONS = {
    "sync": "read the tools of servers that are new or changed",
    "servers": "list the servers and their states",
    "connect": "how servers are connected; sign in to one, or add one of a registry",
    "registry": "lists of servers that are not connected",
    "search": "find tools by what they do",
    "list": "list all tools",
    "describe": "all that is known of one tool",
    "call": "call a tool",
    "categories": "which categories of tools there are",
    "similar": "the tools most like one of them",
    "rules": "the rules of this space: tools that it prefers, avoids, requires or selects",
    "graph": "which tool's result another tool can take",
    "approvals": "list the tools that are called without asking; revoke that",
    "audit": "who called what, and what was refused",
}
"""Each is a module of its own here, loaded only when it is called."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of every action."""
    from tui.command import shared

    actions = parser.add_subparsers(dest="action", metavar="|".join(ACTIONS))
    for name, summary in ACTIONS.items():
        module = _module(name)
        action = actions.add_parser(
            name,
            help=summary,
            description=(module.__doc__ or "").strip(),
            epilog=getattr(module, "EXAMPLES", None),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        shared(action, default=argparse.SUPPRESS)
        module.configure(action)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Do one of the actions."""
    if args.action is None:
        raise UsageError("`infospace tools` needs a word more", hint=", ".join(ACTIONS))
    code: int = _module(args.action).execute(args, out)
    return code


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"tui.command.tools.{name}")
