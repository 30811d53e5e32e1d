"""What a step gave is shown as it gave it, whatever became of it since."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infospace import Space
from infospace.core import clock
from infospace.core.clock import now
from infospace.core.resources import Note
from infospace.editing.edit import edit, remove
from infospace.editing.undo import undo
from planner.execute.start import run_sync
from planner.server.protocol.resources import read_uri
from planner.server.run_json import find_run, recorded_run_json


def data(space: Space, *steps: Any) -> dict[str, Any]:
    """Run steps; return what each gave, by position."""
    result = run_sync(space, list(steps)).to_json(space)
    assert result["status"] == "success", result["reason"] or result["problems"]
    return {row["step"]: row["data"] for row in result["steps"]}


def test_what_was_deleted_later_has_its_data(space: Space) -> None:
    """The answer is whole, and the run is a success."""
    steps = [
        {"type": "create-note", "value": "here", "out": "$n"},
        {"type": "create-collection", "value": ["$n", "kept"], "out": "$c"},
        {"type": "remove", "target": "$n"},
    ]
    shown = run_sync(space, steps).to_json(space)
    assert shown["status"] == "success"
    assert [row["data"] for row in shown["steps"][:2]] == ["here", ["here", "kept"]]
    assert "n" not in shown["bindings"]


def test_each_step_has_the_version_that_it_gave(space: Space) -> None:
    """Of a Note that is changed, and of Collections whose items are, also within loops."""
    found = data(
        space,
        {"type": "create-note", "value": 1, "out": "$n"},
        {"type": "create-collection", "value": ["$n"], "out": "$c"},
        {"type": "update-note", "target": "$n", "value": 2},
        {"type": "load", "target": "$c", "out": "$again"},
        {
            "type": "for-each",
            "target": "$c",
            "do": [{"type": "update-note", "target": "$item", "value": 5, "out": "$x"}],
        },
        {"type": "create-note", "value": "more", "out": "$more"},
        {"type": "add", "target": "$c", "value": "$more"},
        {"type": "update-note", "target": "$n", "value": 3},
        {
            "type": "map",
            "target": "$c",
            "operation": {"type": "update-note", "target": "$item", "value": 9},
            "out": "$m",
        },
        {"type": "update-note", "target": "$n", "value": 10},
    )
    assert (found["1"], found["2"], found["3"], found["4"]) == (1, [1], 2, [2])
    assert (found["5"], found["5.do[1].1"]) == ([5], 5)
    assert (found["7"], found["8"], found["9"], found["10"]) == ([5, "more"], 3, [9, 9], 10)


def test_what_others_did_since_does_not_show(space: Space) -> None:
    """Neither in a step, nor in the answer, of a run that is looked at again: get_run, its resource, a session."""
    result = run_sync(
        space,
        [
            {"type": "create-note", "value": "first", "name": "n", "out": "$n"},
            {"type": "create-collection", "value": ["$n"], "name": "c", "out": "$c"},
        ],
    )
    run, note = str(result.run), result.bindings["n"]
    assert isinstance(note, Note)
    edit(space.store, note, "second", {}, "by hand")
    assert [row["data"] for row in result.to_json(space)["steps"]] == ["first", ["first"]]
    row, steps = find_run(space, run)
    assert recorded_run_json(space, row, steps, live=False)["result"]["data"] == ["first"]
    remove(space.store, [note.id, result.bindings["c"].id], "gone")
    assert [row["data"] for row in result.to_json(space)["steps"]] == ["first", ["first"]]
    assert recorded_run_json(space, row, steps, live=False)["result"]["data"] == ["first"]
    assert json.loads(read_uri(space, f"infospace://run/{run}")[1])["result"]["data"] == ["first"]
    undo(space.store, run_of_last(space))
    assert recorded_run_json(space, row, steps, live=False)["result"]["data"] == ["first"]


def test_what_others_did_within_the_same_millisecond_does_not_show(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Times tell milliseconds apart: a change by hand in the one in which the run ended came after it."""
    monkeypatch.setattr(clock, "_written", lambda _: "2026-04-01T09:30:00.123Z")
    result = run_sync(space, [{"type": "create-note", "value": "first", "name": "n", "out": "$n"}])
    note = result.bindings["n"]
    assert isinstance(note, Note)
    edit(space.store, note, "second", {}, "by hand")
    row, steps = find_run(space, str(result.run))
    assert row.ended == row.started == "2026-04-01T09:30:00.123Z"
    assert recorded_run_json(space, row, steps, live=False)["result"]["data"] == "first"
    assert result.to_json(space)["steps"][0]["data"] == "first"


def run_of_last(space: Space) -> str:
    """Return the latest run."""
    with space.store.reading() as snapshot:
        return snapshot.runs(limit=1)[0].run


def test_what_was_purged_is_told_in_its_place(space: Space) -> None:
    """The answer of the run stays whole."""
    result = run_sync(
        space,
        [
            {"type": "create-note", "value": "old", "name": "n", "out": "$n"},
            {"type": "update-note", "target": "$n", "value": "new"},
        ],
    )
    space.store.purge(really=True)
    old, new = result.to_json(space)["steps"]
    assert (old["data"], new["data"]) == (None, "new")
    assert "has no version 1" in old["data_gone"]
    assert "data_gone" not in new


def test_items_that_no_step_read_are_as_they_were_when_the_step_ended(space: Space) -> None:
    """Neither as they were first nor as others made them since; what is gone by now too."""
    made = run_sync(
        space,
        [
            {"type": "create-note", "value": "first", "name": "n", "out": "$n"},
            {"type": "create-note", "value": "other", "name": "m", "out": "$m"},
            {"type": "create-collection", "value": ["$n", "$m"], "name": "box"},
        ],
    )
    note, other = made.bindings["n"], made.bindings["m"]
    assert isinstance(note, Note)
    edit(space.store, note, "second", {}, "by hand")
    looked = run_sync(space, [{"type": "load", "target": "box", "out": "$box"}])
    later_on = now()
    while now() <= later_on:
        pass
    third = space.context().get("n")
    assert isinstance(third, Note)
    edit(space.store, third, "third", {}, "by hand")
    remove(space.store, [other.id], "gone")
    assert looked.to_json(space)["steps"][0]["data"] == ["second", "other"]
