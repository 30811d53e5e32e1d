"""The app itself: places, help, the palette, what it remembers."""

from __future__ import annotations

import pytest
from staging import SIZES, Show, Stage

from tui.places import PLACES


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("number", range(1, len(PLACES) + 1))
def test_every_place_opens_at_every_size(show: Show, size: tuple[int, int], number: int) -> None:
    """By its number, by its function key, by a click on its name; help is there."""

    async def story(stage: Stage) -> None:
        title = PLACES[number - 1].title
        await stage.press(str(number))
        await stage.until(lambda: type(stage.app.place).__name__ == title)
        await stage.press("f1")
        await stage.sees(f"Help: {title}")
        await stage.press("escape")
        await stage.loses("Help: ")
        await stage.press("f2", f"f{number + 1}")
        await stage.until(lambda: type(stage.app.place).__name__ == title)

    show(story, size)
