"""List all tools, a page at a time: of all servers, the primitives, the saved plans; prompts and resources too."""

from __future__ import annotations

import argparse

from infospace.core.plural import pluralize
from tui.command.tools.common import add_filters, answer, filters, show, show_schemas, show_unknown
from tui.text.output import Output

EXAMPLES = """examples:
  infospace tools list
  infospace tools list --server git --page-size 100
  infospace tools list --sort execution_count --desc --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--page", type=int, default=1, metavar="N", help="which page (1)")
    parser.add_argument("--page-size", type=int, default=20, metavar="N", help="tools on a page, 1 to 100 (20)")
    sorting = "name|created_at|execution_count|success_rate|category"
    parser.add_argument("--sort", default="name", metavar=sorting, help="what they are sorted by (name)")
    parser.add_argument("--desc", action="store_true", help="from the last to the first")
    parser.add_argument("--schemas", action="store_true", help="with what each takes and gives")
    add_filters(parser, scored=False)


def execute(args: argparse.Namespace, out: Output) -> int:
    """List one page of the tools."""
    values = {"page": args.page, "page_size": args.page_size, "sort_by": args.sort, "include_schemas": args.schemas}
    order = "desc" if args.desc else "asc"
    results = answer(args, "list_tools", {**values, "sort_order": order, "filters": filters(args)})
    if out.json:
        out.document(results)
        return 0
    for tool in results["tools"]:
        calls = f"{tool['execution_count']:>6,}× " if tool["execution_count"] else " " * 8
        show(tool, out, calls)
        show_schemas(tool, out)
    show_unknown(results, out)
    out.talk(f"page {results['page']:,} of {results['pages']:,}, {pluralize(results['total'], 'tool')} in all", "dim")
    return 0
