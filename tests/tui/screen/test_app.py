"""The app itself: places, help, the palette, what it remembers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.color import Color
from staging import PATIENCE, SIZES, Show, Stage, gate
from textual.command import CommandList
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.theme import BUILTIN_THEMES
from textual.widget import Widget

from infospace import Space
from infospace.tools.local import LocalTools
from planner.execute.start import Prepared, prepare
from tui.dialogs.command_palette import Palette
from tui.screen_registry import FIRST, PLACES, numbered
from tui.widgets.tab_bar import Tab


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_every_place_opens_at_every_size(show: Show, size: tuple[int, int]) -> None:
    """By its number, by its function key; help is there."""

    async def story(stage: Stage) -> None:
        for number, entry in numbered():
            title, other = entry.title, "f2" if number > FIRST else "f3"
            await stage.press("escape", other)
            await stage.press("escape", str(number))
            await stage.until(lambda title=title: type(stage.app.place).__name__ == title, title)
            await stage.press("f1")
            await stage.sees(f"Help: {title}")
            await stage.press("escape")
            await stage.loses("Help: ")
            await stage.press(other)
            await stage.until(lambda title=title: type(stage.app.place).__name__ != title, f"not {title}")
            await stage.press(f"f{number}")
            await stage.until(lambda title=title: type(stage.app.place).__name__ == title, title)

    show(story, size)


def test_a_place_that_opens_styles_its_widgets_once(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once more when its size is told, nor as it comes to the front; only what is changed as it opens is."""
    styled: Counter[DOMNode] = Counter()
    apply = Stylesheet.apply

    def counted(sheet: Stylesheet, node: DOMNode, **how: Any) -> None:
        styled[node] += 1
        apply(sheet, node, **how)

    monkeypatch.setattr(Stylesheet, "apply", counted)

    async def story(stage: Stage) -> None:
        for width, breadth in ((80, "-narrow"), (160, "-wide")):
            await stage.pilot.resize_terminal(width, 50)
            styled.clear()
            await stage.go("notes" if width == 80 else "tools")
            place = stage.app.place
            assert place is not None
            assert place.has_class(breadth, "-high")
            widgets = [widget for widget in place.walk_children() if isinstance(widget, Widget)]
            more = [widget for widget in widgets if styled[widget] > 1]
            assert all(styled[widget] for widget in widgets)
            assert len(more) < len(widgets) / 3, more

    show(story)


def test_everything_of_a_place_is_found_with_the_mouse(show: Show, furnished: Space) -> None:
    """At 80 columns too, where the last line has no room for all: a click on its name, and there it stands."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_3 ")
        for at, entry in enumerate(PLACES):
            if at:
                await stage.pilot.click(list(stage.app.screen.query(Tab))[at])
            await stage.until(
                lambda name=entry.name: stage.app.place is not None and stage.app.place.name_of_place == name,
                entry.name,
            )
            assert stage.app.place is not None
            tab = list(stage.app.place.query(Tab))[at]
            await stage.until(lambda tab=tab: tab.region.width > 0 and stage.app.screen is stage.app.place)
            await stage.pilot.click(tab)
            await stage.until(lambda: isinstance(stage.app.screen, Palette), "the palette")
            await stage.sees("Go to Compare")
            await stage.pilot.click(offset=(0, 0))
            await stage.until(lambda: stage.app.screen is stage.app.place)

    show(story, on=furnished)


def test_a_bug_ends_the_screen_with_a_sentence(
    space: Space, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The place of it is shown to those who ask for it."""
    monkeypatch.delenv("INFOSPACE_DEBUG", raising=False)

    async def story(stage: Stage) -> None:
        stage.app.call_later(broken)
        await stage.until(lambda: stage.app.return_code == 1)

    def broken() -> None:
        raise ZeroDivisionError("by nothing")

    with pytest.raises(ZeroDivisionError, match="by nothing"):
        asyncio.run(Stage.play(space, story, (80, 24)))
    said = capsys.readouterr().err
    assert "infospace has a bug (ZeroDivisionError: by nothing)" in said
    assert "Traceback" not in said


def test_a_bug_in_work_of_a_place_is_a_sentence_and_the_screen_goes_on(show: Show) -> None:
    """Nothing is lost."""

    async def story(stage: Stage) -> None:
        async def broken() -> None:
            raise ZeroDivisionError("by nothing")

        assert stage.app.place is not None
        stage.app.place.do(broken)
        await stage.until(lambda: any("infospace has a bug (ZeroDivisionError" in one for one in stage.said()))
        await stage.go("plan")
        await stage.sees("No run is open")

    show(story)


def test_leaving_waits_for_the_steps_under_way_of_a_run_that_was_stopped(space: Space) -> None:
    """However often somebody leaves, as a browser and its server do: nothing is broken off that ends in time."""
    begun, let_go, server = threading.Event(), gate(), LocalTools("desk")

    @server.tool(read_only=True)
    async def ring() -> str:
        """Ring a bell, for as long as somebody likes."""
        begun.set()
        assert await asyncio.to_thread(let_go.wait, PATIENCE)
        return "ding"

    space.tools.add(server)
    call = {"type": "desk/ring", "arguments": {}, "out": "$x"}
    plan = {"steps": [call, {"type": "say", "value": "not said"}]}

    async def story(stage: Stage) -> None:
        prepared = prepare(space, plan)
        assert isinstance(prepared, Prepared)
        stage.app.follow(stage.app.runner.start, prepared)
        await stage.until(begun.is_set, "the call")
        [going] = stage.app.runner.going
        stage.app.runner.halt(going)
        await stage.until(lambda: going.halt.now, "an end soon")
        stage.app.suspend_and_exit()
        await stage.until(lambda: "Finishing the steps under way …" in stage.said())
        stage.app.suspend_and_exit()
        await stage.pilot.pause()
        let_go.set()
        await stage.until(lambda: stage.app.return_value == 0)

    asyncio.run(Stage.play(space, story, (80, 24)))
    with space.store.reading() as snapshot:
        assert snapshot.run("run_1").status == "suspended"
        assert [step.status for step in snapshot.steps("run_1")] == ["success"]


def drawn(stage: Stage) -> tuple[str, set[str]]:
    """Return the colour behind most of what is seen, and those of the signs of what went well."""
    segments = [one for strip in stage.app.screen._compositor.render_strips(stage.app.size) for one in strip]
    behind: Counter[str] = Counter()
    for text, style, _ in segments:
        behind[named_colour(style and style.bgcolor)] += len(text)
    [(most, _)] = behind.most_common(1)
    return most, {named_colour(style and style.color) for text, style, _ in segments if "✓" in text}


def named_colour(colour: Color | None) -> str:
    """Return the name of a colour, "default" where the terminal has its own."""
    return "default" if colour is None else colour.name


@pytest.mark.parametrize("theme", ["textual-light", "nord", "ansi-light", "gruvbox"])
def test_every_theme_shows_the_places(show: Show, furnished: Space, theme: str) -> None:
    """In its colours, also those that the terminal decides on; the theme before had others."""
    named = BUILTIN_THEMES[theme].to_color_system().generate()
    surface, success = (
        colour.lower() if colour.startswith("#") else "default" for colour in (named["surface"], named["text-success"])
    )

    async def story(stage: Stage) -> None:
        await stage.sees("run_5 ")
        assert (surface, {success}) != drawn(stage)
        stage.app.theme = theme
        await stage.until(lambda: drawn(stage) == (surface, {success}), "the colours of the list")
        await stage.open("run_1")
        await stage.sees("✓ 5 create-note → $answer")
        assert drawn(stage) == (surface, {success})

    show(story, on=furnished)


def test_without_a_terminal_the_command_says_so() -> None:
    """And what to do instead."""
    command = [sys.executable, "-m", "tui.command", "tui"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "infospace: the screen needs a terminal (`infospace runs` and `infospace show` print instead)\n"
    )


def test_standard_error_that_leads_elsewhere_is_told(tmp_path: Path) -> None:
    """Since the screen is drawn on it: a screen that nobody sees would take keys all the same."""
    master, slave = os.openpty()
    try:
        command = [sys.executable, "-m", "tui.command", "--space", str(tmp_path / "x.db"), "tui"]
        with (tmp_path / "log").open("wb") as log:
            code = subprocess.run(
                command, stdin=slave, stdout=slave, stderr=log, check=False, timeout=PATIENCE
            ).returncode
    finally:
        os.close(slave)
        os.close(master)
    assert code == 2
    assert (tmp_path / "log").read_text() == (
        "infospace: the screen is drawn on standard error, and that leads to a file or a pipe (leave out `2>`)\n"
    )


def test_the_palette_takes_keys_before_its_list_is_laid_out(show: Show, space: Space) -> None:
    """They do nothing then, and go through the list afterwards."""

    async def story(stage: Stage) -> None:
        await stage.press("ctrl+p")
        await stage.sees("Go to Notes")
        commands = stage.app.screen.query_one(CommandList)
        commands.display = False
        await stage.until(lambda: not commands.scrollable_content_region)
        commands.clear_options()
        commands.add_options(["one", "two"])
        commands.highlighted = 1
        await stage.press("pageup", "pagedown", "home", "end")
        commands.display = True
        await stage.sees("one", "two")
        await stage.press("pageup")
        await stage.until(lambda: commands.highlighted == 0)

    show(story, on=space)
