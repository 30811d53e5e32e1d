"""List the runs, latest first: plans, sessions, imports and edits."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from infospace.core.clock import now
from infospace.core.position import Position
from infospace.journal.gaps import format_gaps, gaps_in
from infospace.journal.queue_rows import QueuedRun
from infospace.journal.rows import FINISHED, RunRow, StepRow
from tui.command.common.loop_limit import late_loop
from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError
from tui.text.pending import show_pending

EXAMPLES = """examples:
  infospace runs
  infospace runs --limit 100 --json
  infospace show run_3"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most this many (20)")


def execute(args: argparse.Namespace, out: Output) -> int:
    """List the latest runs, and say which numbers are missing."""
    if args.limit < 1:
        raise UsageError(f"--limit is 1 or more, not {args.limit}")
    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        runs = snapshot.runs(limit=args.limit)
        waiting = {queued.run: queued for queued in snapshot.queued()}
    gaps = gaps_in([run.run for run in runs])
    if out.json:
        out.document({"runs": [queued_json(run, waiting.get(run.run)) for run in runs], "missing": gaps})
        return 0
    for run in runs:
        goal = run.goal or "(no goal)"
        when = run.started[:16].replace("T", " ")
        steps = f"{run.steps:>4} step{' ' if run.steps == 1 else 's'}"
        out.text(
            f"{run.run:<8} {_status(run, waiting.get(run.run)):<10} {when}  {run.kind:<8} {steps}  {goal}", crop=True
        )
    if not runs:
        out.talk("no runs yet", "dim")
    if gaps:
        out.talk(format_gaps(gaps), "dim")
    return 0


def run_json(run: RunRow) -> dict[str, Any]:
    """Return a run as JSON, without its steps. `live` says whether somebody runs it now."""
    return {
        "run": run.run,
        "kind": run.kind,
        "goal": run.goal,
        "status": run.status,
        "live": _is_live(run),
        "started": run.started,
        "ended": run.ended if run.status in FINISHED else None,
        "steps": run.steps,
        "result": run.result,
        "reason": run.reason,
    }


def _is_live(run: RunRow) -> bool:
    if run.status != "running":
        return False
    from planner.journal.lease import is_live

    return is_live(run)


def queued_json(run: RunRow, waiting: QueuedRun | None) -> dict[str, Any]:
    """Return a run as JSON, and where it waits for a worker: queue, priority, and when it is due."""
    if waiting is None:
        return run_json(run)
    return {
        **run_json(run),
        "queue": {"name": waiting.queue, "priority": waiting.priority, "due": waiting.due},
    }


def _status(run: RunRow, waiting: QueuedRun | None = None) -> str:
    """A run that goes on, and nobody runs, was left by its process; one that is due waits for a worker."""
    if waiting is not None and run.status == "suspended" and waiting.due is not None and waiting.due <= now():
        return "queued"
    return "broken off" if run.status == "running" and not _is_live(run) else run.status


def show_run(args: argparse.Namespace, out: Output) -> int:
    """Show one run with its steps."""
    from planner.journal.result import step_json
    from planner.lifecycle.resume import pending_of
    from planner.sessions.session_run import is_between_calls

    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        run, steps = snapshot.run(args.reference), snapshot.steps(args.reference)
    pending = pending_of(steps) if run.status == "suspended" else []
    if out.json:
        shown = {"plan": run.document, "inputs": dict(run.inputs), "steps": [step_json(step) for step in steps]}
        out.document({**run_json(run), **shown, "pending": [one.to_json() for one in pending]})
        return 0
    out.text(f"{run.run}  {run.kind}  {_status(run)}  {run.started}  {run.goal}", "bold")
    _show_steps(steps, out, everything=args.all)
    if run.reason:
        out.text(run.reason, "red")
    show_pending(run.run, pending, out, told=run.reason is not None)
    if run.status == "running" and not _is_live(run):
        out.talk(
            f"its process is gone: `infospace resume {run.run}` goes on, `infospace cancel {run.run}` ends it", "dim"
        )
    if run.status == "suspended" and is_between_calls(run):
        out.talk("at rest: it takes more steps", "dim")
    return 0


def _show_steps(steps: Sequence[StepRow], out: Output, *, everything: bool) -> None:
    """Show steps, indented as they are nested; of long loops the first rounds, and those that did not end well."""
    left_out: dict[str, int] = {}
    for step in steps:
        loop = None if everything or step.status != "success" else late_loop(step.position)
        if loop is not None:
            left_out[loop] = left_out.get(loop, 0) + 1
            continue
        _show_step(step, out)
    for loop, count in left_out.items():
        out.talk(f"  of {loop}, {count:,} step{'s' * (count != 1)} of later rounds left out; --all shows them", "dim")


def _show_step(step: StepRow, out: Output) -> None:
    from tui.text.format import MARKS

    mark = MARKS.get(step.status, ("?", ""))[0]
    bound = f" → ${step.out} = {step.resource}" if step.out and step.resource else ""
    indent = "  " * (1 + Position.parse(step.position).depth)
    out.text(f"{indent}{mark} {step.position} {step.type}{bound}")
    text = step.reason if step.status not in ("success", "suspended") else step.value
    if text:
        out.text(f"{indent}    {' '.join(text[:300].split())}", "dim", crop=True)
    if step.expect:
        out.text(f"{indent}    expected: {' '.join(step.expect[:300].split())}", "dim", crop=True)
    if step.trace:
        out.text(step.trace, "red")
