"""What lies open: a run, or a plan that was not run, kept as it is now wherever the run goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infospace.core.errors import InfospaceError, NotFound
from infospace.core.json_types import JSON
from planner.journal.events import Event
from tui.runtime.run_model import RunModel, read_plan, read_run, stamp
from tui.runtime.workers import poll_delay
from tui.screens.run_screen import RunScreen

if TYPE_CHECKING:
    from tui.app import InfospaceApp
    from tui.runtime.runner import ActiveRun

POLL_TO_COST_RATIO = 10
"""How many times as long as reading a run took is waited until it is read again."""


@dataclass(eq=False, slots=True)
class PendingRead:
    """A run that is being read, and what was heard of it meanwhile."""

    run: str
    heard: list[Event] = field(default_factory=list)


class OpenRun:
    """Reads what is open off the event loop, and has the place that is shown draw it."""

    def __init__(self, app: InfospaceApp) -> None:
        self.subject: RunModel | None = None
        """What is open, once it is read."""
        self._app = app
        self._stamp: object = None
        self._next = 0.0
        self._failed: RunModel | None = None
        """What is open, where the latest look at it failed: that is said once."""
        self._reading: list[PendingRead] = []

    async def open(self, run: str | None) -> None:
        """Open a run, or without one the latest that can be. Raises NotFound."""
        app = self._app
        if run is None:
            heads = await asyncio.to_thread(app.read_snapshot, lambda snapshot: snapshot.run_heads())
            run = next((head.run for head in heads if head.kind in {"plan", "session"}), None)
        if run is None:
            return
        app.opened, self._stamp = run, None
        try:
            self.subject = await self._read(run)
        finally:
            self._draw()

    async def open_plan(self, document: JSON) -> None:
        """Open a plan that was not run, with what the check says of it."""
        self.subject = await asyncio.to_thread(read_plan, self._app.space, document)
        self._draw()

    def handle_run_events(self, active: ActiveRun, events: Sequence[Event]) -> None:
        """Take what happened in a run that goes on here."""
        for reading in self._reading:
            if reading.run == active.run:
                reading.heard += events
        subject = self.subject
        if subject is None or subject.run is None or active.run != subject.run.run:
            return
        subject.here = active in self._app.runner.going
        has_ended = subject.apply_events(events) or not subject.here
        if not has_ended:
            self._draw()
        elif self._app.opened == active.run:
            self._app.do(self.open, active.run, group="open")

    async def refresh(self) -> None:
        """Read the run that is open again, where another process has gone on with it, or removed it."""
        subject, started = self.subject, time.monotonic()
        if subject is None or subject.run is None or subject.here or started < self._next:
            return
        if not isinstance(self._app.place, RunScreen):
            return
        self._next = float("inf")
        try:
            run = subject.run.run
            if subject.ended:  # nothing can come to it any more, but it can be removed: its row alone is looked at
                await asyncio.to_thread(self._app.read_snapshot, lambda snapshot: snapshot.run(run))
            else:
                await self._read_again(subject, run)
            self._failed = None
        except InfospaceError as error:
            if self.subject is not subject:
                return  # another one was opened meanwhile
            if isinstance(error, NotFound):
                self.subject = None
                self._draw()
            elif self._failed is subject:
                return
            self._failed = self.subject
            self._app.report_error(error)
        finally:
            ended = time.monotonic()
            self._next = ended + poll_delay(ended - started, POLL_TO_COST_RATIO)

    async def _read_again(self, subject: RunModel, run: str) -> None:
        """Read a run, where it is not as it was read last, and draw it unless another one was opened meanwhile."""
        now = await asyncio.to_thread(self._app.read_snapshot, lambda snapshot: stamp(snapshot, run))
        if now == self._stamp:
            return
        result = await self._read(run)
        self._stamp = now
        if self.subject is subject:
            self.subject = result
            self._draw()

    async def _read(self, run: str) -> RunModel:
        """Read a run from the journal, with what goes on in it here."""
        # What is heard while the journal is read may be in what is read already. Taking it twice changes nothing: steps
        # are kept by position and sequence. Only after the end it is read again, for the row of the run itself.
        reading, has_ended = PendingRead(run), True
        self._reading.append(reading)
        try:
            while has_ended:
                reading.heard.clear()
                subject = await asyncio.to_thread(self._app.read_snapshot, lambda snapshot: read_run(snapshot, run))
                has_ended = subject.apply_events(reading.heard)
        finally:
            self._reading.remove(reading)
        active = self._app.runner.of(run)
        if active is not None:
            for position, at in active.begun.items():
                subject.outline.began(position, at)
        subject.here = active is not None
        return subject

    def _draw(self) -> None:
        place = self._app.place
        if isinstance(place, RunScreen):
            place.changed()
