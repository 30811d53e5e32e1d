"""`infospace undo`: a run's writes taken back, or refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_an_import_is_undone_and_its_undoing_too(cli: Any, known: Path) -> None:
    """What it brought goes, and comes back under its ids."""
    said = cli("undo", "run_1", "--json")
    assert said.code == 0
    undone = {"undid": "run_1", "run": "run_2", "deleted": ["Note_1", "Note_2", "Relation_1"]}
    assert said.json == {**undone, "restored": [], "reverted": []}
    assert cli("notes", "--json").json["total"] == 0
    gone = cli("show", "Note_1")
    assert "`infospace show Note_1 --version 1` shows what it was" in gone.err
    assert cli("show", "Note_1", "--version", "1").out == "See [[b]].\n"
    assert "restored" in cli("undo", "run_2").out
    assert cli("show", "b.md", "--json").json["backlinks"] == [{"id": "Note_1", "title": "a", "relation": "links-to"}]


def test_a_removal_is_undone(cli: Any, known: Path) -> None:
    """With the note's file, so that the next import knows it; named twice, a note is removed once."""
    assert cli("rm", "a.md", "Note_1").out == "removed Note_1  a\n"
    assert cli("runs", "--json").json["runs"][0]["goal"] == "rm a.md Note_1"
    assert cli("undo", "run_2", "--json").json["restored"] == ["Note_1", "Relation_1"]
    assert cli("show", "a.md", "--json").json["id"] == "Note_1"


def test_what_changed_since_is_named(cli: Any, known: Path) -> None:
    """And nothing is undone."""
    cli("edit", "a.md", "--value", "-", stdin="mine")
    said = cli("undo", "run_1")
    assert said.code == 1
    assert "run_1 cannot be undone, since Note_1 was changed by run_2 (version 2)" in said.err
    assert cli("notes", "--json").json["total"] == 2


def test_a_plan_is_undone(cli: Any) -> None:
    """What it kept goes; a name is free again; what it left transient stays to be looked at."""
    steps = [
        {"type": "create-note", "value": "x", "name": "mine"},
        {"type": "create-collection", "value": ["y"], "out": "$c"},
    ]
    assert cli("run", "-", stdin=json.dumps(steps)).code == 0
    assert cli("undo", "run_1").code == 0
    assert cli("show", "mine").code == 1
    assert cli("show", "Collection_1").code == 0


def test_an_unknown_run_is_an_error(cli: Any, known: Path) -> None:
    """In a sentence."""
    assert "there is no run_9" in cli("undo", "run_9").err
    assert cli("undo", "Note_1").code == 1
