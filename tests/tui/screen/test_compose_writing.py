"""Compose: a plan is checked, mended and completed as it is written."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from drafts import PLAN, at, compose, offered
from furnishing import note, web
from holding import hold
from pauses import BUSY, longest_pause
from staging import PATIENCE, SIZES, Show, Stage
from textual.events import Key

from infospace import Space
from infospace.data.json_text import read_json
from tui.runtime import key_queue as keying
from tui.screens.compose.compose import Compose
from tui.text.format_plan import format_plan
from tui.widgets.editor import suggester
from tui.widgets.editor.completion_popup import CompletionPopup
from tui.widgets.editor.editor import Editor
from tui.widgets.lazy_table import LazyTable


def test_a_plan_is_written_from_nothing_with_what_is_offered(show: Show, space: Space) -> None:
    """Brackets and quotes close themselves; what is taken leads to the next."""

    async def story(stage: Stage) -> None:
        place = await compose(stage)
        await stage.press("[", "enter", "{", '"')
        await offered(stage, "type")
        await stage.press("tab")
        await offered(stage, "create-note")
        await stage.write("create-n")
        await stage.until(
            lambda: (
                place.query_one(CompletionPopup).chosen
                and place.query_one(CompletionPopup).chosen.label == "create-note"
            )
        )
        await stage.press("enter")
        await stage.write(', "')
        await offered(stage, "value")
        await stage.press("tab")
        await stage.until(lambda: place.text.endswith('"value": }\n]'), "the key")
        await stage.write('"hello" , "o')
        await offered(stage, "out")
        await stage.press("tab")
        await offered(stage, "$note")
        await stage.press("tab")
        await stage.sees("✓ may run")
        assert read_json(place.text) == [{"type": "create-note", "value": "hello", "out": "$note"}]

    show(story)


def test_a_problem_is_marked_at_its_line_and_mended_by_a_key(show: Show, space: Space) -> None:
    """Only what is wrong is changed, and that can be undone."""
    text = '[\n {"type": "create-not",   "value": "x", "out": "$x"},\n {"type": "say", "value": "$x"}\n]\n'

    async def story(stage: Stage) -> None:
        place = await compose(stage, text)
        await stage.sees("✗ 1 error", "2✗", "there is no step type 'create-not'")
        await stage.press("ctrl+n")
        assert place.editor.cursor_location[0] == 1
        assert "did you mean 'create-note'?" in stage.text
        await stage.press("ctrl+f")
        await stage.sees("✓ may run")
        assert place.text == text.replace("create-not", "create-note")
        await stage.press("ctrl+z")
        await stage.sees("✗ 1 error")
        assert place.text == text
        await stage.press("ctrl+y")
        await stage.sees("✓ may run")

    show(story)


def test_what_is_offered_after_a_backspace_is_for_the_text_that_it_leaves(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is handled well before its binding deletes."""
    go_on, held = asyncio.Event(), asyncio.Event()
    delete = Editor.action_delete_left

    async def delete_later(editor: Editor) -> None:
        held.set()
        await go_on.wait()
        delete(editor)

    async def refreshed(stage: Stage) -> None:
        shown = asyncio.Event()
        stage.app.screen.call_after_refresh(shown.set)
        await shown.wait()

    async def story(stage: Stage) -> None:
        place = await compose(stage, '[{"type": "size", "target": "$x"}]')
        at(place, '"size')
        monkeypatch.setattr(Editor, "action_delete_left", delete_later)
        stage.burst("backspace")
        await asyncio.wait_for(held.wait(), PATIENCE)
        await refreshed(stage)
        await refreshed(stage)
        go_on.set()
        await offered(stage, "size")
        assert '"siz"' in place.text

    show(story)


def test_all_fixes_are_applied_by_one_key(show: Show, space: Space) -> None:
    """What they do not touch stays as it was written, and all of it is undone at once."""
    text = '[\n {"type": "create-not",   "value": "x", "output": "x"},\n {"type": "sya", "value": "$x"}\n]\n'

    async def story(stage: Stage) -> None:
        place = await compose(stage, text)
        await stage.sees("✗ 3 errors")
        await stage.press("alt+f")
        await stage.sees("✓ may run")
        mended = text.replace("create-not", "create-note").replace('"output": "x"', '"out": "$x"')
        assert place.text == mended.replace("sya", "say")
        await stage.press("ctrl+z")
        await stage.sees("✗ 3 errors")
        assert place.text == text

    show(story)


def test_the_next_problem_is_gone_to_in_both_directions(show: Show, space: Space) -> None:
    """And the list goes with it."""
    text = '[\n {"type": "aaaaaa"},\n {"type": "say", "value": "x"},\n {"type": "size", "target": "$y"}\n]'

    async def story(stage: Stage) -> None:
        place = await compose(stage, text)
        seen = []
        for key in ("ctrl+n", "alt+down", "ctrl+n", "alt+up"):
            await stage.press(key)
            seen.append(place.editor.cursor_location[0])
        assert seen == [1, 3, 1, 3]
        assert "$y is not bound" in stage.text

    show(story)


def test_a_syntax_error_shows_its_place(show: Show, space: Space) -> None:
    """As one types on, the marks move with the text."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, '[\n {"type": "say", "value": "x"},\n]')
        await stage.sees("3✗", "not JSON at line 3")
        place.editor.move_cursor((0, 0))
        await stage.press("enter")
        await stage.sees("4✗")

    show(story)


def test_escape_also_leaves_what_is_still_being_looked_for(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list does not open again when what may stand there is known."""
    text = '[{"type": "create-note", "value": "x", "out": "$n"},\n '

    async def story(stage: Stage) -> None:
        place = await compose(stage, text)
        place.editor.move_cursor(place.editor.document.end)
        await stage.write('{"type": "head", "target": "')
        await offered(stage, "$n")
        held = hold(monkeypatch, suggester, "complete")
        await stage.write("$")
        await held.has_begun(stage)
        await stage.press("escape")
        await held.is_over(stage)
        assert not place.query_one(CompletionPopup).display

    show(story)


def test_variables_are_completed_inside_of_an_incomplete_text(show: Show, space: Space) -> None:
    """Those that fit first; what is typed filters; escape leaves the list, another one the text."""
    find = '{"type": "discover-notes", "query": "x", "out": "$hits"}'
    text = f'[{find},\n {{"type": "size", "target": "$hits", "out": "$n"}},\n '

    async def story(stage: Stage) -> None:
        place = await compose(stage, text)
        place.editor.move_cursor(place.editor.document.end)
        await stage.write('{"type": "head", "target": "$')
        await offered(stage, "$n")
        labels = [(one.label, one.fits) for one in place.query_one(CompletionPopup)._offers]
        assert labels == [("$hits", True), ("$n", False)]
        await stage.press("escape")
        assert not place.query_one(CompletionPopup).display
        await stage.write("hi")
        await offered(stage, "$hits")
        await stage.press("tab")
        await stage.until(lambda: '"target": "$hits"' in place.text.splitlines()[-1])
        await stage.write("[0].")
        await offered(stage, ".metadata")
        await stage.press("down", "down", "tab")
        await stage.until(lambda: "$hits[0].metadata" in place.text)
        await stage.press("escape")
        assert not place.editor.has_focus

    show(story)


def test_a_tab_right_behind_what_is_typed_takes_what_is_offered_for_it(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though that is still being found out; what is typed behind the tab comes after it."""
    monkeypatch.setattr(keying, "LONGER", PATIENCE)
    held = hold(monkeypatch, suggester, "complete")

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        stage.burst("{", '"', "g", "o", "tab", *"mine")
        await held.has_begun(stage)
        await stage.pilot.pause()
        assert place.text == '{"go"}'
        held.release.set()
        await stage.until(lambda: place.text == '{"goal": "mine"}', "the goal")

    show(story)


def test_a_dollar_that_stands_there_is_not_doubled_by_who_types_it(show: Show, space: Space) -> None:
    """Only where it was put with what was taken: two of them are how a dollar is written."""
    find = '{"type": "discover-notes", "query": "x", "out": "$hits"}'

    async def story(stage: Stage) -> None:
        place = await compose(stage, f'[{find}, {{"type": "size", "targ"}}]')
        at(place, '"targ')
        await stage.press("ctrl+@")
        await offered(stage, "target")
        await stage.press("tab")
        await stage.until(lambda: '"target": "$"' in place.text)
        await stage.write("$")
        await offered(stage, "$hits")
        assert '"target": "$"' in place.text
        await stage.write("hits")
        assert '"target": "$hits"' in place.text
        await stage.write('", "out": "$$n')
        assert '"out": "$$n"' in place.text

    show(story)


def test_an_offer_is_taken_with_the_mouse(show: Show, space: Space) -> None:
    """The text has the focus again."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, '[{"type": "siz"}]')
        at(place, '"siz')
        await stage.press("ctrl+@")
        await offered(stage, "size")
        await stage.pilot.click(place.query_one("OfferList"), offset=(2, 0))
        await stage.until(lambda: place.text == '[{"type": "size"}]')
        assert place.editor.has_focus
        assert not place.query_one(CompletionPopup).display

    show(story)


def test_nothing_is_offered_where_nothing_is_known(show: Show, space: Space) -> None:
    """Asked for it, that is said; digits and question marks are text here."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        await stage.write('{"goal": "1?')
        assert place.text == '{"goal": "1?"}'
        await stage.press("ctrl+@")
        await stage.until(lambda: any("No completion is known" in one for one in stage.said()))
        assert isinstance(stage.app.screen, Compose)

    show(story)


def test_a_key_with_alt_is_no_letter(show: Show, space: Space) -> None:
    """Terminals tell it together with its letter."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        stage.app.post_message(Key("alt+p", "p"))
        await stage.until(lambda: any("It was not run yet" in one for one in stage.said()))
        assert place.text == ""

    show(story)


def test_a_plan_of_a_thousand_steps_holds_nothing_up(show: Show, space: Space) -> None:
    """While it is checked, mended and completed."""
    steps: list[Any] = [note(f"note {number}", f"$n{number}") for number in range(500)]
    steps += [{"type": "create-collection", "value": [f"$n{number}"], "out": f"$c{number}"} for number in range(500)]
    steps[900] = {**steps[900], "type": "create-collectio"}

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")

        async def doing() -> None:
            place.files.open_text("", format_plan(steps))
            await stage.sees("✗ 1 error")
            await stage.press("ctrl+n", "ctrl+f")
            await stage.sees("✓ may run  1,000 steps")
            at(place, '"$c498"')
            await stage.write(', "na')
            await offered(stage, "name")

        assert await longest_pause(doing()) < 0.35 * BUSY

    show(story)


def test_tools_of_the_space_are_offered(show: Show, space: Space) -> None:
    """With their arguments."""
    space.tools.add(web())

    async def story(stage: Stage) -> None:
        place = await compose(stage, '[{"type": "web"}]')
        at(place, '"web')
        await stage.press("ctrl+@")
        await offered(stage, "web/fetch")
        await stage.sees("Fetch a page.")
        await stage.press("enter")
        await stage.write(', "')
        await offered(stage, "arguments")
        await stage.press("enter")
        await stage.write('"')
        await offered(stage, "url")
        await stage.press("enter")
        await stage.until(lambda: read_json(place.text) == [{"type": "web/fetch", "arguments": {"url": ""}}])

    show(story)


def test_everything_can_be_done_with_the_mouse(show: Show, space: Space) -> None:
    """Deeds stand as links beside the text; a problem is gone to by a click, and mended by one."""

    async def story(stage: Stage) -> None:
        place = await compose(
            stage, '[{"type": "create-not", "value": "x", "out": "$x"},\n {"type": "say", "value": "$x"}]'
        )
        grid = place.query_one("#flaws", LazyTable)
        await stage.until(lambda: len(grid.rows) == 1)
        await stage.pilot.click(grid, offset=(10, 1), times=2)
        await stage.until(lambda: place.editor.has_focus)
        await stage.pilot.click(place.query_one("#about .fixes"), offset=(3, 1))
        await stage.sees("✓ may run")
        place.tabs.active = "run"
        await stage.sees("^l step")
        links = next(one for one in place.query(".links") if one.region.height and "step" in str(one.render()))
        await stage.pilot.click(links, offset=(str(links.render()).index("^l step") + 1, 0))
        await stage.sees("paused before step 2")

    show(story)


@pytest.mark.parametrize("size", SIZES)
def test_pictures(show: Show, space: Space, size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Problems, offers, a run that rests, inputs."""
    plan = {**PLAN, "inputs": {"greeting": {"type": "string", "description": "What is said", "default": "hello"}}}
    plan["steps"] = [*PLAN["steps"][:3], note("${greeting}: ${n} of them", "$end")]  # type: ignore[index]

    async def story(stage: Stage) -> None:
        place = await compose(stage, format_plan({**plan, "steps": [*plan["steps"], {"type": "siz", "target": "$nn"}]}))  # type: ignore[misc]
        await stage.sees("✗ 2 errors")
        await stage.press("ctrl+n")
        await stage.until(lambda: not place.editor.history.redo_stack)
        await stage.is_as(f"compose-problems-{size}")
        place.editor.go_to(place.text.index('"siz"') + 4)
        await stage.press("ctrl+@")
        await offered(stage, "size")
        await stage.is_as(f"compose-offers-{size}")
        await stage.press("escape")
        place.files.open_text("count.json", format_plan(plan))
        await stage.sees("✓ may run")
        at(place, '"size"')
        await stage.press("ctrl+b")
        await stage.until(lambda: place.stops)
        await stage.press("ctrl+r")
        await stage.sees("greeting: text")
        stage.app.clear_notifications()
        await stage.until(lambda: not stage.said())
        if size == "80x24":
            await stage.is_as(f"compose-inputs-{size}")
        await stage.press("ctrl+r")
        await stage.sees("paused before step 3", "2 notes: a!; b!", "▶")
        await stage.is_as(f"compose-rests-{size}")

    show(story, SIZES[size])
