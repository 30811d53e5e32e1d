"""Which runs are removed, and what a fork has of the runs that it came from."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from infospace import Invalid, NotFound, Space
from infospace.core.resources import CreatedBy
from infospace.journal.forks import calls_before, first_of, inherited_steps, parents
from infospace.journal.prune import PruneFilter, read_age, select
from infospace.journal.rows import AnswerRow, CallRow, CloseRun, Entry, OpenRun, StepRow
from infospace.store.changes import MakeNote


def day(ago: float) -> str:
    return (datetime.now(UTC) - timedelta(days=ago)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def opened(run: str, kind: Any = "plan", forked: str | None = None, ago: float = 9) -> OpenRun:
    return OpenRun(run, kind, "", {"steps": []}, {}, day(ago), f"owner of {run}", forked=forked)


@pytest.fixture
def ended(space: Space) -> Space:
    """Runs of each kind and status: the first ended eight days ago, the last goes on."""
    runs: list[tuple[str, Any, Any]] = [
        ("run_1", "plan", "success"),
        ("run_2", "session", "failed"),
        ("run_3", "edit", "success"),
        ("run_4", "plan", "suspended"),
        ("run_5", "plan", "cancelled"),
        ("run_6", "plan", "running"),
    ]
    for number, (run, kind, status) in enumerate(runs):
        assert space.store.new_id("run") == run
        entries: list[Entry] = [opened(run, kind, ago=9 - number)]
        if status != "running":
            entries.append(CloseRun(run, status, day(8 - number)))
        space.store.commit([], entries)
    return space


@pytest.mark.parametrize(
    ("which", "chosen"),
    [
        (PruneFilter(), ["run_5", "run_2", "run_1"]),
        (PruneFilter(beyond=0), ["run_5", "run_2", "run_1"]),
        (PruneFilter(beyond=1), ["run_2", "run_1"]),
        (PruneFilter(beyond=3), []),
        (PruneFilter(statuses={"failed", "suspended"}), ["run_2"]),
        (PruneFilter(older=timedelta(days=7, hours=-1)), ["run_2", "run_1"]),
        (PruneFilter(older=timedelta(days=7, hours=1)), ["run_1"]),
        (PruneFilter(runs=["run_2"]), ["run_2"]),
        (PruneFilter(runs=["run_2", "run_1"], beyond=2), ["run_1"]),
        (PruneFilter(runs=["run_1", "run_4", "run_6", "run_4"]), ["run_1", "run_4", "run_6"]),
        (PruneFilter(runs=["run_1", "run_2"], statuses={"success"}), ["run_1"]),
    ],
)
def test_which_runs_are_removed(ended: Space, which: PruneFilter, chosen: list[str]) -> None:
    """The latest first. One that is named and has not ended is told, so that it is refused by its name."""
    with ended.store.reading() as snapshot:
        assert select(snapshot, which) == chosen


def test_the_run_of_an_edit_stays(ended: Space) -> None:
    with ended.store.reading() as snapshot:
        with pytest.raises(Invalid) as refused:
            select(snapshot, PruneFilter(runs=["run_1", "run_3"]))
        with pytest.raises(NotFound):
            select(snapshot, PruneFilter(runs=["run_99"]))
    assert refused.value.message == "run_3 is an edit, which stays in the journal"
    assert refused.value.hint == "only the runs of plans and sessions are removed"


def test_an_age_is_hours_days_or_weeks() -> None:
    ages = {"36h": timedelta(hours=36), "30d": timedelta(30), "8w": timedelta(weeks=8), "100000h": timedelta(hours=1e5)}
    assert {text: read_age(text) for text in ages} == ages
    for text in ("100001h", "8", "w", "8 w", "8m", "-8d", "8dd"):
        with pytest.raises(Invalid, match=rf"^{re.escape(repr(text))} is not an age") as refused:
            read_age(text)
        assert refused.value.hint == "a number of hours, days or weeks: 36h, 30d, 8w"


def step(run: str, position: str, *, taken_from: str | None = None) -> StepRow:
    extra: Any = {} if taken_from is None else {"forked": taken_from}
    return StepRow(run, int(position[0]), position, "create-note", "success", day(1), 0.0, extra=extra)


def call(run: str, number: int, position: str, kind: Any = "tool", status: Any = "success") -> CallRow:
    return CallRow(run, number, position, kind, "a/b", bytes([number]), status, day(1))


@pytest.fixture
def forks(space: Space) -> Space:
    """`run_3` came from `run_2`, and that from `run_1`; each called, was answered, and made a Note at its steps."""
    taken = {"run_1": {}, "run_2": {"1": "run_1", "2": "run_1"}, "run_3": {"1": "run_1", "3": "run_2"}}
    before: str | None = None
    for run, labels in taken.items():
        assert space.store.new_id("run") == run
        entries: list[Entry] = [opened(run, forked=before)]
        entries += [step(run, position, taken_from=labels.get(position)) for position in ("1", "2", "3", "4")]
        entries += [call(run, number, f"{number}.then.1") for number in (1, 2, 3)]
        entries += [call(run, 4, "4", "llm"), call(run, 5, "4", "llm", "failed"), call(run, 6, "4")]
        entries += [AnswerRow(run, f"{number}?a", f"{run} {number}", day(1)) for number in (1, 2, 3)]
        made = [
            MakeNote(space.store.new_id("Note"), number, created_by=CreatedBy(run, str(number), "create-note"))
            for number in (1, 2, 3)
        ]
        made.append(MakeNote(space.store.new_id("Note"), 0, created_by=CreatedBy(run, None, "input")))
        space.store.commit(made, [*entries])
        before = run
    return space


def test_what_a_fork_of_a_fork_took_over(forks: Space) -> None:
    """Of each run that it came from the steps that came down to it, in whichever of them they were done."""
    with forks.store.reading() as snapshot:
        found = inherited_steps(snapshot, "run_3")
        assert [(one.run, one.sequence) for one in found.calls] == [
            ("run_2", 1),
            ("run_2", 3),
            ("run_2", 4),
            ("run_1", 1),
            ("run_1", 4),
        ]
        assert found.answers == {"1?a": "run_1 1", "3?a": "run_2 3"}
        made = [(one.created_by.run, one.created_by.step) for one in found.products]
        assert made == [("run_2", "1"), ("run_2", "3"), ("run_1", "1")]
        none = inherited_steps(snapshot, "run_1")
        assert (none.calls, none.answers, none.products) == ((), {}, ())


def test_the_runs_that_a_fork_came_from(forks: Space) -> None:
    """The nearest first, as far as they are there."""
    assert forks.store.new_id("run") == "run_4"
    forks.store.commit([], [opened("run_4", forked="run_8")])
    with forks.store.reading() as snapshot:
        assert {run: parents(snapshot, run) for run in ("run_1", "run_2", "run_3", "run_4", "run_9")} == {
            "run_1": [],
            "run_2": ["run_1"],
            "run_3": ["run_2", "run_1"],
            "run_4": [],
            "run_9": [],
        }
        firsts = [first_of(snapshot, run) for run in ("run_1", "run_2", "run_3", "run_4", "run_9")]
        assert firsts == ["run_1", "run_1", "run_1", "run_8", "run_9"]
        assert [one.run for one in calls_before(snapshot, "run_3")] == ["run_2"] * 6 + ["run_1"] * 6
        assert calls_before(snapshot, "run_1") == []
