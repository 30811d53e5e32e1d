"""`infospace run --detach` and `infospace work`: a run is accepted, waits where it is seen, and is done."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint

from infospace import StoreError, open_space
from tui.command.runs.work import _Failures
from tui.text.output import Output

SAYS = '[{"type": "say", "value": "hello"}]'


@pytest.fixture
def plan(tmp_path: Path) -> str:
    """A plan in a file."""
    path = tmp_path / "plan.json"
    path.write_text(SAYS)
    return str(path)


def test_a_detached_run_waits_until_somebody_works(cli: Any, plan: str) -> None:
    options = ("--queue", "nightly", "--priority", "3", "--approve", "files/write")
    said = cli("run", plan, "--detach", *options, "--json")
    assert (said.code, said.json) == (
        0,
        {"run": "run_1", "status": "suspended", "queue": "nightly", "priority": 3},
    )
    assert cli("run", "-", "--detach", stdin=SAYS).out == "run_2\n"
    with open_space("space.db") as space, space.store.reading() as snapshot:
        approved = [[one.tool for one in snapshot.approvals(run)] for run in ("run_1", "run_2")]
    assert approved == [["files/write"], []]
    listed = cli("runs", "--json").json["runs"]
    assert [(one["status"], one["queue"]["name"], one["steps"]) for one in listed] == [
        ("suspended", "default", 0),
        ("suspended", "nightly", 0),
    ]
    assert [line.split()[:2] for line in cli("runs").out.splitlines()] == [["run_2", "queued"], ["run_1", "queued"]]
    assert cli("work", "--once", "--queue", "nightly").out == "run_1  success\n"
    said = cli("work", "--once", "--json")
    assert [json.loads(line) for line in said.out.splitlines()] == [
        {"run": "run_2", "status": "success", "reason": None}
    ]
    assert [one["status"] for one in cli("runs", "--json").json["runs"]] == ["success", "success"]
    assert cli("work", "--once").err == "0 runs taken\n"


def test_one_worker_runs_several_at_once(cli: Any, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two, where each asks a model that answers nobody before two have asked; and no more than it is told."""
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    endpoint.together = threading.Barrier(2)
    for _ in range(4):
        cli("run", "-", "--detach", stdin='[{"type": "generate-note", "prompt": "a title"}]')
    said = cli("work", "--once", "--jobs", "2")
    assert (sorted(said.out.splitlines()), said.err) == (
        [f"run_{number}  success" for number in (1, 2, 3, 4)],
        "4 runs taken\n",
    )
    assert (len(endpoint.requests), endpoint.peak) == (4, 2)


def test_runs_that_ended_long_ago_are_removed_where_that_is_wanted(cli: Any, plan: str) -> None:
    """What waits, and what ended lately, stays."""
    cli("run", plan)
    cli("run", plan, "--detach")
    cli("work", "--once", "--retain", "1h", "--queue", "other")
    assert [one["run"] for one in cli("runs", "--json").json["runs"]] == ["run_2", "run_1"]
    cli("work", "--once", "--retain", "0h", "--queue", "other")
    assert [one["run"] for one in cli("runs", "--json").json["runs"]] == ["run_2"]
    assert cli("work", "--once").out == "run_2  success\n"


def test_what_fails_alike_again_is_told_once_in_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    told = _Failures(Output(json=False))
    gone = StoreError("the database cannot be reached")
    for run in ("", "", "run_1", "run_1", "", "run_1"):
        told(run, gone)
    assert capsys.readouterr().err.splitlines() == [
        f"{run}the database cannot be reached" for run in ("", "run_1: ", "", "run_1: ")
    ]


def test_a_refused_plan_does_not_wait(cli: Any) -> None:
    said = cli("run", "-", "--detach", stdin='[{"type": "sai"}]')
    assert said.code == 3
    assert cli("runs", "--json").json["runs"] == []


def test_a_cancelled_run_is_taken_by_nobody(cli: Any, plan: str) -> None:
    cli("run", plan, "--detach")
    assert cli("cancel", "run_1").code == 0
    assert cli("work", "--once").err == "0 runs taken\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "PLAN", "--queue", "q"], "--queue is of a run that waits"),
        (["run", "PLAN", "--priority", "1"], "--priority is of a run that waits"),
        (["run", "PLAN", "--detach", "--out", "x.json"], "a run that waits for a worker has no --out"),
        (["run", "PLAN", "--detach", "--session", "s"], "a run that waits for a worker has no --session"),
        (["run", "PLAN", "--detach", "--data"], "a run that waits for a worker has no --data"),
        (["run", "PLAN", "--detach", "--cache"], "a run that waits for a worker has no --cache"),
        (["run", "PLAN", "--detach", "--print", "result"], "a run that waits for a worker has no --print result"),
        (["run", "PLAN", "--detach", "--queue", " "], "--queue names no queue"),
        (["run", "PLAN", "--detach", "--priority", "x"], "--priority is 'x', not a whole number"),
        (["work", "--once", "--limit", "x"], "--limit 'x' is not NAME=N"),
        (["work", "--once", "--retain", "1"], "--retain '1' is not an age"),
        (["work", "--once", "--jobs", "0"], "--jobs is 1 to 64, not 0"),
        (["work", "--once", "--limit", "x=0"], "--limit 'x=0' is not NAME=N"),
    ],
)
def test_wrong_use_is_told(cli: Any, plan: str, words: list[str], message: str) -> None:
    said = cli(*(plan if word == "PLAN" else word for word in words))
    assert said.code == 2
    assert message in said.err


def test_a_limit_stays_until_another_is_set(cli: Any, tmp_path: Path) -> None:
    def limits() -> dict[str, int]:
        with open_space(tmp_path / "space.db") as space, space.store.reading() as snapshot:
            return snapshot.queue_limits()

    assert cli("work", "--once", "--limit", "nightly=2", "--limit", "a=b=3").code == 0
    assert limits() == {"nightly": 2, "a=b": 3}
    assert cli("work", "--once", "--limit", "nightly=none").code == 0
    assert limits() == {"a=b": 3}
