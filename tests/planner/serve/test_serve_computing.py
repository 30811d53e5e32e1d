"""A plan that computes for long holds up nobody else, is cancelled at once, and is bounded by its token."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from infospace import open_space
from planner.server.access import Access

sys.path.insert(0, str(Path(__file__).parent))
from serving import Served, over_http, planners, play

pytestmark = pytest.mark.slow

ROWS = [{"k": 1, "v": number} for number in range(500)]
HEAVY: list[Any] = [
    {"type": "create-note", "value": ROWS, "out": "$rows"},
    {"type": "split", "target": "$rows", "out": "$table"},
    {"type": "join", "target": "$table", "value": "$table", "on": "k", "out": "$pairs"},
]
"""A quarter of a million pairs: many seconds."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with over_http(tmp_path_factory.mktemp("computing") / "space.db") as one:
        yield one


def test_others_are_answered_while_a_plan_computes(served: Served) -> None:
    """`/health`, the same planner's next call, and another planner's plan; then the computing one is cancelled."""
    health = served.url.rsplit("/", 1)[0] + "/health"

    async def scene() -> Any:
        async with planners(served, ("auto", "auto")) as (one, other), httpx2.AsyncClient(timeout=90) as http:
            heavy = await one.call("run_plan", plan=HEAVY, wait_s=0)
            answers = [(await http.get(health)).status_code for _ in range(5)]
            light = await other.call("run_plan", plan=HEAVY[:2], wait_s=60)
            problems = await one.call("check_plan", plan=HEAVY)
            between = await other.call("get_run", run=heavy["run"], wait_s=0)
            cancelled = await other.call("cancel_run", run=heavy["run"])
            after = await other.call("get_run", run=heavy["run"], wait_s=0)
            return heavy, answers, light, problems, between, cancelled, after

    heavy, answers, light, problems, between, cancelled, after = asyncio.run(scene())
    assert answers == [200] * 5
    assert (light["status"], problems["ok"]) == ("success", True)
    assert [run["status"] for run in (heavy, between)] == ["running", "running"]
    assert [run["status"] for run in (cancelled, after)] == ["cancelled", "cancelled"]
    assert "pairs" not in after["bindings"]


def test_a_token_bounds_what_a_step_makes(tmp_path: Path) -> None:
    """Whatever the plan allows itself."""
    config = {
        "scopes": {"default": {"limits": {"items": 100}}},
        "tokens": [{"name": "ann", "token": "a-token-of-some-length"}],
    }
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    from planner.server.config import read_config

    access = read_config(file, {}).tokens[0].access
    assert isinstance(access, Access)

    async def scene(planner: Any) -> Any:
        return await planner.call("run_plan", plan={"steps": HEAVY[:2], "budget": {"items": 10_000}}, wait_s=60)

    with open_space(tmp_path / "space.db") as space:
        run = play(space, scene, access)
    assert (run["status"], "the budget of 100 items" in run["reason"]) == ("failed", True)
