"""What a run that goes on takes from its journal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infospace.core.clock import now
from infospace.journal.rows import CANCELLED, CallRow, StepRow, StepStatus
from planner.journal.failures import TIMEOUT
from planner.journal.recorded import RecordedRun


def row(position: str, status: StepStatus = "success", sequence: int = 1, **fields: Any) -> StepRow:
    """An execution that left this behind."""
    return StepRow("run_1", sequence, position, "say", status, now(), 1.0, **fields)


def call(sequence: int, position: str = "1", digest: bytes = b"same") -> CallRow:
    """A call that was answered with its number."""
    return CallRow("run_1", sequence, position, "tool", "s/t", digest, "success", now(), answer=sequence)


def test_equal_calls_of_a_step_are_taken_in_the_order_in_which_they_were_made() -> None:
    """Each once; those of another step, or with other arguments, are not among them."""
    record = RecordedRun([], [call(1), call(2), call(3, "2"), call(4, digest=b"other"), call(5)])
    taken = [record.call("1", b"same") for _ in range(4)]
    assert [None if one is None else one.answer for one in taken] == [1, 2, 5, None]


def test_a_call_that_was_made_here_and_in_a_run_before_is_told_by_its_place_here() -> None:
    """One that was made before alone, by that run."""
    earlier = [replace(call(1, "4"), run="run_0"), replace(call(2, "5", b"other"), run="run_0")]
    record = RecordedRun([], [call(1, "2")], {}, earlier)
    assert record.find_made_call(b"same") == "2"
    assert record.find_made_call(b"other") == "5 of run_0"
    assert record.find_made_call(b"never") is None


def test_what_was_called_while_a_wait_goes_on_is_called_again() -> None:
    """Its condition is asked anew each time; what a question has called stands."""
    waits = row("1", "suspended", extra={"pending": {"kind": "wait"}})
    asks = row("2", "suspended", extra={"pending": {"kind": "ask"}})
    record = RecordedRun([waits, asks], [call(1), call(2, "2")])
    assert record.call("1", b"same") is None
    assert record.call("2", b"same") is not None


def test_executions_that_wait_count_and_have_numbers() -> None:
    """As those that ended do."""
    record = RecordedRun([row("1", sequence=2), row("3", "suspended", 7), row("2", "failed", 4)])
    assert record.executions == 3
    assert record.sequence == 7
    assert set(record.positions) == {"1", "2", "3"}
    assert RecordedRun([]).sequence == 0


def test_one_that_waits_has_not_ended() -> None:
    """It has a row of its own kind."""
    record = RecordedRun([row("1"), row("2", "suspended")])
    assert (record.row("1") is not None, record.row("2")) == (True, None)
    assert (record.suspended("1"), record.suspended("2") is not None) == (None, True)


@pytest.mark.parametrize(
    ("position", "broken"),
    [
        ("1", False),
        ("2", True),
        ("3", True),
        ("4", False),
        ("5", True),
        ("1[2]", False),
        ("2[1]", True),
        ("6[1]", False),
    ],
)
def test_what_was_broken_off_did_not_end_by_itself(position: str, broken: bool) -> None:
    """Nor did its parts, where they have no row; a part with a row is what that says."""
    rows = [
        row("1"),
        row("2", "failed", error=TIMEOUT),
        row("3", "failed", error=CANCELLED),
        row("4", "failed", error="invalid"),
        row("6", "failed", error=TIMEOUT),
        row("6[1]"),
    ]
    assert RecordedRun(rows).broken_off(position) is broken


def test_the_furthest_round_and_the_branch_of_each_form_are_known() -> None:
    """By the positions of what ran in them, in whatever order they ended."""
    record = RecordedRun(
        [row("1.body[2].1"), row("1.body[10].1"), row("1.body[9].2.else.1"), row("3.then.1.body[1].4")]
    )
    assert (record.rounds("1"), record.rounds("3.then.1"), record.rounds("2")) == (10, 1, 0)
    assert (record.branch("1.body[9].2"), record.branch("3"), record.branch("1")) == ("else", "then", None)


def test_an_answer_may_be_null() -> None:
    """That it was given is known all the same."""
    record = RecordedRun([], [], {"1": "a", "2": None})
    assert (record.answered("1"), record.answered("2"), record.answered("3")) == (True, True, False)
    assert (record.answer("1"), record.answer("2")) == ("a", None)


def test_decisions_are_known_of_ended_and_of_waiting_executions() -> None:
    """By the position of the form."""
    record = RecordedRun([row("1", frames={"2": ["a"]}), row("3", "suspended", frames={"4": 1})])
    assert (record.decision("2"), record.decision("4"), record.decision("1")) == (["a"], 1, None)


def test_a_round_that_was_begun_has_the_time_at_which_the_run_started() -> None:
    """Where no other is told; one that was not begun has none."""
    started = ["2026-04-01", "2026-04-01T09:30:00.123Z"]
    record = RecordedRun([row("1", frames={"@clock": started}), row("2.body[3].1", sequence=2)])
    assert record.first_reading == tuple(started)
    assert record.reading("1") == tuple(started)
    assert [record.reading("2", number) is not None for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert record.reading("4") is None
