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

import tui.composing.drafting
import tui.keying
import tui.notedeeds
import tui.table
import tui.widgets.detail
from infospace import Space
from infospace.memory.editing import edit
from infospace.resources import Collection, Note
from infospace.runs.journal import Use
from tui.composing.laying_out import laid_out
from tui.screens.notes import Notes
from tui.table import Table, read_table
from tui.widgets.dialogs import Confirm
from tui.widgets.grid import Grid
from tui.widgets.palette import Palette
from tui.widgets.revising import Revising
from tui.widgets.rows import Column, NoRows
from tui.widgets.seeing import See
from tui.widgets.tooldetail import AlikeRows

# Keys


def test_a_key_waits_until_the_one_before_is_done_however_long_that_takes(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is typed behind a slash goes to the field, also where somebody else has the cores."""
    monkeypatch.setattr(tui.keying, "PATIENCE", 0.01)
    monkeypatch.setattr(tui.keying, "MOST", 1_000_000)
    let_go = asyncio.Event()

    async def slowly(self: Notes) -> None:
        await let_go.wait()
        self.field.focus()

    monkeypatch.setattr(Notes, "action_search", slowly)

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        stage.burst("slash", *"steel")
        keying = stage.app._keying
        async with asyncio.timeout(PATIENCE):
            while keying._looks < 3:
                await asyncio.sleep(0)
        let_go.set()
        await stage.until(lambda: place(stage).field.value == "steel")

    show(story, (80, 24), stocked)


def test_keys_go_on_where_what_had_the_one_before_is_gone(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for what will not be done."""
    monkeypatch.setattr(tui.keying, "MOST", 1_000_000)

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        field = Input()
        await stage.app.screen.mount(field)
        field.focus()
        await stage.until(lambda: stage.app.focused is field)
        keying = stage.app._keying
        keying._send_after(field)
        field._message_queue.get_nowait()  # what would come back is not there any more
        removed = field.remove()
        stage.burst("5")
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
        await stage.until(lambda: detail.query_one("#ties", Grid).has_focus)
        assert detail.tab == "links"

    show(story, (160, 50), stocked)


# Dialogs


def test_a_dialog_that_is_answered_twice_closes_nothing_else(show: Show, stocked: Space) -> None:
    """The first answer counts."""
    answers: list[bool | None] = []

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        behind, dialog = Confirm("First?"), Confirm("Second?")
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


async def revised(stage: Stage, text: str) -> Revising:
    """Change a note here, without saving it yet."""
    await opened(stage, "8 kept notes")
    stage.app.open_note(named(stage.app.space, "steel"))
    await stage.sees("Steel rusts where water")
    await stage.press("e")
    await stage.sees("ctrl+s saves")
    dialog = stage.app.screen
    assert isinstance(dialog, Revising)
    dialog.query_one(TextArea).text = text
    return dialog


def test_what_is_being_saved_is_not_given_up(show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving then asks nothing: it is left when it is saved, and can be undone."""
    held = hold(monkeypatch, tui.notedeeds, "edit")

    async def story(stage: Stage) -> None:
        dialog = await revised(stage, "Iron oxide.")
        await stage.press("ctrl+s")
        await held.has_begun(stage)
        await stage.press("escape")
        assert stage.app.screen is dialog
        held.let_go.set()
        await stage.sees("Iron oxide.", "version 2")
        assert stage.app.screen is stage.app.place
        assert len(place(stage).undoable) == 1

    show(story, (80, 24), stocked)


def test_a_dialog_that_is_done_closes_with_what_was_opened_over_it(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that alone."""
    held = hold(monkeypatch, tui.notedeeds, "edit")

    async def story(stage: Stage) -> None:
        await revised(stage, "Iron oxide.")
        await stage.press("ctrl+s")
        await held.has_begun(stage)
        stage.app.action_command_palette()
        await stage.until(lambda: isinstance(stage.app.screen, Palette))
        held.let_go.set()
        await stage.until(lambda: stage.app.screen is stage.app.place)
        assert len(stage.app.screen_stack) == 1

    show(story, (80, 24), stocked)


def test_a_client_that_is_not_listed_any_more_is_not_chosen(show: Show, space: Space) -> None:
    """The file is being read again when the click arrives."""

    async def story(stage: Stage) -> None:
        await tools_opened(stage, "infospace/add")
        dialog = See(None)
        await stage.app.push_screen(dialog)
        options = dialog.query_one(OptionList)
        options.add_options(["ann"])
        dialog.post_message(OptionList.OptionSelected(options, options.get_option_at_index(0), 0))
        await stage.pilot.pause()
        assert stage.app.screen is dialog

    show(story)


# What is shown, and shown again


def test_a_version_that_is_being_read_is_shown_whatever_changes_meanwhile(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look at what has changed does not take its place."""
    steel = named(stocked, "steel")
    note = stocked.store.get(steel)
    assert isinstance(note, Note)
    edit(stocked.store, note, "Iron oxide.", {}, "edit")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        stage.app.open_note(steel)
        await stage.sees("Iron oxide.")
        held = hold(monkeypatch, tui.widgets.detail, "read_around")
        place(stage).follow(steel, 1)
        await held.has_begun(stage)
        await place(stage).look_at(Use(steel, 2), None)
        await held.is_over(stage)
        assert place(stage).detail.shown == Use(steel, 1)

    show(story, (80, 24), stocked)


def test_a_tab_is_told_though_what_is_shown_is_looked_at_again(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing has changed, and so it is not told anew."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        stage.app.open_note(named(stocked, "short"))
        await stage.sees("In short: ")
        detail = place(stage).detail
        assert detail.shown is not None
        held = hold(monkeypatch, tui.widgets.detail, "graph_of")
        await stage.press(*["right_square_bracket"] * 4)
        await held.has_begun(stage)
        await detail.show(detail.shown.id, again=True)
        held.let_go.set()
        await stage.sees("$bread = ")

    show(story, (160, 50), stocked)


def test_the_note_that_somebody_goes_on_to_is_shown_though_the_one_before_changes(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was done to the one before does not bring it back."""
    steel, bread = named(stocked, "steel"), named(stocked, "bread")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        stage.app.open_note(steel)
        await stage.sees("Steel rusts where water")
        held = hold(monkeypatch, tui.widgets.detail, "read_around")
        place(stage).follow(bread, None)
        await held.has_begun(stage)
        place(stage).changed()
        await held.is_over(stage)
        shown = place(stage).detail.shown
        assert shown is not None
        assert shown.id == bread

    show(story, (80, 24), stocked)


def test_a_line_that_was_chosen_is_followed_though_others_are_shown_since(show: Show, stocked: Space) -> None:
    """It is the line that somebody saw."""
    sour, bread = named(stocked, "sourdough"), named(stocked, "bread")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        stage.app.open_note(sour)
        await stage.sees("Sourdough is raised")
        detail = place(stage).detail
        detail.open_tab("links")
        await stage.sees("refines")
        ties = detail.query_one("#ties", Grid)
        lines = [use.id if use is not None else "" for _, use in detail._lines["ties"].lines]
        ties.cursor = lines.index(bread)
        ties.action_choose()
        detail._list("ties", [])
        await stage.until(lambda: detail.shown is not None and detail.shown.id == bread)

    show(story, (160, 50), stocked)


def test_why_a_tool_is_alike_is_not_said_of_a_list_that_is_gone(show: Show, space: Space) -> None:
    """The row is not among those that are there now."""

    async def story(stage: Stage) -> None:
        shown = await tools_opened(stage, "infospace/add")
        grid = shown.detail.query_one("#alike", Grid)
        late = Grid.Highlighted(grid, 7, "tool some/tool")
        shown.detail.alike = AlikeRows()
        grid.post_message(late)
        await stage.pilot.pause()
        assert stage.app.is_running

    show(story)


def test_rows_that_somebody_else_reads_are_sorted_too(stocked: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is sorted by all of its rows, whoever reads some of them meanwhile."""
    monkeypatch.setattr(tui.table, "LOOKED_AT", 1)
    people = stocked.store.get(named(stocked, "people"))
    assert isinstance(people, Collection)

    class Shared(Table):
        """Another thread takes what is wanted, and has not read it yet."""

        def fetch(self) -> bool:
            self.wanted.clear()
            return False

    made = read_table(stocked, people)
    table = Shared(stocked, people, made._fields, [*made.columns, Column("more")])
    table.wanted = {0, 1, 2}
    table.sort(2 + made._fields.index("born"))
    table.sort(2 + made._fields.index("born"))
    assert [place.partition(":")[0] for place in map(table.key, range(3))] == ["2", "1", "0"]


# Compose


def test_what_is_typed_while_a_fix_is_looked_for_stays(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so does the fix."""
    text = '[\n {"type": "create-not",   "value": "x", "out": "$x"}\n]\n'

    async def story(stage: Stage) -> None:
        drafting = await compose(stage, text)
        at(drafting, "[\n")
        held = hold(monkeypatch, tui.composing.drafting, "look")
        drafting.editor.insert(" ")
        await stage.press("ctrl+f")
        await held.has_begun(stage)
        drafting.editor.insert("\n")
        held.let_go.set()
        await stage.until(lambda: '"create-note"' in drafting.text, "the fix")
        assert drafting.text == text.replace("[\n", "[\n \n").replace("create-not", "create-note")

    show(story)


def test_a_breakpoint_that_has_just_moved_is_taken_away(show: Show, space: Space) -> None:
    """Before the text was checked again."""

    async def story(stage: Stage) -> None:
        drafting = await compose(stage, laid_out(PLAN))
        at(drafting, '"size"')
        await stage.press("ctrl+b")
        await stage.until(lambda: drafting.stops)
        at(drafting, '"steps": [')
        drafting.editor.insert("\n")
        await stage.until(lambda: drafting._before == drafting.text)
        drafting.action_unstop()
        await stage.until(lambda: not drafting.stops)
        assert isinstance(drafting.query_one("#stops", Grid).rows, NoRows) or not len(
            drafting.query_one("#stops", Grid).rows
        )

    show(story)
