"""`infospace prune` of runs: said before, done with --yes, and never what something kept is made of."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from infospace import open_space
from infospace.core.errors import Invalid
from infospace.journal.prune import PruneFilter, read_age, select

KEEPS = [
    {"type": "create-collection", "value": ["a long text about herons", "x"], "out": "$c"},
    {"type": "search-within-collection", "target": "$c", "query": "herons", "mode": "keyword", "out": "$hits"},
    {"type": "persist", "target": "$hits", "name": "found"},
]

FAILS = [
    {"type": "create-collection", "value": ["x"], "out": "$c"},
    {"type": "head", "target": "$c", "out": "$h"},
    {"type": "bind", "target": "$h[5]", "out": "$z"},
]


@pytest.fixture
def runs(cli: Any) -> None:
    """run_1 leaves a Note, run_2 fails, run_3 keeps search results in what it left, run_4 is an edit."""
    for steps in ([{"type": "create-note", "value": "loose"}], FAILS, KEEPS):
        cli("run", "-", stdin=json.dumps(steps))
    cli("run", "-", "--json", stdin='[{"type": "create-note", "value": "kept", "name": "kept"}]')
    cli("edit", "kept", "--value", "-", stdin="edited")


def listed(cli: Any) -> list[str]:
    """The runs that are there, first to last."""
    return [run["run"] for run in reversed(cli("runs", "--json").json["runs"])]


def test_nothing_goes_without_yes(cli: Any, runs: None) -> None:
    """It says what would."""
    before = listed(cli)
    said = cli("prune", "--runs", "run_1", "run_2")
    assert said.code == 0
    assert said.out.startswith("would remove 2 runs, 4 steps, 0 calls, 4 resources that nobody kept")
    assert "run_2, run_1" in said.err
    assert "--yes" in said.err
    assert listed(cli) == before
    assert cli("show", "Note_1").code == 0


def test_named_runs_go(cli: Any, runs: None) -> None:
    said = cli("prune", "--runs", "run_1", "--yes", "--json").json
    assert (said["pruned"], said["runs"], said["steps"], said["resources"]) == (True, ["run_1"], 1, 1)
    assert "run_1" not in listed(cli)
    assert cli("show", "Note_1").code == 1
    assert "there is no run_1" in cli("show", "run_1").err
    assert "there is no run_1" in cli("undo", "run_1").err


def test_what_something_kept_is_made_of_stays(cli: Any, runs: None) -> None:
    """The text that a kept search result refers to, though nobody kept it."""
    before = cli("show", "found", "--json").json["items"]
    assert before[0]["content"]["text"] == "a long text about herons"
    said = cli("prune", "--runs", "run_3", "--yes")
    assert "1 more that nobody kept stay" in said.err
    assert cli("show", "found", "--json").json["items"] == before
    assert "consistent" in cli("doctor").out + cli("doctor").err


def test_runs_go_by_status_number_and_age(cli: Any, runs: None) -> None:
    """All of it must hold."""
    assert cli("prune", "--status", "failed", "--json").json["runs"] == ["run_2"]
    assert cli("prune", "--keep", "2", "--json").json["runs"] == ["run_2", "run_1"]
    assert cli("prune", "--keep", "2", "--status", "success", "--json").json["runs"] == ["run_1"]
    assert cli("prune", "--older-than", "1h", "--json").json["runs"] == []
    assert cli("prune", "--older-than", "0h", "--json").json["runs"] == ["run_4", "run_3", "run_2", "run_1"]
    assert cli("prune", "--keep", "0", "--status", "failed", "--status", "success", "--yes").code == 0
    assert listed(cli) == ["run_5"]


def test_imports_and_edits_stay(cli: Any, runs: None, tmp_path: Path) -> None:
    """Named, they are refused; else they are not chosen."""
    (tmp_path / "a.md").write_text("a")
    cli("add", str(tmp_path / "a.md"))
    for run, kind in (("run_5", "edit"), ("run_6", "import")):
        said = cli("prune", "--runs", run)
        assert said.code == 1
        assert f"{run} is an {kind}, which stays in the journal" in said.err
    assert cli("prune", "--keep", "0", "--yes", "--json").json["runs"] == ["run_4", "run_3", "run_2", "run_1"]
    assert listed(cli) == ["run_5", "run_6"]


@pytest.mark.parametrize("arguments", [("--older-than", "soon"), ("--keep", "-1"), ("--status", "great")])
def test_what_is_no_age_number_or_status_is_a_wrong_usage(cli: Any, runs: None, arguments: tuple[str, str]) -> None:
    assert cli("prune", *arguments).code == 2


def test_an_earlier_run_that_a_pruned_one_wrote_over_is_not_undone(cli: Any, runs: None) -> None:
    """That it was written over is known after the run is gone."""
    cli("run", "-", stdin='[{"type": "name", "target": "kept", "value": "renamed"}]')
    cli("prune", "--runs", "run_6", "--yes")
    said = cli("undo", "run_5")
    assert said.code == 1
    assert "was named by run_6" in said.err


def test_undoing_goes_on_where_nothing_stands_in_the_way(cli: Any, runs: None) -> None:
    """A pruned run is no obstacle by itself."""
    cli("prune", "--runs", "run_1", "run_2", "run_3", "--yes")
    assert cli("undo", "run_5").code == 0
    assert cli("show", "kept").out == "kept\n"


@pytest.mark.parametrize(("text", "age"), [("36h", timedelta(hours=36)), ("30d", timedelta(30)), ("8w", timedelta(56))])
def test_ages_are_read(text: str, age: timedelta) -> None:
    assert read_age(text) == age


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1.5h", "3 d", "9999999999w"])
def test_what_is_no_age_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="is not an age"):
        read_age(text)


def test_a_run_that_goes_on_is_never_chosen(cli: Any, runs: None, tmp_path: Path) -> None:
    """By age, number or status."""
    from infospace.journal.rows import OpenRun

    with open_space(tmp_path / "space.db") as space:
        run = space.store.new_id("run")
        space.store.commit([], [OpenRun(run, "plan", "", [], {}, "2020-01-01T00:00:00.000Z", "me")])
        with space.store.reading() as snapshot:
            assert run not in select(snapshot, PruneFilter(older=timedelta(1)))
            assert run not in select(snapshot, PruneFilter(beyond=0))
            assert select(snapshot, PruneFilter(statuses={"running"})) == []
            assert len(select(snapshot, PruneFilter(statuses={"running", "failed", "success"}))) == 4
    assert f"{run} has not ended" in cli("prune", "--runs", run).err
