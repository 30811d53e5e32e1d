"""Schedules: when they are due, and how a time of one becomes a run that waits for a worker.

A time is settled in the commit that begins its run, which compares the time: of several workers that see it due one
gets it, and one that is killed before the commit leaves it to the next. So each brings one run at most; and where
somebody works at all, one run, unless the schedule says that missed times are left out.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from infospace.core.clock import at, now, seconds
from infospace.core.errors import Conflict, Invalid, NotFound
from infospace.journal.rows import FINISHED
from infospace.journal.schedule_rows import PassDue, Schedule
from infospace.space import Space
from infospace.store.protocol import Snapshot
from planner.execute.start import Prepared, enqueue, prepare
from planner.parse.saved_plans import load_plan

GRACE: Final = 60.0
"""Seconds after which a time at which no run was begun is a missed one."""

_FIELDS: Final = 5


def next_time(cron: str, zone: str, after: str) -> str:
    """Return the first time after another one at which a clock in a zone fits `cron`, in UTC as the space writes it.

    Where clocks are put forward, what falls into the hour that is left out comes right after it; where they are put
    back, it comes the first time alone. Raises Invalid: no such times, none that ever comes, no such zone.
    """
    from cronsim import CronSim, CronSimError

    begin = datetime.fromtimestamp(seconds(after), UTC).astimezone(_zone(zone))
    if len(cron.split()) != _FIELDS:
        raise _no_times(cron, f"has {len(cron.split())} fields, not {_FIELDS}")
    try:
        for moment in CronSim(cron, begin):
            if moment.timestamp() > seconds(after):
                return at(moment.timestamp())
    except CronSimError as error:
        message = str(error)
        raise _no_times(cron, f"has no {message.removeprefix('Bad ')} that fits") from error
    except (OverflowError, ValueError) as error:
        raise _no_times(cron, "fits no time") from error
    raise _no_times(cron, "fits no time")


def next_times(schedule: Schedule, count: int) -> list[str]:
    """Return the next times of a schedule, none while it is paused."""
    results: list[str] = [] if schedule.due is None else [schedule.due]
    while results and len(results) < count:
        results.append(next_time(schedule.cron, schedule.zone, results[-1]))
    return results[:count]


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Invalid(f"there is no time zone {name!r}", hint="as in Europe/Berlin, America/New_York, UTC") from error


def _no_times(cron: str, why: str) -> Invalid:
    return Invalid(
        f"{cron!r} is not a cron expression: it {why}",
        hint="minute, hour, day of the month, month, day of the week: '30 6 * * mon-fri' is 6:30 on working days",
    )


def waits_for(schedule: Schedule, snapshot: Snapshot) -> str | None:
    """Return the latest run of a schedule where that has not ended: until then there is no other."""
    if schedule.run is None:
        return None
    try:
        row = snapshot.run(schedule.run)
    except NotFound:
        return None  # it was pruned, and only one that has ended is
    return None if row.status in FINISHED else row.run


def settle(space: Space, schedule: Schedule) -> str | None:
    """Settle the time that a schedule is due at, or leave it as it is while the run before goes on; return its run.

    None where no run was begun: another worker was earlier, or the time is left out. Raises Invalid where the plan is
    not there, or is refused: the time stays due, and why stands with the schedule.
    """
    due = schedule.due
    if due is None:
        return None
    present = now()
    with space.store.reading() as snapshot:
        waits = waits_for(schedule, snapshot)
    late = seconds(present) - seconds(due) > GRACE
    try:
        if schedule.missed == "skip" and (waits is not None or late):
            why = f"{waits} went on still" if waits is not None else _late_reason(schedule)
            following = next_time(schedule.cron, schedule.zone, present)
            _commit(space, PassDue(schedule.name, due, following, present, reason=f"{due} was left out: {why}"))
            return None
        if waits is not None:
            return None
        return _begin(space, schedule, due, present)
    except Conflict:
        if _is_unchanged(space, schedule):
            raise
        return None  # another worker was earlier


def _is_unchanged(space: Space, schedule: Schedule) -> bool:
    with space.store.reading() as snapshot:
        results = [one for one in snapshot.schedules() if one.name == schedule.name]
    return [(one.due, one.run, one.reason) for one in results] == [(schedule.due, schedule.run, schedule.reason)]


def _late_reason(schedule: Schedule) -> str:
    refused = schedule.reason if schedule.reason and " was left out: " not in schedule.reason else None
    return refused or f"no run was begun within {GRACE:.0f} s"


def _begin(space: Space, schedule: Schedule, due: str, present: str) -> str:
    following = next_time(schedule.cron, schedule.zone, due if schedule.missed == "all" else present)
    try:
        prepared = _prepared(space, schedule)
    except (Invalid, NotFound) as error:
        if schedule.reason != error.message:
            _commit(space, PassDue(schedule.name, due, due, present, reason=error.message))
        raise Invalid(error.message, hint=error.hint) from error
    return enqueue(
        space,
        prepared,
        schedule.queue,
        schedule.priority,
        schedule.approve,
        lambda run: [PassDue(schedule.name, due, following, present, run)],
    )


def _prepared(space: Space, schedule: Schedule) -> Prepared:
    """Check the plan as it is now. Raises NotFound where it is gone, Invalid where it is refused."""
    prepared = prepare(space, load_plan(space, schedule.plan), schedule.inputs)
    if isinstance(prepared, Prepared):
        return prepared
    first = next(problem for problem in prepared.problems if problem.severity == "error")
    raise Invalid(f"plan:{schedule.plan} is refused: {first.message}", hint=first.hint)


def _commit(space: Space, entry: PassDue) -> None:
    space.store.commit([], [entry])
