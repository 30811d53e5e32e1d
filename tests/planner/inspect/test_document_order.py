"""Executions in document order: by their positions alone, as they are numbered where nothing rested."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare, run_sync
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer, plan_of, resume
from planner.parse.document_order import in_document_order
from planner.parse.saved_plans import save_plan

sys.path.insert(0, str(Path(__file__).parents[1]))
from plangen.forms import Plans
from plangen.supplied import outlines, supply

SEEDS = 24


def ask(out: str, **fields: Any) -> dict[str, Any]:
    return {"type": "ask", "value": "which?", "out": out, **fields}


def to_the_end(space: Space, result: RunResult) -> RunResult:
    """Answer what a run asks, one question at a time."""
    while result.status == "suspended":
        answer(space, str(result.run), result.pending[0].step, "x")
        result = asyncio.run(resume(space, str(result.run)))
    return result


def told(space: Space, result: RunResult) -> list[str]:
    """The positions of the steps as the run answers them; those of the journal in document order are the same."""
    with space.store.reading() as snapshot:
        row, rows = snapshot.run(str(result.run)), snapshot.steps(str(result.run))
    found = [row.position for row in result.steps]
    assert [row.position for row in in_document_order(plan_of(row), rows)] == found
    return found


def test_generated_plans_are_in_document_order_as_they_are_numbered(endpoint: Any) -> None:
    """With loops, branches, handlers, attempts, labels and saved plans."""
    del endpoint
    ran = 0
    for seed in range(SEEDS):
        with open_space(":memory:") as space:
            supply(space)
            plan, given = Plans(seed, outlines(space)).plan()
            prepared = prepare(space, plan, given)
            if not isinstance(prepared, Prepared):
                continue
            run = Run(space, prepared.plan, lambda _event: None)
            result = asyncio.run(run.run(prepared.bound))
            ordered = [row.position for row in in_document_order(run.plan, reversed(result.steps))]
            assert ordered == [row.position for row in result.steps], seed
            ran += len(ordered) > 1
    assert ran > SEEDS / 4


def test_steps_of_a_run_that_rested_are_in_document_order(space: Space) -> None:
    """Loops, branches, saved plans and handlers that were left and gone on with."""
    save_plan(space, "asks", {"steps": [ask("$a"), ask("$b", id="last")]})
    items = {"type": "create-collection", "value": ["p", "q", "r"], "out": "$c"}
    each = {"type": "for-each", "target": "$c", "do": [ask("$k")], "out": "$m"}
    branches = {"type": "parallel", "branches": [[ask("$a"), ask("$b")], [ask("$d", id="d")]]}
    lost = {"type": "coerce", "target": "$c[0]", "coercion": "int", "on_fail": [ask("$n"), {"type": "plan:asks"}]}
    result = to_the_end(space, run_sync(space, [items, each, {"type": "size", "target": "$m"}, branches, lost]))
    assert result.status == "success", result.reason
    assert told(space, result) == [
        *("1", "2", "2.do[1].1", "2.do[2].1", "2.do[3].1", "3"),
        *("4", "4.branches[1].1", "4.branches[1].2", "4.branches[2].d"),
        *("5", "5.on_fail.1", "5.on_fail.2", "5.on_fail.2/1", "5.on_fail.2/last"),
    ]


@pytest.mark.parametrize("steps", [6, 5])
def test_resting_costs_no_steps_of_the_budget(space: Space, steps: int) -> None:
    """What a plan needs in one go is enough in four, and no less."""
    items = {"type": "create-collection", "value": ["p", "q", "r"], "out": "$c"}
    each = {"type": "for-each", "target": "$c", "do": [ask("$k")], "out": "$m"}
    document = {"steps": [items, each, {"type": "size", "target": "$m"}], "budget": {"steps": steps}}
    result = to_the_end(space, run_sync(space, document))
    assert result.status == ("success" if steps == 6 else "failed"), result.reason
