"""Gold plans of public sets, put into our language: how many pass the check, and make just the gold calls.

`python tests/benchmarks/gold_plans.py --data FOLDER`; FOLDER has `nestools-dev/tasks.jsonl`, and of NESTFUL
`nestful/NAME-data.json` beside `nestful/NAME-spec.json`; what is missing is passed over. Ends with 1 where a plan is
refused, or calls anything else.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from infospace import open_space
from infospace.core.json_types import JSON
from planner.evaluation.declared_tools import providers
from planner.evaluation.public_sets import nestful_plan, nestools_plan, read_public, tasks_in
from planner.evaluation.score import calls_are_right
from planner.evaluation.suite import GoldCall, SuiteGoal
from planner.execute.start import run_sync


@dataclass(frozen=True)
class Counted:
    """The tasks of a set, those that contradict nothing, those whose plan makes the gold calls, and why others not."""

    tasks: int
    kept: int
    right: int
    wrong: tuple[str, ...] = ()


def run(data: Path) -> dict[str, Counted]:
    """Return what became of the gold plans of each set in a folder."""
    found: dict[str, Counted] = {}
    nestools = data / "nestools-dev" / "tasks.jsonl"
    if nestools.exists():
        text = nestools.read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        goals = read_public("nestools", text, None)
        found["nestools"] = _counted(tasks_in("nestools", text), zip(goals, map(nestools_plan, lines), strict=True))
    for path in sorted((data / "nestful").glob("*-data.json")):
        text, spec = path.read_text(encoding="utf-8"), path.with_name(path.name.replace("-data", "-spec"))
        tasks = json.loads(text)
        goals = read_public("nestful", text, spec.read_text(encoding="utf-8"))
        plans = ((goal, nestful_plan(tasks[int(goal.id.rpartition("-")[2])])) for goal in goals)
        found[path.stem.removesuffix("-data")] = _counted(tasks_in("nestful", text), plans)
    return found


def _counted(tasks: int, plans: Iterable[tuple[SuiteGoal, JSON]]) -> Counted:
    wrong = list(_each(plans))
    found = [reason for reason in wrong if reason is not None]
    return Counted(tasks, len(wrong), len(wrong) - len(found), tuple(found))


def _each(plans: Iterable[tuple[SuiteGoal, JSON]]) -> Iterator[str | None]:
    """Yield why a plan is not right, None where it is."""
    for goal, plan in plans:
        calls: list[GoldCall] = []
        with tempfile.TemporaryDirectory() as folder, open_space(Path(folder) / "space.db") as space:
            for provider in providers(goal.tools, calls):
                space.tools.add(provider)
            result = run_sync(space, plan)
        if result.status != "success":
            why = result.reason or next((problem.message for problem in result.problems), result.status)
            yield f"{goal.id}: {why}"
        else:
            yield None if calls_are_right(goal.calls or (), calls) else f"{goal.id}: it makes other calls"


def main() -> int:
    """Print a line for each set."""
    parser = argparse.ArgumentParser(description="Gold plans of public sets in our language.")
    parser.add_argument("--data", type=Path, required=True)
    found = run(parser.parse_args().data)
    for name, one in found.items():
        print(f"{name}: {one.right:,} of {one.kept:,} gold plans are right; {one.tasks - one.kept:,} left out")
        for reason in one.wrong[:5]:
            print(f"  {reason}")
    return 0 if found and all(one.right == one.kept for one in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
