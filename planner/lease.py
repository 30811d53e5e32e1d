"""Who owns a run: a lease that its owner renews, and that ends with the owner."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

from infospace.clock import now
from infospace.memory.store import Store
from infospace.runs.journal import Beat, RunHead, RunRow

BEAT = 5.0
"""Seconds between two renewals."""
LEASE = 30.0
"""Seconds after a renewal for which a run is its owner's, where it cannot be seen that the owner is gone."""


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
async def kept(store: Store, run: str, owner: str) -> AsyncIterator[None]:
    """Renew the lease of a run while something is done; that another has it ends what is done, cancelled."""
    doing = asyncio.current_task()

    async def renew() -> None:
        while True:
            await asyncio.sleep(BEAT)
            try:
                store.commit([], [Beat(run, owner, now())])
            except BaseException:
                if doing is not None:
                    doing.cancel()
                raise

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing
