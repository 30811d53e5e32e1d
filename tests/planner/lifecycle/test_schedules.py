"""Schedules: the times they mean, and each time one run, whoever works and whoever is killed."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from teams import Team

from infospace.core.clock import later, now
from infospace.core.errors import Invalid
from infospace.core.json_types import JSON
from infospace.journal.schedule_rows import Missed, SaveSchedule, Schedule, SetDue
from planner.lifecycle import schedules
from planner.lifecycle.cancel import cancel
from planner.lifecycle.schedules import next_time, next_times, settle
from planner.lifecycle.work import Worker
from planner.parse.saved_plans import remove_plan, save_plan

pytestmark = pytest.mark.usefixtures("warm_processes")

YEARLY = "0 0 1 1 *"
YEAR = datetime.now(UTC).year
SAYS: JSON = {"steps": [{"type": "say", "value": "x"}]}
SENDS: JSON = {
    "inputs": {"to": {"type": "string"}},
    "steps": [{"type": "outside/send", "arguments": {"to": "$to"}}, {"type": "outside/look", "arguments": {}}],
}
LOOKING: JSON = {"type": "outside/look", "arguments": {}}
ASKS: JSON = {"steps": [{"type": "ask", "value": "well?", "out": "$well"}]}


def new_year(year: int) -> str:
    """When a year begins."""
    return f"{year}-01-01T00:00:00.000Z"


def keep(team: Team, document: JSON, missed: Missed = "once", due: str = new_year(YEAR - 3), **more: Any) -> None:
    """Schedule a plan, which is due at the turn of a year."""
    save_plan(team.space, "plan", document)
    inputs = more.pop("inputs", {})
    one = Schedule("yearly", "plan", YEARLY, "UTC", inputs, missed, due=due, **more)
    team.space.store.commit([], [SaveSchedule(one)])


def kept(team: Team) -> Schedule:
    """The schedule as it stands."""
    with team.space.store.reading() as snapshot:
        [one] = snapshot.schedules()
    found: Schedule = one
    return found


def runs(team: Team) -> list[str]:
    """The runs of plans."""
    with team.space.store.reading() as snapshot:
        return [row.run for row in snapshot.runs() if row.kind == "plan"]


def work(team: Team, *queues: str, looks: int = 1) -> list[str]:
    """Work until nothing is due, so many times; return what was told of failures."""
    told: list[str] = []
    worker = Worker(team.space, queues, failed=lambda which, error: told.append(f"{which}: {error}"))
    for _ in range(looks):
        asyncio.run(worker.work(once=True))
    return told


@pytest.mark.parametrize(
    ("cron", "zone", "after", "time"),
    [
        ("10 3 * * *", "UTC", "2026-11-25T03:09:59.999Z", "2026-11-25T03:10:00.000Z"),
        ("10 3 * * *", "UTC", "2026-11-25T03:10:00.000Z", "2026-11-26T03:10:00.000Z"),
        ("10 3 * * *", "Europe/Berlin", "2026-11-25T22:00:00.000Z", "2026-11-26T02:10:00.000Z"),
        ("30 2 * * *", "Europe/Berlin", "2027-03-28T00:00:00.000Z", "2027-03-28T01:00:00.000Z"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:10:00.000Z", "2026-10-25T00:30:00.000Z"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"),
        ("45 2 * * *", "Europe/Berlin", "2026-10-25T01:30:00.000Z", "2026-10-26T01:45:00.000Z"),
        ("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00.000Z", "2026-10-25T01:00:00.000Z"),
        ("0 6 * * mon-fri", "Asia/Kolkata", "2026-11-27T10:00:00.000Z", "2026-11-30T00:30:00.000Z"),
        ("0 0 29 2 *", "UTC", "2026-03-01T00:00:00.000Z", "2028-02-29T00:00:00.000Z"),
    ],
)
def test_times_are_those_of_a_clock_in_the_zone(cron: str, zone: str, after: str, time: str) -> None:
    """Where clocks are put forward what is left out comes after it; where they are put back it comes once."""
    assert next_time(cron, zone, after) == time


@pytest.mark.parametrize(
    ("cron", "zone", "message"),
    [
        ("* * * *", "UTC", "has 4 fields, not 5"),
        ("0 * * * * *", "UTC", "has 6 fields, not 5"),
        ("61 * * * *", "UTC", "has no minute that fits"),
        ("0 0 30 2 *", "UTC", "has no day-of-month that fits"),
        ("0 0 1 1 *", "Berlin", "no time zone 'Berlin'"),
        ("0 0 1 1 *", "../etc", "no time zone '../etc'"),
        ("0 0 1 1 *", "Europe", "no time zone 'Europe'"),
        ("0 0 1 1 *", "", "no time zone ''"),
    ],
)
def test_what_are_no_times_is_refused(cron: str, zone: str, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        next_time(cron, zone, now())


def test_next_times_follow_each_other_and_a_paused_one_has_none() -> None:
    one = Schedule("x", "x", YEARLY, "UTC", {}, due=new_year(2030))
    assert next_times(one, 3) == [new_year(2030), new_year(2031), new_year(2032)]
    assert next_times(Schedule("x", "x", YEARLY, "UTC", {}), 3) == []


def test_several_workers_make_each_missed_time_up_once(team: Team) -> None:
    keep(team, SENDS, "all", new_year(YEAR - 3), inputs={"to": "x"}, approve=("outside/send",))
    workers = [team.start() for _ in range(3)]
    for worker in workers:
        worker.communicate(timeout=120)
    assert team.work() == 0
    assert [team.status(run) for run in runs(team)] == ["success"] * 4
    assert team.calls() == ["x"] * 4
    one = kept(team)
    assert (one.due, one.run, one.reason) == (new_year(YEAR + 1), runs(team)[0], None)


@pytest.mark.parametrize("when", ["before", "after"])
def test_workers_that_are_killed_neither_lose_nor_repeat_a_time(team: Team, when: str) -> None:
    """Before or after the commit that begins a run, the one by which it is taken, and those of its steps."""
    keep(team, {"steps": [{"type": "say", "value": "x"}, LOOKING]}, "all", new_year(YEAR - 3))
    for commit in range(1, 4):  # of one run, fewer than it is set aside after
        assert team.work(f"{when} {commit}") == -signal.SIGKILL
    assert team.work() == 0
    assert [team.status(run) for run in runs(team)] == ["success"] * 4
    one = kept(team)
    assert (one.due, one.run) == (new_year(YEAR + 1), runs(team)[0])


def test_missed_times_are_made_up_by_one_run(team: Team) -> None:
    keep(team, SAYS)
    assert work(team) == []
    assert [team.status(run) for run in runs(team)] == ["success"]
    one = kept(team)
    assert (one.due, one.run) == (new_year(YEAR + 1), runs(team)[0])
    assert one.last is not None
    assert later(-100) < one.last <= now()


def test_missed_times_are_left_out_where_the_schedule_says_so(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(team, SAYS, "skip")
    assert work(team) == []
    assert runs(team) == []
    one = kept(team)
    assert (one.due, one.run) == (new_year(YEAR + 1), None)
    assert one.reason == f"{new_year(YEAR - 3)} was left out: no run was begun within 60 s"
    with monkeypatch.context() as patched:  # the next time is missed as well
        patched.setattr(schedules, "now", lambda: new_year(YEAR + 2))
        settle(team.space, one)
    assert kept(team).reason == f"{new_year(YEAR + 1)} was left out: no run was begun within 60 s"
    team.space.store.commit([], [SetDue("yearly", later(-30))])
    work(team)
    assert [team.status(run) for run in runs(team)] == ["success"]
    assert kept(team).reason is None


@pytest.mark.parametrize(("missed", "more"), [("once", 1), ("all", 3), ("skip", 0)])
def test_no_run_begins_while_the_one_before_has_not_ended(team: Team, missed: Missed, more: int) -> None:
    """Also one that waits for an answer; that time is a missed one then."""
    keep(team, ASKS, missed, later(-30))
    work(team)
    [first] = runs(team)
    assert team.status(first) == "suspended"
    due = new_year(YEAR - 2) if missed != "skip" else later(-30)
    team.space.store.commit([], [SetDue("yearly", due)])
    work(team)
    assert runs(team) == [first]
    one = kept(team)
    assert (one.due, one.reason) == (
        (new_year(YEAR + 1), f"{due} was left out: {first} went on still") if missed == "skip" else (due, None)
    )
    cancel(team.space, first)
    save_plan(team.space, "plan", SAYS, replace=True)
    work(team)
    assert len(runs(team)) == 1 + more


def test_a_plan_that_is_refused_stays_due_until_it_is_not(team: Team) -> None:
    """Why is told by the worker, once, and stands with the schedule."""
    keep(team, SENDS)
    [told] = work(team, looks=2)
    assert told.startswith("schedule yearly: plan:plan is refused: the input 'to' is not given")
    one = kept(team)
    assert (one.due, one.reason) == (new_year(YEAR - 3), "plan:plan is refused: the input 'to' is not given")
    remove_plan(team.space, "plan")
    [told] = work(team)
    assert told.startswith("schedule yearly: there is no saved plan 'plan'")
    save_plan(team.space, "plan", SAYS)
    assert work(team) == []
    assert [team.status(run) for run in runs(team)] == ["success"]
    assert kept(team).reason is None


def test_a_left_out_time_says_why_its_plan_was_refused(team: Team) -> None:
    keep(team, SENDS, "skip", later(-30))
    assert len(work(team)) == 1
    one = kept(team)
    team.space.store.commit([], [SaveSchedule(replace(one, due=later(-70)), replace=True)])
    settle(team.space, replace(one, due=kept(team).due))
    assert str(kept(team).reason).endswith("was left out: plan:plan is refused: the input 'to' is not given")


def test_runs_come_into_the_queue_that_the_schedule_names(team: Team) -> None:
    """And are begun by those who work it off."""
    keep(team, SAYS, queue="nightly", priority=7)
    work(team, "other")
    assert runs(team) == []
    run = settle(team.space, kept(team))
    with team.space.store.reading() as snapshot:
        [one] = snapshot.queued()
    assert (one.run, one.queue, one.priority) == (run, "nightly", 7)


def test_a_paused_schedule_begins_nothing(team: Team) -> None:
    keep(team, SAYS)
    team.space.store.commit([], [SetDue("yearly", None)])
    work(team)
    assert (runs(team), settle(team.space, kept(team))) == ([], None)


def test_who_was_later_begins_nothing(team: Team) -> None:
    keep(team, SAYS)
    earlier = kept(team)
    assert settle(team.space, earlier) is not None
    assert settle(team.space, earlier) is None
    assert len(runs(team)) == 1
