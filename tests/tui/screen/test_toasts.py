"""What is said in passing: it hides neither what is asked, nor where somebody writes."""

from __future__ import annotations

import pytest
from noted import opened
from staging import SIZES, Show, Stage
from textual.geometry import Region
from textual.widgets import Button
from textual.widgets._toast import Toast

from infospace import Space

LONG = "the server 'gone' ended with code 3 at its start; it said 'cannot find its configuration' " * 3


def toasts(stage: Stage) -> list[Region]:
    """Where they are."""
    return [toast.region for toast in stage.app.screen.query(Toast) if toast.region.area]


@pytest.mark.parametrize("size", SIZES)
def test_a_dialog_is_seen_whole_beside_what_is_said(show: Show, stocked: Space, size: str) -> None:
    """Its buttons too, also of one that is nearly as high as the screen."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes", "machines")
        await stage.press("e")
        await stage.sees("ctrl+s saves")
        stage.app.notify(LONG)
        stage.app.notify("Nothing is different.")
        await stage.until(lambda: len(toasts(stage)) == 2 and "Nothing is different" in stage.text)
        dialog = stage.app.screen.query(".dialog").first().region
        buttons = [button.region for button in stage.app.screen.query(Button)]
        assert all(not toast.overlaps(dialog) for toast in toasts(stage))
        assert all(dialog.contains_region(button) for button in buttons)
        assert stage.app.screen.region.contains_region(dialog)

    show(story, SIZES[size], stocked, toasts=True)


@pytest.mark.parametrize("size", SIZES)
def test_the_last_lines_of_a_place_are_seen_below_what_is_said(show: Show, housed: Space, size: str) -> None:
    """The keys, and the buttons of the form."""

    async def story(stage: Stage) -> None:
        await stage.go("tools")
        await stage.sees("desk/book", "may take something away")
        await stage.press("c")
        await stage.sees("Call (^r)")
        stage.app.notify(LONG)
        await stage.until(lambda: toasts(stage) and "the server 'gone'" in stage.text)
        doing = stage.app.screen.query_one("#doing").region
        assert all(toast.bottom <= doing.y for toast in toasts(stage))

    show(story, SIZES[size], housed, toasts=True)
