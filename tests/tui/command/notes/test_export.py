"""`infospace export` and `infospace prune`: everything out again, and what is gone for good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infospace import open_space


def test_export_counts_and_reports(cli: Any, known: Path, tmp_path: Path) -> None:
    """Again it writes nothing; what is not ours stays, with a sentence and code 1."""
    nothing = {"unchanged": 0, "removed": 0, "failed": []}
    assert cli("export", "out", "--json").json == {"written": 2, **nothing}
    assert (tmp_path / "out/a.md").read_text() == "See [[b]]."
    assert cli("export", "out").out == "2 unchanged\n"
    (tmp_path / "out/b.md").write_text("mine")
    cli("edit", "b.md", "--value", "-", stdin="new")
    said = cli("export", "out")
    assert said.code == 1
    assert "--force overwrites it" in said.err
    assert cli("export", "out", "--force").code == 0
    assert (tmp_path / "out/b.md").read_text() == "new"


def test_edits_go_back_to_their_files(cli: Any, known: Path) -> None:
    """But not over what changed there."""
    cli("edit", "a.md", "--value", "-", stdin="mine")
    cli("edit", "b.md", "--value", "-", stdin="mine too")
    (known / "b.md").write_text("theirs")
    said = cli("export", "--in-place")
    assert (said.code, said.out) == (1, "1 written\n")
    assert "b.md: the file has changed since it was read" in said.err
    assert ((known / "a.md").read_text(), (known / "b.md").read_text()) == ("mine", "theirs")


def test_only_what_lies_below_a_path_goes_back(cli: Any, known: Path) -> None:
    """A folder, or a file itself."""
    for name in ("a.md", "b.md"):
        cli("edit", name, "--value", "-", stdin="mine")
    assert cli("export", "--in-place", str(known / "elsewhere")).out == "nothing to write\n"
    assert cli("export", "--in-place", str(known / "a.md")).out == "1 written\n"
    assert ((known / "a.md").read_text(), (known / "b.md").read_text()) == ("mine", "b")
    assert cli("export", "--in-place", str(known), "--json").json["written"] == 1
    assert (known / "b.md").read_text() == "mine"


@pytest.mark.parametrize("arguments", [[], ["notes/a.md"], ["x", "--in-place", "--force"]])
def test_wrong_usage_is_said(cli: Any, known: Path, arguments: list[str]) -> None:
    """Without a folder, into a file, or with what does not go together."""
    assert cli("export", *arguments).code == 2


def test_prune_says_first_and_does_then(cli: Any, known: Path, tmp_path: Path) -> None:
    """Deleted notes and earlier versions go, but for those that something refers to."""
    cli("edit", "a.md", "--value", "-", stdin="second " * 100)
    cli("edit", "a.md", "--value", "-", stdin="third")
    cli("rm", "b.md")
    would = cli("prune", "--json").json
    # Version 1 of the first note is what its file holds; the second note goes with its Relation.
    assert (would["pruned"], would["versions"], would["tombstones"]) == (False, 1, 2)
    assert cli("show", "Note_1", "--version", "2").code == 0
    said = cli("prune", "--yes", "--json").json
    assert said == {**would, "pruned": True}
    assert said["bytes"] > 700
    assert cli("show", "Note_1", "--version", "2").code == 1
    assert cli("show", "Note_1", "--version", "1").out == "See [[b]].\n"
    assert "there is no Note_2" in cli("show", "Note_2").err
    assert cli("prune", "--json").json == {"pruned": False, "tombstones": 0, "versions": 0, "vectors": 0, "bytes": 0}
    assert "was purged" in cli("undo", "run_3").err
    with open_space(tmp_path / "space.db") as space:
        assert space.store.check() == []
