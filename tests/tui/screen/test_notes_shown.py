"""The place Notes: what it tells of each, and where that leads."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from holding import hold
from noted import linked, named, opened, place, shows
from pauses import BUSY, longest_pause
from staging import Show, Stage

from infospace import Space
from infospace.core.ids import Kind
from infospace.core.resources import Note
from infospace.editing.edit import edit, remove
from infospace.store.changes import MakeNote
from planner.execute.start import run_sync
from tui.widgets.details import resource_content


def test_json_folds_and_is_shown_plain(show: Show, stocked: Space) -> None:
    """By enter, by arrows; `t` shows it as it is written."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "city")
        await stage.sees("5 fields", "people: 658444", "twins: 2 items", "Lyon")
        await stage.press("enter", "down", "down", "down")
        assert "▾ twins" in stage.text
        await stage.press("left")
        await stage.loses("Lyon")
        await stage.press("right", "down")
        await stage.sees("twins[0]: Chemnitz")
        await stage.press("t")
        await stage.sees('"people": 658444')

    show(story, (160, 50), stocked)


def test_a_collection_is_a_table_whose_items_are_followed(show: Show, stocked: Space) -> None:
    """Sorted by a column; `b` comes back."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "people")
        await stage.sees("Ada", "1882", "machines", "field")
        await stage.press("enter", "s", "s", "s")
        await stage.sees("name ▲")
        await stage.press("end", "enter")
        await stage.sees("name: Emmy", "in", "Links 1")
        await stage.press("b")
        await stage.sees("3 items", "1882")

    show(story, (160, 50), stocked)


def test_a_collection_that_is_still_read_is_sorted_once_it_is_there(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the column that its keys went on to; keys for another Collection do not count for it."""
    reading = hold(monkeypatch, resource_content, "read_table")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        stage.app.open_note(named(stocked, "people"))
        await reading.has_begun(stage)
        await stage.press("enter", "s", "s", "s", "s")
        assert "1815 engines" not in stage.text
        reading.release.set()
        await stage.sees("born ▲", "1912 machines")
        await shows(stage, "bread")
        await shows(stage, "people")
        await stage.sees("1912 machines")
        assert "▲" not in stage.text

    show(story, (160, 50), stocked)


def test_relations_and_backlinks_are_followed(show: Show, space: Space, tmp_path: Path) -> None:
    """To either end, and back; links to what is not there are named."""
    linked(space, tmp_path / "linked")

    async def story(stage: Stage) -> None:
        await opened(stage, "2 kept notes")
        await stage.press("end")
        await stage.sees("See [[b]]")
        await stage.press("right_square_bracket", "right_square_bracket", "enter")
        await stage.sees("links-to →", "Second", "→                not there      missing")
        await stage.press("enter")
        await stage.sees("← links-to", "First")
        await stage.press("b")
        await stage.sees("links-to →")

    show(story, (80, 24))


def test_why_a_search_found_a_note_is_told(show: Show, stocked: Space) -> None:
    """On the tab About, as the search stands; nothing of a note that is only listed."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("enter", "right_square_bracket")
        await stage.sees("properties")
        assert "meaning:" not in stage.text
        await stage.press("escape", "slash")
        await stage.write("yeast in the dough")
        await stage.press("enter")
        stage.expects_nothing_new()
        await stage.sees("found    score 0.", "meaning: passage 0.")
        assert "words:" not in stage.text
        await stage.press("m", "m")
        await stage.sees("words: dough 0.", "yeast")

    show(story, (160, 50), stocked)


def test_versions_are_looked_at_and_brought_back(show: Show, stocked: Space) -> None:
    """An earlier one is told to be that; undoing takes it back."""
    steel = stocked.store.get(named(stocked, "steel"))
    assert isinstance(steel, Note)
    edit(stocked.store, steel, "Iron oxide.", steel.metadata, "edit")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "steel")
        await stage.sees("Iron oxide.", "Versions 2")
        await stage.press(*["right_square_bracket"] * 4, "enter")
        await stage.sees("run_3 edit", "run_1 step 3 create-note")
        await stage.press("down", "enter")
        await stage.sees("version 1 of 2")
        await stage.press(*["left_square_bracket"] * 4)
        await stage.sees("where water and air")
        await stage.press("r")
        await stage.sees("version 3")
        await stage.press("u")
        await stage.sees("version 4", "Iron oxide.")

    show(story, (160, 50), stocked)


def test_where_it_came_from_and_what_was_made_of_it(show: Show, stocked: Space) -> None:
    """Each line leads to what it tells of; `w` opens the step."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "short")
        await stage.press(*["right_square_bracket"] * 5, "enter")
        await stage.sees("Bread in short", "by run_2 step 2 create-note", "$bread = ", "by run_1 step 1 create-note")
        await stage.press("down", "enter")
        await stage.sees("Note_1 'bread' How bread rises")
        await stage.press("right_square_bracket")
        await stage.sees("what was made of it", "as $bread in ", "Bread in short")
        await stage.press("w")
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "step")
        await stage.sees("run_1", "create-note → $bread")

    show(story, (160, 50), stocked)


def test_what_is_stale_is_listed_and_told(show: Show, stocked: Space) -> None:
    """What was made of a note that changed since, and what changed."""
    bread = stocked.store.get(named(stocked, "bread"))
    assert isinstance(bread, Note)
    edit(stocked.store, bread, "All different.", bread.metadata, "edit")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("v", "v", "v", "v")
        await stage.sees("2 of 10 things", "Bread in short", "Note_1 “How bread rises")
        await stage.press(*["right_square_bracket"] * 5)
        await stage.sees("Stale: ", "changed its content, now version 2 by run_3")

    show(story, (160, 50), stocked)


def test_what_is_gone_for_good_is_said_to_be(show: Show, stocked: Space) -> None:
    """In a sentence; nothing else of the place suffers."""
    steel = named(stocked, "steel")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "steel")
        await asyncio.to_thread(remove, stocked.store, [steel], "rm")
        await asyncio.to_thread(stocked.store.purge, really=True)
        await stage.sees(f"there is no {steel}", "7 kept notes")
        stage.app.open_note("Note_999")
        await stage.sees("there is no Note_999")
        await stage.press("down")
        await stage.until(lambda: place(stage).around is not None)

    show(story, (160, 50), stocked)


def test_long_notes_do_not_hold_anything_up(show: Show, space: Space) -> None:
    """5 MB of text are shown as they are, a piece at a time; the list does not read them."""
    long, marked = space.store.new_id(Kind.NOTE), space.store.new_id(Kind.NOTE)
    table = "## Part\n\n| a | b |\n|---|---|\n| 1 | *two* |\n\n"
    notes = [(long, "words and words\n" * 300_000, "Long"), (marked, table * 5_000, "Marked")]
    space.store.commit([MakeNote(one, text, {"title": title}, kept=True) for one, text, title in notes])

    async def story(stage: Stage) -> None:
        async def looked() -> None:
            await opened(stage, "2 kept notes", "Marked", "Long")
            await stage.sees("Part", "two")
            await stage.press("down")
            await stage.sees("words and words")

        assert await longest_pause(looked()) < 1.0 * BUSY

    show(story, (80, 24))


def test_what_is_shown_is_copied(show: Show, stocked: Space) -> None:
    """Its text, and its id."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "sourdough")
        await stage.sees("wild yeast")
        await stage.press("y")
        assert "wild yeast" in stage.app.clipboard
        await stage.press("i")
        assert stage.app.clipboard == named(stocked, "sourdough")

    show(story, (80, 24), stocked)


def test_a_result_of_a_run_is_opened_from_its_provenance(show: Show, space: Space) -> None:
    """A search result shows what was found, and leads to its source."""
    run_sync(space, [{"type": "create-note", "value": "Rivers run to the sea.", "out": "$r", "name": "rivers"}])
    hits = {"type": "discover-notes", "query": "rivers and the sea", "out": "$hits"}
    run_sync(space, [hits, {"type": "name", "target": "$hits", "value": "found"}])

    async def story(stage: Stage) -> None:
        await opened(stage, "kept notes")
        await shows(stage, "found")
        await stage.sees("score", "Rivers run to the sea.")
        await stage.press("enter", "enter")
        await stage.until(lambda: place(stage).around.brief.id != named(space, "found"), "the hit")
        await stage.sees("rivers (0.")
        await stage.press("right_square_bracket", "right_square_bracket")
        await stage.sees("found in")
        await stage.press("enter")
        await stage.sees("'rivers'")

    show(story, (160, 50))
