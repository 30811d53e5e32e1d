"""Correct plans of many shapes: each passes the check, runs, and ends as its outcome file says.

`INFOSPACE_WRITE_OUTCOMES=1` writes the outcome files anew, to be read before they are kept.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import open_space
from planner.execute.start import check_plan, run_sync
from planner.journal.result import RunResult

sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import furnish

FOLDER = Path(__file__).parents[2] / "plans"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json") if not path.stem.endswith(".outcome"))


def summary(result: RunResult) -> dict[str, Any]:
    """Return what of a run stays the same from one time to the next."""
    return {
        "status": result.status,
        "reason": result.reason,
        "result": None if result.result is None else result.result.data,
        "steps": [[row.position, row.type, row.status] for row in result.steps],
    }


def test_there_are_many_plans() -> None:
    """A folder that was lost would pass every other test here."""
    assert len(NAMES) >= 25


@pytest.mark.parametrize("name", NAMES)
def test_a_correct_plan_passes_and_ends_as_expected(name: str, tmp_path: Path) -> None:
    """No error is found in it; status, answer, and each execution of a step are as they were when it was read."""
    plan = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    with open_space(tmp_path / "space.db") as space:
        furnish(space)
        _, problems = check_plan(space, plan)
        assert problems.ok, problems.found
        found = summary(run_sync(space, plan))
    outcome = FOLDER / f"{name}.outcome.json"
    if os.environ.get("INFOSPACE_WRITE_OUTCOMES") == "1":
        outcome.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(outcome.read_text(encoding="utf-8"))
