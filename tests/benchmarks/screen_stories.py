"""Use the screen of a space and print how late a timer of 20 ms fires meanwhile: a process on a terminal of its own.

`python screen_stories.py SPACE PLAN OUT MARKDOWN BIG` writes milliseconds by what was done to OUT, as JSON. PLAN is
the file of a plan of 1,000 steps; MARKDOWN and BIG are ids of Notes of the space.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from textual.pilot import Pilot

from infospace import open_space
from tui.app import InfospaceApp
from tui.runtime.ui_state import UiState
from tui.screen_registry import PLACES
from tui.screens.compose.compose import Compose
from tui.screens.notes.notes import Notes

TICK = 0.02
"""Seconds between two ticks."""

PATIENCE = 45
"""Seconds after which a story is given up."""

BETWEEN_KEYS = 0.08
"""Seconds between two keys of somebody who types fast."""

QUERY = "words for a note about numbers"

Story: TypeAlias = Callable[[InfospaceApp, Pilot[int]], Awaitable[None]]


async def late(work: Awaitable[None]) -> list[float]:
    """Do work, and return how many milliseconds each tick came late meanwhile."""
    found: list[float] = []

    async def tick() -> None:
        while True:
            due = time.perf_counter() + TICK
            await asyncio.sleep(TICK)
            found.append((time.perf_counter() - due) * 1000)

    ticking = asyncio.ensure_future(tick())
    try:
        await asyncio.wait_for(work, PATIENCE)
    finally:
        ticking.cancel()
    return found


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    while not holds():  # noqa: ASYNC110 - what is on a screen has no event
        await asyncio.sleep(TICK)


def shown(app: InfospaceApp) -> str:
    """Return what is on the screen, as text."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips(app.size))


async def rest(app: InfospaceApp, pilot: Pilot[int]) -> None:
    """Nothing is done for a second: what the machine and the looking add by themselves."""
    await asyncio.sleep(1)


async def list_runs(app: InfospaceApp, pilot: Pilot[int]) -> None:
    """All runs, from first to last, and filtered in their bodies."""
    await pilot.press("f2")
    await until(lambda: "1,000 runs" in shown(app))
    await pilot.press("end", "home", "slash")
    await typed(pilot, "note 99")
    await until(lambda: "of 1,000" in shown(app))
    await pilot.press("escape")


async def visit(app: InfospaceApp, pilot: Pilot[int]) -> None:
    """Each place, for the first time."""
    for entry in PLACES:
        await app.action_go(entry.name)
        await pilot.pause()
        await asyncio.sleep(0.2)


async def write_plan(app: InfospaceApp, pilot: Pilot[int]) -> None:
    """A plan of a thousand steps is put into Compose; something is typed there, checked and completed at each key."""
    place = await compose(app)
    text = PLAN.read_text(encoding="utf-8")
    place.editor.load_text(text)
    await until(lambda: "may run" in shown(app))
    place.editor.move_cursor((3, 0))
    await typed(pilot, '{"type": "siz')
    await until(lambda: "error" in shown(app))
    place.editor.become(text)
    await until(lambda: "may run" in shown(app))


async def run_plan(app: InfospaceApp, pilot: Pilot[int]) -> None:
    """That plan runs and is followed in its tree."""
    await compose(app)
    await pilot.press("ctrl+r")
    await until(lambda: "run_" in shown(app))
    await pilot.press("alt+p")
    await until(lambda: "1,000 executions in" in shown(app))


async def open_markdown(app: InfospaceApp, pilot: Pilot[int]) -> None:
    """A note of 1 MB of Markdown is opened."""
    app.open_note(MARKDOWN)
    await until(lambda: "Heading 1" in shown(app))
    await pilot.press("tab", "pagedown", "pagedown", "end")
    await asyncio.sleep(0.5)


async def open_big(app: InfospaceApp, pilot: Pilot[int]) -> None:
    """A note of 20 MB is opened."""
    app.open_note(BIG)
    await until(lambda: "line 1 of many" in shown(app))
    await pilot.press("tab", "pagedown", "pagedown", "end")
    await asyncio.sleep(0.5)


async def search(app: InfospaceApp, pilot: Pilot[int]) -> None:
    """A search at each key, by meaning and by words."""
    await pilot.press("f6")
    place = app.place
    assert isinstance(place, Notes), place
    while "hybrid" not in shown(app):
        await pilot.press("m")
    await pilot.press("slash")
    await typed(pilot, QUERY)
    await until(lambda: "score" in shown(app))
    await pilot.press(*["backspace"] * 10)
    await asyncio.sleep(0.5)
    await pilot.press("escape")


async def typed(pilot: Pilot[int], text: str) -> None:
    """Press the keys of a text, as fast as somebody types."""
    for sign in text:
        await pilot.press("space" if sign == " " else sign)
        await asyncio.sleep(BETWEEN_KEYS)


async def compose(app: InfospaceApp) -> Compose:
    """Go to the place Compose."""
    await app.action_go("compose")
    await until(lambda: isinstance(app.place, Compose))
    assert isinstance(app.place, Compose)
    return app.place


STORIES: dict[str, Story] = {
    "nothing is done": rest,
    "all places for the first time": visit,
    "1,000 runs listed and filtered": list_runs,
    "a search on each key": search,
    "a note of 1 MB of Markdown": open_markdown,
    "a note of 20 MB": open_big,
    "writing in a plan of 1,000 steps": write_plan,
    "a plan of 1,000 steps runs": run_plan,
}

if __name__ == "__main__":
    SPACE, PLAN, OUT = map(Path, sys.argv[1:4])
    MARKDOWN, BIG = sys.argv[4:6]
    found: dict[str, list[float]] = {}

    async def story(pilot: Pilot[int]) -> None:
        """Tell all stories, one after the other."""
        app = pilot.app
        assert isinstance(app, InfospaceApp), app
        for name, one in STORIES.items():
            try:
                found[name] = await late(one(app, pilot))
            except TimeoutError:
                app.exit(return_code=1, message=f"{name!r} does not go on; this was seen:\n{shown(app)}")
                return
        app.exit()

    with open_space(SPACE) as space:
        app = InfospaceApp(space, UiState(None))
        app.run(auto_pilot=story)
    OUT.write_text(json.dumps(found), encoding="utf-8")
    sys.exit(app.return_code)
