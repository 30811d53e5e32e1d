"""A worker: takes runs that wait in the queues of a space, and runs each until it ends or waits again.

A run is claimed in one transaction with the count of those of its queue; from then on each commit compares the owner.
So any number of workers may look for runs at once. A run whose worker is gone stays in its queue, and is taken again
once its lease is over: at once on the machine where the process was, elsewhere after `LEASE`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from infospace.core.clock import later, now
from infospace.core.errors import Conflict, InfospaceError, LeaseLost, NotFound, StoreError
from infospace.journal.queue_rows import QueuedRun, TakeQueued
from infospace.journal.rows import RunHead
from infospace.space import Space
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit
from planner.journal.lease import LEASE, is_live
from planner.journal.result import RunResult
from planner.lifecycle.resume import resume

LOOK: Final = 0.5
"""Seconds between two looks at the queues, where nothing wakes the worker before."""
CANDIDATES: Final = 50
"""Runs that are tried in one look."""
ASIDE: Final = 30.0
"""Seconds for which a worker leaves a run alone that it could not go on with."""

_log = logging.getLogger(__name__)


@dataclass
class Worker:
    """Works off the queues of a space until `stop` is set; `queues` are the names of those, all when empty."""

    space: Space
    queues: Sequence[str] = ()
    stop: SuspendRequest = field(default_factory=SuspendRequest)
    emit: Emit = lambda _event: None
    finished: Callable[[RunResult], None] = lambda _result: None
    """Hears how each run that was taken ended, or came to rest."""
    failed: Callable[[str, InfospaceError], None] = lambda _run, _error: None
    """Hears of a run that could not be gone on with, "" where the queues could not be looked at."""
    _aside: dict[str, float] = field(default_factory=dict)

    async def work(self, *, once: bool = False) -> int:
        """Take runs until `stop` is set, or with `once` until none is due; return how many were taken."""
        taken = 0
        while not self.stop.now:
            try:
                took = await self._take_one()
            except StoreError as error:
                # The database may be starting again: what was acknowledged is in it, and the queue too.
                self.failed("", error)
                took = False
                if once:
                    raise
            taken += took
            if took:
                continue
            if once:
                break
            await self._rest()
        return taken

    async def _take_one(self) -> bool:
        with self.space.store.reading() as snapshot:
            found = snapshot.queued(due=now(), limit=CANDIDATES)
        for one in found:
            if self.stop.now:
                return False
            if self._may_take(one) and await self._run(one.run):
                return True
        return False

    def _may_take(self, one: QueuedRun) -> bool:
        if self.queues and one.queue not in self.queues:
            return False
        if self._aside.get(one.run, 0.0) > time.monotonic():
            return False
        return one.status != "running" or not _is_live(one)

    async def _run(self, run: str) -> bool:
        """Go on with a run; whether this worker got it."""
        halt = SuspendRequest()
        watching = asyncio.create_task(self._pass_on(halt))
        try:
            result = await resume(self.space, run, self.emit, halt, also=[TakeQueued(run, later(-LEASE))])
        except Conflict as error:
            # Another worker has it, its queue is full, or what it needs is not here.
            _log.debug("%s is not taken: %s", run, error)
            if _is_lasting(self.space, run):
                self._aside[run] = time.monotonic() + ASIDE
                self.failed(run, error)
            return False
        except LeaseLost as error:
            self.failed(run, error)
            return True
        except InfospaceError as error:
            self._aside[run] = time.monotonic() + ASIDE
            self.failed(run, error)
            return True
        finally:
            watching.cancel()
        self.finished(result)
        return True

    async def _pass_on(self, halt: SuspendRequest) -> None:
        """Halt a run once the worker is to stop."""
        await self.stop.heard.wait()
        halt.set()

    async def _rest(self) -> None:
        """Wait until something may have come into the queues."""
        resting = asyncio.create_task(asyncio.to_thread(self.space.store.wait_for_queue, LOOK))
        try:
            await resting
        except StoreError:
            await asyncio.sleep(LOOK)  # the next look tells of it


def _is_live(one: QueuedRun) -> bool:
    return is_live(RunHead(one.run, "plan", "", "running", one.started, None, None, one.owner, one.heartbeat))


def _is_lasting(space: Space, run: str) -> bool:
    """Whether a run that could not be claimed is at rest all the same, and its queue has room: it needs what lacks."""
    try:
        with space.store.reading() as snapshot:
            row = snapshot.run(run)
            limits = snapshot.queue_limits()
            everyone = snapshot.queued()
    except NotFound:
        return False
    mine = next((one for one in everyone if one.run == run), None)
    if row.status != "suspended" or mine is None:
        return False
    busy = sum(one.queue == mine.queue and one.status == "running" for one in everyone)
    return mine.queue not in limits or busy < limits[mine.queue]
