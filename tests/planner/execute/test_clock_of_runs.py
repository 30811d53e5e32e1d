"""`today()` and `now()` are those of the run: read at its start, after `wait` and `ask`, at a resume, at each call."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.context.invoke import call_directly
from infospace.core import clock
from infospace.tools.local import LocalTools
from planner.execute.start import Prepared, prepare, run_sync
from planner.journal.result import RunResult
from planner.lifecycle.dry_run import dry_run
from planner.lifecycle.fork import fork
from planner.lifecycle.replay import Replayed, replay
from planner.lifecycle.resume import answer, resume
from planner.sessions.session import Session

pytestmark = pytest.mark.usefixtures("warm_processes")

DAY = 86_400


class Moved:
    """The product's clock, set to a moment; `forward` moves it. It stands still but where `each` is given."""

    def __init__(self, moment: str, each: float = 0.0) -> None:
        self.at = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
        self.each = each

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def time(self) -> float:
        self.at += self.each
        return self.at

    def forward(self, days: float) -> None:
        self.at += days * DAY


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> Iterator[Moved]:
    """The clock of the whole product, at 22:30 UTC of a day; the machine is where it is half past midnight by then."""
    monkeypatch.setenv("TZ", "Etc/GMT-2")
    time.tzset()
    found = Moved("2026-06-30T22:30:00")
    monkeypatch.setattr(clock, "time", found)
    yield found
    monkeypatch.undo()
    time.tzset()


def compute(name: str, expression: str) -> dict[str, Any]:
    return {"type": "compute", "expression": expression, "out": f"${name}"}


def gave(result: RunResult, space: Space) -> dict[str, Any]:
    """Return the contents of what the steps of a run bound."""
    assert result.status == "success", (result.reason, result.problems)
    view = space.context()
    return {name: view.content(resource) for name, resource in result.bindings.items()}


def replayed(space: Space, run: str | None, *, recorded: bool = False) -> Replayed:
    """Replay a run: each of its steps says again what it had said."""
    again = asyncio.run(replay(space, str(run), recorded=recorded))
    with space.store.reading() as snapshot:
        said = {row.position: row.value for row in snapshot.steps(str(run))}
    assert {step["step"]: step["value"] for step in again.document["steps"]} == said
    return again


def test_today_is_a_day_of_the_machine_and_now_a_moment_in_utc(space: Space, moved: Moved) -> None:
    """The day of the machine's zone may be another than that of the moment."""
    result = run_sync(space, [compute("day", "today()"), compute("now", "now()")])
    assert gave(result, space) == {"day": "2026-07-01", "now": "2026-06-30T22:30:00.000Z"}


def test_no_two_steps_of_a_run_differ(space: Space, moved: Moved) -> None:
    """Though the clock goes on with each look at it: the run's does not."""
    moved.each = 3_600.0
    document = [
        {"type": "create-note", "value": [{"kind": "x"}] * 5, "out": "$list"},
        {"type": "split", "target": "$list", "out": "$rows"},
        *(compute(f"n{number}", "now()") for number in range(3)),
        {
            "type": "for-each",
            "target": "$rows",
            "do": [compute("each", "now()")],
            "out": "$all",
        },
        {"type": "map", "target": "$rows", "operation": {"type": "compute", "expression": "now()"}, "out": "$mapped"},
        {"type": "filter-structured", "target": "$rows", "where": "now() = $n0", "out": "$same"},
        {
            "type": "group",
            "target": "$rows",
            "by": "kind",
            "aggregates": {"first": "min(now())", "last": "max(now())"},
            "out": "$one",
        },
        {"type": "if", "condition": {"type": "has_value", "target": "$n0"}, "then": [compute("then", "now()")]},
    ]
    found = gave(run_sync(space, document), space)
    start = found["n0"]
    assert {found["n1"], found["n2"], found["then"], *found["all"], *found["mapped"]} == {start}
    assert len(found["same"]) == 5
    assert found["one"] == [{"kind": "x", "first": start, "last": start}]


def test_a_search_takes_the_day_of_its_run(space: Space, moved: Moved) -> None:
    """The `where` of a search and that of `filter-structured` mean the same day."""
    for due in ("2026-06-30", "2026-07-01", "2026-07-02"):
        run_sync(space, [{"type": "create-note", "value": f"pay {due}", "metadata": {"due": due}, "name": due}])
    where = "metadata.due = today()"
    moved.each = 5 * 3_600.0
    search = {"type": "discover-notes", "query": "pay", "mode": "keyword", "where": where, "limit": "all", "out": "$h"}
    result = run_sync(space, [compute("day", "today()"), search])
    found = gave(result, space)
    assert [hit["metadata"]["source"]["due"] for hit in found["h"]] == [found["day"]]


@pytest.mark.parametrize("form", [{"type": "wait", "seconds": 90_000}, {"type": "ask", "value": "well?", "out": "$a"}])
def test_after_a_wait_and_an_ask_it_is_later(space: Space, moved: Moved, form: dict[str, Any]) -> None:
    """And a replay a year later says the same days as the run did."""
    result = run_sync(space, [compute("before", "today()"), form, compute("after", "today()")])
    assert result.status == "suspended"
    moved.forward(2)
    if form["type"] == "ask":
        answer(space, str(result.run), "2", "yes")
    result = asyncio.run(resume(space, str(result.run)))
    assert result.status == "success", result.reason
    days = {"before": "2026-07-01", "after": "2026-07-03"}
    assert {name: gave(result, space)[name] for name in days} == days
    moved.forward(365)
    for recorded in (False, True):
        again = replayed(space, result.run, recorded=recorded)
        assert again.document["result"]["data"] == "2026-07-03"


def test_a_short_wait_moves_it_too(space: Space, moved: Moved) -> None:
    """A `wait` that just sleeps is a reading as well: what follows is one stretch."""
    moved.each = 0.25
    document = [compute("a", "now()"), {"type": "wait", "seconds": 0.01}, compute("b", "now()"), compute("c", "now()")]
    result = run_sync(space, document)
    found = gave(result, space)
    assert found["a"] < found["b"] == found["c"]
    moved.forward(400)
    replayed(space, result.run)


def test_a_wait_asks_for_the_time_of_each_resume(space: Space, moved: Moved) -> None:
    """Its condition is asked again, and finds that the time went on."""
    until = "2026-07-03"
    document = [
        {
            "type": "while",
            "condition": {"type": "notbound", "target": "$late"},
            "body": [
                compute("day", "today()"),
                {
                    "type": "if",
                    "condition": {"type": "less_than", "target": "$day", "value": until},
                    "then": [{"type": "ask", "value": "go on?", "out": "$go"}],
                    "else": [compute("late", "today()")],
                },
            ],
        }
    ]
    result = run_sync(space, document)
    asked = 0
    while result.status == "suspended":
        asked += 1
        moved.forward(1)
        answer(space, str(result.run), result.pending[0].step, "yes")
        result = asyncio.run(resume(space, str(result.run)))
    assert (result.status, asked, gave(result, space)["late"]) == ("success", 2, until)
    moved.forward(30)
    again = replayed(space, result.run)
    assert again.document["result"]["data"] == until


@pytest.mark.parametrize("form", ["while", "until"])
def test_a_condition_asks_for_the_day_of_each_round(space: Space, moved: Moved, form: str) -> None:
    """A loop that waits a day in each round sees the days go by, in its condition too; and so does its replay."""
    body = [{"type": "ask", "value": "go on?", "out": "$go"}]
    loop: dict[str, Any] = {"type": "while", "condition": "today() < '2026-07-04'", "body": body}
    if form == "until":
        loop = {"type": "for-each", "target": [1, 2, 3, 4, 5], "do": body, "until": "today() >= '2026-07-04'"}
    result = run_sync(space, [loop, compute("day", "today()")])
    asked = 0
    while result.status == "suspended":
        asked += 1
        moved.forward(1)
        answer(space, str(result.run), result.pending[0].step, "yes")
        result = asyncio.run(resume(space, str(result.run)))
    assert (asked, gave(result, space)["day"]) == (3, "2026-07-04")
    moved.forward(100)
    assert replayed(space, result.run).document["result"]["data"] == "2026-07-04"


def test_a_wait_for_a_day_is_over_on_that_day(space: Space, moved: Moved) -> None:
    """Its condition is asked again at each resume, under the clock of that."""
    result = run_sync(space, [{"type": "wait", "condition": "today() >= '2026-07-03'"}, compute("day", "today()")])
    days = 0
    while result.status == "suspended":
        days += 1
        moved.forward(1)
        result = asyncio.run(resume(space, str(result.run)))
    assert (days, gave(result, space)["day"]) == (2, "2026-07-03")
    moved.forward(100)
    replayed(space, result.run)


def test_each_branch_waits_for_itself(space: Space, moved: Moved) -> None:
    """A branch that does not wait stays in its stretch; after all of them it is the latest of their times."""
    moved.each = 0.25
    document = [
        {
            "type": "parallel",
            "branches": [
                [{"type": "wait", "seconds": 0.01}, compute("waited", "now()")],
                [compute("first", "now()"), compute("second", "now()")],
            ],
        },
        compute("after", "now()"),
    ]
    result = run_sync(space, document)
    found = gave(result, space)
    assert found["first"] == found["second"] < found["waited"] == found["after"]
    moved.forward(1)
    replayed(space, result.run)


def test_each_call_of_a_session_has_its_own_time(space: Space, moved: Moved) -> None:
    """Also in a process that opens it anew; and a replay takes them all."""
    moved.each = 0.25

    async def days() -> str:
        session = Session(space, "diary")
        await session.play([compute("a", "today()"), compute("n", "now()"), compute("m", "now()")])
        moved.forward(1)
        await session.play([compute("b", "today()")])
        moved.forward(1)
        later = Session(space, "diary")
        await later.play([compute("c", "today()")])
        bound = later.bindings()
        view = space.context()
        found = {name: view.content(view.get(identifier)) for name, identifier in bound.items()}
        assert [found[name] for name in "abc"] == ["2026-07-01", "2026-07-02", "2026-07-03"]
        assert found["n"] == found["m"]
        return str((await later.end()).run)

    run = asyncio.run(days())
    moved.forward(100)
    again = replayed(space, run)
    assert [step["value"] for step in again.document["steps"]][-1] == "2026-07-03"


def test_a_dry_run_has_one_time(space: Space, moved: Moved) -> None:
    """It waits for nothing, and so is one stretch."""
    moved.each = 60.0
    prepared = prepare(space, [compute("a", "now()"), {"type": "wait", "seconds": 1}, compute("b", "now()")])
    assert isinstance(prepared, Prepared)
    steps = asyncio.run(dry_run(space, prepared, data=True)).document["steps"]
    assert steps[0]["data"] == steps[2]["data"]


def test_a_fork_begins_at_its_own_time(space: Space, moved: Moved) -> None:
    """What it takes over is as it was then, what it runs is of its own day; its replay says the same."""
    result = run_sync(space, [compute("a", "today()"), compute("b", "today()"), compute("c", "1")])
    moved.forward(3)
    forked = asyncio.run(fork(space, str(result.run), "2", [{"op": "replace", "path": "/2/expression", "value": "2"}]))
    assert gave(forked, space) == {"a": "2026-07-01", "b": "2026-07-04", "c": 2}
    moved.forward(3)
    replayed(space, forked.run)


def test_a_run_of_an_older_journal_is_replayed_with_the_time_of_its_start(
    space: Space, moved: Moved, tmp_path: Path
) -> None:
    """Its steps tell no reading: the journal knows when it started."""
    result = run_sync(space, [compute("a", "today()"), compute("b", "now()")])
    moved.forward(10)
    with sqlite3.connect(tmp_path / "space.db") as connection:
        connection.execute("UPDATE steps SET frames = NULL")
    assert replayed(space, result.run).document["result"]["data"] == "2026-06-30T22:30:00.000Z"


KILLED = """
import os, signal, sys, time
from infospace import open_space
from infospace.core import clock
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync

class At:
    def __getattr__(self, name): return getattr(time, name)
    def time(self): return float(sys.argv[2])

clock.time = At()
tools = LocalTools("outside")

@tools.tool(read_only=True)
async def die() -> str:
    "End the process at once."
    os.kill(os.getpid(), signal.SIGKILL)

space = open_space(sys.argv[1])
space.tools.add(tools)
run_sync(space, [
    {"type": "compute", "expression": "today()", "out": "$before"},
    {"type": "compute", "expression": "now()", "out": "$moment"},
    {"type": "if", "condition": {"type": "equals", "target": "$before", "value": "2026-07-01"}, "then": [
        {"type": "compute", "expression": "now()", "out": "$inside"},
        {"type": "outside/die", "out": "$dead"},
        {"type": "compute", "expression": "today()", "out": "$after"}]},
    {"type": "compute", "expression": "now()", "out": "$end"}])
"""


def test_killed_and_resumed_it_keeps_what_it_had(tmp_path: Path, moved: Moved, empty_file: Path) -> None:
    """Steps that ended keep the time of the first stretch; the others have one of their own. So says the replay."""
    del empty_file
    path = tmp_path / "killed.space"
    script = [sys.executable, "-c", KILLED, str(path), str(moved.at)]
    done = subprocess.run(script, env={**os.environ, "TZ": "Etc/GMT-2"}, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    moved.forward(1)
    tools = LocalTools("outside")

    @tools.tool(read_only=True)
    async def die() -> str:
        """Do not end it this time."""
        return "alive"

    with open_space(path) as space:
        space.tools.add(tools)
        result = asyncio.run(resume(space, "run_1"))
        assert result.status == "success", result.reason
        found = gave(result, space)
        first, second = "2026-06-30T22:30:00.000Z", "2026-07-01T22:30:00.000Z"
        assert (found["before"], found["moment"], found["inside"]) == ("2026-07-01", first, first)
        assert (found["after"], found["end"]) == ("2026-07-02", second)
        moved.forward(365)
        again = replayed(space, result.run)
        assert again.document["result"]["data"] == second


def test_a_primitive_called_directly_has_one_time(space: Space, moved: Moved) -> None:
    """One call is one stretch, however many items it looks at."""
    moved.each = 1.0
    view = space.context()
    rows = view.collection([view.note({"n": n}) for n in range(50)])
    entry = space.catalogue.get("filter-structured")
    where = "now() = now()"
    found = asyncio.run(call_directly(entry, {"target": rows, "where": where}, view))
    assert len(found.data) == 50
