"""The place Runs: what it lists, finds and does."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import pytest
from drafts import offered
from furnishing import COUNT, EVERY, WAIT, YEAR, note
from staging import Show, Stage
from textual.widgets import TextArea

from infospace import Space, open_space
from infospace.journal.rows import OpenRun
from planner.execute.start import run_sync
from tui.dialogs.fork import ForkDialog
from tui.runtime.ui_state import UiState
from tui.widgets.lazy_table import LazyTable


def status_of(space: Space, run: str) -> str:
    with space.store.reading() as snapshot:
        return snapshot.run(run).status


def test_an_empty_space_says_how_to_make_a_run(show: Show) -> None:
    """And nothing that is done there breaks."""

    async def story(stage: Stage) -> None:
        await stage.sees("no runs yet")
        await stage.press("enter", "a", "r", "x", "m", "c", "f", "p", "d", "escape", "down", "end")
        await stage.until(lambda: "There is no run here." in stage.said())
        await stage.press("3", "enter", "space", "n", "u", "4", "n", "y", "5", "comma", "s", "w")
        await stage.sees("No run is open")

    show(story)


def test_runs_are_filtered_as_one_types(show: Show, furnished: Space) -> None:
    """By words of id, status and goal; by what is in plans and values too."""

    async def story(stage: Stage) -> None:
        await stage.sees("5 runs")
        await stage.press("slash")
        await stage.write("suspended year")
        await stage.sees("1 of 5 runs", "Write down the year")
        await stage.loses("Count them")
        await stage.press("escape")
        await stage.press("escape")
        await stage.sees("  5 runs")
        await stage.press("slash")
        await stage.write("the page of a")
        await stage.sees("1 of 5 runs, 1 by what is in them", "≈ Fetch two pages")

    show(story, on=furnished)


def test_the_filter_is_remembered(show: Show, furnished: Space, tmp_path: Path) -> None:
    """So are the place and the theme; all is in the file when the screen is left."""
    path = tmp_path / "state" / "screen.json"

    async def leave(stage: Stage) -> None:
        await stage.sees("5 runs")
        await stage.press("slash")
        await stage.write("failed")
        await stage.sees("1 of 5")
        stage.app.theme = "nord"
        await stage.press("escape")
        await stage.go("plan")
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "plan")

    async def return_(stage: Stage) -> None:
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "plan")
        assert stage.app.theme == "nord"
        await stage.go("runs")
        await stage.sees("1 of 5 runs", "run_2")

    show(leave, on=furnished, memory=UiState(path))
    show(return_, on=furnished, memory=UiState(path))


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '{"theme": 7, "place": "nowhere", "runs.filter": ["x"]}', "\x00" * 99]
)
def test_a_state_that_makes_no_sense_is_as_none(show: Show, tmp_path: Path, text: str) -> None:
    """What cannot be read is said."""
    path = tmp_path / "screen.json"
    path.write_text(text)

    async def story(stage: Stage) -> None:
        await stage.sees("no runs yet")
        said = any("starts empty" in one for one in stage.said())
        assert said == (not text.startswith('{"'))

    show(story, memory=UiState(path))


def test_a_run_of_another_process_appears_and_changes(show: Show, space: Space, tmp_path: Path) -> None:
    """Nothing has to be pressed."""

    async def story(stage: Stage) -> None:
        await stage.sees("no runs yet")
        with open_space(tmp_path / "space.db") as other:
            run = (await asyncio.to_thread(run_sync, other, COUNT)).run
            await stage.sees(f"{run} ", "suspended", "Count them", "0/2")
            from planner.lifecycle.cancel import cancel

            cancel(other, str(run))
            await stage.sees("cancelled")

    show(story)


def test_what_cannot_be_done_is_a_sentence(show: Show, furnished: Space) -> None:
    """And nothing is lost."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_5 ")
        for key, message in (
            ("r", "run_5 has ended already"),
            ("a", "run_5 asks nothing"),
            ("x", "run_5 has ended already"),
        ):
            await stage.press(key)
            await stage.until(lambda message=message: any(message in one for one in stage.said()))
        await stage.press("c")
        await stage.until(lambda: any("Mark one run" in one for one in stage.said()))

    show(story, on=furnished)


def test_a_run_that_waits_is_ended_when_that_is_confirmed(show: Show, furnished: Space) -> None:
    """No leaves it as it is."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_4 ")
        await stage.press("down", "x")
        await stage.sees("End run_4 as cancelled?", "It cannot be resumed any more.", "End it (y)", "No (n)")
        await stage.press("n")
        await stage.loses("End run_4")
        assert status_of(furnished, "run_4") == "suspended"
        await stage.press("x")
        await stage.sees("End run_4")
        await stage.press("y")
        await stage.sees("× cancelled")

    show(story, on=furnished)
    assert status_of(furnished, "run_4") == "cancelled"


def test_a_run_is_deleted_for_good_when_that_is_confirmed(show: Show, furnished: Space) -> None:
    """What goes with it is said first."""

    async def story(stage: Stage) -> None:
        await stage.sees("5 runs")
        await stage.press("end", "d")
        await stage.sees("Delete run_1 for good?", "12 steps", "Delete (y)", "No (n)")
        await stage.press("y")
        await stage.sees("4 runs")
        await stage.press("home", "down", "d")
        await stage.until(lambda: any("run_4" in one for one in stage.said()), "that an unfinished run stays")

    show(story, on=furnished)
    with furnished.store.reading() as snapshot:
        assert [head.run for head in snapshot.run_heads()] == ["run_5", "run_4", "run_3", "run_2"]


def test_two_runs_are_compared(show: Show, space: Space) -> None:
    """The marked one with the one at the cursor, the earlier one first."""
    for word in ("left", "right"):
        run_sync(space, [note(word, "$x")])

    async def story(stage: Stage) -> None:
        await stage.sees("2 runs")
        await stage.press("m", "down", "c")
        await stage.sees("1 step differs", "before: run_1", "after: run_2", "differs in")
        assert stage.app.place.name_of_place == "compare"
        await stage.press("down")
        await stage.sees("left", "right")
        await stage.go("runs")
        await stage.sees("2 runs")

    show(story)


def test_a_third_mark_says_which_one_it_takes(show: Show, furnished: Space) -> None:
    """Two runs are compared: nothing is dropped in silence."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_5 ")
        await stage.press("m", "down", "m")
        assert stage.said() == []
        await stage.press("down", "m")
        message = "Two runs are compared: run_5 is not marked any more, run_4 and run_3 are."
        await stage.until(lambda: message in stage.said(), message)
        await stage.press("m")
        await stage.press("home", "m", "c")
        await stage.sees("before: run_4", "after: run_5")

    show(story, on=furnished)


def test_a_run_is_replayed(show: Show, furnished: Space) -> None:
    """What differs is shown; here nothing does."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_5 ")
        await stage.press("end", "p")
        await stage.sees("Replay of run_1", "the same: 12 steps alike")

    show(story, on=furnished)


def test_a_run_is_forked_with_a_change(show: Show, furnished: Space) -> None:
    """A plan that cannot be read is said in the dialog; the fork runs here."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_5 ")
        await stage.press("end", "f")
        await stage.sees("Fork run_1", "run again from step")
        area = stage.app.screen.query_one(TextArea)
        written = area.text
        area.text = written.rstrip()[:-1]
        await stage.press("ctrl+s")
        await stage.sees("the plan ends inside an object")
        area.text = written.replace("${n}: ${word}", "${word} (${n})")
        from textual.widgets import Select

        stage.app.screen.query_one(Select).value = "5"
        await stage.press("ctrl+s")
        await stage.until(lambda: any("run_6 has ended well" in one for one in stage.said()))
        await stage.sees("6 runs", "run_6 ")

    show(story, on=furnished)
    with furnished.store.reading() as snapshot:
        assert snapshot.get(str(snapshot.run("run_6").result)).content == "three (3)"


def test_a_fork_is_checked_and_completed_as_it_is_written(show: Show, furnished: Space) -> None:
    """The first keys are for the text, at the step; what is wrong is said there, mended by a key, and never run."""
    named = [{**note("mine", "$x"), "name": "mine"}, {"type": "create-collection", "value": ["$x"], "out": "$c"}]
    run_sync(furnished, {"goal": "Name it", "steps": [*named, {"type": "size", "target": "$c"}]})

    async def story(stage: Stage) -> None:
        await stage.sees("run_6 ")
        await stage.press("home", "f")
        await stage.sees("Fork run_6", "✓ may run  3 steps")
        fork = stage.app.screen
        assert isinstance(fork, ForkDialog)
        assert fork.editor.has_focus
        assert fork.editor.text[fork.editor.offset_of_cursor :].startswith('{"type": "create-note"')
        fork.editor.go_to(fork.editor.text.index('"size"') + 5)
        await stage.press("backspace")
        await offered(stage, "size")
        assert '"siz"' in fork.editor.text
        await stage.press("escape")
        await stage.sees("✗ line 6: there is no step type 'siz'", '^f: make it "size"')
        await stage.press("ctrl+s")
        await stage.until(lambda: any("It may not run" in one for one in stage.said()))
        assert stage.app.screen is fork
        await stage.press("ctrl+f")
        await stage.sees("✓ may run  3 steps")
        await stage.press("ctrl+s")
        await stage.until(lambda: any("run_7 has ended well" in one for one in stage.said()))

    show(story, on=furnished)


def test_a_fork_that_was_changed_is_not_left_by_one_key(show: Show, furnished: Space) -> None:
    """Escape closes what is offered; then it asks."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_5 ")
        await stage.press("end", "f")
        await stage.sees("Fork run_1", "✓ may run")
        await stage.press("enter")
        await stage.press("escape")
        await stage.sees("Leave without forking?")
        await stage.press("n")
        await stage.loses("Leave without forking?")
        assert "Fork run_1" in stage.text
        await stage.press("ctrl+z")
        await stage.press("escape")
        await stage.loses("Fork run_1")

    show(story, on=furnished)


def test_a_run_whose_process_is_gone_is_left_alone_and_resumed(show: Show, space: Space) -> None:
    """It goes on from the journal."""
    run = space.store.new_id("run")
    plan = {"goal": "left", "steps": [note("there", "$x")]}
    import socket

    gone = f"{socket.gethostname()}:999999999:x"
    space.store.commit([], [OpenRun(run, "plan", "left", plan, {}, "2026-03-31T00:00:00.000Z", gone)])

    async def story(stage: Stage) -> None:
        await stage.sees("broken off", "r goes on with it")
        await stage.press("r")
        await stage.until(lambda: any(f"{run} has ended well" in one for one in stage.said()))

    show(story)
    assert status_of(space, run) == "success"


def test_a_thousand_runs_stay_quick(show: Show, space: Space) -> None:
    """Rows are made only as they come into sight; no key costs the screen more than a quarter of a second."""
    at = "2026-03-31T00:00:00.000Z"
    big = {"steps": [note("x" * 2_000) for _ in range(10)]}
    runs = [space.store.new_id("run") for _ in range(1_500)]
    space.store.commit([], [OpenRun(run, "plan", f"goal {run}", big, {}, at, "me") for run in runs])

    async def story(stage: Stage) -> None:
        await stage.sees("1,500 runs")
        grid = stage.app.screen.query_one(LazyTable)
        slowest = 0.0
        for key in ("end", "pageup", "home", "pagedown", "down", "up"):
            begun = time.thread_time()
            await stage.press(key)
            slowest = max(slowest, time.thread_time() - begun)
        assert len(grid.rows) == 1_500
        assert slowest < 0.25 * 4, "a slow machine is given four times as long"

    show(story)


def test_clicks_do_what_keys_do(show: Show, furnished: Space) -> None:
    """A click goes to a row, a second one opens it; a click on a name goes to a place."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_5 ")
        grid = stage.app.screen.query_one(LazyTable)
        await stage.pilot.click(grid, offset=(20, 3))
        assert grid.key == "run_3"
        await stage.pilot.click(grid, offset=(20, 5), times=2)
        await stage.sees("run_1 ", "12 executions")
        await stage.pilot.click("Tab")
        await stage.sees("5 runs")

    show(story, on=furnished)


def test_every_command_is_in_the_palette(show: Show, furnished: Space) -> None:
    """Those of the place, and the way to the others."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_5 ")
        await stage.press("ctrl+p")
        await stage.write("compare")
        await stage.loses("goes to the field above the list")
        await stage.sees("Go to Compare")
        await stage.press("escape", "escape")
        await stage.press("ctrl+p")
        await stage.write("go to var")
        await stage.sees("Go to Variables")
        await stage.press("enter")
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "variables")

    show(story, on=furnished)


def test_leaving_puts_a_run_that_goes_on_to_rest(show: Show, space: Space) -> None:
    """When that is confirmed; it can be resumed."""
    run = str(run_sync(space, {"steps": [YEAR["steps"][1], WAIT, note("later", "$x")]}).run)

    async def story(stage: Stage) -> None:
        await stage.sees(f"{run} ")
        await stage.press("a")
        await stage.sees("1985")
        await stage.press("enter")
        await stage.sees("running")
        await stage.press("ctrl+q")
        await stage.sees("A run goes on here.")
        await stage.press("y")
        await stage.until(lambda: stage.app.return_value == 0)

    show(story)
    assert status_of(space, run) == "suspended"


def test_other_places_are_used_while_a_run_goes_on(show: Show, space: Space) -> None:
    """Stopping it leaves it to be resumed."""
    run = str(run_sync(space, {"goal": "long", "steps": [YEAR["steps"][1], WAIT, note("x", "$x")]}).run)
    run_sync(space, EVERY)

    async def story(stage: Stage) -> None:
        await stage.sees(f"{run} ")
        await stage.press("end", "a")
        await stage.sees("1985")
        await stage.press("enter")
        await stage.sees("▶ running")
        await stage.open("run_2", None, "variables")
        await stage.sees("$answer")
        await stage.open(run)
        await stage.sees("▶ 2 wait")
        await stage.press("x")
        await stage.sees("suspended", "interrupted")

    show(story)
    assert status_of(space, run) == "suspended"


FRAME = "c5c8c6"
"""The colour of the title above a picture of the screen, which is no part of it."""


def test_without_colours_signs_and_words_tell_what_colours_do(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NO_COLOR makes all of it grey."""
    monkeypatch.setenv("NO_COLOR", "1")

    async def story(stage: Stage) -> None:
        await stage.sees("✓ success", "✗ failed", "… suspended")
        found = set(re.findall(r"fill: #([0-9a-f]{6})", stage.app.export_screenshot())) - {FRAME}
        assert len(found) > 2
        assert {one for one in found if len({one[:2], one[2:4], one[4:]}) > 1} == set()

    show(story, on=furnished)
