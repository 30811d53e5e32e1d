"""What is looked at, read or listed again while something else comes: the newer one is shown, whole."""

from __future__ import annotations

import asyncio

import pytest
from holding import hold
from noted import named, opened, place
from staging import Show, Stage
from textual.widgets import Static
from tooling import opened as tools_opened

import tui.screens.compare
import tui.screens.runs
import tui.screens.tools.tools
import tui.tables.collection_table
import tui.widgets.details.resource
import tui.widgets.details.tool
from infospace import Space
from infospace.core.resources import Collection, Note
from infospace.editing.edit import edit
from infospace.journal.rows import Use
from planner.lifecycle.cancel import cancel
from tui.app import InfospaceApp
from tui.runtime.runner import ActiveRun
from tui.runtime.workers import MAX_POLL_SECONDS, poll_delay
from tui.screens.compare import Compare
from tui.screens.runs import Runs
from tui.tables.collection_table import CollectionTable, read_table
from tui.text.table_model import Column
from tui.widgets.details.resource_data import ResourceData
from tui.widgets.details.tool import SimilarToolRows
from tui.widgets.lazy_table import LazyTable

# Notes


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
        held = hold(monkeypatch, tui.widgets.details.resource, "read_around")
        place(stage).follow(steel, 1)
        await held.has_begun(stage)
        await place(stage).refresh_shown(Use(steel, 2), None)
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
        held = hold(monkeypatch, tui.widgets.details.resource, "graph_of")
        await stage.press(*["right_square_bracket"] * 5)
        await held.has_begun(stage)
        await detail.show(detail.shown.id, again=True)
        held.release.set()
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
        held = hold(monkeypatch, tui.widgets.details.resource, "read_around")
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
        ties = detail.query_one("#ties", LazyTable)
        lines = [use.id if use is not None else "" for _, use in detail._lines["ties"].lines]
        ties.cursor = lines.index(bread)
        ties.action_choose()
        detail._list("ties", [])
        await stage.until(lambda: detail.shown is not None and detail.shown.id == bread)

    show(story, (160, 50), stocked)


# Tools


def test_why_a_tool_is_alike_is_not_said_of_a_list_that_is_gone(show: Show, space: Space) -> None:
    """The row is not among those that are there now."""

    async def story(stage: Stage) -> None:
        shown = await tools_opened(stage, "infospace/add")
        grid = shown.detail.query_one("#alike", LazyTable)
        late = LazyTable.Highlighted(grid, 7, "tool some/tool")
        shown.detail.similar = SimilarToolRows()
        grid.post_message(late)
        await stage.pilot.pause()
        assert stage.app.is_running

    show(story)


def test_a_list_of_servers_that_is_being_read_is_not_begun_anew(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it takes, it is shown."""
    monkeypatch.setattr("tui.screens.tools.tools.POLL_SECONDS", 3_600.0)
    held = hold(monkeypatch, tui.screens.tools.tools, "server_statuses")

    async def story(stage: Stage) -> None:
        tools = await tools_opened(stage, "infospace/add")
        await stage.press("v")
        await held.has_begun(stage)
        tools._stamp = None
        tools.refresh_if_changed()
        await stage.until(lambda: not any(one.group == "look" and not one.is_finished for one in tools.workers))
        await held.is_over(stage)
        assert held.times == 1

    show(story)


def test_a_tool_that_is_read_late_does_not_take_the_place_of_another(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the one at the cursor that is shown."""

    async def story(stage: Stage) -> None:
        tools = await tools_opened(stage, "infospace/add")
        first, second = tools.tools.listed.tools[3:5]
        held = hold(monkeypatch, tui.widgets.details.tool, "read_tool")
        late = asyncio.create_task(tools.detail.show(first))
        await held.has_begun(stage)
        await tools.detail.show(second)
        held.release.set()
        await late
        assert tools.detail.tool is second

    show(story)


# Tables


def test_rows_that_somebody_else_reads_are_sorted_too(stocked: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is sorted by all of its rows, whoever reads some of them meanwhile."""
    monkeypatch.setattr(tui.tables.collection_table, "LOOKED_AT", 1)
    people = stocked.store.get(named(stocked, "people"))
    assert isinstance(people, Collection)

    class Shared(CollectionTable):
        """Another thread takes what is wanted, and has not read it yet."""

        def fetch(self) -> bool:
            self.wanted.clear()
            return False

    made = read_table(stocked.context(), people)
    table = Shared(stocked.context(), people, made._fields, [*made.columns, Column("more")])
    table.wanted = {0, 1, 2}
    table.sort(2 + made._fields.index("born"))
    table.sort(2 + made._fields.index("born"))
    assert [place.partition(":")[0] for place in map(table.key, range(3))] == ["2", "1", "0"]


# Runs


def test_what_a_run_waited_for_is_not_said_once_it_waits_no_more(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was ended elsewhere while that was read."""
    held = hold(monkeypatch, tui.screens.runs, "pending_of")

    async def story(stage: Stage) -> None:
        await stage.sees("run_3 ")
        runs = stage.app.place
        assert isinstance(runs, Runs)
        runs.query_one(LazyTable).go_to("run_3")
        await held.has_begun(stage)
        await asyncio.to_thread(cancel, furnished, "run_3")
        await stage.until(lambda: runs._runs.head("run_3").status == "cancelled", "the end")
        await stage.until(lambda: not any(one.group == "look" and not one.is_finished for one in runs.workers))
        await held.is_over(stage)
        assert "waits" not in str(runs.query_one("#about", Static).content)

    show(story, on=furnished)


def test_a_look_that_goes_on_is_not_begun_anew(show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or one that takes long would never be done while a run goes on here."""
    held = hold(monkeypatch, InfospaceApp, "read_snapshot")

    def asked(app: InfospaceApp, question: object) -> object:
        return held(app, question)

    monkeypatch.setattr(InfospaceApp, "read_snapshot", asked)

    async def story(stage: Stage) -> None:
        await held.has_begun(stage)
        runs = stage.app.place
        assert isinstance(runs, Runs)
        [look] = [worker for worker in runs.workers if worker.group == "look"]
        runs.handle_run_events(ActiveRun("run_1"), [])
        runs._poll()
        assert not look.is_cancelled
        await held.is_over(stage)
        await stage.sees("5 runs")

    show(story, on=furnished)


def test_sorting_is_offered_only_while_the_value_is_a_table(show: Show, furnished: Space) -> None:
    """Also where the value comes after everything else was drawn."""

    async def story(stage: Stage) -> None:
        await stage.open("run_1", place="variables")
        await stage.sees("12 of 12", "3: three", "s Sort")
        data = stage.app.screen.query_one("#value", ResourceData)
        data.show_text("late")
        await stage.loses("s Sort")
        await data.show("Collection_1")
        await stage.sees("s Sort")

    show(story, (160, 50), furnished)


# Compare


async def compared(stage: Stage, first: str, second: str) -> Compare:
    """Compare two runs."""
    stage.app.compare(first, second)
    await stage.until(lambda: isinstance(stage.app.place, Compare) and stage.app.place._found is not None)
    found = stage.app.place
    assert isinstance(found, Compare)
    return found


def test_a_comparison_that_goes_on_is_not_begun_anew_by_each_look(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it takes, it is done once."""

    async def story(stage: Stage) -> None:
        comparing = await compared(stage, "run_1", "run_3")
        held = hold(monkeypatch, tui.screens.compare, "compare")
        comparing._compare()
        await held.has_begun(stage)
        comparing._stamp = None
        comparing._poll()
        await stage.until(lambda: not any(one.group == "look" and not one.is_finished for one in comparing.workers))
        await held.is_over(stage)
        assert held.times == 1

    show(story, on=furnished)


def test_a_look_that_took_long_does_not_keep_the_next_one_away_for_long() -> None:
    """Where somebody else had the cores for a while, what others do is seen soon after."""
    assert poll_delay(0.01, 20) == pytest.approx(0.2)
    assert poll_delay(30.0, 20) == MAX_POLL_SECONDS
