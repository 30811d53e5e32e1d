"""Documents that are written while they run: the next piece when something has happened."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from infospace import Space
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Event, RunFinished, StepRanAhead, StepStarted
from planner.journal.result import RunResult
from planner.streaming.run import stream_arriving

sys.path.insert(0, str(Path(__file__).parents[1]))
from timing import turns

LIST = {"type": "create-collection", "value": ["a", "b"], "out": "$c"}
SIZE = {"type": "size", "target": "$c", "out": "$n"}
NOTE = {"type": "create-note", "value": "${n} of them", "out": "$x"}
KEEP = {"type": "create-note", "value": "kept", "name": "kept"}


def steps(*values: Any) -> str:
    """Return steps as they stand in a document, without the brackets around them."""
    return ", ".join(json.dumps(value) for value in values)


def kept(space: Space) -> list[str]:
    with space.store.reading() as snapshot:
        return list(snapshot.names())


def runs(space: Space) -> list[Any]:
    with space.store.reading() as snapshot:
        return snapshot.runs()


class Written:
    """A run of a document that is written in pieces, and what was told of it."""

    def __init__(
        self, space: Space, inputs: Any = None, halt: SuspendRequest | None = None, approve: Sequence[str] = ()
    ) -> None:
        self.told: list[Event] = []
        self.ahead: list[str] = []
        """Positions of the steps that ended before the document was whole."""
        self.begun: list[str] = []
        """Positions of the steps that were begun."""
        self.begun_before: list[str] = []
        """Positions of the steps that were begun before the last piece was written."""
        self._space = space
        self._inputs = inputs
        self._halt = halt
        self._approve = approve
        self._changed = asyncio.Event()

    async def until(self, happened: Callable[[], bool]) -> None:
        """Wait until something has happened."""
        async with asyncio.timeout(120):
            while not happened():
                self._changed.clear()
                await self._changed.wait()

    async def _pieces(self, pieces: tuple[str | bytes | tuple[str, int], ...]) -> AsyncIterator[bytes]:
        for index, piece in enumerate(pieces):
            if index == len(pieces) - 1:
                self.begun_before = list(self.begun)
            text, count = piece if isinstance(piece, tuple) else (piece, 0)
            yield text.encode() if isinstance(text, str) else text
            await self.until(lambda count=count: len(self.ahead) >= count)  # type: ignore[misc]  # bound here
            await turns()

    async def run(self, *pieces: str | bytes | tuple[str, int]) -> RunResult:
        """Write pieces; with a number, the next one when so many steps have ended. Return the outcome."""
        arriving = stream_arriving(self._space, self._pieces(pieces), self._inputs, self._halt, self._approve)
        async for event in arriving:
            self.told.append(event)
            if isinstance(event, StepRanAhead):
                self.ahead.append(event.row.position)
            elif isinstance(event, StepStarted):
                self.begun.append(event.position)
            self._changed.set()
        assert isinstance(self.told[-1], RunFinished)
        return self.told[-1].result


def write(
    space: Space, *pieces: str | bytes | tuple[str, int], inputs: Any = None, approve: Sequence[str] = ()
) -> tuple[RunResult, Written]:
    """Run a document that is written in pieces; return the outcome, and what was told."""

    async def go() -> tuple[RunResult, Written]:
        written = Written(space, inputs, approve=approve)
        return await written.run(*pieces), written

    return asyncio.run(go())
