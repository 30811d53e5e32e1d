"""List everything that is wrong with a plan, without running it.

With --fix, infospace corrects every error whose fix keeps the meaning, and shows the corrected plan as a diff (with
--json as `plan`); --write saves it in its file. Exit code 0 when the plan may run, else 3; with --fix this is about
the corrected plan.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from infospace.core.errors import InvalidJSON
from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infospace.space import Space
    from planner.editor.apply_fixes import FixedPlan
    from planner.language.problems import Problem

EXAMPLES = """examples:
  infospace check plan.json
  infospace check plan.json --fix
  infospace check plan.json --fix --write
  infospace check - --json < plan.json
  infospace check plan:weekly-digest"""

REFUSED = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("plan", metavar="PLAN", help="a file; `-` is standard input; `plan:NAME` is a saved plan")
    parser.add_argument("--fix", action="store_true", help="correct what can be corrected, and show that as a diff")
    parser.add_argument("--write", action="store_true", help="with --fix: save the corrected plan in its file")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Check, and list the problems."""
    if args.write and not args.fix:
        raise UsageError("--write needs --fix", hint=f"infospace check {args.plan} --fix --write")
    with open_from(args, create=False, new=True) as space:
        from tui.command.common.plan_input import problems_of, read_from

        if args.fix:
            return _fix(space, args, out)
        try:
            problems = problems_of(space, read_from(args.plan, args))
        except InvalidJSON as error:
            problems = [_unreadable(error)]
    return _show_problems(problems, out)


def _unreadable(error: InvalidJSON) -> Problem:
    from planner.language.problems import Problem

    return Problem("unreadable", error.pointer, error.message, error.hint)


def _show_problems(
    problems: Sequence[Problem], out: Output, mended: FixedPlan | None = None, *, written: bool = False
) -> int:
    """Say what is wrong with a plan, and whether it may run."""
    ok = all(problem.severity != "error" for problem in problems)
    if out.json:
        document = {"ok": ok, "problems": [problem.to_json() for problem in problems]}
        if mended is not None:
            fixed = [problem.to_json() for problem in mended.fixed]
            document |= {"fixed": fixed, "plan": mended.document, "written": written}
        out.document(document)
    else:
        show_problems(problems, out)
        errors = sum(problem.severity == "error" for problem in problems)
        warnings = len(problems) - errors
        text = f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}"
        plan = "the plan" if mended is None or not mended.fixed else "the fixed plan"
        out.text(f"{plan} may run{f' ({text})' if warnings else ''}" if ok else f"{plan} is refused: {text}")
    return 0 if ok else REFUSED


def _fix(space: Space, args: argparse.Namespace, out: Output) -> int:
    """Mend a plan, show the difference, and keep it where that is wanted."""
    from planner.editor.apply_fixes import apply_fixes
    from planner.execute.start import check_plan

    try:
        text = _text_of(args)
    except InvalidJSON as error:
        return _show_problems([_unreadable(error)], out)
    mended = apply_fixes(text, lambda document: check_plan(space, document)[1].found)
    written = bool(args.write and mended.fixed)
    if written:
        _write(args.plan, mended.text)
    if not out.json:
        _show(args.plan, text, mended, out)
        if written:
            out.text(f"{args.plan} is written")
    return _show_problems(mended.left, out, mended, written=written)


def _text_of(args: argparse.Namespace) -> str:
    """Return the text of a plan; raises InvalidJSON, and UsageError for what has no text that could be mended."""
    from planner.parse.text import Document, read_plan
    from tui.command.common.plan_input import read_from
    from tui.text.paths import SAVED, read_source

    saved = args.plan.startswith(SAVED)
    if args.write and (saved or args.plan == "-"):
        hint = "`infospace plans save --replace` keeps a saved plan" if saved else "--fix --json prints the fixed plan"
        raise UsageError(f"--write writes into a plan file, and {args.plan!r} is not one", hint=hint)
    if saved:
        read = read_from(args.plan, args)
        assert isinstance(read, Document)  # noqa: S101 - a saved plan is one document
        return json.dumps(read.value, indent=2, ensure_ascii=False)
    source = read_source(args.plan)
    if not isinstance(read_plan(source), Document):
        raise UsageError("--fix takes a plan, not the lines of a session", hint='{"steps": [ … ]}')
    return source.decode("utf-8-sig")


def _write(path: str, text: str) -> None:
    from infospace.files.atomic_write import write_atomically
    from tui.text.paths import path_of

    write_atomically(path_of(path), text.encode())


def _show(name: str, text: str, mended: FixedPlan, out: Output) -> None:
    """Show what was mended: each problem in a line, and the difference of the texts."""
    from difflib import unified_diff

    for problem in mended.fixed:
        out.talk(f"fixed at {_shown(problem.pointer)} [{problem.code}]: {problem.message}", "green")
    before, after = text.splitlines(), mended.text.splitlines()
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in unified_diff(before, after, name, f"{name} (fixed)", lineterm=""):
        out.text(line, styles.get(line[:1]))
    if not mended.fixed and mended.left:
        out.talk("no fix applies", "dim")
    elif not mended.fixed:
        out.talk("the plan is fine: there is nothing to fix", "green")


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
