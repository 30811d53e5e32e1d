"""Notes to be looked at, of every kind there is, made by plans at times that are always the same."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from furnishing import BEGINNING, Ticking, note
from staging import Stage

from infospace import Space
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from planner.execute.start import run_sync
from tui.screens.notes.notes import Notes

BREAD = """# How bread rises

Yeast eats the sugar in the dough and gives off **gas**, which `gluten` holds.

- mix, and let it rest
- fold it, and let it rest again

| hours | at |
|---|---|
| 2 | 25 °C |
| 12 | 8 °C |
"""

LIBRARY: dict[str, Any] = {
    "goal": "Begin a library",
    "steps": [
        note(BREAD, "$bread", metadata={"title": "How bread rises", "tags": ["baking", "yeast"]}, name="bread"),
        note(
            "Sourdough is raised by wild yeast and bacteria, and tastes of acid.",
            "$sour",
            metadata={"title": "Sourdough", "tags": ["baking"]},
            name="sourdough",
        ),
        note(
            "Steel rusts where water and air come to its iron.",
            "$steel",
            metadata={"title": "Why steel rusts", "tags": ["chemistry"]},
            name="steel",
        ),
        note(
            {"city": "Łódź", "people": 658444, "twins": ["Chemnitz", "Lyon"], "rivers": [], "at": {"lat": 51.7}},
            "$city",
            metadata={"title": "A city"},
            name="city",
        ),
        {"type": "create-relation", "source": "$sour", "target": "$bread", "relation": "refines", "out": "$arrow"},
        {"type": "persist", "target": "$arrow"},
    ],
}

PEOPLE = [
    {"name": "Ada", "born": 1815, "field": "engines"},
    {"name": "Emmy", "born": 1882, "field": "rings"},
    {"name": "Alan", "born": 1912, "field": "machines"},
]

READING: dict[str, Any] = {
    "goal": "Gather what there is about baking",
    "steps": [
        {"type": "load", "target": "bread", "out": "$bread"},
        note("In short: ${bread}", "$short", metadata={"title": "Bread in short"}, name="short"),
        {"type": "create-collection", "value": PEOPLE, "out": "$people"},
        {"type": "name", "target": "$people", "value": "people"},
        note("left over", "$rest", metadata={"title": "Left over"}),
    ],
    "result": "$short",
}


def library(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill a space with four named notes and a relation (run_1), what is made of them and a Collection (run_2)."""
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", Ticking(BEGINNING, 0.001))
        patched.setattr(time, "perf_counter", Ticking(0.0, 0.0005))
        for plan in (LIBRARY, READING):
            result = run_sync(space, plan)
            assert result.status == "success", result


def linked(space: Space, folder: Path) -> None:
    """Import two files of which one links to the other."""
    folder.mkdir()
    (folder / "a.md").write_text("# First\n\nSee [[b]], and [[missing]].\n")
    (folder / "b.md").write_text("# Second\n\nNothing more.\n")
    import_paths(space, [folder], NullListener())


def place(stage: Stage) -> Notes:
    """Return the place."""
    found = stage.app.place
    assert isinstance(found, Notes)
    return found


async def opened(stage: Stage, *texts: str) -> Notes:
    """Go to the place, and wait until something is shown."""
    await stage.go("notes")
    await stage.until(lambda: isinstance(stage.app.place, Notes) and place(stage).around is not None)
    await stage.sees(*texts)
    return place(stage)


async def shows(stage: Stage, name: str) -> None:
    """Wait until the resource of a name is shown, and what it holds was read."""
    identifier = named(stage.app.space, name)
    stage.app.open_note(identifier)

    def is_shown() -> bool:
        around = place(stage).around
        return around is not None and around.brief.id == identifier and not place(stage).detail.reads

    await stage.until(is_shown, name)


def named(space: Space, name: str) -> str:
    """Return the id of a name."""
    with space.store.reading() as snapshot:
        found = snapshot.named(name)
    assert found is not None
    return found
