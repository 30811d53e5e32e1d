"""Keys and clicks that come before what the one before did is done: none is lost, and none goes elsewhere."""

from __future__ import annotations

import asyncio

import pytest
from drafts import PLAN, at, compose
from holding import hold
from noted import named, opened, place
from staging import PATIENCE, Show, Stage
from textual.widgets import Input, OptionList, TabPane, TextArea
from tooling import opened as tools_opened

import tui.runtime.key_queue
import tui.screens.compose.compose
import tui.screens.notes.actions
import tui.screens.run_actions
import tui.tables.collection_table
import tui.widgets.details.resource
from infospace import Space
from tui.dialogs.client import ClientDialog
from tui.dialogs.command_palette import Palette
from tui.dialogs.common import ConfirmDialog
from tui.dialogs.edit_text import EditTextDialog
from tui.dialogs.open_plan import OpenPlanDialog, PlanSource
from tui.runtime.key_queue import KeyQueue
from tui.screens.notes.notes import Notes
from tui.screens.runs import Runs
from tui.text.format_plan import format_plan
from tui.text.table_model import NoRows
from tui.widgets.lazy_table import LazyTable

# Keys


def test_a_key_waits_until_the_one_before_is_done_however_long_that_takes(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is typed behind a slash goes to the field, also where somebody else has the cores."""
    monkeypatch.setattr(tui.runtime.key_queue, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(tui.runtime.key_queue, "MAX_POLLS", 1_000_000)
    let_go, looked = asyncio.Event(), asyncio.Event()
    look = KeyQueue._check_progress

    def looking(self: KeyQueue) -> None:
        look(self)
        if self._looks > 2:
            looked.set()

    async def slowly(self: Notes) -> None:
        await let_go.wait()
        self.field.focus()

    monkeypatch.setattr(Notes, "action_search", slowly)
    monkeypatch.setattr(KeyQueue, "_check_progress", looking)

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        stage.burst("slash", *"steel")
        await asyncio.wait_for(looked.wait(), PATIENCE)
        let_go.set()
        await stage.until(lambda: place(stage).field.value == "steel")

    show(story, (80, 24), stocked)


def test_keys_go_on_where_what_had_the_one_before_is_gone(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for what will not be done."""
    monkeypatch.setattr(tui.runtime.key_queue, "MAX_POLLS", 1_000_000)

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        field = Input()
        await stage.app.screen.mount(field)
        field.focus()
        await stage.until(lambda: stage.app.focused is field)
        keying = stage.app.keying
        keying._send_after(field)
        field._message_queue.get_nowait()  # what would come back is not there any more
        removed = field.remove()
        stage.burst("6")
        await removed
        await stage.until(lambda: not keying._busy, "the next key")

    show(story, (80, 24), stocked)


def test_a_focus_that_is_told_late_opens_no_tab(show: Show, stocked: Space) -> None:
    """The tab that was turned to since stays open."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        detail = place(stage).detail
        await stage.press("enter", "right_square_bracket")
        await stage.until(lambda: detail.tab == "about" and detail.query_one("#about").has_focus_within)
        about = detail.query_one("#about", TabPane)
        detail.turn(1)
        about.post_message(TabPane.Focused(about))
        await stage.until(lambda: detail.query_one("#ties", LazyTable).has_focus)
        assert detail.tab == "links"

    show(story, (160, 50), stocked)


def test_whoever_leaves_before_a_tab_is_drawn_is_not_fetched_back(show: Show, stocked: Space) -> None:
    """The keys go to the list."""

    async def story(stage: Stage) -> None:
        notes = await opened(stage, "8 kept notes")
        notes.detail.open_tab("links")
        notes.action_leave()
        await stage.pilot.pause()
        assert notes.grid.has_focus
        assert notes.detail.tab == "links"

    show(story, (160, 50), stocked)


def test_whoever_leaves_before_a_form_is_made_is_not_fetched_back(show: Show, space: Space) -> None:
    """By a key, or by going to the field."""

    async def story(stage: Stage) -> None:
        tools = await tools_opened(stage, "infospace/add")
        async with tools.detail._filling:
            await stage.press("c", "escape")
        await stage.until(lambda: tools.detail.form.tool is not None)
        assert tools.grid.has_focus
        await stage.press("j")
        await stage.until(lambda: tools.detail.tool is tools.tools.listed.tools[1])
        async with tools.detail._filling:
            await stage.press("c")
            tools.field.focus()
        await stage.until(lambda: tools.detail.form.tool is tools.detail.tool)
        assert tools.field.has_focus

    show(story, (160, 50))


# Dialogs


def test_a_dialog_that_is_answered_twice_closes_nothing_else(show: Show, stocked: Space) -> None:
    """The first answer counts."""
    answers: list[bool | None] = []

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        behind, dialog = ConfirmDialog("First?"), ConfirmDialog("Second?")
        await stage.app.push_screen(behind)
        await stage.app.push_screen(dialog, answers.append)
        dialog.dismiss(True)
        dialog.dismiss(False)
        await stage.until(lambda: answers)
        assert stage.app.screen is behind
        assert answers == [True]
        behind.dismiss(False)
        behind.dismiss(False)
        await stage.until(lambda: stage.app.screen is stage.app.place)

    show(story, (80, 24), stocked)


async def revised(stage: Stage, text: str) -> EditTextDialog:
    """Change a note here, without saving it yet."""
    await opened(stage, "8 kept notes")
    stage.app.open_note(named(stage.app.space, "steel"))
    await stage.sees("Steel rusts where water")
    await stage.press("e")
    await stage.sees("ctrl+s saves")
    dialog = stage.app.screen
    assert isinstance(dialog, EditTextDialog)
    dialog.query_one(TextArea).text = text
    return dialog


def test_what_is_being_saved_is_not_given_up(show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving then asks nothing: it is left when it is saved, and can be undone."""
    held = hold(monkeypatch, tui.screens.notes.actions, "edit")

    async def story(stage: Stage) -> None:
        dialog = await revised(stage, "Iron oxide.")
        await stage.press("ctrl+s")
        await held.has_begun(stage)
        await stage.press("escape")
        assert stage.app.screen is dialog
        held.release.set()
        await stage.sees("Iron oxide.", "version 2")
        assert stage.app.screen is stage.app.place
        assert len(place(stage).actions.undoable) == 1

    show(story, (80, 24), stocked)


def test_a_dialog_that_is_done_closes_with_what_was_opened_over_it(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that alone."""
    held = hold(monkeypatch, tui.screens.notes.actions, "edit")

    async def story(stage: Stage) -> None:
        await revised(stage, "Iron oxide.")
        await stage.press("ctrl+s")
        await held.has_begun(stage)
        stage.app.action_command_palette()
        await stage.until(lambda: isinstance(stage.app.screen, Palette))
        held.release.set()
        await stage.until(lambda: stage.app.screen is stage.app.place)
        assert len(stage.app.screen_stack) == 1

    show(story, (80, 24), stocked)


def test_a_client_that_is_not_listed_any_more_is_not_chosen(show: Show, space: Space) -> None:
    """The file is being read again when the click arrives."""

    async def story(stage: Stage) -> None:
        await tools_opened(stage, "infospace/add")
        dialog = ClientDialog(None)
        await stage.app.push_screen(dialog)
        options = dialog.query_one(OptionList)
        options.add_options(["ann"])
        dialog.post_message(OptionList.OptionSelected(options, options.get_option_at_index(0), 0))
        await stage.pilot.pause()
        assert stage.app.screen is dialog

    show(story)


def test_the_source_that_was_clicked_is_opened_though_others_are_listed_since(show: Show) -> None:
    """Somebody typed on before the click arrived."""
    given: list[str | None] = []

    async def story(stage: Stage) -> None:
        dialog = OpenPlanDialog(
            [PlanSource("", "to begin with"), PlanSource("plan:one", "first"), PlanSource("plan:two", "second")]
        )
        await stage.app.push_screen(dialog, given.append)
        options = dialog.query_one(OptionList)
        clicked = OptionList.OptionSelected(options, options.get_option_at_index(2), 2)
        dialog._filter("first")
        dialog.post_message(clicked)
        await stage.until(lambda: given)
        assert given == ["plan:two"]

    show(story)


# Deeds


def test_what_was_done_can_be_undone_whatever_is_done_meanwhile(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took its time, and somebody went on to something else."""
    steel = named(stocked, "steel")
    held = hold(monkeypatch, tui.screens.notes.actions, "remove")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        stage.app.open_note(steel)
        await stage.sees("Steel rusts where water")
        await stage.press("d")
        await held.has_begun(stage)
        await stage.press("p")
        await stage.until(lambda: f"{steel} is kept already." in stage.said())
        await held.is_over(stage)
        assert f"Deleted {steel}. u undoes it." in stage.said()
        assert len(place(stage).actions.undoable) == 1

    show(story, (80, 24), stocked)


def test_undoing_waits_for_what_is_being_done(show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is that which is undone."""
    steel = named(stocked, "steel")
    held = hold(monkeypatch, tui.screens.notes.actions, "remove")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        stage.app.open_note(steel)
        await stage.sees("Steel rusts where water")
        await stage.press("d")
        await held.has_begun(stage)
        await stage.press("u")
        await held.is_over(stage)
        assert place(stage).actions.undoable == []

    show(story, (80, 24), stocked)
    assert named(stocked, "steel") == steel


def test_a_run_that_was_answered_goes_on_whatever_is_done_meanwhile(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer was being kept, and somebody went on to another run."""
    held = hold(monkeypatch, tui.screens.run_actions, "answer")

    async def story(stage: Stage) -> None:
        await stage.sees("run_3 ")
        runs = stage.app.place
        assert isinstance(runs, Runs)
        runs.answer_run("run_3")
        await stage.sees("1985")
        await stage.press("enter")
        await held.has_begun(stage)
        runs.edit_run("run_2")
        await stage.sees("the plan of run_2")
        held.release.set()
        await stage.until(lambda: any(said.startswith("run_3 has ended well") for said in stage.said()))

    show(story, (160, 50), furnished)


# Compose


def test_what_is_typed_while_a_fix_is_looked_for_stays(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so does the fix."""
    text = '[\n {"type": "create-not",   "value": "x", "out": "$x"}\n]\n'

    async def story(stage: Stage) -> None:
        drafting = await compose(stage, text)
        at(drafting, "[\n")
        held = hold(monkeypatch, tui.screens.compose.compose, "check_draft")
        drafting.editor.insert(" ")
        await stage.press("ctrl+f")
        await held.has_begun(stage)
        drafting.editor.insert("\n")
        held.release.set()
        await stage.until(lambda: '"create-note"' in drafting.text, "the fix")
        assert drafting.text == text.replace("[\n", "[\n \n").replace("create-not", "create-note")

    show(story)


def test_a_breakpoint_that_has_just_moved_is_taken_away(show: Show, space: Space) -> None:
    """Before the text was checked again."""

    async def story(stage: Stage) -> None:
        drafting = await compose(stage, format_plan(PLAN))
        at(drafting, '"size"')
        await stage.press("ctrl+b")
        await stage.until(lambda: drafting.stops)
        at(drafting, '"steps": [')
        drafting.editor.insert("\n")
        await stage.until(lambda: drafting._before == drafting.text)
        drafting.action_unstop()
        await stage.until(lambda: not drafting.stops)
        assert isinstance(drafting.query_one("#stops", LazyTable).rows, NoRows) or not len(
            drafting.query_one("#stops", LazyTable).rows
        )

    show(story)
