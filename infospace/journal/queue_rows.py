"""The queue: runs that wait for a worker, in queues by name, by priority and by the time that they are due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_QUEUE: Final = "default"
"""The queue of a run for which none was named, and of one that came to rest until a time."""


@dataclass(frozen=True, slots=True)
class Enqueue:
    """A run that is at rest waits for a worker from now on; of those that are due the highest `priority` goes first."""

    run: str
    at: str
    queue: str = DEFAULT_QUEUE
    priority: int = 0


@dataclass(frozen=True, slots=True)
class ClaimQueued:
    """A run that this commit claims is one of its queue, which has room for it.

    Raises Conflict where it is in none, or where as many runs of its queue go on as may. A run whose owner did not
    renew its lease since `lost` counts no more. `losses` is `QueuedRun.losses`, which is kept with it.
    """

    run: str
    lost: str
    losses: int = 0


@dataclass(frozen=True, slots=True)
class LimitQueue:
    """At most so many runs of a queue go on at once, over all workers; None for any number."""

    queue: str
    most: int | None


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run in a queue, until it ends. `due` is None while it waits for an answer; the rest is as in `RunHead`.

    `losses` is how many owners of one that goes on were lost one after the other without a step that ended meanwhile,
    had the present one been lost too; 0 of one that does not go on.
    """

    run: str
    queue: str
    priority: int
    due: str | None
    status: str
    owner: str | None
    heartbeat: str | None
    started: str
    losses: int = 0
