"""Ask the notes one SELECT, and get its rows as a table, as CSV or as JSON."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from infospace.core.errors import ExpressionInvalid, Invalid
from infospace.core.plural import pluralize
from tui.command.common.open_space import open_from
from tui.command.runs.check import show_problems
from tui.text.output import Output

if TYPE_CHECKING:
    from infospace.space import Space
    from planner.language.problems import Problem

EXAMPLES = """examples:
  infospace query "SELECT title, words FROM notes ORDER BY words DESC LIMIT 10"
  infospace query "SELECT status, count(*) AS n FROM notes GROUP BY status" --csv
  infospace query "SELECT tag, count(*) AS n FROM notes, UNNEST(tags) AS tag GROUP BY tag ORDER BY n DESC" --json"""

USAGE = 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("sql", help="one SELECT over notes; put text in single quotes")
    parser.add_argument("--csv", action="store_true", help="the rows as CSV, with a header")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Run the query, and print its rows."""
    from infospace.context.invoke import call_directly
    from primitives.query import query

    if args.csv and out.json:
        raise Invalid("--csv and --json both say how the rows are printed", hint="give one of them")
    with open_from(args, create=False) as space:
        warnings = _warnings(space, args.sql)
        result = asyncio.run(call_directly(query, {"sql": args.sql}, space.context(scratch=True)))
    rows: Any = result.data or []
    if result.status == "success":
        show_problems(warnings, out)
    if out.json:
        out.document(result.to_json())
    elif result.status != "success":
        out.talk(f"infospace: {result.reason}")
    elif args.csv:
        from infospace.expressions.query.parse import parse_query
        from infospace.expressions.query.tree import output_names
        from infospace.files.formats.tables import write_table

        columns = output_names(parse_query(args.sql).query.body)
        sys.stdout.write(write_table(rows, ".csv", columns).decode("utf-8"))
    elif rows:
        from tui.text.render import rows_table

        shown = list(dict.fromkeys(column for row in rows for column in row))
        table, hidden = rows_table(rows, shown, out.result.width)
        out.result.print(table)
        if hidden:
            out.talk(f"no room for {pluralize(len(hidden), 'column')}: {', '.join(hidden)} (--csv and --json have all)")
    else:
        out.talk("no rows")
    if result.status == "success":
        return 0
    return USAGE if result.error in (Invalid.kind, ExpressionInvalid.kind) else 1


def _warnings(space: Space, sql: str) -> list[Problem]:
    """What the check warns of in the statement, as a step of a plan: a property that no note has, for example."""
    from planner.execute.start import check_plan

    _, problems = check_plan(space, [{"type": "query", "sql": sql, "out": "$rows"}])
    own = [problem for problem in problems.found if problem.pointer == "/0/sql" and problem.severity == "warning"]
    return [replace(problem, pointer="/sql") for problem in own]
