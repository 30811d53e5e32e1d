"""A stage for the app: its keys, its clicks, and waiting for what is to be seen, never for time."""

from __future__ import annotations

import asyncio
import difflib
import html
import os
import re
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias
from unittest.mock import patch

import pytest
from settling import settled, settled_within
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from infospace import Space
from tui.app import InfospaceApp
from tui.runtime.ui_state import UiState
from tui.screen_registry import numbered

PATIENCE = float(os.environ.get("INFOSPACE_PATIENCE", "90"))
"""Seconds after which what was waited for will not come, though something still goes on."""
AT_REST = 3_000
"""Turns of waiting, each of 10 ms or more, after which nothing comes of itself: no work, no run and no change is seen.

Turns are counted, not seconds: a machine that stands still has none.
"""
PICTURE_AT_REST = 300
"""The same for a picture: what else may come of itself is the end of work in a thread, and work is waited for."""
HELD = 4
"""How many times as many turns are waited where work is held by a gate: which work that is nobody can tell."""
GATES: list[threading.Event] = []
"""What holds a thread in a story: opened when the story is over, also when it failed, so that no thread waits on."""

SIZES = {"80x24": (80, 24), "160x50": (160, 50)}
BOTH = pytest.mark.parametrize("size", SIZES)
"""For pictures of what is laid out otherwise where there is room."""
SMALL = pytest.mark.parametrize("size", ["80x24"])
"""For pictures of what is not: a dialog, or another content of the same parts."""


def gate() -> threading.Event:
    """Return what a story holds a thread by; it is opened at the end of the story at the latest."""
    made = threading.Event()
    GATES.append(made)
    return made


Story: TypeAlias = "Callable[[Stage], Awaitable[None]]"
Show: TypeAlias = "Callable[..., None]"

PICTURES = Path(__file__).parent / "pictures"


class Stage:
    """An app that runs without a terminal."""

    def __init__(self, app: InfospaceApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot
        self._before: str | None = None
        """What was seen before the last key, until something was waited for since."""
        self.taken: list[Path] = []
        """Pictures that were taken anew."""

    @staticmethod
    async def play(
        space: Space,
        story: Callable[[Stage], Awaitable[None]],
        size: tuple[int, int],
        memory: UiState | None = None,
        *,
        toasts: bool = False,
    ) -> InfospaceApp:
        """Start the app, play a story, and end it; with `toasts` what is said in passing is drawn."""
        app = InfospaceApp(space, memory or UiState(None))
        app.animation_level = "none"
        app.NOTIFICATION_TIMEOUT = 10 * PATIENCE
        with _steady():
            async with app.run_test(size=size, notifications=toasts) as pilot:
                stage = Stage(app, pilot)
                await stage.until(lambda: app.place is not None)
                try:
                    await story(stage)
                finally:
                    while GATES:
                        GATES.pop().set()
        taken = ", ".join(path.name for path in stage.taken)
        assert not taken, f"taken anew: {taken}. Look at them, then run again without INFOSPACE_PICTURES"
        return app

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        self._before = self.text
        await self.pilot.press(*keys)

    async def go(self, place: str) -> None:
        """Press the key of a place, and wait until it is shown."""
        await self.press(next(str(number) for number, entry in numbered() if entry.name == place))
        await self.until(lambda: self.app.place is not None and self.app.place.name_of_place == place, place)

    async def write(self, text: str) -> None:
        """Type a text."""
        self._before = self.text
        await self.pilot.press(*("space" if sign == " " else sign for sign in text))

    def burst(self, *keys: str) -> None:
        """Press keys all at once, as a program that pastes them does."""
        driver = self.app._driver
        assert driver is not None
        self._before = self.text
        for key in keys:
            driver.send_message(Key(key, key if len(key) == 1 else {"slash": "/", "space": " "}.get(key)))

    async def open(self, run: str, step: str | None = None, place: str = "plan") -> None:
        """Open a run, as another place would."""
        self.app.open_run(run, step, place)
        await self.until(lambda: self.app.subject is not None and self.app.subject.name == run, run)
        await self.until(lambda: self.app.place is not None and self.app.place.name_of_place == place)

    async def until(self, holds: Callable[[], object], what: str = "", at_rest: int | None = None) -> None:
        """Wait until something holds; `at_rest` is how many turns in which nothing comes are too many."""
        most = AT_REST if at_rest is None else at_rest
        self._before = None
        end, rest = time.monotonic() + PATIENCE, 0
        seen = ""
        while not holds():
            held = any(not one.is_set() for one in GATES)
            if not self.app.is_running or time.monotonic() > end or rest > most * (HELD if held else 1):
                raise AssertionError(f"waited for {what or holds} in vain; this was seen:\n{self.text}")
            await settled_within(1.0)
            await asyncio.sleep(0.01)
            if self._works() and not held:
                continue  # work that begins again and again, to look at what has changed, counts neither way
            now = self.text
            rest, seen = (rest + 1, seen) if now == seen else (0, now)
        if len(self.app.screen_stack) > 1:
            self.app.screen.refresh()  # what lies behind a dialog is drawn with it
        await self.pilot.pause()

    def _works(self) -> bool:
        """Whether a run goes on, or work whose end may change what is seen."""
        return bool(self.app.runner.going) or not all(worker.is_finished for worker in self.app.workers)

    async def sees(self, *texts: str) -> None:
        """Wait until texts are on the screen. Right behind a key, one of them was not there before it.

        Else nothing would be waited for, and what the key did, or did not do, would not be noticed.
        """
        before = self._before
        if before is not None:
            seen = all(text in before for text in texts)
            assert not seen, f"{texts} was there before the key: wait for what it changes\n{before}"

        def are_seen() -> bool:
            seen = self.text
            return all(text in seen for text in texts)

        await self.until(are_seen, repr(texts))

    def expects_nothing_new(self) -> None:
        """What is waited for next may have been there before the key: a search begins by itself once nobody types."""
        self._before = None

    async def loses(self, text: str) -> None:
        """Wait until a text is not on the screen any more."""
        await self.until(lambda: text not in self.text, f"no {text!r}")

    @property
    def text(self) -> str:
        """What is on the screen, or in the dialog in front of it, as lines of text."""
        strips = self.app.screen._compositor.render_strips(self.app.size)
        return "\n".join(strip.text for strip in strips)

    def said(self) -> list[str]:
        """What was said in notifications that are still there."""
        return [note.message for note in self.app._notifications]

    async def is_as(self, name: str) -> None:
        """Wait until what is seen is as the picture of that name.

        INFOSPACE_PICTURES=1 takes it anew where it differs, and the story fails when it is over: nobody has looked yet.
        """
        path = PICTURES / f"{name}.svg"
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        assert expected or os.environ.get("INFOSPACE_PICTURES"), (
            f"there is no picture {name!r} yet; INFOSPACE_PICTURES=1 takes it"
        )
        try:
            await self.until(lambda: self._drawn() == expected, name, PICTURE_AT_REST)
        except AssertionError:
            drawn = self._drawn()
            if os.environ.get("INFOSPACE_PICTURES"):
                path.write_text(drawn, encoding="utf-8")
                self.taken.append(path)
                return
            found = path.with_suffix(".found.svg")
            found.write_text(drawn, encoding="utf-8")
            raise AssertionError(f"{found} is not as {path}:\n{_difference(expected, drawn)}") from None

    def _drawn(self) -> str:
        return normalised(self.app.export_screenshot(title="infospace", simplify=True))


@contextmanager
def _steady() -> Iterator[None]:
    """Have Textual wait until all is handled, for as long as that takes, and leave cursors to be seen."""

    async def waited(pilot: Pilot[int], *_: float) -> bool:
        await settled()
        return pilot.app._exception is None

    def stays(_: Input | TextArea) -> None:
        """Leave the cursor as it is."""

    with (
        patch("textual.app.wait_for_idle", settled),
        patch("textual.pilot.wait_for_idle", settled),
        patch.object(Pilot, "_wait_for_screen", waited),
        patch.object(Input, "_toggle_cursor", stays),
        patch.object(TextArea, "_toggle_cursor_blink_visible", stays),
    ):
        yield


def normalised(svg: str) -> str:
    """Return an SVG without what is different each time: the number that its names begin with."""
    found = re.search(r"terminal-(\d+)-", svg)
    return svg.replace(f"terminal-{found[1]}-", "terminal-") if found else svg


def _text_of(svg: str) -> str:
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text class="[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        rows.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    lines = []
    for y in sorted(rows):
        line = ""
        for x, text in sorted(rows[y]):
            line = line.ljust(round(x / 12.2)) + text
        lines.append(line)
    return "\n".join(lines)


def _difference(expected: str, drawn: str) -> str:
    lines = difflib.unified_diff(_text_of(expected).splitlines(), _text_of(drawn).splitlines(), lineterm="", n=0)
    return "\n".join(lines) or "the same text, in other colours or places"
