"""What comes too late: by then something else is shown, or nothing, and that stays."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from drafts import PLAN, compose
from furnishing import REFUSED, WAIT, note
from holding import hold
from noted import named, opened, place
from staging import PATIENCE, Show, Stage
from test_compare import two_runs
from tooling import form
from tooling import opened as tools_opened

import tui.screens.compare
import tui.screens.compose.compose
import tui.screens.open_run
import tui.screens.tools.call_tool
import tui.screens.variables
import tui.widgets.details.resource
import tui.widgets.details.resource_content
import tui.widgets.details.resource_data
from infospace import Space
from infospace.core.resources import Note
from infospace.editing.edit import edit
from infospace.files.atomic_write import write_atomically
from infospace.tools.local import LocalTools
from planner.editor.draft import check_draft
from planner.execute.start import run_sync
from planner.journal.events import RunFinished, StepFinished
from planner.journal.result import RunResult
from tui.runtime.runner import ActiveRun
from tui.runtime.ui_state import UiState
from tui.screens.compare import Compare
from tui.screens.step import Step
from tui.screens.variables import Variables
from tui.text.format_plan import format_plan
from tui.widgets.line_table import LineTable
from tui.widgets.slider import Slider
from tui.widgets.text_view import TextView

# What lies open


def test_what_happens_in_another_run_is_not_taken_for_the_one_that_is_read(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its own steps, also where both go on here."""
    with furnished.store.reading() as snapshot:
        other = snapshot.steps("run_2")[-1]
    held = hold(monkeypatch, tui.screens.open_run, "read_run")

    async def story(stage: Stage) -> None:
        stage.app.runner.going.append(ActiveRun("run_1"))
        stage.app.open_run("run_1")
        await held.has_begun(stage)
        stage.app.handle_run_events(ActiveRun("run_2"), [StepFinished(other, nesting=0)])
        await held.is_over(stage)
        assert stage.app.subject is not None
        assert {row.run for row in stage.app.subject.rows} == {"run_1"}
        stage.app.runner.going.clear()

    show(story, on=furnished)


def test_a_run_that_ends_while_it_is_read_is_read_again(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, and not when it is looked again."""
    held = hold(monkeypatch, tui.screens.open_run, "read_run")

    async def story(stage: Stage) -> None:
        stage.app.open_run("run_1")
        await held.has_begun(stage)
        stage.app.handle_run_events(ActiveRun("run_1"), [RunFinished(RunResult("run_1", "success"))])
        await held.is_over(stage)
        assert held.times == 2

    show(story, on=furnished)


def test_the_end_of_a_run_does_not_keep_a_plan_from_being_opened(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the plan that somebody asked for last."""
    held = hold(monkeypatch, tui.screens.open_run, "read_plan")

    async def story(stage: Stage) -> None:
        await stage.open("run_1")
        stage.app.open_plan(REFUSED)
        await held.has_begun(stage)
        stage.app.handle_run_events(ActiveRun("run_1"), [RunFinished(RunResult("run_1", "success"))])
        await held.is_over(stage)
        await stage.sees("a plan, not run")

    show(story, on=furnished)


def test_the_step_of_a_run_that_is_gone_is_not_shown_any_more(show: Show, furnished: Space) -> None:
    """Nothing of its result, its calls or its JSON stays."""

    async def story(stage: Stage) -> None:
        await stage.open("run_1", "1", place="step")
        step = stage.app.place
        assert isinstance(step, Step)
        await stage.sees("called with", "one", "two", "three")
        await asyncio.to_thread(furnished.store.forget, ["run_1"], really=True)
        stage.app.open_run("run_1", place="step")
        await stage.sees("No run is open")
        await stage.loses("three")
        assert step.query_one("#raw", TextView).text == ""
        assert "called with" not in stage.text

    show(story, (160, 50), furnished)


def test_variables_of_a_run_do_not_come_after_a_plan_was_opened(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that was not run has none."""
    held = hold(monkeypatch, tui.screens.variables, "VariableHistory")

    async def story(stage: Stage) -> None:
        await stage.open("run_1", place="variables")
        await held.has_begun(stage)
        stage.app.open_plan(REFUSED)
        await stage.sees("a plan, not run", "nothing is bound yet")
        await held.is_over(stage)
        assert "nothing is bound yet" in stage.text

    show(story, on=furnished)


def test_a_value_does_not_come_after_the_moment_was_left(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the beginning nothing is bound, and nothing is shown."""

    async def story(stage: Stage) -> None:
        await stage.open("run_1", place="variables")
        variables = stage.app.place
        assert isinstance(variables, Variables)
        await stage.sees("3: three")
        held = hold(monkeypatch, tui.widgets.details.resource_data, "read_resource")
        slider = variables.query_one(Slider)
        slider.value = 1
        await held.has_begun(stage)
        slider.value = 0
        await stage.sees("nothing is bound yet")
        await held.is_over(stage)
        data = variables.query_one(tui.widgets.details.resource_data.ResourceData)
        assert (data.table, data.query_one(TextView).text) == (None, "")

    show(story, on=furnished)


def test_what_differed_does_not_come_after_there_is_nothing_to_compare(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sides are empty then."""
    two_runs(space)
    held = hold(monkeypatch, tui.screens.compare, "render_pair")

    async def story(stage: Stage) -> None:
        stage.app.compare("run_1", "run_2")
        await held.has_begun(stage)
        await asyncio.to_thread(space.store.forget, ["run_2"], really=True)
        await stage.press("x")
        await stage.sees("there is no run_2")
        await held.is_over(stage)
        comparing = stage.app.place
        assert isinstance(comparing, Compare)
        assert [len(comparing.query_one(f"#{side}", LineTable).rows) for side in ("before", "after")] == [0, 0]

    show(story)


# Notes


def test_the_note_that_was_pointed_to_stays_when_the_list_comes(show: Show, stocked: Space) -> None:
    """Also where the place was never shown before: the list's first row does not take its place."""
    steel = named(stocked, "steel")

    async def story(stage: Stage) -> None:
        stage.app.open_note(steel)
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "notes")
        await stage.until(lambda: place(stage).grid.key == "Note_8")
        await stage.pilot.pause()
        assert place(stage)._resting is None
        await stage.sees("Steel rusts where water")
        await stage.press("down")
        await stage.until(lambda: place(stage).around.brief.id == "Note_7", "the next row")

    show(story, (80, 50), stocked)


def test_another_look_at_a_note_does_not_bring_it_back(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever goes on to another one sees that, whatever became of the first meanwhile."""
    steel, bread = named(stocked, "steel"), named(stocked, "bread")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        detail = place(stage).detail
        await detail.show(steel)
        changed = stocked.store.get(steel)
        assert isinstance(changed, Note)
        await asyncio.to_thread(edit, stocked.store, changed, "Iron oxide.", {}, "edit")
        held = hold(monkeypatch, tui.widgets.details.resource, "read_around")
        place(stage).follow(bread, None)
        await held.has_begun(stage)
        await detail.show(steel, again=True)
        await held.is_over(stage)
        assert detail.shown is not None
        assert detail.shown.id == bread

    show(story, (80, 24), stocked)


def test_a_tree_does_not_take_the_place_of_another_note(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Laying it out took longer than somebody looked at it."""

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        content = place(stage).detail.content
        city, steel = (stocked.store.get(named(stocked, name)) for name in ("city", "steel"))
        held = hold(monkeypatch, tui.widgets.details.resource_content, "JsonTree")
        late = asyncio.create_task(content.show(city))
        await held.has_begun(stage)
        await content.show(steel)
        held.release.set()
        await late
        await stage.sees("Steel rusts where water")

    show(story, (80, 50), stocked)


def test_a_tab_that_was_left_before_it_was_told_is_told_later(
    show: Show, stocked: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not blank for good."""
    held = hold(monkeypatch, tui.widgets.details.resource, "graph_of")

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        stage.app.open_note(named(stocked, "short"))
        await stage.sees("In short: ")
        await stage.press(*["right_square_bracket"] * 5)
        await held.has_begun(stage)
        await stage.press("right_square_bracket")
        await stage.sees("what was made of it")
        held.release.set()
        await stage.press("left_square_bracket")
        await stage.sees("$bread = ")

    show(story, (160, 50), stocked)


def test_what_a_search_says_after_somebody_left_is_said_to_nobody(show: Show, stocked: Space) -> None:
    """Nothing is there any more to say it in, and nothing is raised."""
    left = []

    async def story(stage: Stage) -> None:
        await opened(stage, "8 kept notes")
        left.append(place(stage))

    show(story, (80, 24), stocked)
    left[0].show_message("embedding 1 of 2 before searching …")
    assert not left[0].query("#found")


# Tools


def test_a_call_that_is_broken_off_before_it_begins_is_not_made(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is looked whether the tool may be called."""
    made: list[str] = []
    server = LocalTools("desk")

    @server.tool(read_only=True)
    async def ring() -> str:
        """Ring a bell."""
        made.append("ding")
        return "ding"

    space.tools.add(server)
    held = hold(monkeypatch, tui.screens.tools.call_tool, "prepare_call")

    async def story(stage: Stage) -> None:
        await tools_opened(stage, "desk/ring")
        await form(stage, "desk/ring")
        await stage.press("ctrl+r")
        await held.has_begun(stage)
        await stage.press("escape", "x")
        await held.is_over(stage)
        await stage.until(lambda: "desk/ring was not called." in stage.said())
        assert made == []

    show(story, (160, 50))


# Compose


def test_a_space_that_changes_while_a_draft_is_checked_has_it_checked_again(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said of it is of the space as it is."""

    async def story(stage: Stage) -> None:
        drafting = await compose(stage, json.dumps([{"type": "load", "target": "later", "out": "$x"}]))
        assert drafting.draft.errors
        held = hold(monkeypatch, tui.screens.compose.compose, "check_draft")
        drafting.shown()
        await held.has_begun(stage)
        await asyncio.to_thread(run_sync, space, [note("x", name="later")])
        await drafting._check()
        held.release.set()
        await stage.until(lambda: not drafting.draft.errors, "the check")

    show(story)


def test_a_run_that_ends_under_another_draft_is_told_and_nothing_more(show: Show, space: Space) -> None:
    """The draft that was put there meanwhile is not taken for its plan."""
    slow = {"steps": [WAIT, note("x", "$x")]}

    async def story(stage: Stage) -> None:
        drafting = await compose(stage, format_plan(slow))
        await stage.press("ctrl+r")
        await stage.until(lambda: [going.run for going in stage.app.runner.going] == ["run_1"])
        drafting.files.open_text("", format_plan(PLAN))
        stage.app.runner.halt(stage.app.runner.going[0])
        await stage.until(lambda: any(one.startswith("run_1 waits") for one in stage.said()), "how it ended")
        assert drafting.draft_run.run_id is None
        assert "run_1" not in stage.text.splitlines()[1]

    show(story)


# What is remembered


def test_what_is_remembered_last_is_written_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of two writers began first."""
    path, begun, let_go = tmp_path / "screen.json", threading.Event(), threading.Event()
    memory = UiState(path)

    def held(path: Path, data: bytes) -> None:
        if not begun.is_set():
            begun.set()
            assert let_go.wait(PATIENCE)
        write_atomically(path, data)

    monkeypatch.setattr("tui.runtime.ui_state.write_atomically", held)
    with ThreadPoolExecutor(2) as pool:
        memory.set("runs.filter", "first")
        first = pool.submit(memory.write)
        assert begun.wait(PATIENCE)
        memory.set("runs.filter", "last")
        second = pool.submit(memory.write)
        wait([second], timeout=0.2)  # time enough where nothing keeps it from writing
        let_go.set()
        first.result()
        second.result()
    assert json.loads(path.read_text()) == {"runs.filter": "last"}


def test_a_check_that_is_ahead_of_the_word_of_a_change_marks_the_right_places(show: Show, space: Space) -> None:
    """And a stop stays at its step."""
    text = '[{"type": "aaaaaa"}, {"type": "size", "target": "$y"}]'

    async def story(stage: Stage) -> None:
        place = await compose(stage, text)
        place.stops = [text.index('{"type": "size"')]
        longer = f"\n\n{text}"
        place.editor.put(0, 0, "\n\n")
        place.show_draft(check_draft(space, longer))
        await stage.pilot.pause()
        assert [longer[mark.start : mark.end] for mark in place.draft.marks] == ['"aaaaaa"', '"$y"']
        assert [longer[stop:] for stop in place.stops] == [longer[longer.index('{"type": "size"') :]]

    show(story)
