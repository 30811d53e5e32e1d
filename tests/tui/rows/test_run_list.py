"""The rows of the place Runs: which are shown, which are marked, what each tells."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.text import Text

from infospace.journal.rows import RunHead, RunStats
from tui.tables.runs_table import RunList, cost_of, state_of, steps_of, time_of

AT = "2026-03-31T23:33:20.000Z"
MINE = f"{socket.gethostname()}:{os.getpid()}:me"
GONE = f"{socket.gethostname()}:999999999:x"
COLOURS = {"success": "#00ff00", "accent": "#ff00ff"}


def now(seconds: float = 0) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def head(run: str = "run_1", goal: str = "Count", status: str = "success", **fields: Any) -> RunHead:
    found = RunHead(run, "plan", goal, "success", AT, "2026-03-31T23:33:22.500Z", None, None, None)
    return replace(found, status=status, **fields)


def rows(*heads: RunHead) -> RunList:
    found = RunList()
    found.colours = COLOURS
    found.update(heads)
    return found


def shown(found: RunList) -> list[str]:
    return [found.key(index) for index in range(len(found))]


def cells(found: RunList, index: int = 0, cost: int = 26) -> list[str]:
    widths = [1, 8, 7, 12, 30, 9, 9, cost, 14]
    return [str(cell) for cell in found.cells(index, widths)]


THREE = (
    head("run_3", "Count them"),
    head("run_2", "Read one", "failed", reason="no number"),
    head("run_1", "Count it"),
)


def test_every_word_has_to_be_in_what_is_told_of_a_run() -> None:
    """In its id, kind, status, goal or reason, whichever case."""
    found = rows(*THREE)
    for text, fits in {
        "count": ["run_3", "run_1"],
        "COUNT it": ["run_1"],
        "failed": ["run_2"],
        "NUMBER": ["run_2"],
        "run_3": ["run_3"],
        "plan read": ["run_2"],
        "count number": [],
        "  ": ["run_3", "run_2", "run_1"],
    }.items():
        found.filter(text)
        assert shown(found) == fits, text
        assert found.matched_by_body == 0


def test_runs_that_have_the_text_inside_are_counted_and_told_apart() -> None:
    """Those whose head has it too are not among them, nor those that are not there any more."""
    found = rows(*THREE)
    found.filter("count", ["run_1", "run_2", "run_9"])
    assert (shown(found), found.matched_by_body) == (["run_3", "run_2", "run_1"], 1)
    assert [cells(found, index)[4] for index in range(3)] == ["Count them", "≈ Read one", "Count it"]
    found.filter("count")
    assert (shown(found), found.matched_by_body) == (["run_3", "run_1"], 0)
    found.filter("", ["run_2"])
    assert cells(found, 1)[4] == "Read one"


def test_what_was_typed_holds_for_runs_that_come() -> None:
    found = rows(*THREE)
    found.filter("count", ["run_2"])
    found.update([head("run_4", "Count all"), *THREE[:2]])
    assert (shown(found), found.matched_by_body) == (["run_4", "run_3", "run_2"], 1)


def test_two_runs_are_marked_and_a_third_takes_the_mark_of_the_first() -> None:
    """The one that lost it is told; a mark is taken back by marking again."""
    found = rows(*THREE)
    assert [found.mark(run) for run in ("run_3", "run_1", "run_2")] == [None, None, "run_3"]
    assert found.marked == ["run_1", "run_2"]
    assert [cells(found, index)[0] for index in range(3)] == [" ", "●", "●"]
    assert found.mark("run_1") is None
    assert found.marked == ["run_2"]


def test_a_run_that_is_gone_is_not_marked_any_more() -> None:
    """Others are."""
    found = rows(*THREE)
    found.mark("run_3")
    found.mark("run_1")
    found.update(THREE[:2])
    assert found.marked == ["run_3"]


def test_what_is_not_known_of_a_run_in_sight_is_wanted_until_it_is() -> None:
    found = rows(*THREE)
    assert found.wanted == set()
    assert cells(found, 1)[5] == ""
    assert found.wanted == {"run_2"}
    found.merge({"run_2": RunStats(7, 2, 3, 1, 2, 40)})
    assert found.wanted == set()
    assert cells(found, 1, cost=40)[5:8] == ["2/3", "2.5 s", "1 llm call, 2 tool calls, 40 tokens"]
    found.cells(0, [0] * 9)
    found.merge({"run_1": RunStats(1, 1, 1, 0, 0, 0)})
    assert found.wanted == {"run_3"}


def test_runs_whose_steps_are_not_all_done_are_asked_about_again() -> None:
    """Of those in sight."""
    found = rows(
        head("run_5", status="running"),
        head("run_4"),
        head("run_3", status="suspended"),
        head("run_2", status="running"),
    )
    assert found.unfinished(range(4)) == ["run_5", "run_3", "run_2"]
    assert found.unfinished(range(1, 3)) == ["run_3"]


def test_a_run_tells_all_of_itself() -> None:
    found = rows(head(goal="", status="running", owner=GONE, heartbeat="2026-03-31T23:34:20.000Z", ended=None))
    found.merge({"run_1": RunStats(3, 1, 2, 0, 1, 0)})
    assert cells(found)[:8] == [" ", "run_1", "plan", "! broken off", "(no goal)", "1/2", "1:00 min", "1 tool call"]
    assert found.head("run_1") is found.heads[0]
    assert found.head("run_2") is None
    ended = rows(head())
    assert cells(ended)[3] == "✓ success"
    assert ended.cells(0, [1] * 9)[3].spans[0].style == COLOURS["success"]  # type: ignore[union-attr]


def test_a_run_without_a_goal_says_so_aside() -> None:
    """Before the colours are known, too."""
    found = RunList()
    found.update([head(goal="")])
    goal = found.cells(0, [1] * 9)[4]
    assert isinstance(goal, Text)
    assert (goal.plain, goal.style) == ("(no goal)", "dim")
    assert cells(found)[3] == "✓ success"


def test_a_run_is_left_once_its_process_is_gone() -> None:
    """Not while that goes on, and not when it has ended."""
    live = head(status="running", owner=MINE, heartbeat=now(), ended=None)
    assert state_of(live) == "running"
    assert state_of(replace(live, owner=GONE)) == "left"
    assert state_of(replace(live, heartbeat=now(3600))) == "left"
    assert state_of(head(owner=GONE)) == "success"


def test_the_time_of_a_run_is_that_in_which_it_ran() -> None:
    """Of one that goes on, up to now; of one that was left, up to its last sign of life."""
    assert time_of(head()) == 2500
    assert time_of(head(spent={"seconds": 1.5})) == 1500
    assert time_of(head(spent={"seconds": 0.0})) == 0
    live = head(status="running", started=now(60), ended=None, owner=MINE, heartbeat=now(), spent={"seconds": 1.0})
    assert 60_000 <= time_of(live) < 120_000
    left = head(status="running", ended=None, owner=GONE, heartbeat="2026-03-31T23:33:30.000Z", spent={"seconds": 1.0})
    assert time_of(left) == 10_000


@pytest.mark.parametrize(
    ("kind", "tally", "message"),
    [
        ("plan", None, ""),
        ("plan", RunStats(12, 4, 5, 0, 0, 0), "4/5"),
        ("plan", RunStats(12, 0, 0, 0, 0, 0), "12"),
        ("session", RunStats(1200, 3, 3, 0, 0, 0), "1,200"),
        ("plan", RunStats(1, 1000, 2000, 0, 0, 0), "1,000/2,000"),
    ],
)
def test_a_plan_tells_its_steps_and_a_session_its_executions(kind: str, tally: RunStats | None, message: str) -> None:
    assert steps_of(replace(head(), kind=kind), tally) == message


@pytest.mark.parametrize(
    ("tally", "room", "message"),
    [
        (None, 26, ""),
        (RunStats(1, 1, 1, 0, 0, 0), 26, ""),
        (RunStats(1, 1, 1, 1, 2, 1500), 40, "1 llm call, 2 tool calls, 1,500 tokens"),
        (RunStats(1, 1, 1, 1, 2, 1500), 38, "1 llm call, 2 tool calls, 1,500 tokens"),
        (RunStats(1, 1, 1, 1, 2, 1500), 37, "1,500 tok"),
        (RunStats(1, 1, 1, 1, 2, 0), 9, "3 calls"),
        (RunStats(1, 1, 1, 0, 1, 0), 26, "1 tool call"),
    ],
)
def test_the_cost_is_told_whole_where_there_is_room(tally: RunStats | None, room: int, message: str) -> None:
    assert cost_of(tally, room) == message
