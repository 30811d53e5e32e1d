"""What is done with notes by hand in the place Notes, and undone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from noted import linked, named, opened, place, shows
from staging import Show, Stage
from textual.events import Paste
from textual.widgets import Input, Static, TextArea

from infospace import Space
from infospace.core.ids import Kind
from infospace.core.resources import Note
from infospace.editing.edit import edit
from tui.dialogs.common import LineDialog
from tui.runtime.import_job import ImportJob


def current(space: Space, identifier: str) -> Note:
    """Return a note as it is now."""
    found = space.store.get(identifier)
    assert isinstance(found, Note)
    return found


def test_one_begins_to_write_behind_the_front_matter(show: Show, stocked: Space) -> None:
    """What is typed first stands before the text, and the metadata stays what it is."""
    sour = named(stocked, "sourdough")
    before = current(stocked, sour)

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "sourdough")
        await stage.press("e")
        await stage.sees("ctrl+s saves", "title: Sourdough")
        await stage.write("New. ")
        await stage.press("ctrl+s")
        await stage.until(lambda: any("u undoes it" in one for one in stage.said()))

    show(story, on=stocked)
    after = current(stocked, sour)
    assert after.content == f"New. {before.content}"
    assert after.metadata == before.metadata


def test_a_note_of_json_is_edited_as_json_from_its_beginning(show: Show, stocked: Space) -> None:
    """A text as Markdown, behind its front matter."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        for name, language, starts in (("city", "json", ""), ("sourdough", "markdown", "---\n")):
            await shows(stage, name)
            await stage.press("e")
            await stage.sees("ctrl+s saves")
            area = stage.app.screen.query_one(TextArea)
            row, column = area.cursor_location
            assert (area.language, column, row > 0) == (language, 0, bool(starts))
            assert area.text.startswith(starts or "{")
            assert row == 0 or area.document.get_line(row - 1) in ("---", "")
            await stage.press("escape")
            await stage.until(lambda: stage.app.screen is stage.app.place)
            await stage.until(lambda: all(worker.is_finished for worker in stage.app.workers))
            assert stage.said() == [], "nothing was saved, and nothing is said"

    show(story, on=stocked)


def test_a_note_is_edited_here(show: Show, stocked: Space) -> None:
    """With its metadata as front matter; undone, it is as it was."""
    steel = named(stocked, "steel")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "steel")
        await stage.press("e")
        await stage.sees("ctrl+s saves", "title: Why steel rusts")
        stage.app.screen.query_one(TextArea).text = "---\ntitle: Rust\n---\nIt is iron oxide."
        await stage.press("ctrl+s")
        await stage.sees("It is iron oxide.", "version 2")
        assert current(stocked, steel).metadata == {"title": "Rust"}
        await stage.press("u")
        await stage.sees("where water and air", "version 3")

    show(story, (80, 24), stocked)
    assert current(stocked, steel).metadata["title"] == "Why steel rusts"


def test_a_long_paste_is_taken_back(show: Show, stocked: Space) -> None:
    """Its end, where one would write on, is gone then: one writes on in what is left."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "steel")
        await stage.press("e")
        await stage.sees("ctrl+s saves", "title: Why steel rusts")
        area = stage.app.screen.query_one(TextArea)
        before = area.text
        stage.app.post_message(Paste("".join(f"line {number}\n" for number in range(60))))
        await stage.sees("line 59")
        await stage.press("ctrl+z")
        await stage.until(lambda: area.text == before, "the text before")
        await stage.press("ctrl+y")
        await stage.sees("line 59")
        await stage.press("ctrl+z")
        await stage.until(lambda: area.text == before, "the text before")

    show(story, (80, 24), stocked)


def test_what_cannot_be_saved_stays_in_the_editor(show: Show, stocked: Space) -> None:
    """JSON that is none; a note that somebody else changed. Leaving asks first."""
    city = named(stocked, "city")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "city")
        await stage.press("e")
        await stage.sees("ctrl+s saves", "Chemnitz")
        area = stage.app.screen.query_one(TextArea)
        area.text = '{"city": '
        await stage.press("ctrl+s")
        await stage.sees("Not saved: ")
        area.text = '{"city": "Kraków"}'
        note = current(stocked, city)
        await asyncio.to_thread(edit, stocked.store, note, {"other": 1}, note.metadata, "edit")
        await stage.press("ctrl+s")
        await stage.sees("Not saved: ", "version")
        assert area.text == '{"city": "Kraków"}'
        await stage.press("escape")
        await stage.sees("Leave without saving?")
        await stage.press("n")
        await stage.loses("Leave without saving?")
        await stage.press("escape", "y")
        await stage.until(lambda: stage.app.screen is stage.app.place)

    show(story, (80, 40), stocked)
    assert current(stocked, city).content == {"other": 1}


def test_a_note_is_edited_in_the_users_editor(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The screen is put aside meanwhile; where that is not possible, it says so."""
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'and more\\n' >> \"$1\"\n")
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    aside = []

    @contextmanager
    def suspend() -> Iterator[None]:
        aside.append(True)
        yield

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "sourdough")
        await stage.press("E")
        await stage.until(lambda: any("no editor can be opened" in one for one in stage.said()))
        monkeypatch.setattr(stage.app, "suspend", suspend)
        await stage.press("E")
        await stage.sees("and more", "version 2")
        await says(stage, f"Saved {named(stocked, 'sourdough')}. u undoes it.")
        monkeypatch.setenv("VISUAL", "false")
        await stage.press("E")
        await stage.until(lambda: any("nothing was changed" in one for one in stage.said()))
        monkeypatch.setenv("VISUAL", "no-such-editor")
        await stage.press("E")
        await stage.until(lambda: any("there is no editor" in one for one in stage.said()))

    show(story, (80, 40), stocked)
    assert aside == [True, True, True]
    assert str(current(stocked, named(stocked, "sourdough")).content).endswith("and more")


def test_a_note_is_named_kept_and_deleted(show: Show, stocked: Space) -> None:
    """And all of it is undone, step by step."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await stage.press("v")
        await stage.sees("9 notes", "Left over")
        await stage.until(lambda: place(stage).around is not None and not place(stage).around.brief.kept)
        await stage.press("p")
        await stage.until(lambda: place(stage).around is not None and place(stage).around.brief.kept)
        await stage.press("n")
        await stage.sees("Name of Note_")
        await stage.write("steel")
        await stage.press("enter")
        await stage.until(lambda: any("steel" in one for one in stage.said()), "that the name is taken")
        await stage.press("n")
        await stage.sees("Name of Note_")
        await stage.write("the rest")
        await stage.press("enter")
        await stage.sees("'the rest'")
        await stage.press("d")
        await stage.sees("8 notes")
        await stage.press("u")
        await stage.sees("9 notes", "'the rest'")
        await stage.press("u")
        await stage.loses("'the rest'")
        await stage.press("u")
        await stage.until(lambda: place(stage).around is not None and not place(stage).around.brief.kept)
        await stage.press("u")
        await stage.until(lambda: any("Nothing was done here" in one for one in stage.said()))

    show(story, (160, 50), stocked)


def test_what_cannot_be_edited_says_why(show: Show, stocked: Space) -> None:
    """A Collection; a deleted note."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "people")
        await stage.press("e")
        await stage.until(lambda: any("is a Collection, and notes are edited" in one for one in stage.said()))
        await shows(stage, "steel")
        await stage.press("d")
        await stage.sees("deleted")
        await stage.press("e")
        await stage.until(lambda: any("was deleted at" in one for one in stage.said()))
        assert any("(r on one of its versions brings it back)" in one for one in stage.said()), stage.said()

    show(story, (80, 24), stocked)


def test_files_are_added_and_adding_is_undone(show: Show, space: Space, tmp_path: Path) -> None:
    """What is wrong with a path is said; an import is a run like others."""
    linked(space, tmp_path / "one")
    more = tmp_path / "more"
    more.mkdir()
    for number in range(30):
        (more / f"{number}.md").write_text(f"# Added {number}\n\ntext {number}\n")
    (more / "bad.json").write_text("{")

    async def story(stage: Stage) -> None:
        await opened(stage, "2 kept notes")
        await stage.press("a")
        await stage.sees("Add a file or a folder")
        for path in (tmp_path / "nowhere", "~nobody-is-called-so/notes"):
            asked = stage.app.screen
            asked.query_one(Input).value = str(path)
            await stage.press("enter")
            await stage.until(
                lambda asked=asked: isinstance(stage.app.screen, LineDialog) and stage.app.screen is not asked
            )
            assert stage.app.screen.query_one(Input).value == str(path)
            assert any(str(path) in one for one in stage.said())
        stage.app.screen.query_one(Input).value = str(more)
        await stage.press("enter")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        await stage.sees("32 kept notes", "Added 19")
        await stage.until(lambda: any("30 added; not read: " in one for one in stage.said()))
        await stage.press("u")
        await stage.sees(" 2 kept notes")

    show(story, (80, 40))


def test_what_was_undone_is_counted_by_what_became_of_it(show: Show, space: Space, tmp_path: Path) -> None:
    """An import that added and changed: what it added is deleted, and what it changed is as it was."""
    (tmp_path / "one.md").write_text("# One\n\nfirst\n")

    async def story(stage: Stage) -> None:
        async def add(message: str) -> None:
            await stage.press("a")
            await stage.sees("Add a file or a folder")
            stage.app.screen.query_one(Input).value = str(tmp_path)
            await stage.press("enter")
            await says(stage, message)

        await stage.go("notes")
        await stage.sees("no notes yet")
        await add("1 added")
        (tmp_path / "one.md").write_text("# One\n\nsecond\n")
        (tmp_path / "two.md").write_text("# Two\n\nnew\n")
        await add("1 added, 1 changed")
        run = place(stage).actions.undoable[-1]
        await stage.press("u")
        await says(stage, f"{run} is undone: 1 deleted, 1 reverted.")

    show(story, (80, 40), space)


def test_adding_is_ended(show: Show, space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows how far it is; what is there stays, and adding again goes on."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(1_000):
        (folder / f"{number:04}.txt").write_text(f"text {number}")
    ended, progress = threading.Event(), ImportJob.progress

    def held(adding: ImportJob, done: int, total: int, what: str) -> None:
        """Go on from the 500th file on when the end was asked for."""
        if done == 500:
            ended.wait(60)
        progress(adding, done, total, what)

    monkeypatch.setattr(ImportJob, "progress", held)

    async def story(stage: Stage) -> None:
        await stage.go("notes")
        await stage.sees("no notes yet")
        await stage.press("a")
        await stage.sees("Add a file or a folder")
        stage.app.screen.query_one(Input).value = str(folder)
        await stage.press("enter")
        await stage.sees("adding: reading 499 of 1,000", "ends it")
        await stage.pilot.click("#work")
        await stage.sees("End adding?")
        detail = str(stage.app.screen.query_one(".detail", Static).render())
        assert detail == "What was added stays, and adding the same again goes on."
        await stage.press("y")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        ended.set()
        await stage.until(lambda: any("ended early" in one for one in stage.said()))

    show(story, (80, 24))
    with space.store.reading() as snapshot:
        assert 0 < snapshot.count(Kind.NOTE) <= 500
        assert snapshot.run_heads()[0].status == "cancelled"


async def says(stage: Stage, *messages: str) -> None:
    """Wait until each of the messages was in a notification."""
    await stage.until(lambda: all(any(one in said for said in stage.said()) for one in messages), repr(messages))


def test_where_nothing_is_shown_no_deed_does_anything(show: Show, space: Space) -> None:
    """Each says so."""

    async def story(stage: Stage) -> None:
        await stage.go("notes")
        await stage.sees("no notes yet")
        assert not place(stage).query_one("#work").display, "nothing is added"
        for number, key in enumerate(("e", "E", "n", "p", "d", "r"), 1):
            await stage.press(key)
            await stage.until(lambda number=number: stage.said().count("Nothing is shown.") == number, key)
        assert set(stage.said()) == {"Nothing is shown."}
        await stage.press("u")
        await says(stage, "Nothing was done here that could be undone")

    show(story)
    with space.store.reading() as snapshot:
        assert snapshot.run_heads() == []


def test_what_is_as_it_was_is_not_written(show: Show, stocked: Space) -> None:
    """The same name, the same text, what is kept, what is deleted; none of that can be undone."""
    steel = named(stocked, "steel")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "steel")
        await stage.press("n")
        await stage.sees("Name of Note_")
        assert stage.app.screen.query_one(Input).value == "steel"
        stage.app.screen.query_one(Input).value = " steel "
        await stage.press("enter")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        await stage.press("n")
        await stage.sees("Name of Note_")
        await stage.write("!")
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        await stage.press("p")
        await says(stage, f"{steel} is kept already.")
        await stage.press("e")
        await stage.sees("ctrl+s saves", "title: Why steel rusts")
        await stage.press("ctrl+s")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        await says(stage, "Nothing is different.")
        assert place(stage).actions.undoable == []
        await stage.press("d")
        await says(stage, f"Deleted {steel}.")
        await stage.sees("7 kept notes")
        await stage.until(lambda: place(stage).around is not None and place(stage).around.gone is not None)
        await stage.press("d")
        await says(stage, f"{steel} is deleted already")
        assert len(place(stage).actions.undoable) == 1

    show(story, (80, 40), stocked)


def test_a_name_is_given_without_the_blanks_around_it(show: Show, stocked: Space) -> None:
    """Where nothing is left of it, the name is taken away."""
    steel = named(stocked, "steel")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "steel")
        await stage.press("n")
        await stage.sees("Name of Note_")
        stage.app.screen.query_one(Input).value = "  iron  "
        await stage.press("enter")
        await says(stage, f"{steel} is named 'iron'. u undoes it.")
        assert named(stocked, "iron") == steel
        await stage.until(lambda: place(stage).around is not None and place(stage).around.brief.name == "iron")
        await stage.press("n")
        await stage.sees("Name of Note_")
        assert "An empty one takes the name away." in stage.text
        stage.app.screen.query_one(Input).value = " "
        await stage.press("enter")
        await says(stage, f"{steel} has no name. u undoes it.")
        await stage.until(lambda: place(stage).around is not None and place(stage).around.brief.name is None)
        await stage.press("u")
        await stage.until(lambda: len(place(stage).actions.undoable) == 1)
        await stage.press("u")
        await stage.until(lambda: place(stage).actions.undoable == [])
        await stage.until(lambda: place(stage).around is not None and place(stage).around.brief.name == "steel")

    show(story, (80, 40), stocked)
    assert named(stocked, "steel") == steel


@pytest.mark.parametrize("above", [0, 1])
def test_what_is_too_long_to_be_edited_here_goes_to_the_editor(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch, above: int
) -> None:
    """From one character above the bound on."""
    steel = named(stocked, "steel")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "steel")
        assert place(stage).around is not None
        size = place(stage).around.brief.size
        monkeypatch.setattr("tui.screens.notes.actions.MAX_EDITED_CHARACTERS", size - above)
        await stage.press("e")
        if above:
            await says(stage, f"{steel} has {size} characters, too many to be edited here (E opens it in your editor)")
        else:
            await stage.sees("ctrl+s saves")
            await stage.press("escape")
            await stage.until(lambda: stage.app.screen is stage.app.place)

    show(story, (80, 40), stocked)


def test_an_earlier_version_is_brought_back_and_not_edited(show: Show, stocked: Space) -> None:
    """The current one is not brought back, unless it was deleted."""
    steel = current(stocked, named(stocked, "steel"))
    edit(stocked.store, steel, "Iron oxide.", steel.metadata, "edit")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        await shows(stage, "steel")
        await stage.press("r")
        await says(stage, "Choose an earlier version on the tab Versions.")
        stage.app.open_note(steel.id, 1)
        await stage.until(lambda: place(stage).version_chosen == 1)
        await stage.until(lambda: place(stage).around is not None and place(stage).around.resource.version == 1)
        await stage.press("e")
        await says(stage, f"this is version 1 of {steel.id}, and the current one is 2")
        await stage.press("r")
        await says(stage, f"{steel.id} is as it was at version 1.")
        assert current(stocked, steel.id).content == steel.content
        await stage.until(lambda: place(stage).around is not None and place(stage).around.latest == 3)
        await shows(stage, "steel")
        await stage.press("d")
        await says(stage, f"Deleted {steel.id}.")
        await stage.until(lambda: place(stage).around is not None and place(stage).around.gone is not None)
        assert place(stage).version_chosen == place(stage).around.latest  # type: ignore[union-attr]
        await stage.press("r")
        await says(stage, f"{steel.id} is as it was at version 3.")
        assert [len(place(stage).actions.undoable), current(stocked, steel.id).content] == [3, steel.content]

    show(story, (80, 40), stocked)


def test_what_is_undone_is_what_was_done_last_and_is_shown_again(show: Show, stocked: Space) -> None:
    """Whatever was shown meanwhile."""
    steel, sour = named(stocked, "steel"), named(stocked, "sourdough")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        for name, identifier in (("steel", steel), ("sourdough", sour)):
            await shows(stage, name)
            await stage.press("d")
            await says(stage, f"Deleted {identifier}.")
        first, second = place(stage).actions.undoable
        await shows(stage, "bread")
        await stage.press("u")
        await says(stage, f"{second} is undone: ")
        await stage.until(lambda: place(stage).around is not None and place(stage).around.brief.id == sour)
        assert place(stage).actions.undoable == [first]
        await stage.press("u")
        await says(stage, f"{first} is undone: ")
        await stage.until(lambda: place(stage).around is not None and place(stage).around.brief.id == steel)

    show(story, (80, 40), stocked)
    assert {current(stocked, steel).id, current(stocked, sour).id} == {steel, sour}


def test_adding_that_is_not_wanted_adds_nothing(show: Show, space: Space) -> None:
    """Neither with escape nor where nothing was written; the folder that one is in is at hand."""

    async def story(stage: Stage) -> None:
        await stage.go("notes")
        await stage.sees("no notes yet")
        for leave in ("escape", "enter"):
            await stage.press("a")
            await stage.sees("Add a file or a folder")
            assert stage.app.screen.query_one(Input).value == str(Path.cwd())
            if leave == "enter":
                stage.app.screen.query_one(Input).value = "  "
            await stage.press(leave)
            await stage.until(lambda: stage.app.screen is stage.app.place)
        assert stage.said() == []

    show(story)
    with space.store.reading() as snapshot:
        assert snapshot.run_heads() == []


def test_adding_goes_on_where_its_end_is_not_confirmed(
    show: Show, space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line that tells how far it is goes away with it."""
    folder = tmp_path / "few"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number:02}.txt").write_text(f"text {number}")
    asked, progress = threading.Event(), ImportJob.progress

    def held(adding: ImportJob, done: int, total: int, what: str) -> None:
        """Go on from the 10th file on when the end was not asked for."""
        if done == 10:
            asked.wait(60)
        progress(adding, done, total, what)

    monkeypatch.setattr(ImportJob, "progress", held)

    async def story(stage: Stage) -> None:
        await stage.go("notes")
        await stage.sees("no notes yet")
        assert not place(stage).query_one("#work").display
        await stage.press("a")
        await stage.sees("Add a file or a folder")
        stage.app.screen.query_one(Input).value = f"  {folder} "
        await stage.press("enter")
        await stage.sees("adding: reading 9 of 20", "ends it")
        await stage.press("a")
        await stage.sees("End adding?", "adding the same again goes on", "End it (y)", "No (n)")
        await stage.press("n")
        await stage.until(lambda: stage.app.screen is stage.app.place)
        asked.set()
        await says(stage, "20 added.")
        await stage.until(lambda: not place(stage).query_one("#work").display)
        assert len(place(stage).actions.undoable) == 1

    show(story)
    with space.store.reading() as snapshot:
        assert snapshot.count(Kind.NOTE) == 20
