"""Say all that is known of one tool: what it takes and gives, what it does to the world, examples."""

from __future__ import annotations

import argparse
import json
from typing import Any

from infospace.core.plural import pluralize
from tui.command.tools.common import answer, show
from tui.text.output import Output

EXAMPLES = """examples:
  infospace tools describe git/git_status
  infospace tools describe tool_17 --metrics --similar
  infospace tools describe infospace/discover-notes --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("tool", metavar="TOOL", help="server/tool, or an id such as tool_17")
    parser.add_argument("--no-examples", action="store_true", help="without examples")
    parser.add_argument("--metrics", action="store_true", help="with how its calls went")
    parser.add_argument("--similar", action="store_true", help="with the tools that are most like it")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show all that is known of one tool."""
    values = {
        "include_examples": not args.no_examples,
        "include_metrics": args.metrics,
        "include_similar": args.similar,
    }
    results = answer(args, "describe_tool", {"tool_name": args.tool, **values})
    if out.json:
        out.document(results)
    else:
        _show(results, out)
    return 0


def _show(tool: dict[str, Any], out: Output) -> None:
    out.text(f"{tool['tool_name']}  {tool['title']}".rstrip(), "bold")
    whose = f"the server {tool['server']} says" if tool["untrusted"] else "it says"
    out.text(f"{tool['id']}, {tool['kind']}, {'connected' if tool['connected'] else 'not connected'}", "dim")
    if "needs" in tool:
        out.text(tool["needs"], "yellow")
    if tool["description"]:
        out.text(f"{whose}: {tool['description']}")
    for sign in tool.get("signs", ()):
        out.text(f"! its description {sign}", "yellow")
    for key in ("category", "tags"):
        if tool[key]:
            out.text(f"{key}: {tool[key] if key == 'category' else ', '.join(tool[key])}")
    out.text(_about(tool))
    for key in ("input_schema", "output_schema"):
        if tool[key] is not None:
            out.text(f"{key.replace('_', ' ')}:")
            out.text(json.dumps(tool[key], ensure_ascii=False, indent=2))
    for example in tool.get("examples", ()):
        out.text(f"for example {json.dumps(example, ensure_ascii=False)}")
    metrics = tool.get("metrics")
    if metrics is not None:
        out.text(_measured(metrics))
    for similar in tool.get("similar", ()):
        show(similar, out, f"{similar['score']:.3f}  ")
        out.text(f"       {similar['reason']}", "dim")


def _about(tool: dict[str, Any]) -> str:
    hints = tool["annotations"]
    message = "does not say whether it changes anything"
    if hints is not None:
        words = [name.replace("_", " ") for name, holds in hints.items() if holds]
        message = ", ".join(words) or "adds, and removes nothing"
    question = "it needs approval before each call" if tool["needs_approval"] else "it needs no approval"
    return f"{message}; {'it is blocked' if tool['blocked'] else question}"


def _measured(metrics: dict[str, Any]) -> str:
    if not metrics["execution_count"]:
        return "never called"
    return (
        f"called {pluralize(metrics['execution_count'], 'time')}, {metrics['success_rate']:.0%} well;"
        f" {metrics['mean_ms']:,.0f} ms on average, 95 of 100 within {metrics['p95_ms']:,.0f} ms"
    )
