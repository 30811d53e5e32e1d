"""Keys that come all at once, as a program that pastes them into the terminal sends them."""

from __future__ import annotations

import asyncio

import pytest
from drafts import compose
from holding import hold
from noted import opened, shows
from staging import PATIENCE, Show, Stage
from textual.command import CommandList, Hits
from textual.containers import VerticalScroll
from textual.system_commands import SystemCommandsProvider
from textual.widgets import Input, TextArea

from infospace import Note, Space
from tui.dialogs.command_palette import Palette
from tui.dialogs.common import HelpDialog
from tui.runtime import key_queue as keying
from tui.screens.compose import files as filing
from tui.screens.notes import actions as note_actions


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy with something else hands no key on too early."""
    monkeypatch.setattr(keying, "LONGER", PATIENCE)


@pytest.mark.usefixtures("_patient")
@pytest.mark.parametrize("place", ["runs", "notes", "tools"])
def test_what_follows_the_slash_is_in_the_field(show: Show, stocked: Space, place: str) -> None:
    """No letter of it is taken for a key of the place."""

    async def story(stage: Stage) -> None:
        await stage.go(place)
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == place)
        stage.burst("slash", *"deux", "space", *"amis")
        await stage.until(lambda: stage.app.screen.query(Input).first().value == "deux amis")

    show(story, on=stocked)


@pytest.mark.usefixtures("_patient")
def test_what_follows_the_number_of_a_place_is_meant_for_it(show: Show) -> None:
    """Text goes into the editor of Compose, though the place was never shown before."""

    async def story(stage: Stage) -> None:
        stage.burst("8", *"[12]", "escape", "6", "slash", *"7a")
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "notes")
        await stage.until(lambda: stage.app.screen.query(Input).first().value == "7a")
        await stage.press("escape")
        await stage.go("compose")
        await stage.until(lambda: stage.app.screen.query(TextArea).first().text == "[12]")

    show(story)


def test_a_dialog_gets_the_keys_behind_the_one_that_opens_it(show: Show) -> None:
    """Help scrolls, and is closed."""

    async def story(stage: Stage) -> None:
        stage.burst("question_mark", "end")
        await stage.until(lambda: isinstance(stage.app.screen, HelpDialog))
        scroll = stage.app.screen.query(VerticalScroll).first()
        await stage.until(lambda: scroll.scroll_y > 0)
        stage.burst("escape", "6")
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "notes")

    show(story)


@pytest.mark.usefixtures("_patient")
def test_what_is_typed_for_a_dialog_waits_for_it(show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it opens only when something was read; a key with priority does not overtake what was typed before it."""
    held = hold(monkeypatch, note_actions, "EditorFile")

    async def story(stage: Stage) -> None:
        place = await opened(stage, "8 kept notes")
        await shows(stage, "sourdough")
        stage.burst("e", *"add", "ctrl+s")
        await held.has_begun(stage)
        assert stage.app.screen is place
        held.release.set()
        await stage.until(lambda: any("u undoes it" in one for one in stage.said()), "the note to be saved")

    show(story, on=stocked)
    with stocked.store.reading() as snapshot:
        named = snapshot.named("sourdough")
        assert named is not None
        note = snapshot.get(named)
    assert isinstance(note, Note)
    assert str(note.content).startswith("addSourdough")


@pytest.mark.usefixtures("_patient")
def test_what_is_typed_behind_a_question_of_compose_is_not_written_into_the_plan(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It chooses what is opened."""
    held = hold(monkeypatch, filing, "_examples")

    async def story(stage: Stage) -> None:
        place = await compose(stage, "[1, 2]")
        stage.burst("ctrl+o", *"branch", "enter")
        await held.has_begun(stage)
        assert place.text == "[1, 2]"
        held.release.set()
        await stage.until(lambda: "discover-notes" in place.text)
        assert "branch" not in place.text.replace("branches", "")

    show(story)


@pytest.mark.usefixtures("_patient")
def test_keys_go_on_where_no_dialog_comes(show: Show, furnished: Space) -> None:
    """A run that asks nothing cannot be answered, and that is said."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_3 ")
        stage.burst("a", "6", "slash", *"bread")
        await stage.until(lambda: any("asks nothing" in one for one in stage.said()))
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "notes")
        await stage.until(lambda: stage.app.screen.query(Input).first().value == "bread")

    show(story, on=furnished)


def test_the_palette_does_what_was_typed_and_not_what_it_listed_before(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Enter behind a name waits until that is found."""
    search, found = SystemCommandsProvider.search, asyncio.Event()

    async def slowly(provider: SystemCommandsProvider, query: str) -> Hits:
        await found.wait()
        async for hit in search(provider, query):
            yield hit

    monkeypatch.setattr(SystemCommandsProvider, "search", slowly)

    async def story(stage: Stage) -> None:
        await stage.sees("no runs yet")
        await stage.press("ctrl+p")
        await stage.until(lambda: isinstance(stage.app.screen, Palette) and stage.app.screen.query(CommandList))
        await stage.sees("Go to Compare")
        await stage.press(*"compose", "enter")
        assert isinstance(stage.app.screen, Palette)
        found.set()
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "compose")
        await stage.until(lambda: stage.app.screen is stage.app.place)

    show(story)
