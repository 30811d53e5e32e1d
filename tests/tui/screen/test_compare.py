"""The place Compare: two runs on both sides."""

from __future__ import annotations

import asyncio
from typing import Any

from furnishing import note
from staging import Show, Stage

from infospace import Space
from infospace.editing.edit import remove
from planner.execute.start import run_sync
from tui.runtime.ui_state import UiState
from tui.screens.compare import Compare
from tui.widgets.lazy_table import LazyTable
from tui.widgets.line_table import LineTable


def plan(word: str, items: list[str], *more: dict[str, Any]) -> dict[str, Any]:
    """Return a plan that finds notes, and writes a text."""
    listed = ", ".join(f"'{item}'" for item in items)
    found = {"type": "discover-notes", "query": "a text", "limit": "all", "threshold": -1, "out": "$all"}
    text = note(f"one line\n{word} of them\nthe end", "$text")
    return {
        "goal": f"Gather {word}",
        "steps": [{**found, "where": f"metadata.title IN ({listed})"}, text, *more],
        "result": "$text",
    }


def two_runs(space: Space) -> None:
    """Make run_1 with notes to be found, and run_2 and run_3, which find others of them."""
    made = [note(f"text {name}", name=name, metadata={"title": f"Note {name}"}) for name in ("a", "b", "c")]
    assert run_sync(space, made).status == "success"
    say = {"type": "say", "value": "done"}
    for document in (plan("few", ["Note a", "Note b"]), plan("others", ["Note a", "Note c"], say)):
        result = run_sync(space, document)
        assert result.status == "success", result


async def compared(stage: Stage) -> Compare:
    """Compare run_2 with run_3."""
    stage.app.compare("run_2", "run_3")
    await stage.sees("3 steps differ, 0 alike; the plans differ")
    found = stage.app.place
    assert isinstance(found, Compare)
    return found


def test_what_came_and_what_went(show: Show, space: Space) -> None:
    """With the arguments that were changed; stacked where there is little room."""
    two_runs(space)

    async def story(stage: Stage) -> None:
        place = await compared(stage)
        await stage.sees("the runs", "1 discover-notes → $all", "items +1 −1", "only after")
        await stage.press("down")
        await stage.sees("before: run_2 step 1", "after: run_3 step 1", "'Note b'", "'Note c'")
        await stage.sees("− Note_2  Note b", "+ Note_3  Note c")
        before, after = place.query_one("#before", LineTable), place.query_one("#after", LineTable)
        wide = stage.app.size.width >= 120
        assert (before.region.y == after.region.y) is wide
        await stage.press("down")
        await stage.sees("few of them", "others of them", "one line", "the end")
        await stage.press("y")
        assert "few of them" in stage.app.clipboard

    show(story, (80, 50))
    show(story, (160, 50))


def test_a_note_that_came_is_opened(show: Show, space: Space) -> None:
    """By enter on its line."""
    two_runs(space)

    async def story(stage: Stage) -> None:
        await compared(stage)
        await stage.press("down")
        await stage.sees("+ Note_3")
        await stage.press("enter", "end", "enter")
        await stage.until(lambda: stage.app.place is not None and stage.app.place.name_of_place == "notes")
        await stage.sees("'c' Note c", "text c")

    show(story, (160, 50))


def test_the_step_is_opened_in_either_run(show: Show, space: Space) -> None:
    """By a key, or a click on a title; a step that one has not is said not to be there."""
    two_runs(space)

    async def story(stage: Stage) -> None:
        await compared(stage)
        await stage.press("down", "b")
        await stage.sees("run_2 ✓ success", "discover-notes", "called with")
        assert stage.app.place is not None
        assert stage.app.place.name_of_place == "step"
        await stage.go("compare")
        await stage.sees("3 steps differ")
        await stage.pilot.click("#after", offset=(3, 0))
        await stage.sees("run_3 ✓ success", "discover-notes")
        await stage.go("compare")
        await stage.sees("3 steps differ")
        await stage.press("escape", "down", "down", "b")
        await stage.until(lambda: any("run_2 has no step 3" in one for one in stage.said()))

    show(story, (160, 50))


def test_runs_are_chosen_here(show: Show, space: Space) -> None:
    """From a list, filtered; they change sides, and are remembered."""
    two_runs(space)
    memory = UiState(None)

    async def story(stage: Stage) -> None:
        await stage.go("compare")
        await stage.sees("Choose two runs", "no run is chosen")
        await stage.press("l")
        await stage.sees("The first run", "Gather few")
        await stage.press("tab", "shift+tab")
        await stage.pilot.click("Input")
        await stage.write("few")
        await stage.loses("Gather others")
        await stage.press("enter")
        await stage.sees("run_2", "Choose two runs")
        await stage.pilot.click("#second")
        await stage.sees("The second run", "Gather others")
        await stage.press("home", "enter")
        await stage.sees("3 steps differ", "only after")
        await stage.press("x")
        await stage.sees("only before")

    async def again(stage: Stage) -> None:
        await stage.sees("3 steps differ", "only before")

    show(story, (80, 24), space, memory)
    show(again, (80, 24), space, memory)


def test_runs_that_are_alike_show_all_their_steps(show: Show, space: Space) -> None:
    """And `o` shows those that are alike beside those that are not."""
    for word in ("x", "x", "y"):
        run_sync(space, [note("same", "$s"), note(word, "$x")])

    async def story(stage: Stage) -> None:
        stage.app.compare("run_1", "run_2")
        await stage.sees("the same: 2 steps alike", "= 1 create-note → $s", "= 2 create-note → $x")
        await stage.press("down")
        await stage.sees("gave the same")
        stage.app.compare("run_1", "run_3")
        await stage.sees("1 step differs, 1 alike", "~ 2 create-note")
        await stage.loses("1 create-note → $s")
        await stage.press("o")
        await stage.sees("= 1 create-note → $s")

    show(story, (80, 24))


def test_a_failure_is_told_on_its_side(show: Show, space: Space) -> None:
    """Status and reason of run and step."""
    for text in ("12", "none"):
        inputs = {"word": {"type": "string"}}
        steps = [note("${word}", "$t"), {"type": "coerce", "target": "$t", "coercion": "int", "out": "$n"}]
        run_sync(space, {"inputs": inputs, "steps": steps}, {"word": text})

    async def story(stage: Stage) -> None:
        stage.app.compare("run_1", "run_2")
        await stage.sees("2 steps differ", "status")
        await stage.sees("status: success", "status: failed", "reason: ")
        await stage.press("down", "down", "down")
        await stage.sees("before: run_1 step 2", "failed: ", "kind, inputs, status")

    show(story, (160, 50))


def test_what_is_gone_is_said(show: Show, space: Space) -> None:
    """Notes that were deleted are still told; a run that was removed is not there."""
    two_runs(space)

    async def story(stage: Stage) -> None:
        await compared(stage)
        await asyncio.to_thread(remove, space.store, ["Note_2", "Note_3"], "rm")
        await stage.go("runs")
        await stage.go("compare")
        await stage.press("down")
        await stage.sees("− Note_2  Note b", "+ Note_3  Note c")
        await asyncio.to_thread(space.store.forget, ["run_2"], really=True)
        await stage.go("runs")
        await stage.go("compare")
        await stage.sees("there is no run_2", "l and r choose")
        stage.app.compare("run_2", "run_3")
        await stage.sees("there is no run_2")
        await stage.press("a")
        await stage.until(lambda: any(one.startswith("Choose two runs: l the first") for one in stage.said()))

    show(story, (80, 24))


def test_a_run_that_goes_on_is_compared_again(show: Show, space: Space) -> None:
    """When it has gone on, in whatever process."""
    ask = {"type": "ask", "value": "go?", "out": "$go"}
    for _ in range(2):
        run_sync(space, [note("same", "$s"), ask, note("${go}", "$x")])

    async def story(stage: Stage) -> None:
        from planner.lifecycle.resume import answer, resume

        stage.app.compare("run_1", "run_2")
        await stage.sees("the same: 2 steps alike")

        def elsewhere() -> None:
            answer(space, "run_2", "2", "yes")
            asyncio.run(resume(space, "run_2"))

        await asyncio.to_thread(elsewhere)
        await stage.sees("only after", "status")
        assert stage.app.screen.query_one("#pairs", LazyTable).cursor == 0

    show(story, (80, 24))
