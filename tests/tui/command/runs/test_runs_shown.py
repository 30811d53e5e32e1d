"""Runs as a person reads them: how they stand, what they wait for, what their steps expected, and the way out."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tui.command.common.loop_limit import late_loop

ASKING = [
    {"type": "create-note", "value": "a", "name": "first", "expect": "a note of one letter"},
    {"type": "ask", "value": "Which year?", "schema": {"type": "integer"}, "out": "$year"},
]


def test_what_a_step_expected_stands_beside_its_outcome(cli: Any) -> None:
    """While it runs, in what `show` says, and in JSON."""
    said = cli("run", "-", stdin=json.dumps(ASKING[:1]))
    assert "expected: a note of one letter" in said.err
    assert "expected: a note of one letter" in cli("show", "run_1").out
    assert cli("show", "run_1", "--json").json["steps"][0]["expect"] == "a note of one letter"
    refused = cli("show", "run_1", "--version", "1")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "infospace: run_1 is a run, which has no versions (name a resource)\n"
    again = cli("run", "-", "--json", stdin=json.dumps([{"type": "say", "value": "x", "expect": "a word"}]))
    assert again.json["steps"][0]["expect"] == "a word"


def test_a_run_that_waits_shows_its_question_and_how_to_answer(cli: Any) -> None:
    """It has not ended."""
    cli("run", "-", stdin=json.dumps(ASKING))
    shown = cli("show", "run_1")
    assert "Which year?" in shown.out + shown.err
    assert "answer run_1 2" in shown.err
    document = cli("show", "run_1", "--json").json
    assert [one["question"] for one in document["pending"]] == ["Which year?"]
    assert (document["status"], document["ended"]) == ("suspended", None)


def test_a_run_that_waits_can_be_cancelled_and_then_undone(cli: Any) -> None:
    """`undo` says so; a run that has ended cannot be."""
    cli("run", "-", stdin=json.dumps(ASKING))
    refused = cli("undo", "run_1")
    assert refused.code == 1
    assert "infospace cancel run_1" in refused.err
    assert cli("cancel", "run_1").out.startswith("run_1 is cancelled")
    assert cli("runs", "--json").json["runs"][0]["status"] == "cancelled"
    assert cli("undo", "run_1").code == 0
    again = cli("cancel", "run_1", "--json")
    assert again.code == 1
    assert "has ended already" in again.err


def test_a_run_whose_process_was_killed_is_broken_off(cli: Any, tmp_path: Path) -> None:
    """It is told, and how to go on; one that is alive cannot be cancelled from elsewhere."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps([{"type": "say", "value": "here"}, {"type": "wait", "seconds": 50}]))
    going = subprocess.Popen(
        [sys.executable, "-m", "tui.command", "run", str(plan), "--space", str(tmp_path / "space.db")],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert going.stderr is not None
    while "here" not in going.stderr.readline():
        assert going.poll() is None
    live = cli("cancel", "run_1")
    assert live.code == 1
    assert f"{socket.gethostname()}:{going.pid}" in live.err
    assert cli("runs", "--json").json["runs"][0]["live"] is True
    os.kill(going.pid, signal.SIGKILL)
    going.wait()
    going.stderr.close()
    assert "broken off" in cli("runs").out
    shown = cli("show", "run_1")
    assert "infospace resume run_1" in shown.err
    assert cli("runs", "--json").json["runs"][0]["live"] is False
    assert cli("cancel", "run_1").code == 0


def test_of_long_loops_show_gives_the_first_rounds(cli: Any) -> None:
    """All of them with `--all`."""
    body = [{"type": "size", "target": "$all", "out": "$n"}]
    steps = [
        {"type": "create-collection", "value": list(range(30)), "out": "$all"},
        {"type": "for-each", "target": "$all", "as": "$i", "do": body, "out": "$sizes"},
    ]
    cli("run", "-", stdin=json.dumps(steps))
    shown = cli("show", "run_1")
    assert "    ✓ 2.do[10].1 size" in shown.out
    assert "2.do[11].1" not in shown.out
    assert "of 2, 20 steps of later rounds left out; --all shows them" in shown.err
    assert "2.do[30].1" in cli("show", "run_1", "--all").out


@pytest.mark.parametrize(
    ("position", "loop"),
    [
        ("4.do[10].1", None),
        ("4.do[11].1", "4"),
        ("4.do[11].2.body[12].1", "4"),
        ("4.do[3].2.body[12].1", "4.do[3].2"),
        ("4.branches[12].1", None),
        ("4[12]", None),
    ],
)
def test_of_loops_within_loops_the_outermost_stands_for_its_late_rounds(position: str, loop: str | None) -> None:
    assert late_loop(position) == loop


def test_of_a_long_loop_the_later_rounds_are_counted(cli: Any) -> None:
    """A failing one is shown all the same."""
    items = [*range(1, 31), "x", 32]
    body = [{"type": "coerce", "target": "$i", "coercion": "int", "out": "$n"}]
    steps = [
        {"type": "create-collection", "value": items, "out": "$c"},
        {"type": "for-each", "target": "$c", "as": "$i", "on_fail": "continue", "do": body, "out": "$all"},
    ]
    said = cli("run", "-", stdin=json.dumps(steps)).err
    assert "2.do[10].1 coerce" in said
    assert "2.do[11].1 coerce" not in said
    assert "✗ 2.do[31].1 coerce" in said
    assert "… 21 more steps of later rounds" in said


def test_items_that_failed_are_counted_and_an_empty_result_is_told(cli: Any) -> None:
    steps = [
        {"type": "create-collection", "value": ["1", "x", "y"], "out": "$all"},
        {"type": "map", "target": "$all", "operation": {"type": "coerce", "coercion": "int"}, "on_fail": "continue",
         "out": "$numbers"},
        {"type": "head", "target": "$numbers", "count": 0, "out": "$none"},
    ]  # fmt: skip
    said = cli("run", "-", stdin=json.dumps(steps))
    assert said.code == 0
    assert "\n    2 of 3 items failed; the first, " in said.err
    assert (said.out, said.err.splitlines()[-1]) == ("", "the result is an empty collection")


def test_data_is_whole_after_a_step_whose_resource_was_deleted_later(cli: Any) -> None:
    """The run is a success, and says so."""
    steps = [{"type": "create-note", "value": "here", "out": "$n"}, {"type": "remove", "target": "$n"}]
    said = cli("run", "-", "--json", "--data", stdin=json.dumps(steps))
    assert (said.code, said.json["status"]) == (0, "success")
    assert [row["data"] for row in said.json["steps"]] == ["here", None]


def test_items_of_items_are_shown(cli: Any) -> None:
    """A Collection within a Collection has its contents in its place."""
    steps = [
        {"type": "create-collection", "value": ["deep down"], "out": "$inner"},
        {"type": "create-collection", "value": ["$inner"], "name": "outer"},
    ]
    assert cli("run", "-", stdin=json.dumps(steps)).code == 0
    assert "deep down" in cli("show", "outer").out
    assert cli("show", "outer", "--json").json["items"][0]["content"] == ["deep down"]


def test_goals_are_filled_in_wherever_a_run_is_shown(cli: Any, tmp_path: Path) -> None:
    """With the inputs of the run; what is no input stays as it is written, and a long text is cut."""
    plan = {
        "goal": "All notes on ${topic}, ${n} of ${other} for ${c}",
        "inputs": {"topic": {"default": "attention"}, "n": {"default": [1, 2]}, "c": {"kind": "Collection"}},
        "steps": [{"type": "ask", "value": "Go on?"}],
    }
    steps = [{"type": "create-collection", "value": ["x"], "name": "box"}]
    assert cli("run", "-", stdin=json.dumps(steps)).code == 0
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    goal = "All notes on ${x} heads, [1,2] of ${other} for box"
    begun = cli("run", str(path), "--input", "topic=${x} heads", "--input", "c=box", "--input", "x=1")
    assert "no input" in begun.err
    begun = cli("run", str(path), "--input", "topic=${x} heads", "--input", "c=box")
    assert goal in begun.err
    assert goal in cli("runs").out
    assert cli("runs", "--json").json["runs"][0]["goal"] == goal
    assert goal in cli("show", "run_2").out
    assert goal in cli("answer", "run_2", "1", "yes").err
    assert cli("show", "run_2", "--json").json["goal"] == goal
    assert cli("run", str(path), "--input", f"topic={'long ' * 99}", "--input", "c=box").code == 4
    assert "characters in all]" in cli("runs", "--json").json["runs"][0]["goal"]


def test_numbers_of_runs_have_no_holes_and_one_that_is_made_is_explained(cli: Any) -> None:
    """Others that write at the same time, and refused plans, leave none; a pruned run is told where it is missed."""
    from infospace import open_space
    from planner.execute.start import run_sync

    plan = [{"type": "create-note", "value": "a"}]
    with open_space("space.db") as space:
        for _ in range(3):
            assert cli("run", "-", stdin=json.dumps(plan)).code == 0
            assert run_sync(space, plan).status == "success"
            assert cli("run", "-", stdin='[{"type": "nothing"}]').code == 3
    shown = cli("runs", "--json").json
    assert [run["run"] for run in shown["runs"]] == [f"run_{number}" for number in range(6, 0, -1)]
    assert shown["missing"] == []
    assert [run["run"] for run in cli("runs", "--limit", "2", "--json").json["runs"]] == ["run_6", "run_5"]
    assert cli("prune", "--runs", "run_2", "run_4", "run_6", "--yes").code == 0
    assert "no run_4, run_2, which were pruned, or never began" in cli("runs").err
    assert cli("runs", "--json").json["missing"] == ["run_4", "run_2"]
    assert "there is no run_6, which was pruned, or never began" in cli("show", "run_6").err
    assert "there is no run_7 (" in cli("show", "run_7").err
