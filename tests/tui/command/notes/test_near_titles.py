"""What is nearly a note's title: which note was meant is offered, where a name, an id or a title is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

NOTES = {
    "h.md": "---\ntitle: The Great Harbour\naliases: [Old Haven]\n---\nShips.",
    "one/twin.md": "---\ntitle: Two of a Kind\n---\nThe first.",
    "two/twins.md": "---\ntitle: Two of a Kind\n---\nThe second.",
}


@pytest.fixture
def vault(cli: Any, tmp_path: Path) -> Any:
    """Call the command in a space of some notes, in a folder in which nothing is called as they are."""
    for name, text in NOTES.items():
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    cli("add", str(tmp_path / "vault"))
    return cli


@pytest.mark.parametrize(
    ("written", "meant"), [("The Graet Harbour", "The Great Harbour"), ("old havn", "Old Haven")], ids=str
)
def test_show_offers_the_nearest_title_or_alias(vault: Any, written: str, meant: str) -> None:
    """And finds the note by that."""
    said = vault("show", written)
    assert said.code == 1
    assert f"did you mean {meant!r}?" in said.err
    assert "Ships." in vault("show", meant.upper()).out


def test_a_plan_that_loads_by_nearly_a_title_is_mended(vault: Any) -> None:
    """A misspelling has a fix, with which the plan passes and loads the note."""
    plan = '[{"type": "load", "target": "The Great Harbor", "out": "$note"}]'
    (problem,) = vault("check", "-", "--json", stdin=plan).json["problems"]
    assert (problem["code"], problem["message"]) == ("unknown-name", "nothing has the name 'The Great Harbor'")
    (change,) = problem["fix"]
    assert problem["hint"] == f"did you mean {change['value']}, which has the title 'The Great Harbour'?"
    mended = plan.replace("The Great Harbor", change["value"])
    assert vault("run", "-", "--print", "result", stdin=mended).out.strip() == "Ships."


def test_of_several_notes_with_the_nearest_title_none_is_chosen(vault: Any) -> None:
    """They are named; nothing that is like none is offered."""
    plan = '[{"type": "load", "target": "Two of a Kynd", "out": "$note"}]'
    (problem,) = vault("check", "-", "--json", stdin=plan).json["problems"]
    assert problem["fix"] is None
    assert "did you mean one of Note_" in problem["hint"]
    (other,) = vault("check", "-", "--json", stdin=plan.replace("Two of a Kynd", "zq")).json["problems"]
    assert "title" not in other["hint"]
