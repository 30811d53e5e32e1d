"""Runs that wait while the tables of their space are brought to a later version."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest
from databases import place_in_database

from infospace import Space, open_space
from infospace.core.json_types import JSON
from infospace.core.resources import Note
from infospace.store.sqlite import schema
from planner.execute.run import Run
from planner.execute.start import Prepared, enqueue, prepare
from planner.lifecycle.resume import answer, resume
from planner.lifecycle.work import Worker

ASKS: JSON = {
    "steps": [
        {"type": "create-note", "value": "before", "out": "$before"},
        {"type": "ask", "value": "Which city?", "out": "$city"},
        {"type": "create-note", "value": "${before}: ${city}", "out": "$after"},
    ],
    "result": "$after",
}


@pytest.fixture(params=["file", "database"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where no space is yet."""
    return str(tmp_path / "team.db") if request.param == "file" else f"{place_in_database(tmp_path)}&space=earlier"


def suspend(space: Space) -> str:
    """Run a plan up to its question; return its run."""
    prepared = prepare(space, ASKS)
    assert isinstance(prepared, Prepared), prepared
    result = asyncio.run(Run(space, prepared.plan, lambda _: None).run(prepared.bound))
    assert result.status == "suspended"
    return result.run


def test_runs_that_wait_go_on_in_a_later_version(
    address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One that was asked and one in a queue; nothing that ended is done again, and the upgrade is told."""
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:17])
        earlier.setattr(schema, "VERSION", 17)
        with open_space(address) as space:
            asked = suspend(space)
            prepared = prepare(space, ASKS)
            assert isinstance(prepared, Prepared)
            queued = enqueue(space, prepared)
    caplog.set_level(logging.INFO, "infospace")
    with open_space(address) as space:
        told = f"the space is brought from version 17 to {schema.VERSION} of its tables" in caplog.messages
        assert told == address.startswith("postgresql")
        assert asyncio.run(Worker(space).work(once=True)) == 1
        for run in (asked, queued):
            with space.store.reading() as snapshot:
                before = snapshot.steps(run)
                assert [row.status for row in before] == ["success", "suspended"]
            answer(space, run, "2", "Oslo")
            if run == asked:
                asyncio.run(resume(space, run))
            else:
                assert asyncio.run(Worker(space).work(once=True)) == 1
            with space.store.reading() as snapshot:
                rows = snapshot.steps(run)
                assert [row.status for row in rows] == ["success"] * 3
                assert rows[0] == before[0]
                note = snapshot.get(str(snapshot.run(run).result))
            assert isinstance(note, Note)
            assert note.content == "before: Oslo"
        assert space.store.check() == []
