"""The place Notes: what it lists and finds, and what it tells of each."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from noted import linked
from staging import Show, Stage
from textual.widgets import Input

from infospace import Space
from infospace.ids import Kind
from infospace.memory.changes import MakeNote
from infospace.memory.editing import edit, remove
from infospace.resources import Note
from planner.start import run_sync
from tui.screens.notes import Notes
from tui.widgets.grid import Grid
from tui.widgets.slider import Slider


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
    """Wait until the resource of a name is shown."""
    identifier = named(stage.app.space, name)
    stage.app.open_note(identifier)
    await stage.until(lambda: place(stage).around is not None and place(stage).around.brief.id == identifier, name)


def named(space: Space, name: str) -> str:
    """Return the id of a name."""
    with space.store.reading() as snapshot:
        found = snapshot.named(name)
    assert found is not None
    return found


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
        await stage.sees("8 kept notes")

    show(story, (160, 50), stocked)


def test_search_runs_as_one_types(show: Show, stocked: Space) -> None:
    """By meaning, with a threshold that follows the slider, and the number of notes at or above it."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("slash")
        await stage.write("dough that ferments")
        await stage.sees("≥ 0.30", "of 8 notes; the next best has 0.", "How bread rises")
        await stage.loses("Why steel rusts")
        await stage.press("down")
        for _ in range(40):
            await stage.press("comma")
        await stage.sees("≥ 0.00", "all 4 of 8 notes")
        slider = stage.app.screen.query_one(Slider)
        slider.focus()
        await stage.press("end")
        await stage.sees("none of 8 notes is at or above 1.00", "nothing is found")
        stage.app.screen.query_one("#list", Grid).focus()
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
            place(stage).seek()
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

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.pilot.click("#list", offset=(13, 0))
        await stage.sees("title ▲")
        titles = [line[12:30].strip() for line in stage.text.splitlines()[4:9]]
        assert titles == sorted(titles, key=str.casefold)
        await stage.pilot.click("#list", offset=(13, 0))
        await stage.sees("title ▼")
        await stage.until(lambda: stage.text.splitlines()[5][12:].startswith("Sourdough"))

    show(story, (80, 24), stocked)


def test_json_folds_and_is_shown_plain(show: Show, stocked: Space) -> None:
    """By enter, by arrows; `t` shows it as it is written."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "city")
        await stage.sees("5 fields", "people: 658444", "twins: 2 items", "Lyon")
        await stage.press("enter", "down", "down", "down")
        await stage.sees("▾ twins")
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


def test_relations_and_backlinks_are_followed(show: Show, space: Space, tmp_path: Path) -> None:
    """To either end, and back; links to what is not there are named."""
    linked(space, tmp_path / "linked")

    async def story(stage: Stage) -> None:
        await opened(stage, "2 kept notes")
        await stage.press("end")
        await stage.sees("See [[b]]")
        await stage.press("right_square_bracket")
        await stage.sees("links to what is not there yet: missing", "a.md")
        await stage.press("right_square_bracket", "enter")
        await stage.sees("links-to →", "Second")
        await stage.press("enter")
        await stage.sees("← links-to", "First")
        await stage.press("b")
        await stage.sees("links-to →")

    show(story, (80, 24))


def test_versions_are_looked_at_and_brought_back(show: Show, stocked: Space) -> None:
    """An earlier one is told to be that; undoing takes it back."""
    steel = stocked.store.get(named(stocked, "steel"))
    assert isinstance(steel, Note)
    edit(stocked.store, steel, "Iron oxide.", steel.metadata, "edit")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "steel")
        await stage.sees("Iron oxide.", "Versions 2")
        await stage.press("right_square_bracket", "right_square_bracket", "right_square_bracket", "enter")
        await stage.sees("run_3 edit", "run_1 step 3 create-note")
        await stage.press("down", "enter")
        await stage.sees("version 1 of 2")
        await stage.press("left_square_bracket", "left_square_bracket", "left_square_bracket")
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
        await stage.press(*["right_square_bracket"] * 4, "enter")
        await stage.sees("Bread in short", "by run_2 step 2 create-note", "$bread = ", "by run_1 step 1 create-note")
        await stage.press("down", "enter")
        await stage.sees("How bread rises", "Versions")
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
        await stage.press(*["right_square_bracket"] * 4)
        await stage.sees("Stale: ", "changed its content, now version 2 by run_3")

    show(story, (160, 50), stocked)


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
        await stage.until(stage.said)
        await stage.press("escape", "m")
        await stage.sees("with a word of the query")

    show(story, (80, 24), stocked)


def test_long_notes_do_not_hold_anything_up(show: Show, space: Space) -> None:
    """20 MB of text are shown as they are, a piece at a time; the list does not read them."""
    from test_run_places import BUSY, longest_pause

    long, marked = space.store.new_id(Kind.NOTE), space.store.new_id(Kind.NOTE)
    table = "## Part\n\n| a | b |\n|---|---|\n| 1 | *two* |\n\n"
    notes = [(long, "words and words\n" * 1_300_000, "Long"), (marked, table * 20_000, "Marked")]
    space.store.commit([MakeNote(one, text, {"title": title}, kept=True) for one, text, title in notes])

    async def story(stage: Stage) -> None:
        async def looked() -> None:
            await opened(stage, "2 kept notes", "Marked", "Long")
            await stage.sees("Part", "two")
            await stage.press("down")
            await stage.sees("words and words")

        assert await longest_pause(looked()) < 1.0 * BUSY

    show(story, (80, 24))


def test_a_hundred_thousand_notes_are_listed_at_once(show: Show, space: Space) -> None:
    """Only what is in sight is read."""
    count = 100_000
    ids = [space.store.new_id(Kind.NOTE) for _ in range(count)]
    for at in range(0, count, 10_000):
        some = ids[at : at + 10_000]
        space.store.commit([MakeNote(one, f"text of {one}", {"title": f"Title {one}"}) for one in some])

    async def story(stage: Stage) -> None:
        await stage.go("notes")
        await stage.press("v")
        await stage.sees("100,000 notes", f"Title {ids[-1]}")
        await stage.press("end")
        await stage.sees(f"Title {ids[0]} ", f"text of {ids[0]} ")
        assert len(place(stage).notes._briefs) < 500

    show(story, (80, 24))


def test_the_place_remembers_what_was_searched(show: Show, stocked: Space) -> None:
    """At the next start."""
    from tui.memory import Memory

    memory = Memory(None)

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
        await stage.sees("rivers (0.")
        await stage.press("right_square_bracket", "right_square_bracket")
        await stage.sees("found in")
        await stage.press("enter")
        await stage.sees("'rivers'")

    show(story, (160, 50))


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
    from tui.wording import in_words

    assert in_words(begins) == said
