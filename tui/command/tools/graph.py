"""Show which tool's result can be an argument of which other one, by what their schemas say.

With a tool: its neighbours. What stands above it gives what it takes, what stands below takes what it gives; each with
the place in the result, the argument, and how sure it is. Without one: all such flows, by the tool that they lead from,
at most eight each. Tools that do not say what they give lead nowhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from infospace.core.plural import pluralize
from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError

EXAMPLES = """examples:
  infospace tools graph shop/get_order
  infospace tools graph --server shop
  infospace tools graph --dot > tools.dot"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="server/tool, or an id such as tool_17; all without")
    parser.add_argument("--server", action="append", metavar="NAME", help="only tools of this server; may be repeated")
    parser.add_argument("--dot", action="store_true", help="as a graph in the language of Graphviz")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Show the neighbours of a tool, or the whole graph."""
    from planner.metatools.chaining.tool_graph import graph_of_tools, neighbourhood

    if args.tool is not None and (args.server or args.dot):
        raise UsageError("a TOOL goes without --server and --dot: its neighbours are shown")
    if args.dot and out.json:
        raise UsageError("--dot and --json are two forms of the same graph: give one")
    with open_from(args, create=False) as space:
        results = neighbourhood(space, args.tool) if args.tool else graph_of_tools(space, args.server or ())
    if out.json:
        out.document(results)
    elif args.tool:
        from tui.tables.tool_flow import draw_neighbours

        for line in draw_neighbours(results):
            out.text(line, crop=True)
    elif args.dot:
        for line in _dot(results):
            out.text(line)
    else:
        _show(results, out)
    return 0


def _show(results: Mapping[str, Any], out: Output) -> None:
    from tui.tables.tool_flow import draw_neighbours

    for name, flows in groupby(results["flows"], key=lambda flow: flow["from"]):
        for line in draw_neighbours({"tool_name": name, "before": [], "after": list(flows)}):
            out.text(line, crop=True)
    services, tools = pluralize(len(results["services"]), "service"), pluralize(len(results["tools"]), "tool")
    out.talk(f"{services}, {tools}, {pluralize(len(results['flows']), 'flow')}", "dim")


def _dot(results: Mapping[str, Any]) -> list[str]:
    """The graph for Graphviz: a box for each service with its tools, an edge for each flow."""
    lines = ["digraph tools {", "  rankdir=LR;", "  node [shape=box];"]
    for at, service in enumerate(results["services"]):
        lines += [f"  subgraph cluster_{at} {{", f"    label={_quoted(service['name'])};"]
        mine = (tool for tool in results["tools"] if tool["belongs_to"] == service["name"])
        lines += [*(f"    {_quoted(tool['tool_name'])};" for tool in mine), "  }"]
    for flow in results["flows"]:
        label = f"{flow['place'].lstrip('.')} → {flow['argument']}"
        lines.append(f"  {_quoted(flow['from'])} -> {_quoted(flow['to'])} [label={_quoted(label)}];")
    return [*lines, "}"]


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{plain}"'
