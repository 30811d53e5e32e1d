"""List the runs, latest first: plans, sessions, imports and edits."""

from __future__ import annotations

import argparse
from typing import Any

from infospace.runs.journal import RunRow
from tui.command.output import Output, UsageError
from tui.command.spaces import open_from

EXAMPLES = """examples:
  infospace runs
  infospace runs --limit 100 --json
  infospace show run_3"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most this many (20)")


def execute(args: argparse.Namespace, out: Output) -> int:
    """List."""
    if args.limit < 1:
        raise UsageError(f"--limit is 1 or more, not {args.limit}")
    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        runs = snapshot.runs(limit=args.limit)
    if out.json:
        out.document({"runs": [run_json(run) for run in runs]})
        return 0
    for run in runs:
        goal = run.goal or "(no goal)"
        when = run.started[:16].replace("T", " ")
        steps = f"{run.steps:>4} step{' ' if run.steps == 1 else 's'}"
        out.text(f"{run.run:<8} {run.status:<10} {when}  {run.kind:<8} {steps}  {goal}", crop=True)
    if not runs:
        out.talk("no runs yet", "dim")
    return 0


def run_json(run: RunRow) -> dict[str, Any]:
    """Return a run as JSON, without its steps."""
    return {
        "run": run.run,
        "kind": run.kind,
        "goal": run.goal,
        "status": run.status,
        "started": run.started,
        "ended": run.ended,
        "steps": run.steps,
        "result": run.result,
        "reason": run.reason,
    }


def show_run(args: argparse.Namespace, out: Output) -> int:
    """Show one run with its steps."""
    from planner.outcome import step_json

    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        run, steps = snapshot.run(args.reference), snapshot.steps(args.reference)
    if out.json:
        out.document(
            {**run_json(run), "plan": run.document, "inputs": dict(run.inputs), "steps": [step_json(s) for s in steps]}
        )
        return 0
    out.text(f"{run.run}  {run.kind}  {run.status}  {run.started}  {run.goal}", "bold")
    from tui.command.watch import MARKS

    for step in steps:
        mark = MARKS.get(step.status, ("?", ""))[0]
        bound = f" → ${step.out} = {step.resource}" if step.out and step.resource else ""
        out.text(f"  {mark} {step.position} {step.type}{bound}")
        said = step.reason if step.status != "success" else step.value
        if said:
            out.text(f"      {' '.join(said[:300].split())}", "dim", crop=True)
        if step.trace:
            out.text(step.trace, "red")
    if run.reason:
        out.text(run.reason, "red")
    return 0
