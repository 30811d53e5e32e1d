"""The corpus: each goal said as a plan and as a program; both give the answer that was worked out by hand."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from reading import KINDS, Goal, goals
from running import StoppedClock, furnish, inputs_of, ratio_of, run_program, written_alike

from infospace import Space
from infospace.core import clock
from planner import Prepared, RunResult, check_plan, dry_run, prepare, replay, run_sync
from planner.parse.saved_plans import save_plan
from tui.command import main

GOALS = {kind: goals(kind) for kind in KINDS}
ALL = [goal for found in GOALS.values() for goal in found]
EACH = pytest.mark.parametrize("goal", ALL, ids=lambda goal: f"{goal.kind}: {goal.goal}")


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    patch = pytest.MonkeyPatch()
    patch.setenv("TZ", "UTC")
    time.tzset()
    patch.setattr(clock, "time", StoppedClock())
    with furnish(tmp_path_factory.mktemp("corpus")) as space:
        yield space
    patch.undo()
    time.tzset()


@pytest.fixture
def here(furnished: Space, monkeypatch: pytest.MonkeyPatch) -> Space:
    """The space, with its folder as the current one."""
    monkeypatch.chdir(Path(furnished.store.address).parent)
    return furnished


def expected(goal: Goal) -> Any:
    return written_alike(goal.answer, goal.options["out"]) if "out" in goal.options else goal.answer


def data_of(result: RunResult) -> Any:
    assert result.status == "success", (result.reason, result.problems)
    assert result.result is not None
    return result.result.data


def renewing(document: dict[str, Any]) -> dict[str, Any]:
    """Let a plan give its names once more."""
    steps = [{**step, "replace": True} if "name" in step else step for step in document["steps"]]
    return {**document, "steps": steps}


@pytest.fixture(autouse=True)
def nothing_kept(here: Space) -> Iterator[None]:
    """What a plan keeps is gone before the next one looks at the notes."""
    yield
    names = [step["name"] for goal in ALL for step in goal.document["steps"] if "name" in step]
    with here.store.reading() as snapshot:
        known = [name for name in names if snapshot.named(name)]
    for name in known:
        assert run_sync(here, [{"type": "remove", "target": name}]).status == "success"


@EACH
def test_the_program_gives_the_answer(here: Space, goal: Goal) -> None:
    """Without the product: over the same data by the tools as plain functions."""
    found = run_program(goal)
    assert (written_alike(found, goal.options["out"]) if "out" in goal.options else found) == expected(goal)


@EACH
def test_the_plan_gives_the_answer(here: Space, goal: Goal, capsys: pytest.CaptureFixture[str]) -> None:
    """Checked without a problem and run by the command, with its tables read from files and written to one."""
    assert check_plan(here, goal.document)[1].found == []
    Path("plan.json").write_text(json.dumps(goal.document), encoding="utf-8")
    out = goal.options.get("out")
    arguments = [f"--input={name}=@{goal.options[name]}" for name in goal.document.get("inputs", {})]
    arguments += [] if out is None else [f"--out={out}"]
    code = main(["--space", str(here.store.address), "run", "plan.json", "--json", *arguments])
    told = json.loads(capsys.readouterr().out)
    assert (code, told["status"]) == (0, "success"), told
    if out is not None:
        assert written_alike(Path(out).read_text(encoding="utf-8"), out) == expected(goal)
    else:
        assert told["result"]["data"] == expected(goal)


@EACH
def test_a_replay_a_saved_plan_and_a_dry_run_agree(here: Space, goal: Goal) -> None:
    """Over the rows of its tables as lists; a dry run calls no tool, and knows what hangs on none."""
    rows = inputs_of(goal)
    document = renewing(goal.document)
    result = run_sync(here, document, rows)
    answer = data_of(result)
    again = asyncio.run(replay(here, str(result.run)))
    assert [*again.difference.steps] == []
    assert data_of(again.result) == answer
    prepared = prepare(here, document, rows)
    assert isinstance(prepared, Prepared)
    dry = asyncio.run(dry_run(here, prepared)).result
    if "api/" in json.dumps(goal.plan):
        assert dry.status == "success", dry.reason
    else:
        assert data_of(dry) == answer
    save_plan(here, "saved", document, replace=True)
    calling = [{"type": "plan:saved", "arguments": rows}]
    assert check_plan(here, calling)[1].ok
    assert data_of(run_sync(here, calling)) == answer


def test_there_are_goals_enough_of_each_kind() -> None:
    """No two have the same words."""
    assert {kind: len(found) >= 25 for kind, found in GOALS.items()} == dict.fromkeys(KINDS, True)
    assert len(ALL) >= 150
    assert [goal for goal, count in Counter(goal.goal for goal in ALL).items() if count > 1] == []


@pytest.mark.parametrize("kind", KINDS)
def test_plans_have_at_most_half_as_many_characters_again_as_programs(kind: str) -> None:
    """The mean of each kind; the figures are printed."""
    print(f"\n{'plan':>5} {'program':>7} {'ratio':>6}")  # noqa: T201
    for goal in GOALS[kind]:
        ratio = goal.plan_size / goal.program_size
        print(f"{goal.plan_size:5} {goal.program_size:7} {ratio:6.2f}  {goal.goal}")  # noqa: T201
    print(f"{kind}: mean ratio {ratio_of(GOALS[kind]):.2f}")  # noqa: T201
    assert ratio_of(GOALS[kind]) <= 1.5


def test_no_goal_needs_a_trick() -> None:
    assert [goal.goal for goal in ALL if "trick" in goal.options] == []
