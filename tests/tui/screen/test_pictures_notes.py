"""The places Notes and Compare as they look, at both sizes: compared with the pictures in `pictures/`."""

from __future__ import annotations

import fcntl
import time
from dataclasses import replace
from pathlib import Path

import pytest
from furnishing import BEGINNING, Ticking, note
from noted import opened, place, shows
from staging import BOTH, SIZES, SMALL, Show, Stage

from infospace import Space
from infospace.core.resources import Note
from infospace.editing.edit import edit
from planner.execute.start import run_sync
from tui.runtime.detached_import import DetachedImport, ImportRecord

TABS = {"about": 1, "links": 2, "tasks": 3, "versions": 4, "why": 5, "uses": 6}


def changed(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the note on bread a second version, so that what was made of it is stale."""
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", Ticking(BEGINNING + 60, 0.001))
        bread = space.store.get("Note_1")
        assert isinstance(bread, Note)
        edit(space.store, bread, f"{bread.content}\nSalt slows it.\n", bread.metadata, "edit bread")


class TestPictures:
    """What is on the screen is what is in the picture."""

    @BOTH
    def test_notes(self, show: Show, stocked: Space, size: str) -> None:
        """The list, and a note in Markdown."""

        async def story(stage: Stage) -> None:
            await opened(stage, "8 kept notes")
            await stage.press("end")
            await stage.sees("How bread rises", "Yeast eats", "mix, and let it rest")
            await stage.is_as(f"notes-{size}")

        show(story, SIZES[size], stocked)

    @BOTH
    def test_search(self, show: Show, stocked: Space, size: str) -> None:
        """Scores, the threshold, what was found of the note."""

        async def story(stage: Stage) -> None:
            await opened(stage, "8 kept notes")
            await stage.press("slash")
            await stage.write("dough that ferments")
            await stage.press("down")
            stage.expects_nothing_new()
            await stage.until(
                lambda: place(stage).notes.listed.sought.query == "dough that ferments", "the whole query"
            )
            await stage.sees("the best below the threshold has 0.193", "0.634", "Yeast eats the sugar in the dough")
            await stage.is_as(f"notes-search-{size}")

        show(story, SIZES[size], stocked)

    @BOTH
    def test_adding_in_the_background(self, show: Show, stocked: Space, size: str) -> None:
        """How far it is, and what ends it, for as long as a process is at it; then that it was broken off."""
        job = DetachedImport(stocked.store.address)
        record = ImportRecord(("/home/ann/notes",), what="embedding", done=120, total=2_000, per_second=25.0)
        job.write(record)

        async def story(stage: Stage) -> None:
            await opened(stage, "8 kept notes")
            await stage.sees("embedding 120 of 2,000, 25 a second", "[infospace add --stop")
            await stage.is_as(f"notes-adding-{size}")
            job.write(replace(record, done=140))
            await stage.sees("embedding 140 of 2,000")
            fcntl.flock(lock, fcntl.LOCK_UN)
            await stage.sees("broken off while", "[infospace add --detach")
            await stage.is_as(f"notes-adding-broken-off-{size}")
            job.write(replace(record, state="done", message="60 added"))
            await stage.until(lambda: "in the background" not in stage.text)

        with Path(f"{stocked.store.address}.add.lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            show(story, SIZES[size], stocked)

    @SMALL
    @pytest.mark.parametrize("tab", TABS)
    def test_tabs(self, show: Show, stocked: Space, size: str, tab: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """All that there is to know of a note."""
        changed(stocked, monkeypatch)
        name, sees = {
            "about": ("bread", "tags: "),
            "links": ("bread", "← refines"),
            "tasks": ("bread", "no tasks: a line"),
            "versions": ("bread", "run_1 step 1"),
            "why": ("short", "Stale: Note_1"),
            "uses": ("bread", "as $bread in "),
        }[tab]

        async def story(stage: Stage) -> None:
            await opened(stage, "8 kept notes", "Bread in short")
            await shows(stage, name)
            await stage.press(*["right_square_bracket"] * TABS[tab], "enter")
            await stage.sees(sees)
            await stage.is_as(f"notes-{tab}-{size}")

        show(story, SIZES[size], stocked)

    @SMALL
    def test_json(self, show: Show, stocked: Space, size: str) -> None:
        """A tree that folds."""

        async def story(stage: Stage) -> None:
            await opened(stage, "8 kept notes")
            await shows(stage, "city")
            await stage.sees("people: 658444")
            await stage.press("enter", "down")
            await stage.is_as(f"notes-json-{size}")

        show(story, SIZES[size], stocked)

    @BOTH
    def test_collection(self, show: Show, stocked: Space, size: str) -> None:
        """A table of its items."""

        async def story(stage: Stage) -> None:
            await opened(stage, "8 kept notes")
            await stage.press("v", "v")
            await stage.sees("1 Collection", "Emmy", "1912", "3 items")
            await stage.is_as(f"notes-collection-{size}")

        show(story, SIZES[size], stocked)

    @SMALL
    def test_stale(self, show: Show, stocked: Space, size: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """What was made of what has changed since."""
        changed(stocked, monkeypatch)

        async def story(stage: Stage) -> None:
            await opened(stage, "8 kept notes")
            await stage.press("v", "v", "v", "v")
            await stage.sees("2 of 10 things", "Bread in short", "In short: ")
            await stage.is_as(f"notes-stale-{size}")

        show(story, SIZES[size], stocked)

    @SMALL
    def test_editor(self, show: Show, stocked: Space, size: str) -> None:
        """A note with its metadata as front matter."""

        async def story(stage: Stage) -> None:
            await opened(stage, "8 kept notes")
            await shows(stage, "sourdough")
            await stage.press("e")
            await stage.sees("ctrl+s saves", "title: Sourdough")
            await stage.is_as(f"notes-editor-{size}")

        show(story, SIZES[size], stocked)

    @BOTH
    def test_compare(self, show: Show, stocked: Space, size: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Changed arguments, what came and went."""
        with monkeypatch.context() as patched:
            patched.setattr(time, "time", Ticking(BEGINNING, 0.001))
            patched.setattr(time, "perf_counter", Ticking(0.0, 0.0005))
            for query, limit in (("rust on iron", 2), ("sourdough bread", 3)):
                found = {"type": "discover-notes", "query": query, "limit": limit, "threshold": -1, "out": "$hits"}
                count = {"type": "size", "target": "$hits", "out": "$n"}
                plan = {"goal": f"Look for {query}", "steps": [found, count, note("${n} found", "$said")]}
                assert run_sync(stocked, plan).status == "success"

        async def story(stage: Stage) -> None:
            await opened(stage, "8 kept notes")
            stage.app.compare("run_3", "run_4")
            await stage.sees("3 steps differ", "items +")
            await stage.press("down")
            await stage.sees("query: rust on iron", "query: sourdough bread")
            await stage.is_as(f"compare-{size}")

        show(story, SIZES[size], stocked)


def test_the_place_is_quiet_without_a_note(show: Show, space: Space) -> None:
    """An empty space says what to do."""

    async def story(stage: Stage) -> None:
        await stage.go("notes")
        await stage.sees("0 kept notes", "no notes yet: a adds files")
        assert place(stage).around is None
        await stage.press("d")
        await stage.until(lambda: any("Nothing is shown" in one for one in stage.said()))

    show(story, (80, 24), space)
