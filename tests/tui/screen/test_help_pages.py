"""The pages of the documentation on the screen: out of the help of a place, and out of the palette."""

from __future__ import annotations

from staging import Show, Stage

from infospace import Space
from tui.dialogs.command_palette import Palette
from tui.dialogs.common import HelpDialog
from tui.help import PAGES


def test_the_help_of_a_place_lists_the_pages_and_opens_one(show: Show, space: Space) -> None:
    """In front of it; escape goes back."""

    async def story(stage: Stage) -> None:
        await stage.press("question_mark")
        await stage.until(lambda: isinstance(stage.app.screen, HelpDialog), "the help")
        await stage.press("end")
        await stage.sees(*[*PAGES][-8:])
        lines = stage.text.split("\n")
        [row] = [at for at, line in enumerate(lines) if "glossary" in line]
        await stage.pilot.click(offset=(lines[row].index("glossary") + 2, row))
        await stage.sees("Help: glossary", "Glossary")
        await stage.press("escape")
        await stage.loses("Help: glossary")
        assert isinstance(stage.app.screen, HelpDialog)
        await stage.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.place, "the place")

    show(story)


def test_a_page_is_opened_out_of_the_palette(show: Show, space: Space) -> None:
    async def story(stage: Stage) -> None:
        await stage.press("ctrl+p")
        await stage.until(lambda: isinstance(stage.app.screen, Palette), "the palette")
        await stage.press(*"glossary")
        await stage.sees("Help: glossary")
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, HelpDialog), "the page")
        await stage.sees("Glossary")

    show(story)
