"""`think`: for later planning turns."""

from __future__ import annotations

import asyncio
from typing import Any

from infospace import Space
from infospace.core.ids import Kind
from planner.execute.start import Prepared, prepare, stream
from planner.journal.events import Spoke


def test_a_thought_is_an_event_of_its_own_and_not_a_note(space: Space) -> None:
    """It goes to whoever plans the next steps, with its references replaced."""

    async def listen() -> list[Spoke]:
        steps = [
            {"type": "create-note", "value": {"n": 3}, "out": "$x"},
            {"type": "think", "value": "there are ${x.n}"},
        ]
        prepared = prepare(space, {"steps": steps})
        assert isinstance(prepared, Prepared)
        return [event async for event in stream(space, prepared) if isinstance(event, Spoke)]

    assert [(event.kind, event.text) for event in asyncio.run(listen())] == [("think", "there are 3")]
    with space.store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE, kept=None) == 1


def test_the_journal_shows_the_thought(run: Any) -> None:
    """It survives the run."""
    row = run({"type": "think", "value": ["a", 1]}).last
    assert (row.resource, row.value) == (None, '["a",1]')
