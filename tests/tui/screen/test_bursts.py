"""Keys that come all at once, as a program that pastes them into the terminal sends them."""

from __future__ import annotations

import pytest
from staging import Show, Stage
from textual.containers import VerticalScroll
from textual.widgets import Input, TextArea

from infospace import Space
from tui.widgets.dialogs import Help


@pytest.mark.parametrize("place", ["runs", "notes", "tools"])
def test_what_follows_the_slash_is_in_the_field(show: Show, stocked: Space, place: str) -> None:
    """No letter of it is taken for a key of the place."""

    async def story(stage: Stage) -> None:
        await stage.go(place)
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == place)
        stage.burst("slash", *"deux", "space", *"amis")
        await stage.until(lambda: stage.app.screen.query(Input).first().value == "deux amis")

    show(story, on=stocked)


def test_what_follows_the_number_of_a_place_is_meant_for_it(show: Show) -> None:
    """Text goes into the editor of Compose, though the place was never shown before."""

    async def story(stage: Stage) -> None:
        stage.burst("7", *"[12]", "escape", "5", "slash", *"7a")
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
        await stage.until(lambda: isinstance(stage.app.screen, Help))
        scroll = stage.app.screen.query(VerticalScroll).first()
        await stage.until(lambda: scroll.scroll_y > 0)
        stage.burst("escape", "5")
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "notes")

    show(story)
