"""Check the rules for tools of the space, or of a file, and say what they do for a request.

The rules stand in `tool-rules.json` beside the space, or in the file that INFOSPACE_TOOL_RULES names. They say which
tools are preferred, avoided, required or selected; every search reads them. Exit codes: 0; 2 where the file cannot be
used, with what is wrong in it.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from infospace.core.errors import Invalid, InvalidJSON, NotFound
from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError
from tui.text.paths import path_of

if TYPE_CHECKING:
    from infospace.space import Space
    from infospace.tools.search.rules.language import RuleSet

EXAMPLES = """examples:
  infospace tools rules
  infospace tools rules ./tool-rules.json
  infospace tools rules --query 'show the last commits'"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="the file to check (that of the space)")
    parser.add_argument("--query", metavar="TEXT", help="a request: what the rules do for it is shown, step by step")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Check rules, and show what they do."""
    from infospace.tools.search.rules.rule_file import read_rules
    from infospace.tools.search.rules.source import VARIABLE, rules_path

    with open_from(args, create=False) as space:
        path = rules_path(space.store) if args.file is None else path_of(args.file)
        if path is None:
            raise UsageError("this space has no folder for rules", hint=f"{VARIABLE} names a file")
        if args.file is None and not path.exists() and not os.environ.get(VARIABLE):
            if out.json:
                out.document({"file": str(path), "rules": [], "facts": 0, "query": args.query, "trace": []})
            else:
                out.talk(f"no rules: there is no {path}")
            return 0
        try:
            rules = read_rules(path)
            trace = [] if args.query is None else _trace(space, rules, args.query)
        except (NotFound, Invalid, InvalidJSON) as error:
            raise UsageError(error.message, hint=error.hint) from error
    if out.json:
        names = [{"name": rule.name, "priority": rule.priority} for rule in rules.rules]
        document: dict[str, Any] = {"file": str(path), "rules": names, "facts": len(rules.facts)}
        out.document({**document, "query": args.query, "trace": trace})
        return 0
    for rule in sorted(rules.rules, key=lambda one: (-one.priority, one.name)):
        out.text(f"✓ {rule.name}  priority {rule.priority}")
    for one in trace:
        values = ", ".join(f"{name} = {value}" for name, value in one["bindings"].items())
        out.text(f"{one['round']}. {one['rule']}: {one['did']}{f'  ({values})' if values else ''}", crop=False)
    if args.query is not None and not trace:
        out.talk("no rule does anything for that")
    return 0


def _trace(space: Space, rules: RuleSet, request: str) -> list[dict[str, Any]]:
    """Apply rules to a request and all tools that it may be about, as a search does."""
    from infospace.tools.search.ranking import RULED
    from infospace.tools.search.results import ToolQuery
    from infospace.tools.search.rules.forward_chaining import apply_rules
    from planner.metatools.lookup import known_tools

    results = space.finder.find(known_tools(space, servers=True), ToolQuery(request, RULED))
    return [firing.to_json() for firing in apply_rules(rules, request, [hit.tool for hit in results.hits]).trace]
