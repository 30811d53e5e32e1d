"""Say everything that is wrong with a plan, and run nothing.

Exit code 0 when it may run, 3 when not.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from infospace.core.errors import InvalidJSON
from tui.command.common.open_space import open_from
from tui.text.output import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner.language.problems import Problem

EXAMPLES = """examples:
  infospace check plan.json
  infospace check - --json < plan.json
  infospace check plan:weekly-digest"""

REFUSED = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a file; `-` is standard input; `plan:NAME` is a saved plan")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Check, and list the problems."""
    with open_from(args, create=False, new=True) as space:
        from tui.command.common.plan_input import problems_of, read_from

        try:
            problems = problems_of(space, read_from(args.plan, args))
        except InvalidJSON as error:
            from planner.language.problems import Problem

            problems = [Problem("unreadable", error.pointer, error.message, error.hint)]
    ok = all(problem.severity != "error" for problem in problems)
    if out.json:
        out.document({"ok": ok, "problems": [problem.to_json() for problem in problems]})
    else:
        show_problems(problems, out)
        errors = sum(problem.severity == "error" for problem in problems)
        warnings = len(problems) - errors
        said = f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}"
        out.text(f"the plan may run{f' ({said})' if warnings else ''}" if ok else f"the plan is refused: {said}")
    return 0 if ok else REFUSED


def show_problems(problems: Sequence[Problem], out: Output) -> None:
    """List problems for a person: where, what, and what would fit."""
    for problem in problems:
        style = "red" if problem.severity == "error" else "yellow"
        out.talk(f"{problem.severity} at {_shown(problem.pointer)} [{problem.code}]", style)
        out.talk(f"  {problem.message}")
        if problem.hint:
            out.talk(f"  → {problem.hint}", "dim")


def _shown(pointer: str) -> str:
    if not pointer:
        return "the document"
    return pointer if len(pointer) <= 80 else f"{pointer[:40]}…{pointer[-20:]}"
