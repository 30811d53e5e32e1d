"""Keys, clicks and sizes at random, on every place: nothing ends the screen, and nothing is a bug.

With INFOSPACE_PROVE=1 each place gets 2,000 of them.
"""

from __future__ import annotations

import os
import random
import string
from pathlib import Path

import pytest
from staging import Show, Stage

from infospace import Space, open_space
from infospace.search.index.consistency import disagreements
from tui.app import InfospaceApp
from tui.screen_registry import PLACES

STROKES = 2_000 if os.environ.get("INFOSPACE_PROVE") == "1" else 60
MOVING = ("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "tab", "shift+tab", "enter", "escape")
CHANGING = ("space", "backspace", "delete", "insert", "ctrl+z", "ctrl+y", "ctrl+v", "ctrl+x", "ctrl+u", "ctrl+k")
SIGNS = {
    "/": "slash",
    "?": "question_mark",
    "+": "plus",
    "-": "minus",
    ".": "full_stop",
    ",": "comma",
    "$": "dollar_sign",
    '"': "quotation_mark",
    "{": "left_curly_bracket",
    "}": "right_curly_bracket",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    ":": "colon",
}
LEAVING = {"ctrl+q", "ctrl+c"}
"""What ends the screen, and what interrupts it, have tests of their own."""
WITH_CTRL = tuple(sorted({f"ctrl+{letter}" for letter in string.ascii_lowercase} - LEAVING))
WITH_ALT = tuple(f"alt+{letter}" for letter in string.ascii_lowercase)
PLAIN = (*string.ascii_letters, *string.digits, *SIGNS.values(), *(f"f{number}" for number in range(1, 11)))
SIZES = ((80, 24), (160, 50), (100, 30), (40, 12), (200, 20))


async def stroke(stage: Stage, chance: random.Random) -> str:
    """Do one thing at random; return what it was."""
    kind = chance.random()
    if kind < 0.04:
        width, height = chance.choice(SIZES)
        await stage.pilot.resize_terminal(width, height)
        await stage.until(lambda: stage.app.screen._compositor.size == (width, height), "the layout of that size")
        return f"resized to {width}×{height}"
    if kind < 0.12:
        at = chance.randrange(stage.app.size.width), chance.randrange(stage.app.size.height)
        await stage.pilot.click(offset=at)
        return f"clicked at {at}"
    key = chance.choice(chance.choice((MOVING, CHANGING, WITH_CTRL, WITH_ALT, PLAIN, PLAIN)))
    await stage.press(key)
    return key


async def staying(app: InfospaceApp) -> None:
    """Do nothing where the palette's Quit was hit, which rightly ends the screen."""
    del app


@pytest.mark.slow
@pytest.mark.parametrize("place", [entry.name for entry in PLACES])
def test_whatever_is_pressed_breaks_nothing(
    show: Show, furnished: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The screen still answers, no bug was said, and the space agrees with itself."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(InfospaceApp, "action_leave", staying)
    chance, done = random.Random(f"strokes in {place}"), []  # noqa: S311 - not a secret

    async def story(stage: Stage) -> None:
        await stage.open("run_1", place="plan")
        await stage.go(place)
        for _ in range(STROKES):
            done.append(await stroke(stage, chance))
            assert stage.app.is_running, f"it ended after {done[-20:]}: {stage.app.return_value!r}"
            bugs = [one for one in stage.said() if "has a bug" in one]
            assert not bugs, f"after {done[-20:]}: {bugs}"
        for _ in range(20):
            await stage.press("escape")
        await stage.until(lambda: stage.app.place is not None)

    show(story)
    with open_space(furnished.store.address) as space:
        assert disagreements(space) == []
