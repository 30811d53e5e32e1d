"""However a document is cut while it arrives, its run comes to what it comes to when all of it is there at once."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Space, open_space
from planner.execute.start import run_sync
from planner.journal.events import RunFinished, StepRanAhead
from planner.journal.result import RunResult
from planner.streaming.run import stream_arriving

sys.path.insert(0, str(Path(__file__).parents[1]))
from furnished import files
from outcomes import told
from plangen.forms import Plans
from plangen.supplied import outlines, supply

COUNT = 2_000 if os.environ.get("INFOSPACE_PROVE") == "1" else 50


@dataclass
class Tally:
    """How many plans were refused, ran, and ran ahead in part."""

    refused: int = 0
    ran: int = 0
    ahead: int = 0
    dropped: int = 0


def arranged(document: dict[str, Any], chance: Random) -> Any:
    """Return a document in one of the forms that are read, its keys in any order."""
    if not document.get("inputs") and "result" not in document and chance.random() < 0.3:
        return document["steps"]
    if chance.random() < 0.15:
        document = {**document, "budget": {"steps": chance.randint(1, 6)}}
    keys = list(document)
    if chance.random() < 0.6:
        chance.shuffle(keys)
    list_key = "plan" if chance.random() < 0.2 and "plan" not in document else "steps"
    return {list_key if key == "steps" else key: document[key] for key in keys}


async def cut(text: bytes, chance: Random) -> AsyncIterator[bytes]:
    """Give a text in pieces of any size; between two of them others may run for a while."""
    at = 0
    while at < len(text):
        size = chance.choice((1, 2, 7, 40, 300, 5_000))
        yield text[at : at + size]
        at += size
        for _ in range(chance.choice((0, 0, 1, 3, 30))):
            await asyncio.sleep(0)


def arrive(space: Space, text: bytes, inputs: Any, chance: Random) -> tuple[RunResult, int]:
    """Run a text as it comes; return the outcome, and how many executions ended ahead."""

    async def follow() -> tuple[RunResult, int]:
        ahead, result = 0, None
        async for event in stream_arriving(space, cut(text, chance), inputs):
            ahead += isinstance(event, StepRanAhead)
            if isinstance(event, RunFinished):
                result = event.result
        assert result is not None
        return result, ahead

    return asyncio.run(follow())


def outcome(space: Space, result: RunResult) -> Any:
    """Return what a run came to; of a refused one its problems, and that it left no trace that anybody finds."""
    if result.status == "refused":
        assert not result.bindings
        assert result.result is None
        assert {row.status for row in result.steps} <= {"skipped"}
    problems = [(one.code, one.severity, one.pointer, one.message, one.hint, one.fix) for one in result.problems]
    status, reason, *rest, steps = told(space, result)
    refused = status == "refused"
    return status, None if refused else reason, rest, [] if refused else steps, problems


def _broken(result: RunResult) -> bool:
    """Whether a `parallel` failed: of its other branches, as much was done as had been begun by then."""
    return any((row.type, row.status) == ("parallel", "failed") for row in result.steps)


@pytest.mark.slow
def test_the_outcome_is_that_of_the_same_document_at_once(tmp_path: Path, endpoint: Any) -> None:
    """Of generated plans, good and bad: status, answer, bindings, names, steps, and the problems of refused ones."""
    del endpoint
    origin, tally = tmp_path / "origin.db", Tally()
    with open_space(origin) as space:
        supply(space)

    def opened(name: str) -> Space:
        for left in tmp_path.glob(f"{name}.db*"):
            left.unlink()
        space = open_space(shutil.copy(origin, tmp_path / f"{name}.db"))
        space.tools.add(files())
        return space

    @settings(max_examples=COUNT)
    @given(st.integers(0, 10**9), st.integers(0, 10**9))
    def holds(seed: int, cuts: int) -> None:
        chance = Random(cuts)  # noqa: S311 - not for secrets
        with opened("once") as once, opened("arriving") as arriving:
            plan, inputs = Plans(seed, outlines(once)).plan()
            document = arranged(plan, chance)
            text = json.dumps(document, ensure_ascii=chance.random() < 0.5).encode()
            expected = run_sync(once, json.loads(text), inputs)
            found, ahead = arrive(arriving, text, inputs, chance)
            if not _broken(expected):
                assert outcome(arriving, found) == outcome(once, expected)
        tally.ran += found.status != "refused"
        tally.refused += found.status == "refused"
        tally.ahead += ahead > 0
        tally.dropped += ahead > 0 and found.status == "refused"

    holds()
    print(f"{tally.ran:,} plans ran, {tally.refused:,} were refused; of {tally.ahead:,} something ran ahead")  # noqa: T201
    assert tally.ahead > COUNT / 10
    assert tally.dropped
