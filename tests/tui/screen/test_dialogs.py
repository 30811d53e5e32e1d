"""What stands in front of a place is answered and closed with the mouse alone, too."""

from __future__ import annotations

from typing import Any

import pytest
from drafts import compose
from staging import SIZES, Show, Stage
from textual.screen import Screen
from textual.widgets import Input

from infospace import Space
from planner.parse.saved_plans import save_plan
from tui.dialogs.common import HelpDialog, LineDialog
from tui.dialogs.open_plan import OpenPlanDialog
from tui.dialogs.pick_run import PickRunDialog
from tui.dialogs.report import ReportDialog
from tui.screens.compose.compose import Compose


def in_front(stage: Stage, kind: type[Screen[Any]]) -> bool:
    return isinstance(stage.app.screen, kind)


async def clicked_beside(stage: Stage, kind: type[Screen[Any]]) -> None:
    """Click inside, which changes nothing, then beside it."""
    await stage.until(lambda: in_front(stage, kind), kind.__name__)
    await stage.pilot.click(".dialog", offset=(3, 1))
    assert in_front(stage, kind)
    await stage.pilot.click(offset=(0, 0))
    await stage.until(lambda: stage.app.screen is stage.app.place, f"the end of {kind.__name__}")


@pytest.mark.parametrize("size", SIZES)
def test_a_click_beside_what_is_only_read_closes_it(show: Show, furnished: Space, size: str) -> None:
    """Help, a report, a list of runs."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_3 ")
        await stage.press("question_mark")
        await clicked_beside(stage, HelpDialog)
        stage.app.push_screen(ReportDialog("A report", [("a line", None)]))
        await clicked_beside(stage, ReportDialog)
        stage.app.push_screen(PickRunDialog("Which?"))
        await clicked_beside(stage, PickRunDialog)

    show(story, SIZES[size], furnished)


def test_a_line_is_given_or_not_by_a_click(show: Show) -> None:
    """As it stands in the field; None where nothing is to be given."""
    given: list[str | None] = []

    async def story(stage: Stage) -> None:
        for button in ("#ok", "#cancel"):
            stage.app.push_screen(LineDialog("A line?", value="written"), given.append)
            await stage.until(lambda: in_front(stage, LineDialog) and stage.app.screen.is_current)
            await stage.sees("A line?", "Cancel")
            await stage.pilot.click(button)
            await stage.until(lambda: stage.app.screen is stage.app.place)

    show(story)
    assert given == ["written", None]


def test_what_is_opened_is_found_by_the_words_of_the_list(show: Show, space: Space) -> None:
    """Where they fit one thing and name no file, enter opens that; so does the button; another leaves."""
    save_plan(space, "digest", {"steps": [{"type": "say", "value": "saved"}]})

    async def story(stage: Stage) -> None:
        place = await compose(stage, "[1, 2]")

        async def asked(words: str) -> None:
            await stage.press("ctrl+o")
            await stage.until(lambda: in_front(stage, OpenPlanDialog))
            stage.app.screen.query_one(Input).value = words
            await stage.loses("example:branching")

        await asked("empty plan")
        await stage.press("enter")
        await stage.until(lambda: '"goal": ""' in place.text)
        await asked("dig")
        await stage.pilot.click("#open")
        await stage.until(lambda: "saved" in place.text)
        await asked("nothing of the kind")
        await stage.pilot.click("#cancel")
        await stage.until(lambda: stage.app.screen is place)
        assert isinstance(place, Compose)
        assert "saved" in place.text

    show(story)
