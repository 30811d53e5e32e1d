"""Runs that wait for workers: put into queues, taken by one, within the limits, and gone when they end."""

from __future__ import annotations

import threading
import time

import pytest
from store_tools import AT, LATER, open_run, step

from infospace.core.errors import Conflict, Invalid
from infospace.journal.queue_rows import DEFAULT_QUEUE, ClaimQueued, Enqueue, LimitQueue
from infospace.journal.rows import AnswerRow, ClaimRun, CloseRun
from infospace.store.protocol import Store

BEFORE = "2026-03-01T00:00:00.000Z"


def waiting(store: Store, queue: str = DEFAULT_QUEUE, priority: int = 0, at: str = AT) -> str:
    """Open a run that waits; return its id."""
    run = open_run(store)
    store.commit([], [CloseRun(run, "suspended", at), Enqueue(run, at, queue, priority)])
    return run


def queue(store: Store, due: str | None = None) -> list[tuple[str, str | None]]:
    """Which runs are in queues, and when they are due."""
    with store.reading() as snapshot:
        return [(one.run, one.due) for one in snapshot.queued(due)]


def take(store: Store, run: str, owner: str = "worker", at: str = AT, lost: str = BEFORE) -> None:
    """Claim a run as a worker does."""
    store.commit([], [ClaimRun(run, owner, "me", at), ClaimQueued(run, lost)])


def test_runs_wait_by_priority_and_then_by_time(store: Store) -> None:
    late, early, first = waiting(store, at=LATER), waiting(store), waiting(store, "reports", 5, LATER)
    assert queue(store) == [(first, LATER), (early, AT), (late, LATER)]
    assert queue(store, AT) == [(early, AT)]
    with store.reading() as snapshot:
        assert [one.run for one in snapshot.queued(LATER, 2)] == [first, early]
        [one] = [one for one in snapshot.queued() if one.run == first]
    assert (one.queue, one.priority, one.status, one.owner) == ("reports", 5, "suspended", "me")


def test_a_run_is_taken_once_and_stays_until_it_ends(store: Store) -> None:
    """So that whoever comes after a worker that was killed finds it."""
    run = waiting(store)
    take(store, run)
    with pytest.raises(Conflict, match="belongs to"):
        take(store, run, "another")
    assert [one for one, _ in queue(store, AT)] == [run]
    store.commit([], [CloseRun(run, "success", LATER)])
    assert queue(store) == []


def test_a_run_in_no_queue_is_not_taken(store: Store) -> None:
    run = open_run(store)
    store.commit([], [CloseRun(run, "suspended", AT)])
    with pytest.raises(Conflict, match="is not in a queue"):
        take(store, run)
    with store.reading() as snapshot:
        assert snapshot.run(run).status == "suspended"


def test_one_that_goes_on_or_has_ended_is_not_put_into_a_queue(store: Store) -> None:
    run = open_run(store)
    with pytest.raises(Conflict, match="is running"):
        store.commit([], [Enqueue(run, AT)])
    store.commit([], [CloseRun(run, "failed", AT)])
    with pytest.raises(Conflict, match="is failed"):
        store.commit([], [Enqueue(run, AT)])


def test_a_run_that_rests_says_when_it_is_due(store: Store) -> None:
    """At a time, after an answer, or at once where somebody interrupted it."""
    run = waiting(store)
    take(store, run)
    store.commit([], [CloseRun(run, "suspended", AT, due=LATER)])
    assert queue(store) == [(run, LATER)]
    store.commit([], [CloseRun(run, "suspended", AT)])
    assert queue(store) == [(run, None)]
    assert queue(store, LATER) == []
    store.commit([], [AnswerRow(run, "1", "yes", AT)])
    assert queue(store, AT) == [(run, AT)]


def test_a_run_that_waits_for_a_time_comes_into_the_queue_unless_it_was_interrupted(store: Store) -> None:
    by_itself, interrupted = open_run(store), open_run(store)
    store.commit([], [CloseRun(by_itself, "suspended", AT, due=LATER)])
    store.commit([], [CloseRun(interrupted, "suspended", AT, due=AT, interrupted=True)])
    assert queue(store) == [(by_itself, LATER)]


def test_workers_that_a_run_outlives_at_one_place_are_counted(store: Store) -> None:
    """From the beginning again once it has come to rest."""

    def losses() -> int:
        with store.reading() as snapshot:
            [one] = snapshot.queued()
        return one.losses

    run = waiting(store)
    assert losses() == 0
    store.commit([], [ClaimRun(run, "first", "me", AT), ClaimQueued(run, BEFORE, 2)])
    assert losses() == 3
    store.commit([], [step(run)])
    assert losses() == 1
    store.commit([], [ClaimRun(run, "second", "first", AT), ClaimQueued(run, BEFORE, 2)])
    store.commit([], [CloseRun(run, "suspended", AT)])
    assert losses() == 0
    store.commit([], [ClaimRun(run, "third", "second", AT)])
    assert losses() == 1


def test_as_many_of_a_queue_go_on_as_may(store: Store) -> None:
    """One whose worker does not renew its lease counts no more; other queues do not count."""
    one, two, other = waiting(store, "slow"), waiting(store, "slow"), waiting(store, "quick")
    store.commit([], [LimitQueue("slow", 1)])
    with store.reading() as snapshot:
        assert snapshot.queue_limits() == {"slow": 1}
    take(store, one)
    take(store, other)
    with pytest.raises(Conflict, match="the queue 'slow' is full: 1 at once"):
        take(store, two)
    take(store, two, at=LATER, lost=AT)
    store.commit([], [LimitQueue("slow", None)])
    with store.reading() as snapshot:
        assert snapshot.queue_limits() == {}
    with pytest.raises(Invalid, match="0 is not a number of runs"):
        store.commit([], [LimitQueue("slow", 0)])


def test_who_waits_is_woken_at_the_latest_when_the_time_is_over(store: Store) -> None:
    """The first wait of a database only begins to listen."""
    store.wait_for_queue(0.01)
    began = time.monotonic()
    store.wait_for_queue(0.05)
    assert time.monotonic() - began < 60


def test_a_database_wakes_who_waits(store: Store, implementation: object) -> None:
    """Long before the time is over."""
    if getattr(implementation, "name", "") != "postgresql":
        pytest.skip("nothing tells a process of what another one writes to a file")
    store.wait_for_queue(0.01)
    began = time.monotonic()
    waiter = threading.Thread(target=store.wait_for_queue, args=(200.0,))
    waiter.start()
    waiting(store)
    waiter.join(100)
    assert not waiter.is_alive()
    assert time.monotonic() - began < 200
