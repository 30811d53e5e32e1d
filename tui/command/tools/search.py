"""Find tools by what they do: of all servers, the primitives, the saved plans.

Of each are shown the score, a relevance from 0 to 1 by which they stand, and in percent how sure it is that the tool
does what was asked for. Where nothing fits, the nearest is told. What tools were called for and with before counts as
well, as long as those runs are there; INFOSPACE_REMEMBER_CALLS=off switches that off.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from tui.command.tools.common import add_filters, answer, filters, show, show_schemas, show_unknown
from tui.text.output import Output

EXAMPLES = """examples:
  infospace tools search 'what changed in the repository'
  infospace tools search 'read a file' --server files --limit 3 --schemas
  infospace tools search 'open a pull request' --mode keyword --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("query", nargs="?", help="what the tool should do, in plain words; filters alone will do")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="at most this many, 1 to 50 (10)")
    parser.add_argument(
        "--mode", default="hybrid", metavar="semantic|keyword|hybrid", help="by meaning, words, or both"
    )
    parser.add_argument("--schemas", action="store_true", help="with what each takes and gives")
    add_filters(parser, scored=True)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Search, and show what was found."""
    given = {"query": args.query, "limit": args.limit, "search_type": args.mode, "include_schemas": args.schemas}
    found = answer(args, "search_tools", {**given, "filters": filters(args)})
    if out.json:
        out.document(found)
        return 0
    for tool in found["tools"]:
        show(tool, out, "" if tool["score"] is None else f"{tool['score']:.3f}  {tool['confidence']:>4.0%}  ")
        show_schemas(tool, out)
    show_unknown(found, out)
    if found["no_match"]:
        guess = found["guess"]
        near = (
            f"; the nearest is {guess['tool_name']} ({guess['score']:.3f}, {guess['confidence']:.0%} sure)"
            if guess
            else ""
        )
        out.talk(f"none of {found['searched']:,} tools fits{near}", "yellow")
    else:
        out.talk(_counted(found, scored=args.filter_min_score is not None), "dim")
    if found["degraded"]:
        out.talk(found["degraded"], "yellow")
    return 0


def _counted(found: Mapping[str, Any], *, scored: bool) -> str:
    shown, matched, searched = len(found["tools"]), found["matched"], found["searched"]
    if found["query"] is None or scored:
        return f"{shown:,} of {matched:,} that fit, {searched:,} searched"
    return f"{matched:,} of {searched:,} probably fit; the nearest {shown:,} are shown"
