"""`load` finds a Note by its file, title or alias, where nothing has that as its name and one Note alone has it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from planner.execute.start import Prepared, check_plan, prepare, run_sync
from planner.lifecycle.dry_run import dry_run
from planner.lifecycle.replay import replay

FILES = {
    "Morning Pages.md": "Written early.\n",
    "log/first.md": "---\ntitle: Twice\naliases: [Only here]\n---\nOne.\n",
    "log/second.md": "---\ntitle: Twice\n---\nTwo.\n",
    "log/third.md": "---\ntitle: Third\naliases: [Morning Pages]\n---\nThree.\n",
}


@pytest.fixture
def vault(space: Space, tmp_path: Path) -> Space:
    """A space with imported files, two of which have one title."""
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    import_paths(space, [tmp_path], NullListener())
    return space


def load(target: str, **more: Any) -> dict[str, Any]:
    return {"type": "load", "target": target, "out": "$note", **more}


@pytest.mark.parametrize(
    ("target", "content"),
    [
        ("Morning Pages", "Written early."),
        ("Only here", "One."),
        ("second.md", "Two."),
        ("log/first.md", "One."),
        ("Third", "Three."),
    ],
)
def test_a_note_is_loaded_by_its_title_an_alias_or_its_file(vault: Space, target: str, content: str) -> None:
    """The check knows which, and warns; the step has used that version; a title goes before the alias of another."""
    checked, problems = check_plan(vault, [load(target)])
    assert checked is not None
    result = run_sync(vault, [load(target)])
    note = result.bindings["note"]
    [warning] = problems.found
    assert (warning.code, warning.severity, warning.pointer) == ("maybe-unnamed", "warning", "/0/target")
    assert warning.message == f"nothing has the name {target!r}: {note.id} is found, whose path or title it is"
    assert str(vault.store.get(note.id).content).strip() == content
    with vault.store.reading() as snapshot:
        [row] = snapshot.steps(str(result.run))
    assert [(use.id, use.version) for use in row.uses] == [(note.id, 1)]
    prepared = prepare(vault, [load(target)])
    assert isinstance(prepared, Prepared)
    assert asyncio.run(dry_run(vault, prepared)).result.status == "success"
    assert asyncio.run(replay(vault, str(result.run))).difference.same


def test_what_has_the_name_goes_before_what_has_the_title(vault: Space) -> None:
    """Be it there, or made by a step before."""
    plan = [{"type": "create-note", "value": "named", "name": "Third"}, load("Third")]
    assert [one.code for one in check_plan(vault, plan)[1].found] == []
    assert run_sync(vault, plan).bindings["note"].content == "named"
    assert run_sync(vault, [load("Third")]).bindings["note"].content == "named"


def test_several_of_one_title_are_refused_with_their_ids(vault: Space) -> None:
    """By the check; where only the run knows the title, by the step."""
    [problem] = check_plan(vault, [load("Twice")])[1].found
    ids = [note.id for note in (run_sync(vault, [load(f"{name}.md")]).bindings["note"] for name in ("first", "second"))]
    assert (problem.code, problem.severity, problem.fix) == ("unknown-name", "error", None)
    assert problem.hint == f"write the id of one that has it: {', '.join(ids)}"
    plan = {"inputs": {"title": {"type": "string"}}, "steps": [load("${title}")]}
    failed = run_sync(vault, plan, {"title": "Twice"})
    assert failed.status == "failed"
    assert failed.reason is not None
    assert f"'Twice' is the path or title of 2 notes: {', '.join(ids)}" in failed.reason


@pytest.mark.parametrize("target", ["morning pages", "third", "ONLY HERE"])
def test_titles_are_compared_as_names_are(vault: Space, target: str) -> None:
    """Written otherwise, the Note is named with a fix."""
    [problem] = check_plan(vault, [load(target)])[1].found
    assert (problem.code, problem.severity) == ("unknown-name", "error")
    assert problem.fix is not None


def test_a_title_that_only_the_run_knows_is_found_too(vault: Space) -> None:
    """A text in which references are replaced."""
    part = {"type": "create-note", "value": "Pages", "out": "$part"}
    result = run_sync(vault, [part, load("Morning ${part}", slice=":7")])
    assert (result.status, result.bindings["note"].content) == ("success", "Written")


@pytest.mark.parametrize(
    "step",
    [
        {"type": "update-note", "target": "Third", "value": "x"},
        {"type": "remove", "target": "Third"},
        {"type": "split", "target": "Third", "delimiter": "line", "out": "$x"},
        {"type": "bind", "target": "Third", "out": "$x"},
    ],
)
def test_only_load_finds_by_title(vault: Space, step: dict[str, Any]) -> None:
    """What changes or reads a resource is told the id, with a fix."""
    problems = [one for one in check_plan(vault, [step])[1].found if one.pointer == "/0/target"]
    assert [(one.code, one.severity) for one in problems] == [("unknown-name", "error")]


def test_an_absence_that_is_handled_is_none_where_a_note_has_the_title(vault: Space) -> None:
    """`on_fail` is not needed then; the title of a Note that a step before deletes is deleted with it."""
    assert run_sync(vault, [load("Third", on_fail="continue")]).bindings["note"].content.strip() == "Three."
    note = run_sync(vault, [load("Third")]).bindings["note"]
    found = check_plan(vault, [{"type": "remove", "target": note.id}, load("Third")])[1].found
    assert ("deleted", "error", "/1/target") in [(one.code, one.severity, one.pointer) for one in found]
