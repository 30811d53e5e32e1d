"""Say which categories of tools there are, and how many tools are of each."""

from __future__ import annotations

import argparse

from infospace.core.plural import pluralize
from tui.command.tools.common import SNIPPET, answer
from tui.text.output import Output

EXAMPLES = """examples:
  infospace tools categories
  infospace tools categories --servers --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--no-tags", action="store_true", help="without the tags")
    parser.add_argument("--servers", action="store_true", help="with the servers")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show the categories with their numbers of tools."""
    from tui.text.render import snippet

    results = answer(args, "get_tool_categories", {"include_tags": not args.no_tags, "include_servers": args.servers})
    if out.json:
        out.document(results)
        return 0
    for key in ("categories", "servers"):
        if key in results:
            out.text(f"{key}:", "bold")
        for one in results.get(key, ()):
            out.text(f"{one['count']:>6,}  {one['name']:<24}  {snippet(one['description'], SNIPPET)}", crop=True)
    if results.get("tags"):
        out.text("tags:", "bold")
        out.text("        " + ", ".join(f"{tag['name']} ({tag['count']:,})" for tag in results["tags"]))
    out.talk(f"{pluralize(results['total'], 'tool')}, {results['uncategorised']:,} of no category", "dim")
    return 0
