"""Schedules: saved plans that are run at times, again and again, by whoever works off the queues of the space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from infospace.core.json_types import JSON
from infospace.journal.queue_rows import DEFAULT_QUEUE

Missed: TypeAlias = Literal["once", "all", "skip"]
"""What becomes of times at which nobody worked, or the run before went on still: one run for all of them, one for
each, or none."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A saved plan, the inputs it is given, and the times at which a run of it comes into a queue.

    `cron` has five fields, of a clock in the time zone `zone`. `due` is the next time, None while it is paused. `last`
    is when its latest run came into the queue, `run` that run, `reason` why the latest time brought none.
    """

    name: str
    plan: str
    cron: str
    zone: str
    inputs: Mapping[str, JSON]
    missed: Missed = "once"
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    approve: Sequence[str] = ()
    due: str | None = None
    last: str | None = None
    run: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SaveSchedule:
    """A schedule is kept; with `replace` in the place of one of its name, whose latest run stays its latest.

    Raises Conflict where there is one of its name, without `replace`.
    """

    schedule: Schedule
    replace: bool = False


@dataclass(frozen=True, slots=True)
class DropSchedule:
    """A schedule is removed; its runs stay. NotFound where there is none."""

    name: str


@dataclass(frozen=True, slots=True)
class SetDue:
    """A schedule is due at another time than before, or with None never: it is paused. NotFound where there is none."""

    name: str
    due: str | None


@dataclass(frozen=True, slots=True)
class PassDue:
    """The time `due` of a schedule is settled, and the next is `next`; `run` is the run that this commit begins for it.

    Without a run `reason` says why not; `next` may be `due` again. Raises Conflict where the schedule is not due at
    that time any more, or with a run while the latest one has not ended: so a time brings one run at most, and there
    are never two at once.
    """

    name: str
    due: str
    next: str
    at: str
    run: str | None = None
    reason: str | None = None
