"""Schedules in any store: kept, listed as they are due, and each of their times settled once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from store_tools import AT, LATER, open_run

from infospace.core.errors import Conflict, NotFound
from infospace.journal.rows import CloseRun
from infospace.journal.schedule_rows import DropSchedule, PassDue, SaveSchedule, Schedule, SetDue
from infospace.store.protocol import Store

NIGHTLY = Schedule(
    *("nightly", "digest", "10 3 * * *", "Europe/Berlin", {"topic": "é", "most": [1, None]}, "skip", "reports", -3),
    *(("files/write", "mail/*"), AT),
)


def schedules(store: Store, due: str | None = None) -> list[Schedule]:
    """Which there are."""
    with store.reading() as snapshot:
        return snapshot.schedules(due)


def settle(store: Store, due: str = AT, run: str | None = None, reason: str | None = None) -> None:
    """Settle a time of NIGHTLY."""
    store.commit([], [PassDue("nightly", due, LATER, LATER, run, reason)])


def test_what_is_kept_is_there_whole(store: Store) -> None:
    store.commit([], [SaveSchedule(NIGHTLY)])
    assert schedules(store) == [NIGHTLY]
    store.commit([], [DropSchedule("nightly")])
    assert schedules(store) == []


def test_those_that_are_due_come_the_earliest_first(store: Store) -> None:
    names = {"c": AT, "a": LATER, "b": LATER, "d": None}
    store.commit([], [SaveSchedule(replace(NIGHTLY, name=name, due=due)) for name, due in names.items()])
    assert [one.name for one in schedules(store)] == ["a", "b", "c", "d"]
    assert [one.name for one in schedules(store, LATER)] == ["c", "a", "b"]
    assert [one.name for one in schedules(store, AT)] == ["c"]
    assert schedules(store, "2020-01-01T00:00:00.000Z") == []


def test_a_time_is_settled_once(store: Store) -> None:
    run = open_run(store)
    store.commit([], [SaveSchedule(NIGHTLY)])
    settle(store, run=run)
    assert schedules(store) == [replace(NIGHTLY, due=LATER, last=LATER, run=run)]
    with pytest.raises(Conflict, match="is not due at"):
        settle(store)
    store.commit([], [SetDue("nightly", None)])
    with pytest.raises(Conflict, match="is not due at"):
        settle(store, LATER)


def test_there_are_never_two_at_once(store: Store) -> None:
    """What its latest run is stays known when the schedule is replaced."""
    first, second = open_run(store), open_run(store)
    store.commit([], [SaveSchedule(NIGHTLY)])
    settle(store, run=first)
    store.commit([], [SaveSchedule(NIGHTLY, replace=True)])
    for status in (None, "suspended"):
        if status is not None:
            store.commit([], [CloseRun(first, "suspended", AT)])
        with pytest.raises(Conflict, match=f"{first} of the schedule 'nightly' has not ended"):
            settle(store, run=second)
    assert schedules(store) == [replace(NIGHTLY, last=LATER, run=first)]
    store.commit([], [CloseRun(first, "failed", AT)])
    settle(store, run=second)
    assert schedules(store)[0].run == second


def test_a_conflict_undoes_the_whole_commit(store: Store) -> None:
    run = open_run(store)
    with pytest.raises(Conflict, match="is not due at"):
        store.commit([], [CloseRun(run, "success", AT), PassDue("nightly", AT, LATER, AT, run)])
    with store.reading() as snapshot:
        assert snapshot.run(run).status == "running"


def test_why_no_run_was_begun_stays_until_one_is(store: Store) -> None:
    store.commit([], [SaveSchedule(NIGHTLY)])
    settle(store, reason="it rained")
    assert schedules(store) == [replace(NIGHTLY, due=LATER, reason="it rained")]
    settle(store, LATER, open_run(store))
    assert schedules(store)[0].reason is None


def test_why_no_run_was_begun_does_not_outlive_its_time(store: Store) -> None:
    """Another next time is one of which nothing is known."""
    store.commit([], [SaveSchedule(NIGHTLY)])
    settle(store, reason="it rained")
    store.commit([], [SetDue("nightly", AT)])
    assert schedules(store) == [NIGHTLY]


def test_a_name_is_taken_once(store: Store) -> None:
    store.commit([], [SaveSchedule(NIGHTLY)])
    with pytest.raises(Conflict, match="there is a schedule 'nightly' already"):
        store.commit([], [SaveSchedule(replace(NIGHTLY, plan="other"))])
    store.commit([], [SaveSchedule(replace(NIGHTLY, plan="other"), replace=True)])
    assert [one.plan for one in schedules(store)] == ["other"]


@pytest.mark.parametrize("entry", [DropSchedule("x"), SetDue("x", AT)])
def test_one_that_is_not_there_is_not_changed(store: Store, entry: DropSchedule | SetDue) -> None:
    with pytest.raises(NotFound, match="there is no schedule 'x'"):
        store.commit([], [entry])
