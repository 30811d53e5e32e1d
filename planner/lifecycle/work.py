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
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Final

from infospace.core.clock import later, now
from infospace.core.errors import Conflict, InfospaceError, LeaseLost, NotFound, StoreError
from infospace.journal.prune import PruneFilter, select
from infospace.journal.queue_rows import ClaimQueued, QueuedRun
from infospace.journal.rows import ClaimRun, CloseRun, RunHead
from infospace.space import Space
from planner.journal.commit_order import SuspendRequest
from planner.journal.events import Emit
from planner.journal.lease import LEASE, is_live, new_owner
from planner.journal.result import RunResult
from planner.lifecycle.resume import resume
from planner.lifecycle.schedules import settle

POLL_SECONDS: Final = 0.5
"""Seconds between two looks at the queues, where nothing wakes the worker before."""
CANDIDATES: Final = 50
"""Runs that are tried in one look."""
LOSSES: Final = 3
"""Workers that may be lost one after the other at the same place of a run, before it is set aside."""
PRUNE_SECONDS: Final = 3600.0
"""Seconds after which it is looked again for runs that are not retained any more."""
PRUNED_AT_ONCE: Final = 100
"""Runs that are removed in one commit: whoever writes meanwhile waits for it."""
ASIDE: Final = 30.0
"""Seconds for which a worker leaves a run alone that it could not go on with."""

_log = logging.getLogger(__name__)


@dataclass
class Worker:
    """Works off the queues of a space until `stop` is set; `queues` are the names of those, all when empty.

    It runs `jobs` runs at once, on one event loop.
    """

    space: Space
    queues: Sequence[str] = ()
    stop: SuspendRequest = field(default_factory=SuspendRequest)
    emit: Emit = lambda _event: None
    finished: Callable[[RunResult], None] = lambda _result: None
    """Hears how each run that was taken ended, or came to rest."""
    failed: Callable[[str, InfospaceError], None] = lambda _run, _error: None
    """Hears of a run that could not be gone on with, "" where the queues could not be looked at."""
    jobs: int = 1
    retain: timedelta | None = None
    """Runs of plans and sessions that ended longer ago are removed, None to keep all."""
    _pruned: float = float("-inf")
    _aside: dict[str, float] = field(default_factory=dict)
    _going: set[str] = field(default_factory=set)
    """Runs that it goes on with, or tries to claim."""
    _resting: asyncio.Task[None] | None = None

    async def work(self, *, once: bool = False) -> int:
        """Take runs until `stop` is set, or with `once` until none is due; return how many were taken."""
        jobs = [asyncio.create_task(self._work(once=once)) for _ in range(self.jobs)]
        try:
            return sum(await asyncio.gather(*jobs))
        finally:
            left = [job for job in jobs if not job.done()]
            if left:  # one of them failed: the others give back what they run
                self.stop.set()
                await asyncio.wait(left)

    async def _work(self, *, once: bool) -> int:
        taken = 0
        while not self.stop.now:
            try:
                if await self._take_one():
                    taken += 1
                    continue
                if self._prune():
                    continue
            except StoreError as error:
                # The database may be starting again: what was acknowledged is in it, and the queue too.
                self.failed("", error)
                if once:
                    raise
            if once:
                break
            await self._wait_for_work()
        return taken

    async def _take_one(self) -> bool:
        """Go on with the first run that may be taken; whether there was one.

        All that wait are looked at, page by page, so that runs which cannot be taken never hide one that can. What
        leaves the queues meanwhile moves others up: the next look finds those.
        """
        full = set[str]()
        """Queues that had no room in this look."""
        self._settle_schedules()
        for skip in count(0, CANDIDATES):
            with self.space.store.reading() as snapshot:
                page = snapshot.queued(now(), CANDIDATES, names=self.queues, skip=skip)
            for queued in page:
                if self.stop.now:
                    return False
                if queued.queue not in full and self._may_take(queued) and await self._claim(queued, full):
                    return True
            if len(page) < CANDIDATES:
                break
        return False

    def _settle_schedules(self) -> None:
        """Let what schedules say come into the queues of this worker."""
        with self.space.store.reading() as snapshot:
            due = snapshot.schedules(now())
        for schedule in due:
            key = f"schedule {schedule.name}"
            if (self.queues and schedule.queue not in self.queues) or self._aside.get(key, 0.0) > time.monotonic():
                continue
            try:
                settle(self.space, schedule)
            except StoreError:
                raise
            except InfospaceError as error:
                self._aside[key] = time.monotonic() + ASIDE
                self.failed(key, error)

    def _prune(self) -> bool:
        """Remove the oldest of the runs that are not retained, where nothing is to be run; whether there are more.

        Once there are none it is looked for them again after an hour.
        """
        if self.retain is None or time.monotonic() - self._pruned < PRUNE_SECONDS:
            return False
        with self.space.store.reading() as snapshot:
            old = select(snapshot, PruneFilter(older=self.retain))[-PRUNED_AT_ONCE:]
        try:
            if old:
                self.space.store.forget(old, really=True, compact=False)
                _log.info("%d runs that ended more than %s ago are removed", len(old), self.retain)
        except NotFound:
            _log.debug("another worker removes what is not retained")
        if len(old) < PRUNED_AT_ONCE:
            self._pruned = time.monotonic()
            return False
        return True

    def _may_take(self, one: QueuedRun) -> bool:
        if one.run in self._going or self._aside.get(one.run, 0.0) > time.monotonic():
            return False
        return one.status != "running" or not _is_live(one)

    async def _claim(self, one: QueuedRun, full: set[str]) -> bool:
        """Go on with a run, unless it takes each of its workers along; whether this worker got it."""
        self._going.add(one.run)
        try:
            if one.losses < LOSSES:
                return await self._run(one, full)
            self._set_aside(one)
        finally:
            self._going.remove(one.run)
        return False

    def _set_aside(self, one: QueuedRun) -> None:
        """Let a run rest until somebody resumes it: what it does has ended one worker after the other."""
        with self.space.store.reading() as snapshot:
            calls = [call for call in snapshot.calls(one.run) if call.status == "started"]
            ended = [step for step in snapshot.steps(one.run) if step.status not in ("started", "suspended")]
        where = "before a step had ended"
        if ended:
            where = f"after step {ended[-1].position}"
        if calls:
            where = f"in step {calls[-1].position} ({calls[-1].target})"
        reason = f"{one.losses} workers ended one after the other while they ran it, {where}: it is set aside"
        at, hint = now(), f"`infospace resume {one.run}` goes on with it, `infospace cancel {one.run}` ends it"
        claim = ClaimRun(one.run, new_owner(), one.owner, at)
        with suppress(Conflict):  # somebody else has it, or did the same
            self.space.store.commit(
                [], [claim, CloseRun(one.run, "suspended", at, reason=f"{reason} ({hint})", interrupted=True)]
            )
            self.failed(one.run, Conflict(reason, hint=hint))

    async def _run(self, one: QueuedRun, full: set[str]) -> bool:
        """Go on with a run; whether this worker got it."""
        run = one.run
        halt = SuspendRequest()
        watching = asyncio.create_task(self._pass_on(halt))
        try:
            take = ClaimQueued(run, later(-LEASE), one.losses)
            result = await resume(self.space, run, self.emit, halt, also=[take])
        except LeaseLost as error:
            self.failed(run, error)
            return True
        except Conflict as error:
            # Another worker has it, its queue is full, or what it needs is not here.
            _log.debug("%s is not taken: %s", run, error)
            if self._is_full(one.queue):
                full.add(one.queue)
            elif self._is_suspended(run):
                self._aside[run] = time.monotonic() + ASIDE
                self.failed(run, error)
            return False
        except InfospaceError as error:
            self._aside[run] = time.monotonic() + ASIDE
            self.failed(run, error)
            return True
        finally:
            watching.cancel()
        self.finished(result)
        return True

    def _is_full(self, queue: str) -> bool:
        """Whether as many of a queue go on as may, counted as claims count them."""
        lost = later(-LEASE)
        with self.space.store.reading() as snapshot:
            most = snapshot.queue_limits().get(queue)
            # What waits is never due at "": those that go on are left.
            running = snapshot.queued("", names=[queue])
        return most is not None and sum((queued.heartbeat or "") > lost for queued in running) >= most

    def _is_suspended(self, run: str) -> bool:
        """Whether a run that could not be claimed is at rest all the same: it lacks what it needs."""
        with self.space.store.reading() as snapshot:
            try:
                return snapshot.run(run).status == "suspended"
            except NotFound:
                return False

    async def _pass_on(self, halt: SuspendRequest) -> None:
        """Halt a run once the worker is to stop."""
        await self.stop.requested.wait()
        halt.set()

    async def _wait_for_work(self) -> None:
        """Wait until something may have come into the queues."""
        if self._resting is None or self._resting.done():
            self._resting = asyncio.create_task(asyncio.to_thread(self.space.store.wait_for_queue, POLL_SECONDS))
        try:
            await asyncio.shield(self._resting)
        except StoreError:
            await asyncio.sleep(POLL_SECONDS)  # the next look tells of it


def _is_live(one: QueuedRun) -> bool:
    return is_live(RunHead(one.run, "plan", "", "running", one.started, None, None, one.owner, one.heartbeat))
