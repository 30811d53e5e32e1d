"""Find tools by what they do: of all servers, the primitives, the saved plans.

Of each are shown the score, a relevance from 0 to 1 by which they stand, and in percent how sure it is that the tool
does what was asked for. Where nothing fits, the nearest is told. What tools were called for and with before counts as
well, as long as those runs are there; INFOSPACE_REMEMBER_CALLS=off switches that off.

--input and --output leave only tools that take and give this: a JSON Schema, or the name of a JSON type (string). The
keys of an object in --input are arguments. With each tool stands how it fits: by which arguments, and where in its
result.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from infospace.core.plural import pluralize
from tui.command.tools.common import add_filters, answer, filters, show, show_schemas, show_unknown
from tui.text.output import Output, UsageError
from tui.text.render import explanation_lines

EXAMPLES = """examples:
  infospace tools search 'what changed in the repository'
  infospace tools search 'read a file' --server files --limit 3 --schemas
  infospace tools search 'open a pull request' --mode keyword --json
  infospace tools search 'open a pull request' --explain
  infospace tools search 'read a table' --input '{"properties": {"path": {"type": "string"}}}' --output array"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("query", nargs="?", help="what the tool should do, in plain words; filters or types suffice")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="at most this many, 1 to 50 (10)")
    parser.add_argument(
        "--mode", default="hybrid", metavar="semantic|keyword|hybrid", help="by meaning, words, or both"
    )
    parser.add_argument("--input", metavar="SCHEMA", help="that take this: a JSON Schema, or a JSON type")
    parser.add_argument("--output", metavar="SCHEMA", help="that say that they give this")
    parser.add_argument("--schemas", action="store_true", help="with what each takes and gives")
    parser.add_argument("--explain", action="store_true", help="say of each what its score is made of; needs a query")
    add_filters(parser, scored=True)


def execute(args: argparse.Namespace, out: Output) -> int:
    """Search, and show what was found."""
    from infospace.core.errors import Invalid
    from infospace.tools.search.types import read_type

    if args.explain and args.query is None:
        raise UsageError("--explain needs a query: without one nothing is scored")
    values = {"query": args.query, "limit": args.limit, "search_type": args.mode, "include_schemas": args.schemas}
    values["include_explanation"] = args.explain
    texts = {name: text for name in ("input", "output") if (text := getattr(args, name)) is not None}
    try:
        types = {name: read_type(text, f"--{name}") for name, text in texts.items()}
    except Invalid as error:
        raise UsageError(error.message, hint=error.hint) from error
    results = answer(args, "search_tools", {**values, **types, "filters": filters(args)})
    if out.json:
        out.document(results)
        return 0
    for tool in results["tools"]:
        show(tool, out, "" if tool["score"] is None else f"{tool['score']:.3f}  {tool['confidence']:>4.0%}  ")
        _show_types(tool, out)
        for line in explanation_lines(tool.get("explanation") or ()):
            out.text(f"    {line}", "italic")
        show_schemas(tool, out)
    show_unknown(results, out)
    if results["no_match"]:
        guess = results["guess"]
        near = (
            f"; the nearest is {guess['tool_name']} ({guess['score']:.3f}, {guess['confidence']:.0%} sure)"
            if guess
            else ""
        )
        out.talk(f"none of {pluralize(results['searched'], 'tool')} fits{near}", "yellow")
    else:
        out.talk(_counted(results, scored=args.filter_min_score is not None), "dim")
    for one in results.get("rules", ()):
        out.talk(f"rule {one['rule']}: {one['did']}", "dim")
    if "untyped" in results:
        out.talk(f"{results['untyped']:,} that do not say what they give are left out", "dim")
    if results["degraded"]:
        out.talk(results["degraded"], "yellow")
    return 0


def _show_types(tool: Mapping[str, Any], out: Output) -> None:
    """Print how a tool fits what it is to take and to give."""
    fits = tool.get("types", {})
    if "input" in fits:
        one = fits["input"]
        besides = f", needs {', '.join(one['needs'])} besides" if one["needs"] else ""
        out.text(f"    takes it as {', '.join(one['arguments'])}{besides}{_doubt(one)}", "dim")
    if "output" in fits:
        one = fits["output"]
        out.text(f"    gives it{' at ' + one['place'] if one['place'] else ''}{_doubt(one)}", "dim")


def _doubt(fit: Mapping[str, Any]) -> str:
    return "" if fit["score"] == 1 else f" ({fit['score']:.0%}: {fit['reason']})"


def _counted(results: Mapping[str, Any], *, scored: bool) -> str:
    shown, matched, searched = len(results["tools"]), results["matched"], results["searched"]
    if results["query"] is None or scored:
        return f"{shown:,} of {matched:,} that fit, {searched:,} searched"
    return f"{matched:,} of {searched:,} probably fit; the nearest {shown:,} are shown"
