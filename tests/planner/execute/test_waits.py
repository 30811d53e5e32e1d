"""`wait`: what it waits for, as it is told, and how long a run sleeps before it rests instead."""

from __future__ import annotations

import asyncio
import re

import pytest

from infospace import Space
from infospace.core.clock import later
from infospace.tools.local import LocalTools
from planner.execute import wait
from planner.execute.start import run_sync
from planner.lifecycle.resume import answer, resume

NEVER = {"type": "bound", "target": "$never"}


@pytest.mark.parametrize(("seconds", "status"), [(0.01, "success"), (0.05, "success"), (0.051, "suspended")])
def test_a_run_sleeps_for_so_long_and_rests_for_longer(
    space: Space, monkeypatch: pytest.MonkeyPatch, seconds: float, status: str
) -> None:
    monkeypatch.setattr(wait, "LONGEST_SLEEP", 0.05)
    result = run_sync(space, [{"type": "wait", "seconds": seconds}])
    assert result.status == status
    if status == "success":
        assert result.steps[0].value == f"{seconds:g} s"


def test_a_long_wait_says_until_when(space: Space) -> None:
    """In words, and exactly."""
    before = later(3_600)
    [pending] = run_sync(space, [{"type": "wait", "seconds": 3_600}]).pending
    until = str(pending.until)
    assert before <= until <= later(3_600)
    assert re.fullmatch(r"until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", pending.question)
    assert pending.question == f"until {until[:10]} {until[11:19]} UTC"
    assert (pending.step, pending.kind, pending.schema) == ("1", "wait", None)


@pytest.mark.parametrize("expect", [None, "that the letter has come"])
def test_a_wait_for_a_condition_says_what_is_expected(space: Space, expect: str | None) -> None:
    told = {} if expect is None else {"expect": expect}
    [pending] = run_sync(space, [{"type": "wait", "condition": NEVER, **told}]).pending
    assert (pending.question, pending.until) == (expect or "its condition does not hold yet", None)
    met = run_sync(space, [{"type": "wait", "condition": {**NEVER, "type": "notbound"}, **told}])
    assert (met.status, met.steps[0].value) == ("success", "its condition holds")


def test_a_call_that_is_not_allowed_is_not_tried_again(space: Space) -> None:
    """Nobody is asked a second time."""
    called: list[str] = []
    outside = LocalTools("outside")

    @outside.tool(destructive=True, idempotent=True)
    def wipe() -> str:
        """Wipe something away."""
        called.append("wipe")
        return "wiped"

    space.tools.add(outside)
    asked = run_sync(space, [{"type": "outside/wipe", "retry": {"attempts": 3, "wait_s": 0}}])
    assert [(one.step, one.kind) for one in asked.pending] == [("1", "approve")]
    answer(space, str(asked.run), "1", "no")
    result = asyncio.run(resume(space, str(asked.run)))
    assert (result.status, [row.position for row in result.steps], called) == ("failed", ["1"], [])
    assert result.steps[0].error == "not-allowed"
