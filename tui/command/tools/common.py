"""Asking a meta-tool from the command line, and how a tool is shown to a person."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from infospace.space import Space

SNIPPET = 120
"""Characters of a description that are shown beside a name."""


def answer(args: argparse.Namespace, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a meta-tool answers in the space of a command."""
    with open_from(args, create=False) as space:
        return asyncio.run(_answer(space, name, dict(values)))


async def _answer(space: Space, name: str, values: dict[str, Any]) -> dict[str, Any]:
    from planner.metatools.registry import META

    return await META[name].function(space, validated(name, values))


def validated(name: str, values: Mapping[str, Any]) -> Any:
    """Return the arguments of a meta-tool. Raises UsageError with everything that is wrong with them."""
    from infospace.contract.argument_errors import ArgumentsInvalid
    from infospace.contract.tool_signature import format_errors
    from planner.metatools.registry import META

    try:
        return META[name].validate(values)
    except ArgumentsInvalid as error:
        raise UsageError(format_errors(error)) from error


def add_filters(parser: argparse.ArgumentParser, *, scored: bool) -> None:
    """Declare the options that say which tools are wanted; where they have scores, also by those."""
    group = parser.add_argument_group("which tools are wanted (each may be repeated where it names something)")
    for option, name, what in (
        ("--tag", "tags", "with any of these tags"),
        ("--exclude-tag", "exclude_tags", "with none of these tags"),
        ("--server", "servers", "of these servers"),
        ("--category", "categories", "of these categories"),
        ("--visibility", "visibility", "of these visibilities"),
        ("--team", "teams", "of these teams"),
    ):
        group.add_argument(option, dest=f"filter_{name}", action="append", metavar="NAME", help=what)
    group.add_argument("--type", dest="filter_integration_type", metavar="MCP|REST|any", help="that are reached so")
    group.add_argument("--name", dest="filter_name_pattern", metavar="PATTERN", help="whose name has this RE2 pattern")
    group.add_argument("--contains", dest="filter_description_contains", metavar="TEXT", help="whose description has")
    if scored:
        group.add_argument(
            "--min-score", dest="filter_min_score", type=float, metavar="X", help="of this relevance, 0 to 1"
        )
    group.add_argument(
        "--examples",
        dest="filter_has_examples",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="with examples, or without",
    )


def filters(args: argparse.Namespace) -> dict[str, Any]:
    """Return the filters that are given."""
    prefix = "filter_"
    values = {key.removeprefix(prefix): value for key, value in vars(args).items() if key.startswith(prefix)}
    return {key: value for key, value in values.items() if value is not None}


def line(tool: Mapping[str, Any], before: str = "") -> str:
    """Return a tool in a line: its name, what it is if no tool, whether it can be reached, how it is described."""
    from tui.text.render import snippet

    marks = [tool["kind"]] if tool["kind"] != "tool" else []
    marks += [] if tool["connected"] else ["not connected"]
    marked = f" ({', '.join(marks)})" if marks else ""
    return f"{before}{tool['tool_name'] + marked:<36}  {snippet(tool['title'] or tool['description'], SNIPPET)}"


def show(tool: Mapping[str, Any], out: Output, before: str = "") -> None:
    """Print a tool in a line, and below it what it needs, and in what way its words instruct."""
    out.text(line(tool, before), crop=True)
    if "needs" in tool:
        out.text(f"{' ' * len(before)}{tool['needs']}", "dim")
    for sign in tool.get("signs", ()):
        out.text(f"{' ' * len(before)}! its description {sign}", "yellow")


def show_unknown(results: Mapping[str, Any], out: Output) -> None:
    """Print what was probably meant by names in the filters that no tool has."""
    for message in results.get("unknown", ()):
        out.talk(message, "yellow")


def show_schemas(tool: Mapping[str, Any], out: Output) -> None:
    """Print what a tool takes and gives, where that is told."""
    from infospace.data.json_text import dump

    for key, label in (("input_schema", "takes"), ("output_schema", "gives")):
        if tool.get(key) is not None:
            out.text(f"    {label} {dump(tool[key])}", "dim")
