"""Fifty clients at once over HTTP: each gets its own answers, none is lost, and none waits without end."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest

from infospace import open_space

sys.path.insert(0, str(Path(__file__).parent))
from serving import Planner, over_http, planners, text_of

CLIENTS, EACH = 50, 4
SECONDS = 60.0
"""Of one call at most, on a machine that does other things, too."""


@pytest.mark.slow
def test_fifty_clients_at_once_lose_nothing_and_get_their_own_answers(tmp_path: Path) -> None:
    """Of both protocols; what was answered is what the journal has, run by run."""
    space = tmp_path / "space.db"
    open_space(space).close()
    modes = [("legacy", "2026-07-28")[number % 2] for number in range(CLIENTS)]

    async def ask(planner: Planner, number: int) -> list[tuple[str, str, float]]:
        found = []
        for turn in range(EACH):
            own = f"client {number}, run {turn}"
            plan = {"goal": own, "steps": [{"type": "create-note", "value": own, "out": "$x"}]}
            began = time.monotonic()
            answer = await planner.client.call_tool("run_plan", {"plan": plan, "wait_s": 300})
            taken = time.monotonic() - began
            assert not answer.is_error, text_of(answer.content[0])
            document = json.loads(text_of(answer.content[0]))
            assert (document["status"], document["result"]["data"]) == ("success", own)
            found.append((document["run"], own, taken))
        return found

    async def scene() -> list[tuple[str, str, float]]:
        with over_http(space) as served:
            async with planners(served, modes) as clients:
                # Raised among the connections, what went wrong would come out as groups of groups.
                asked = (ask(one, number) for number, one in enumerate(clients))
                found = await asyncio.gather(*asked, return_exceptions=True)
        wrong = [repr(one) for one in found if isinstance(one, BaseException)]
        assert wrong == []
        return [one for each in found if not isinstance(each, BaseException) for one in each]

    answers = asyncio.run(scene())
    assert max(taken for *_, taken in answers) < SECONDS
    goals = {run: own for run, own, _ in answers}
    assert len(goals) == CLIENTS * EACH, "each run is another one"
    with open_space(space) as opened, opened.store.reading() as snapshot:
        assert {row.run: row.goal for row in snapshot.runs() if row.status == "success"} == goals
