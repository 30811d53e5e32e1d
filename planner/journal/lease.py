"""Who owns a run: a lease that its owner renews, and that ends with the owner.

The lease only says when another may try. What makes two owners safe is the store: `ClaimRun` changes the owner in a
transaction that compares the one before, and each row of a run is committed with an `OwnerGuard`, which is compared in
the same transaction. So an owner that slept through its lease writes nothing more, whatever its clock says.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

from infospace.core.clock import now
from infospace.journal.rows import Heartbeat, RunHead, RunRow, StepRow
from infospace.store.protocol import Store

_log = logging.getLogger(__name__)

BEAT = 5.0
"""Seconds between two renewals."""
LEASE = 30.0
"""Seconds after a renewal for which a run is its owner's, where it cannot be seen that the owner is gone.

Several beats, so that one that waits for the lock of the space does not end it.
"""


def new_owner() -> str:
    """Return a name that no other owner has: host, process and chance."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def is_live(run: RunRow | RunHead) -> bool:
    """Whether a run that is `running` may still have its owner."""
    if run.status != "running" or run.owner is None:
        return False
    host, _, rest = run.owner.partition(":")
    if host == socket.gethostname() and not _alive(rest.partition(":")[0]):
        return False
    beaten = run.heartbeat or run.started
    return _seconds_since(beaten) < LEASE


def seconds_spent(run: RunRow, rows: Sequence[StepRow]) -> float:
    """Return for how many seconds a run has gone on, its times of rest left out, as far as the journal has it.

    That is what it told with its last heartbeat, and the time from there to the end of its last step.
    """
    seconds_spent = float(run.spent.get("seconds", 0.0))
    if run.status != "running":
        return seconds_spent
    beaten = datetime.fromisoformat(run.heartbeat or run.started)
    ends = (datetime.fromisoformat(row.started) + timedelta(milliseconds=row.duration_ms) for row in rows)
    return seconds_spent + max(0.0, (max(ends, default=beaten) - beaten).total_seconds())


def _alive(process: str) -> bool:
    if not process.isdigit():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _seconds_since(moment: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()


@asynccontextmanager
async def renewing_lease(
    store: Store, run: str, owner: str, spent: Callable[[], Mapping[str, float] | None] = lambda: None
) -> AsyncIterator[None]:
    """Renew the lease of a run while something is done, and with it what was spent.

    Raises LeaseLost inside, at the next await, once another process has the run.
    """
    doing = asyncio.current_task()
    _log.info("%s: this process has the lease", run)

    async def renew() -> None:
        while True:
            await asyncio.sleep(BEAT)
            try:
                store.commit([], [Heartbeat(run, owner, now(), spent())])
                _log.debug("%s: the lease is renewed", run)
            except BaseException as error:
                _log.warning("%s: the lease is lost: %s", run, type(error).__name__)
                if doing is not None:
                    doing.cancel()
                raise

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        # Where the renewal failed, its error is raised here, in the place of the cancellation that it caused.
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing
        _log.info("%s: the lease is given back", run)
