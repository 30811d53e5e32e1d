"""Compare two runs: which steps differ, which notes came and which went, what their contents became.

What a run made itself is compared by its content, everything else by identity; times do not count. Exit code 0: they
are the same; 1: they are not; 2: they cannot be compared.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from infospace.core.errors import NotFound
from tui.command.common.open_space import open_from
from tui.text.output import Output, UsageError

if TYPE_CHECKING:
    from infospace.journal.rows import RunRow, StepRow
    from planner.inspect.diff import Difference, Outcome, StepDifference
    from planner.inspect.diff_side import Item

EXAMPLES = """examples:
  infospace diff run_3 run_7
  infospace diff run_3 run_7 --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("before", metavar="RUN", help="the id of the first run")
    parser.add_argument("after", metavar="RUN", help="the id of the second")


def execute(args: argparse.Namespace, out: Output) -> int:
    """Compare; 0 when they are the same, else 1."""
    from planner.inspect.diff import diff

    with open_from(args, create=False) as space, space.store.reading() as snapshot:
        try:
            difference = diff(snapshot, args.before, args.after)
        except NotFound as error:
            raise UsageError(error.message, hint=error.hint) from error
    if out.json:
        out.document(difference_json(difference))
    else:
        from tui.text.diff_lines import show_difference

        show_difference(difference, out)
    return 0 if difference.same else 1


def difference_json(difference: Difference) -> dict[str, Any]:
    """Return a comparison as JSON."""
    return {
        "same": difference.same,
        "before": _run(difference.before),
        "after": _run(difference.after),
        "ended_otherwise": difference.ended,
        "plan_changed": difference.replanned,
        "inputs": {name: _outcome(outcome) for name, outcome in difference.inputs},
        "steps": [_step(step) for step in difference.steps],
        "steps_alike": difference.alike,
        "steps_lost": list(difference.lost),
        "result": None if difference.result is None else _outcome(difference.result),
    }


def _run(run: RunRow) -> dict[str, Any]:
    from planner.inspect.diff import duration_ms

    words = {"run": run.run, "status": run.status, "reason": run.reason, "goal": run.goal}
    return {**words, "steps": run.steps, "duration_ms": duration_ms(run)}


def _step(step: StepDifference) -> dict[str, Any]:
    return {
        "step": step.position,
        "only": "after" if step.before is None else "before" if step.after is None else None,
        "changes": list(step.changes),
        "before": None if step.before is None else _row(step.before),
        "after": None if step.after is None else _row(step.after),
        "outcome": None if step.outcome is None else _outcome(step.outcome),
    }


def _row(row: StepRow) -> dict[str, Any]:
    return {
        "type": row.type,
        "out": None if row.out is None else f"${row.out}",
        "status": row.status,
        "reason": row.reason,
        "resource_id": row.resource,
        "duration_ms": row.duration_ms,
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    from planner.inspect.diff import SetDiff

    if isinstance(outcome, SetDiff):
        came, went = (_items(items) for items in (outcome.came, outcome.went))
        return {"what": "items", "came": came, "went": went, "reordered": outcome.reordered}
    return {"what": outcome.what, "before": outcome.before, "after": outcome.after}


def _items(items: tuple[Item, ...]) -> list[dict[str, str]]:
    return [{"id": item.id, "title": item.title} for item in items]
