"""Correct plans of many shapes: each passes the check, runs, and ends as its outcome file says.

`INFOSPACE_WRITE_OUTCOMES=1` writes the outcome files anew, to be read before they are kept.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from planner.outcome import RunResult
from planner.start import check_plan, run_sync

FOLDER = Path(__file__).parents[1] / "plans"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json") if not path.stem.endswith(".outcome"))

NOTES: list[dict[str, Any]] = [
    {"value": "Attention mechanisms let a network weigh its inputs.", "name": "attention", "title": "Attention"},
    {"value": "Training neural networks needs much data.", "name": "training", "title": "Training", "priority": 1},
    {"value": "Gradient descent trains networks step by step.", "name": "descent", "title": "Descent", "priority": 3},
    {"value": "The office closes at six on Fridays.", "name": "office", "title": "Office hours"},
]
QUESTIONS = {"title": "Open questions", "items": ["why now?", "how much?", "who pays?"]}


def furnish(space: Space) -> None:
    """Put the Notes and the Collection into a space that the plans speak of."""
    steps: list[Any] = []
    for note in NOTES:
        metadata = {"title": note["title"], "status": "open" if "priority" in note else "done"}
        metadata |= {"priority": note["priority"]} if "priority" in note else {}
        out = "$" + note["name"]
        steps.append(
            {"type": "create-note", "value": note["value"], "metadata": metadata, "name": note["name"], "out": out}
        )
    status = {"status": "open"}
    steps.append({"type": "create-note", "value": QUESTIONS, "metadata": status, "name": "open questions"})
    steps.append(
        {"type": "create-collection", "value": ["$attention", "$training", "$descent"], "name": "reading list"}
    )
    assert run_sync(space, steps).status == "success"


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
