"""Compose as somebody meets it: the first plan, coming and going, a space at a time, tools that come later."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from drafts import at, compose, offered
from furnishing import note
from holding import hold
from staging import PATIENCE, Show, Stage
from textual.events import Paste
from tooling import desk, house, listed, opened

from infospace import Space, open_space
from infospace.data.json_text import read_json
from tui.dialogs.common import HelpDialog
from tui.runtime import key_queue as keying
from tui.runtime.ui_state import UiState
from tui.screen_registry import PLACES
from tui.text.format_plan import format_plan
from tui.widgets.editor import suggester
from tui.widgets.editor.completion_popup import CompletionPopup


def test_the_first_plan_is_written_and_run_by_keys_alone(show: Show, space: Space) -> None:
    """What is typed goes where it belongs, and a word that was typed whole gets its quotes by enter."""

    async def story(stage: Stage) -> None:
        place = await compose(stage)
        await stage.sees("^space begins a plan")
        await stage.press("ctrl+@")
        await offered(stage, "a plan")
        await stage.press("enter")
        await offered(stage, "create-note")
        await stage.write("create-note")
        await offered(stage, "create-note")
        await stage.press("enter")
        await stage.write(", out")
        await offered(stage, "out")
        await stage.press("enter")
        await offered(stage, "$note")
        await stage.press("enter")
        await stage.write(", value")
        await offered(stage, "value")
        await stage.press("enter")
        await stage.write("hello")
        await offered(stage, '"hello"')
        await stage.press("enter")
        await stage.sees("✓ may run  1 step")
        await stage.press("ctrl+r")
        await stage.sees("run_1 ✓ success", "hello")
        step = {"type": "create-note", "out": "$note", "value": "hello"}
        assert read_json(place.text) == {"goal": "", "steps": [step]}

    show(story)


def test_a_plan_is_written_by_what_is_offered_alone(show: Show, space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for behind a value, what comes next brings its comma, also when it is begun then."""
    monkeypatch.setattr(keying, "LONGER", PATIENCE)

    async def story(stage: Stage) -> None:
        place = await compose(stage)
        await stage.press("ctrl+@")
        await offered(stage, "a plan")
        await stage.press("enter")
        await offered(stage, "create-note")
        await stage.write("create-note")
        await stage.press("enter")
        await stage.until(lambda: '{"type": "create-note"}' in place.text, "the type")
        await stage.press("ctrl+@")
        await offered(stage, "out")
        await stage.write("out")
        await stage.press("enter")
        await offered(stage, "$note")
        await stage.press("enter")
        await stage.until(lambda: '"out": "$note"}' in place.text, "the variable")
        await stage.press("ctrl+@")
        await offered(stage, "value")
        await stage.press("enter")
        await stage.until(lambda: '"$note", "value": ' in place.text, "the value")
        await stage.write("1")
        await stage.sees("✓ may run  1 step")
        await stage.press("ctrl+r")
        await stage.sees("run_1 ✓ success")
        assert read_json(place.text)["steps"] == [{"type": "create-note", "out": "$note", "value": 1}]

    show(story)


@pytest.mark.parametrize(
    ("before", "word", "label", "after"),
    [
        ('[{"type": "size", ', "out", "out", '"out": "$"'),
        ('[{"type": "say", "on_fail": ', "continue", "continue", '"continue"'),
        ('[{"type": ', "size", "size", '"size"'),
        ("{", "goal", "goal", '"goal": ""'),
    ],
)
def test_a_word_that_was_typed_whole_gets_its_quotes(
    show: Show, space: Space, before: str, word: str, label: str, after: str
) -> None:
    """Though nothing else may stand there than what stands there already."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, before)
        place.editor.go_to(len(before))
        await stage.write(word)
        await offered(stage, label)
        await stage.press("enter")
        await stage.until(lambda: place.text.startswith(f"{before}{after}"), after)

    show(story)


def test_enter_waits_for_what_is_being_found_out(show: Show, space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast somebody types: it takes what is offered, or begins a line where nothing is; nothing gets lost."""
    monkeypatch.setattr(keying, "LONGER", PATIENCE)
    held = hold(monkeypatch, suggester, "complete")

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        stage.burst("{", *"goal", "enter", *"mine")
        await held.has_begun(stage)
        await stage.pilot.pause()
        assert place.text == "{goal}"
        held.release.set()
        await stage.until(lambda: place.text == '{"goal": "mine"}', "the goal")
        stage.burst(*"x", "enter", *"y")
        await stage.until(lambda: place.text == '{"goal": "minex\ny"}', "a line")

    show(story)


def test_a_number_is_not_made_another_one_by_enter(show: Show, space: Space) -> None:
    """The default begins with it; it is offered to whoever asks."""
    begun = '[{"type": "search-within-collection", "query": "x", "out": "$x", "threshold": '

    async def story(stage: Stage) -> None:
        place = await compose(stage, begun)
        place.editor.go_to(len(begun))
        await stage.write("0")
        await stage.press("enter")
        await stage.until(lambda: place.text == f"{begun}0\n", "a line")
        await stage.press("backspace", "ctrl+@")
        await stage.until(lambda: place.query_one(CompletionPopup).display, "the default")

    show(story)


def test_enter_behind_a_word_in_quotes_goes_out_of_them(show: Show, space: Space) -> None:
    """And never breaks the text there; behind a word that needs none it begins a line."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        await stage.write('[{"type": "say", "on_fail": "continue')
        await offered(stage, "continue")
        await stage.press("enter")
        await stage.write(', "value": null')
        await stage.until(lambda: not place.editor.expecting, "an answer")
        assert not place.query_one(CompletionPopup).display
        await stage.press("enter")
        await stage.until(lambda: "\n" in place.text, "a line")
        assert read_json(place.text) == [{"type": "say", "on_fail": "continue", "value": None}]

    show(story)


@pytest.mark.parametrize("key", ["8", "f8"])
def test_whoever_comes_back_writes_on(show: Show, space: Space, key: str) -> None:
    """The text has the focus: what is pasted is put where the cursor was."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "[]")
        at(place, "[")
        await stage.press("escape", "f6")
        await stage.sees("kept notes")
        await stage.press(key)
        await stage.until(lambda: stage.app.place is place and place.editor.has_focus, "the focus")
        stage.app.post_message(Paste('{"type": "stop"}'))
        await stage.sees("✓ may run")
        assert place.text == '[{"type": "stop"}]'

    show(story)


def test_what_is_pasted_beside_the_text_goes_into_it(show: Show, space: Space) -> None:
    """A list takes no text; one key takes all of it back."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        await stage.press("escape")
        await stage.until(lambda: not place.editor.has_focus)
        stage.app.post_message(Paste('[{"type":\n "stop"}]'))
        await stage.sees("✓ may run  1 step")
        assert place.text == '[{"type":\n "stop"}]'
        assert place.editor.has_focus
        await stage.press("ctrl+z")
        await stage.until(lambda: place.text == "", "an empty text")

    show(story)


def test_a_paste_into_a_field_stays_there(show: Show, space: Space) -> None:
    """A dialog in front of the text has fields of its own."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "[]")
        await stage.press("ctrl+s")
        await stage.sees("Save as")
        stage.app.post_message(Paste("plan.json"))
        await stage.sees("plan.json")
        assert place.text == "[]"

    show(story)


def test_the_number_of_a_place_is_that_of_its_function_key(show: Show, space: Space) -> None:
    """The bar shows the key; from within a text too it goes there, where a digit is text."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        await stage.press("8")
        assert place.text == "8"
        for number, entry in enumerate(PLACES, start=2):
            await compose(stage)
            await stage.until(lambda: place.editor.has_focus)
            await stage.sees(f"F{number} {entry.title}")
            await stage.press(f"f{number}")
            await stage.until(lambda entry=entry: stage.app.place.name_of_place == entry.name, entry.name)
            await stage.press("escape", "f2", "escape")
            await stage.until(lambda: stage.app.place.name_of_place == "runs")
            await stage.press(str(number))
            await stage.until(lambda entry=entry: stage.app.place.name_of_place == entry.name, entry.name)
        await stage.press("f1")
        await stage.until(lambda: isinstance(stage.app.screen, HelpDialog), "the help")
        stage.app.screen.query(".keys").last().scroll_visible(animate=False)
        await stage.sees("F9, 9", "Compare: two runs side by side", "the numbers alone go there")

    show(story)


def test_a_draft_belongs_to_its_space(show: Show, space: Space, tmp_path: Path) -> None:
    """Another space has another one; two screens at a time do not take each other's."""
    path = tmp_path / "screen.json"
    here, there = UiState(path), UiState(path)

    def writes(text: str) -> object:
        async def story(stage: Stage) -> None:
            assert (await compose(stage)).text == ""
            await compose(stage, text)

        return story

    def finds(text: str) -> object:
        async def story(stage: Stage) -> None:
            assert (await compose(stage)).text == text

        return story

    with open_space(tmp_path / "other.db") as other:
        show(writes('["here"]'), memory=here)
        show(writes('["there"]'), on=other, memory=there)
        show(finds('["here"]'), memory=UiState(path))
        show(finds('["there"]'), on=other, memory=UiState(path))


def test_what_was_kept_for_the_user_goes_to_the_space_that_is_opened_first(tmp_path: Path) -> None:
    """A draft that an earlier version kept is not lost; what is the user's stays so."""
    path = tmp_path / "screen.json"
    path.write_text('{"theme": "nord", "compose.draft": "[1]"}', encoding="utf-8")
    memory = UiState(path)
    memory.enter("one")
    memory.write()
    again = UiState(path)
    again.enter("two")
    assert (again.get("theme", ""), again.get("compose.draft", "")) == ("nord", "")
    again.enter("one")
    assert again.get("compose.draft", "") == "[1]"


def test_a_screen_learns_of_tools_that_are_listed_while_it_is_open(
    show: Show, space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another process: the check that stands there is done again, tools are offered, and Tools lists them."""
    text = format_plan([{"type": "desk/rooms", "out": "$rooms"}])

    def others() -> None:
        house(tmp_path, monkeypatch, desk=desk())
        with open_space(space.store.address) as elsewhere:
            listed(elsewhere, monkeypatch)

    async def story(stage: Stage) -> None:
        await opened(stage)
        place = await compose(stage, text)
        await stage.sees("✗ 1 error")
        await asyncio.to_thread(others)
        await stage.sees("✓ may run  1 step")
        at(place, '"desk/r')
        await stage.press("ctrl+@")
        await offered(stage, "desk/rooms")
        await stage.press("escape", "f7")
        await stage.until(lambda: stage.app.place is not place and stage.app.place.is_mounted, "Tools")
        await stage.sees("desk/rooms")
        (tmp_path / "mcp.json").unlink()
        await stage.loses("desk/rooms")
        await stage.press("f8")
        await stage.sees("✗ 1 error")

    show(story)


def test_a_check_follows_what_others_do_in_the_space(show: Show, space: Space) -> None:
    """A note that is named meanwhile by somebody else is there."""
    from planner.execute.start import run_sync

    async def story(stage: Stage) -> None:
        await compose(stage, format_plan([{"type": "load", "target": "late", "out": "$x"}]))
        await stage.sees("✗ 1 error")
        await asyncio.to_thread(run_sync, space, [{**note("here"), "name": "late"}])
        await stage.sees("✓ may run  1 step")

    show(story)
