"""Compose: plans are opened, kept, remembered and laid out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from drafts import PLAN, at, compose
from furnishing import note
from staging import Show, Stage
from textual.widgets import Input

from infospace import Conflict, Space
from infospace.data.json_text import read_json
from planner.parse.saved_plans import load_plan, save_plan
from tui.runtime.ui_state import UiState
from tui.screens.compose.files import _is_there
from tui.text.format_plan import format_plan


def test_files_are_opened_and_saved(show: Show, space: Space, tmp_path: Path) -> None:
    """The text as it is; what is there is replaced only when that is wanted; what was here comes back."""
    path = tmp_path / "plan.json"
    path.write_text('[{"type":"say",\r\n"value":"é"}]', encoding="utf-8")
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe\x00")

    async def story(stage: Stage) -> None:
        place = await compose(stage, "[1, 2]")
        await stage.press("ctrl+o")
        await stage.sees("an empty plan", "example:branching")
        stage.app.screen.query_one(Input).value = str(path)
        await stage.press("enter")
        await stage.until(lambda: "é" in place.text)
        assert place.text == '[{"type":"say",\n"value":"é"}]'
        await stage.press("end", "end", "space")
        await stage.sees("plan.json *")
        await stage.press("ctrl+s")
        await stage.sees("Save as")
        await stage.press("enter")
        await stage.loses("plan.json *")
        assert path.read_text(encoding="utf-8").startswith('[{"type":"say", \n')
        await stage.press("ctrl+s")
        await stage.sees("Save as")
        stage.app.screen.query_one(Input).value = str(tmp_path / "bad.json")
        await stage.press("enter")
        await stage.sees("Replace it?")
        await stage.press("n")
        assert (tmp_path / "bad.json").read_bytes() == b"\xff\xfe\x00"
        for name, message in [("bad.json", "not UTF-8"), ("none.json", "there is no file"), (".", "is a folder")]:
            await stage.press("ctrl+o")
            await stage.sees("an empty plan")
            stage.app.screen.query_one(Input).value = str(tmp_path / name)
            await stage.press("enter")
            await stage.until(lambda message=message: any(message in one for one in stage.said()), message)
        await stage.press("ctrl+z", "ctrl+z")
        await stage.until(lambda: place.text == "[1, 2]")
        await stage.loses("plan.json")

    show(story)


@pytest.mark.parametrize("downs", [1, 40])
def test_a_longer_text_gives_way_wherever_its_cursor_is(show: Show, space: Space, downs: int) -> None:
    """By an undo of what was opened, and by a redo of what was opened in its place."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        await stage.press("ctrl+o")
        await stage.sees("an empty plan")
        await stage.write("branch")
        await stage.press("down", "enter")
        await stage.sees("✓ may run")
        longer = place.text
        await stage.press(*["down"] * downs, "ctrl+z")
        await stage.until(lambda: place.text == "", "an empty text")
        await stage.press("ctrl+y")
        await stage.until(lambda: place.text == longer, "the longer text")
        await stage.press("ctrl+o")
        await stage.sees("an empty plan")
        await stage.press("down", "enter")
        await stage.until(lambda: len(place.text) < len(longer), "the empty plan")
        shorter = place.text
        await stage.press("ctrl+z")
        await stage.until(lambda: place.text == longer, "the longer text")
        await stage.press(*["down"] * downs, "ctrl+y")
        await stage.until(lambda: place.text == shorter, "the empty plan")
        await stage.write("x")
        await stage.until(lambda: len(place.text) == len(shorter) + 1, "a text that goes on")

    show(story, (80, 24))


def test_saved_plans_and_examples_are_opened_and_saved(show: Show, space: Space) -> None:
    """Only what the check has passed is saved as a plan; another version only when that is wanted."""
    save_plan(space, "digest", {"goal": "A digest", "steps": [{"type": "say", "value": "old"}]})

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        await stage.press("ctrl+o")
        await stage.sees("plan:digest", "A digest")
        await stage.write("branch")
        await stage.loses("plan:digest")
        await stage.press("down", "enter")
        await stage.sees("discover-notes", "✓ may run")
        place.editor.become('{"steps": [{"type": "say", "valu": "new"}]}')
        await stage.press("ctrl+s")
        await stage.sees("Save as")
        await stage.write("plan:digest")
        await stage.press("enter")
        await stage.until(lambda: any("Only a plan that the check has passed" in one for one in stage.said()))
        await stage.press("ctrl+f")
        await stage.sees("✓ may run")
        await stage.press("ctrl+s")
        await stage.sees("Save as")
        await stage.write("plan:digest")
        await stage.press("enter")
        await stage.sees("Make this its next")
        await stage.press("y")
        await stage.sees("plan:digest  ✓")
        assert load_plan(space, "digest") == {"steps": [{"type": "say", "value": "new"}]}

    show(story)


def test_a_draft_is_there_again_after_a_start(show: Show, space: Space, tmp_path: Path) -> None:
    """With its stops, its conditions and its name."""
    path = tmp_path / "screen.json"

    async def first(stage: Stage) -> None:
        place = await compose(stage)
        place.files.open_text("plan:mine", format_plan(PLAN))
        await stage.sees("plan:mine  ✓ may run")
        at(place, '"size"')
        await stage.press("ctrl+b", "alt+w")
        await stage.sees("Break when")
        await stage.write("$n > 1")
        await stage.press("enter")
        await stage.until(lambda: place.breakpoints.when)

    async def second(stage: Stage) -> None:
        place = await compose(stage)
        await stage.sees("plan:mine  ✓ may run", "Breaks 2")
        assert place.files.title == "plan:mine"
        assert place.text == format_plan(PLAN)
        assert [place.text[stop:].startswith('{"type": "size"') for stop in place.stops] == [True]
        assert [when.text for when in place.breakpoints.when] == ["$n > 1"]

    show(first, memory=UiState(path))
    show(second, memory=UiState(path))


def test_breakpoints_are_where_they_were_after_a_start(show: Show, space: Space, tmp_path: Path) -> None:
    """Also when the text before them was written after they were set; a text that is opened anew has none."""
    path = tmp_path / "screen.json"

    async def first(stage: Stage) -> None:
        place = await compose(stage, format_plan(PLAN))
        at(place, '"size"')
        await stage.press("ctrl+b")
        await stage.until(lambda: place.stops)
        at(place, '"steps": [')
        await stage.press("enter")
        await stage.write('{"type": "think", "value": "x"},')
        await stage.until(lambda: place.draft.text == place.text and place.draft.errors == 0)

    async def second(stage: Stage) -> None:
        place = await compose(stage)
        await stage.sees("✓ may run  6 steps", "Breaks 1")
        assert [place.text[stop:].startswith('{"type": "size"') for stop in place.stops] == [True]
        place.files.open_text("", place.text)
        await stage.loses("Breaks 1")

    async def third(stage: Stage) -> None:
        place = await compose(stage)
        await stage.sees("✓ may run  6 steps")
        assert place.stops == []

    for story in (first, second, third):
        show(story, memory=UiState(path))


def test_json_lines_are_checked_and_made_a_plan(show: Show, space: Space) -> None:
    """To be run here they are laid out as one."""
    lines = [{"goal": "said"}, note("x", "$x"), {"type": "say", "value": "$x"}]

    async def story(stage: Stage) -> None:
        place = await compose(stage, "\n".join(json.dumps(line) for line in lines))
        await stage.sees("a session in JSON Lines")
        await stage.press("ctrl+r")
        await stage.until(lambda: any("alt+l makes one plan" in one for one in stage.said()))
        await stage.press("alt+l")
        await stage.sees("✓ may run  2 steps")
        assert read_json(place.text) == {"goal": "said", "steps": lines[1:]}
        await stage.press("ctrl+r")
        await stage.sees("success")

    show(story)


def test_what_cannot_be_laid_out_stays_as_it_is(show: Show, space: Space) -> None:
    """The sentence says why."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "{nothing}")
        await stage.press("alt+l")
        await stage.until(lambda: any("cannot be laid out" in one for one in stage.said()))
        assert place.text == "{nothing}"

    show(story)


def test_a_file_is_there_or_not_whatever_was_typed(tmp_path: Path) -> None:
    """A text that is longer than the name of a file may be names none; a folder is no file."""
    (tmp_path / "plan.json").write_text("[]")
    assert [_is_there(str(tmp_path / name)) for name in ("plan.json", "none.json", "word " * 80)] == [
        True,
        False,
        False,
    ]
    with pytest.raises(Conflict, match="is a folder"):
        _is_there(str(tmp_path))
