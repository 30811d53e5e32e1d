"""`infospace schedule`: a saved plan is run at times, which are listed, paused and removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infospace import open_space
from infospace.core.clock import now
from infospace.journal.schedule_rows import SetDue

GREETS = '{"inputs": {"name": {"type": "string"}}, "steps": [{"type": "say", "value": "hello ${name}"}]}'
ADD = ("schedule", "add", "yearly", "0  0 1 1 *", "plan:greet")


@pytest.fixture
def saved(cli: Any) -> None:
    """A saved plan with an input."""
    assert cli("plans", "save", "greet", "-", stdin=GREETS).code == 0


@pytest.fixture
def scheduled(cli: Any, saved: None) -> None:
    """That plan, scheduled."""
    assert cli(*ADD, "--input", "name=7", "--zone", "Asia/Tokyo", "--queue", "nightly").code == 0


def put_due(tmp_path: Path) -> None:
    """Let the schedule be due."""
    with open_space(tmp_path / "space.db") as space:
        space.store.commit([], [SetDue("yearly", "2026-01-01T00:00:00.000Z")])


@pytest.mark.usefixtures("scheduled")
def test_a_schedule_is_listed_with_its_next_times(cli: Any) -> None:
    assert "yearly  0 0 1 1 *       next " in cli("schedule").out
    [listed] = cli("schedule", "--json").json
    assert (listed["plan"], listed["inputs"], listed["missed"]) == ("greet", {"name": "7"}, "once")
    assert listed["due"] > now()
    assert listed["due"].endswith("-12-31T15:00:00.000Z")
    shown = cli("schedule", "show", "yearly")
    assert "yearly  0 0 1 1 *  Asia/Tokyo  next " in shown.out
    assert "runs plan:greet name='7'" in shown.out
    assert shown.out.count("01-01 00:00 JST") == 6
    assert len(cli("schedule", "show", "yearly", "--json").json["next"]) == 5


@pytest.mark.usefixtures("saved")
def test_a_schedule_keeps_how_its_runs_wait_and_what_they_may_call(cli: Any, tmp_path: Path) -> None:
    """As it is told, else as usual; `show` says it in words."""
    (tmp_path / "inputs.json").write_text('{"name": "Ann"}')
    told = ("--priority", "7", "--queue", "nightly", "--approve", "files/write", "--approve", "mail/*", "--replace")
    usual = ("default", 0, [])
    for options, missed, waits, words in (
        ((), "once", usual, "missed times are made up by one run"),
        (("--missed", "all", *told), "all", ("nightly", 7, ["files/write", "mail/*"]), "each missed time is made up"),
        (("--missed", "skip", "--replace"), "skip", usual, "missed times are left out"),
    ):
        assert cli(*ADD, "--input-file", "inputs.json", *options).code == 0
        [one] = cli("schedule", "--json").json
        assert (one["missed"], (one["queue"], one["priority"], one["approve"])) == (missed, waits)
        assert one["inputs"] == {"name": "Ann"}
        shown = cli("schedule", "show", "yearly").out.splitlines()
        assert f"in the queue {waits[0]!r}, priority {waits[1]}; {words}" in shown
        assert [line for line in shown if line.startswith("calls ")] == [
            f"calls {tool} without asking" for tool in waits[2]
        ]


@pytest.mark.usefixtures("scheduled")
def test_a_worker_runs_it_when_it_is_due(cli: Any, tmp_path: Path) -> None:
    put_due(tmp_path)
    assert "due since" in cli("schedule").out
    assert cli("work", "--once", "--queue", "other").err == "0 runs taken\n"
    assert cli("work", "--once").out == "run_2  success\n"
    assert "latest: run_2, " in cli("schedule", "show", "yearly").out
    assert cli("work", "--once").err == "0 runs taken\n"


@pytest.mark.usefixtures("scheduled")
def test_why_it_does_not_run_is_told_and_shown(cli: Any, tmp_path: Path) -> None:
    assert cli("plans", "rm", "greet").code == 0
    put_due(tmp_path)
    said = cli("work", "--once")
    assert said.err.startswith("schedule yearly: there is no saved plan 'greet'")
    assert "there is no saved plan 'greet'" in cli("schedule").out


def test_it_waits_for_the_run_before(cli: Any, tmp_path: Path) -> None:
    """A worker begins no other until that has ended, and then it does: it is due still."""
    asks = '[{"type": "ask", "value": "well?", "out": "$well"}]'
    assert cli("plans", "save", "greet", "-", stdin=asks).code == 0
    assert cli(*ADD).code == 0
    put_due(tmp_path)
    assert cli("work", "--once").out == "run_2  suspended\n"
    put_due(tmp_path)
    assert cli("work", "--once").err == "0 runs taken\n"
    assert "waits for run_2 to end" in cli("schedule").out
    assert cli("schedule", "--json").json[0]["waits_for"] == "run_2"
    assert cli("answer", "run_2", "1", '"well"').code == 0
    assert cli("work", "--once").out == "run_3  suspended\n"


@pytest.mark.usefixtures("scheduled")
def test_it_is_paused_resumed_replaced_and_removed(cli: Any, tmp_path: Path) -> None:
    assert cli("schedule", "pause", "yearly").out == "yearly  paused\n"
    assert "paused" in cli("schedule").out
    assert cli("schedule", "show", "yearly", "--json").json["next"] == []
    assert "01-01 00:00 JST" in cli("schedule", "resume", "yearly").out
    assert cli(*ADD, "--input", "name=x", "--replace").code == 0
    assert cli("schedule", "--json").json[0]["zone"] == "UTC"
    assert cli("schedule", "rm", "yearly", "--json").json == {"name": "yearly", "removed": True}
    assert cli("schedule").err.startswith("nothing is scheduled")


@pytest.mark.usefixtures("saved")
def test_a_plan_that_is_refused_is_not_scheduled(cli: Any) -> None:
    said = cli(*ADD)
    assert (said.code, "the input 'name' is not given" in said.err) == (3, True)
    assert cli("schedule", "--json").json == []
    assert cli(*ADD, "--json").json["problems"][0]["code"] == "missing-input"


@pytest.mark.usefixtures("scheduled")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add", "x", "* * * *", "plan:greet"], "'* * * *' is not a cron expression: it has 4 fields, not 5"),
        (["add", "x", "* * * * *", "greet"], "'greet' is not a saved plan"),
        (["add", "x", "* * * * *", "plan:gret"], "there is no saved plan 'gret' (did you mean 'greet'?)"),
        (["add", "x", "* * * * *", "plan:greet", "--zone", "Tokyo"], "there is no time zone 'Tokyo'"),
        (["add", "x", "* * * * *", "plan:greet", "--queue", " "], "--queue names no queue"),
        (["add", "", "* * * * *", "plan:greet"], "name"),
        (["add", "x", "* * * * *", "plan:greet", "--input", "name"], "'name' is not an input"),
        (["add", "x", "* * * * *", "plan:greet", "--input", "name=1", "--approve", "a b"], "'a b'"),
        (["add", "yearly", "* * * * *", "plan:greet", "--input", "name=1"], "there is a schedule 'yearly' already"),
        (["pause", "yerly"], "there is no schedule 'yerly' (did you mean 'yearly'?)"),
        (["show", "zzz"], "there is no schedule 'zzz'"),
    ],
)
def test_wrong_use_is_told(cli: Any, words: list[str], message: str) -> None:
    said = cli("schedule", *words)
    assert said.code == 2
    assert message in said.err
