"""What the tests of the screen wait for: as long as something goes on, and not when nothing will come."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
import staging
from staging import Show, Stage, gate

from infospace import Space


def test_what_will_not_come_is_not_waited_for(show: Show, space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing goes on and nothing changes."""
    monkeypatch.setattr(staging, "AT_REST", 50)

    async def story(stage: Stage) -> None:
        await stage.sees("no runs yet")
        await stage.sees("what nobody will ever write")

    begun = time.monotonic()
    with pytest.raises(AssertionError, match="what nobody will ever write"):
        show(story, on=space)
    assert time.monotonic() - begun < staging.PATIENCE


def test_work_is_waited_for(show: Show, space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many turns it takes."""
    monkeypatch.setattr(staging, "AT_REST", 5)
    may_end, turns = threading.Event(), 0

    def has_waited() -> bool:
        nonlocal turns
        turns += 1
        return turns > 60

    async def story(stage: Stage) -> None:
        await stage.sees("no runs yet")
        place = stage.app.place
        assert place is not None
        work = place.do(asyncio.to_thread, may_end.wait, staging.PATIENCE, group="held")
        await stage.until(has_waited)
        may_end.set()
        await stage.until(lambda: work.is_finished)

    show(story, on=space)


def test_a_story_that_fails_lets_its_threads_go(show: Show, space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end does not wait for them, and what they hold is not work that is waited for."""
    monkeypatch.setattr(staging, "AT_REST", 20)
    held: list[bool] = []

    async def story(stage: Stage) -> None:
        await stage.sees("no runs yet")
        closed, place = gate(), stage.app.place
        assert place is not None
        place.do(asyncio.to_thread, lambda: held.append(closed.wait(staging.PATIENCE)), group="held")
        await stage.sees("what nobody will ever write")

    begun = time.monotonic()
    with pytest.raises(AssertionError, match="what nobody will ever write"):
        show(story, on=space)
    assert held == [True]
    assert time.monotonic() - begun < staging.PATIENCE
