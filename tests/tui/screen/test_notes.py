"""The place Notes: what it lists, and what it finds."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from noted import named, opened, place, shows
from staging import Show, Stage
from textual.widgets import Input

from infospace import Space
from infospace.core.ids import Kind
from infospace.core.resources import Note
from infospace.editing.edit import edit, remove
from infospace.store.changes import MakeNote
from tui.screens.notes.notes import Notes
from tui.widgets.lazy_table import LazyTable
from tui.widgets.slider import Slider


def test_notes_are_listed_and_shown(show: Show, stocked: Space) -> None:
    """Latest first, what is at the cursor beside or below it."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes", "Bread in short", "Why steel rusts")
        await stage.press("G")
        await stage.sees("How bread rises", "Yeast eats the sugar", "• mix, and let it rest")
        assert "**gas**" not in stage.text
        await stage.press("t")
        await stage.sees("**gas**")

    show(story, (80, 50), stocked)


def test_everything_of_every_kind_is_listed(show: Show, stocked: Space) -> None:
    """Transient notes, Collections, Relations, and what is stale."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        assert "Left over" not in stage.text
        await stage.press("v")
        await stage.sees("Left over", "9 notes")
        await stage.press("v")
        await stage.sees("1 Collection", "Emmy", "rings")
        await stage.press("v")
        await stage.sees("1 Relation", "Sourdough ─ refines → How bread rises")
        await stage.press("v")
        await stage.sees("nothing is stale")
        await stage.press("v")
        await stage.sees("0 open of 0 tasks", "no tasks: lines such as")
        await stage.press("v")
        await stage.sees("8 kept notes")
        assert place(stage).detail.tab == "content"

    show(story, (160, 50), stocked)


def test_search_runs_as_one_types(show: Show, stocked: Space) -> None:
    """By meaning, with a threshold that follows the slider, and the number of notes at or above it."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("slash")
        await stage.write("dough that ferments")
        await stage.sees("≥ 0.30", "of 8 notes; the best below the threshold has 0.", "How bread rises")
        await stage.loses("Why steel rusts")
        await stage.press("down", *["comma"] * 40)
        await stage.sees("≥ 0.00", "all 5 of 8 notes")
        slider = stage.app.screen.query_one(Slider)
        slider.focus()
        await stage.press("end")
        await stage.sees("none of 8 notes; the best below the threshold has 0.", "nothing is found")
        stage.app.screen.query_one("#list", LazyTable).focus()
        await stage.press("escape")
        await stage.sees("8 kept notes")

    show(story, (80, 24), stocked)


def test_search_by_words_and_by_both(show: Show, stocked: Space) -> None:
    """The word at the right is clicked, or `m` is pressed."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("slash")
        await stage.write("yeast")
        await stage.sees("≥ 0.30")
        await stage.pilot.click("#mode")
        await stage.sees("keyword", "with a word of the query", "Sourdough")
        assert not stage.app.screen.query_one(Slider).display
        await stage.press("down", "m")
        await stage.sees("hybrid", "or with a word of")

    show(story, (80, 24), stocked)


def test_the_latest_of_what_is_typed_wins(show: Show, stocked: Space) -> None:
    """Whatever comes back last."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        field = stage.app.screen.query_one(Input)
        for text in ("iron", "iron and", "iron and water", "bread", "steel that rusts"):
            field.value = text
            place(stage).search_now()
        await stage.until(lambda: place(stage).notes.listed.sought.query == "steel that rusts")
        await stage.until(lambda: "Why steel rusts" in stage.text.splitlines()[4])

    show(story, (80, 24), stocked)


def test_collections_and_relations_are_found_by_words(show: Show, stocked: Space) -> None:
    """And notes that nobody kept."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("m", "v", "slash")
        await stage.write("left ov")
        await stage.sees("1 of 9 notes with these words")
        await stage.press("escape", "v", "v")
        await stage.sees("0 of 1 Relation with these words")
        place(stage).query_one(Input).value = "sourdough refines"
        await stage.sees("1 of 1 Relation with these words")

    show(story, (80, 24), stocked)


def test_the_list_is_sorted_by_its_titles(show: Show, stocked: Space) -> None:
    """By a click, the other way round by another."""

    def titles(stage: Stage) -> list[str]:
        return [line[12:30].strip() for line in stage.text.splitlines()[4:9]]

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.pilot.click("#list", offset=(13, 0))
        await stage.sees("title ▲")
        await stage.until(lambda: "…" not in titles(stage), "the titles of what came into sight")
        assert titles(stage) == sorted(titles(stage), key=str.casefold)
        await stage.pilot.click("#list", offset=(13, 0))
        await stage.sees("title ▼")
        await stage.until(lambda: stage.text.splitlines()[5][12:].startswith("Sourdough"))

    show(story, (80, 24), stocked)


def test_what_another_process_does_is_seen(show: Show, stocked: Space) -> None:
    """A note that it changes, one that it makes, one that it deletes."""
    steel = stocked.store.get(named(stocked, "steel"))
    assert isinstance(steel, Note)

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "steel")
        await stage.sees("where water and air")
        await asyncio.to_thread(edit, stocked.store, steel, "Changed elsewhere.", steel.metadata, "edit")
        await stage.sees("Changed elsewhere.", "version 2")
        new = stocked.store.new_id(Kind.NOTE)
        await asyncio.to_thread(stocked.store.commit, [MakeNote(new, "x", {"title": "Brand new"}, kept=True)])
        await stage.sees("9 kept notes", "Brand new")
        await asyncio.to_thread(remove, stocked.store, [steel.id], "rm")
        await stage.sees("8 kept notes", "deleted", "Changed elsewhere.")

    show(story, (160, 50), stocked)


def test_search_without_weights_says_what_to_do(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And search by words goes on."""
    monkeypatch.setenv("INFOSPACE_MODEL_DIR", str(tmp_path / "nothing"))
    monkeypatch.setenv("INFOSPACE_MODELS", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("slash")
        await stage.write("yeast")
        model = "INFOSPACE_MODEL_DIR names"
        await stage.until(lambda: any(model in one and "it should have model.onnx" in one for one in stage.said()))
        assert not any("bug" in one for one in stage.said())
        await stage.press("escape", "m")
        await stage.sees("with a word of the query")

    show(story, (80, 24), stocked)


def test_tens_of_thousands_of_notes_are_listed_at_once(show: Show, space: Space) -> None:
    """Only what is in sight is read."""
    count = 30_000
    ids = [space.store.new_id(Kind.NOTE) for _ in range(count)]
    for at in range(0, count, 10_000):
        some = ids[at : at + 10_000]
        space.store.commit([MakeNote(one, f"text of {one}", {"title": f"Title {one}"}) for one in some])

    async def story(stage: Stage) -> None:
        await stage.go("notes")
        await stage.press("v")
        await stage.sees("30,000 notes", f"Title {ids[-1]}")
        await stage.press("end")
        await stage.sees(f"Title {ids[0]} ", f"text of {ids[0]} ")
        assert len(place(stage).notes._briefs) < 500

    show(story, (80, 24))


def test_the_place_remembers_what_was_searched(show: Show, stocked: Space) -> None:
    """At the next start."""
    from tui.runtime.ui_state import UiState

    memory = UiState(None)

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("m", "slash")
        await stage.write("wild yeast")
        await stage.sees("with a word of the query")

    async def again(stage: Stage) -> None:
        await stage.until(lambda: isinstance(stage.app.place, Notes))
        await stage.sees("wild yeast", "keyword", "with a word of the query")

    show(story, (80, 24), stocked, memory)
    show(again, (80, 24), stocked, memory)


def test_the_mouse_alone_is_enough(show: Show, stocked: Space) -> None:
    """The field, the words, the list, the tabs, their lines, and the menu."""

    async def story(stage: Stage) -> None:
        await stage.sees("Notes")
        await stage.pilot.click(offset=(stage.text.index("Notes"), 0))
        await stage.sees("8 kept notes")
        await stage.pilot.click("#what")
        await stage.sees("9 notes")
        await stage.pilot.click("#list", offset=(20, 5))
        await stage.sees("Bread in short", "In short: ")
        await stage.pilot.click("#--content-tab-why")
        await stage.sees("$bread = ")
        await stage.pilot.click("#came", offset=(10, 2), times=2)
        await stage.sees("Note_1 'bread' How bread rises")
        await stage.pilot.click("#menu")
        await stage.until(lambda: stage.app.screen is not stage.app.place)
        await stage.sees("Search for commands")
        await stage.press("escape")

    show(story, (160, 50), stocked)


def test_help_says_what_can_be_done(show: Show, stocked: Space) -> None:
    """Of both places."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("question_mark")
        await stage.sees("Help: Notes", "what is stale")
        await stage.press("escape")
        await stage.go("compare")
        await stage.press("question_mark")
        await stage.sees("Help: Compare", "what it took")

    show(story, (160, 50), stocked)


@pytest.mark.parametrize(
    ("begins", "said"),
    [
        ('{"name":"Ada","born":1815,"of":{"x":[1,"a"]},"no":null}', "name: Ada, born: 1815, of: (x: (1, a)), no: null"),
        ('{"name":"Ada","fields":["engines","ma', "name: Ada, fields: (engines)"),
        ("[link](there) and {more", "[link](there) and {more"),
        ("[]", "none"),
        ("two\nlines", "two lines"),
    ],
)
def test_json_is_told_in_words_also_where_it_is_cut(begins: str, said: str) -> None:
    """What only looks like JSON is as it is."""
    from tui.text.format import preview_as_prose

    assert preview_as_prose(begins) == said
