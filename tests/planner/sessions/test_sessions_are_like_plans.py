"""A plan that is given to a session line by line comes to what it comes to as a whole, and is replayed like it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from infospace import Space, open_space
from planner.execute.start import run_sync
from planner.journal.result import RunResult
from planner.sessions.jsonl import LineRunner
from planner.sessions.session import Session

sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import files
from outcomes import told
from plangen.forms import Plans
from plangen.supplied import outlines, supply

COUNT = 600 if os.environ.get("INFOSPACE_PROVE") == "1" else 12


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory, model: Any) -> Path:
    """A supplied space to be copied."""
    del model
    path = tmp_path_factory.mktemp("origin") / "origin.db"
    with open_space(path) as space:
        supply(space)
    return path


def line_by_line(space: Space, plan: dict[str, Any], inputs: dict[str, Any]) -> RunResult:
    """Give a plan's head and steps as lines, as far as they are taken."""
    head = {key: value for key, value in plan.items() if key != "steps"}

    async def go() -> RunResult:
        script = LineRunner(space, lambda _event: None, None, inputs)
        for line in ({"goal": "", **head}, *plan["steps"]):
            ended = await script.line(line)
            if ended is not None:
                return ended
        return await script.end()

    return asyncio.run(go())


def _as_plan(space: Space, plan: Any, inputs: Any) -> RunResult:
    return run_sync(space, {"goal": "", **plan}, inputs)


def _in_session(space: Space, plan: Any, inputs: Any) -> RunResult:
    unlimited = {key: value for key, value in plan.items() if key != "budget"}
    return asyncio.run(Session(space).play_plan(unlimited, inputs))


def _outcomes(origin: Path, seed: int, *ways: Any) -> list[tuple[RunResult, Any]]:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, way in enumerate(ways):
            path = Path(folder) / f"{number}.db"
            shutil.copy(origin, path)
            with open_space(path) as space:
                space.tools.add(files())
                plan, inputs = Plans(seed, outlines(space)).plan()
                assume(isinstance(plan, dict) and isinstance(plan.get("steps"), list))
                assume(all(isinstance(step, dict) and "type" in step for step in plan["steps"]))
                result = way(space, plan, inputs)
                assume(result.status != "refused")
                assume(not any(row.type == "parallel" and row.status == "failed" for row in result.steps))
                found.append((result, told(space, result)))
    return found


def _broken_off(said: Any) -> bool:
    """Whether a plan ended in the midst of branches: of the others, as much was done as had been begun by then."""
    return said[0] != "success" and any(".branches[" in position for position, *_ in said[-1])


@pytest.mark.slow
@settings(max_examples=COUNT, deadline=None, suppress_health_check=list(HealthCheck))
@example(seed=500)
@example(seed=978)
@given(seed=st.integers(0, 100_000))
def test_line_by_line_comes_to_the_same_as_the_whole(origin: Path, seed: int) -> None:
    """Status, reason, answer, bindings, names and steps of generated plans that both admit."""
    whole, lines = _outcomes(origin, seed, _as_plan, line_by_line)
    assume(not _broken_off(whole[1]))
    waits = whole[0].status == "suspended"
    assert lines[1][0] == whole[1][0]
    assert lines[1][1 + waits :] == whole[1][1 + waits :]


@pytest.mark.slow
@settings(max_examples=COUNT // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 100_000))
def test_a_whole_plan_comes_to_the_same_in_a_session(origin: Path, seed: int) -> None:
    """Its answer and what it bound; a failure or a `stop` has the same place, after what its inputs are bound to."""
    whole, inside = _outcomes(origin, seed, _as_plan, _in_session)
    assert inside[0].status == whole[0].status, (inside[0].reason, whole[0].reason)
    assert inside[1][2:5] == whole[1][2:5]
