"""Compose: a plan is run in parts, put to rest, tried and forked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from drafts import PLAN, at, compose, edited
from furnishing import EVERY, WAIT, note
from staging import Show, Stage
from textual.widgets import Input, Static, TabbedContent

from infospace import Space
from infospace.journal.rows import RunHead
from planner.execute.start import run_sync
from planner.lifecycle.resume import answer, resume
from tui.screens.compose.compose import Compose
from tui.text.format_plan import format_plan
from tui.widgets.lazy_table import LazyTable


def test_a_plan_is_run_and_its_answer_seen(show: Show, space: Space) -> None:
    """With what every variable was bound to; enter on one opens them."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, format_plan(PLAN))
        await stage.press("ctrl+r")
        await stage.sees("run_1", "success", "2 of them", "$items", "$end")
        place.query_one("#bound", LazyTable).focus()
        await stage.press("enter")
        await stage.sees("2 of them", "after 4 create-note")

    show(story)


def test_a_plan_with_errors_is_not_run(show: Show, space: Space) -> None:
    """It goes to the first of them."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, '[{"type": "say", "value": "x"},\n {"type": "siz"}]')
        await stage.press("ctrl+r")
        await stage.until(lambda: any("It may not run: " in one for one in stage.said()))
        assert place.editor.cursor_location[0] == 1
        assert stage.app.read_snapshot(lambda snapshot: snapshot.run_heads()) == []

    show(story)


def test_inputs_are_asked_for_until_they_fit(show: Show, space: Space) -> None:
    """A field for each, by its schema; what was given is there the next time."""
    inputs = {
        "count": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["a", "b"], "default": "b"},
        "who": {"kind": "Note"},
    }
    plan = {"inputs": inputs, "steps": [note("${count} ${mode} ${who}", "$x")]}
    run_sync(space, [note("me", name="myself")])

    async def story(stage: Stage) -> None:
        await compose(stage, format_plan(plan))
        await stage.press("ctrl+r")
        await stage.sees("count: a whole number from 1", "who: the id or name of a Note")
        await stage.write("no")
        await stage.press("ctrl+r")
        await stage.sees("does not fit")
        await stage.sees("the input 'who' is not given")
        stage.app.screen.query_one("#input-count", Input).value = "3"
        stage.app.screen.query_one("#input-who", Input).value = "myself"
        await stage.press("ctrl+r")
        await stage.sees("success", "3 b me")
        await stage.press("ctrl+r")
        await stage.until(lambda: bool(stage.app.screen.query("#input-who")))
        assert stage.app.screen.query_one("#input-who", Input).value == "myself"
        await stage.press("escape")

    show(story)


def test_a_table_is_read_from_a_file_or_a_list(show: Show, space: Space, tmp_path: Path) -> None:
    """A path behind `@`, as on the command line; what does not fit is said at the field, and asked for again."""
    items = {"type": "object", "properties": {"price": {"type": "number"}}}
    total = {"type": "group", "target": "$rows", "aggregates": {"total": "sum(price)"}, "out": "$x"}
    plan = {"inputs": {"rows": {"kind": "Collection", "items": items}}, "steps": [total]}
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("who,price\nAda,2.5\nBob,4\n", encoding="utf-8")
    bad.write_text("who,price\nAda,much\n", encoding="utf-8")

    async def story(stage: Stage) -> None:
        await compose(stage, format_plan(plan))
        await stage.press("ctrl+r")
        await stage.sees("rows: a table as @FILE")
        for written, wrong in (("@nowhere.csv", "cannot be read"), (f"@{bad}", "price"), ("[1", "the input 'rows'")):
            stage.app.screen.query_one("#input-rows", Input).value = written
            await stage.press("ctrl+r")
            await stage.until(
                lambda wrong=wrong: wrong in str(stage.app.screen.query_one("#wrong-rows", Static).content)
            )
        stage.app.screen.query_one("#input-rows", Input).value = f"@{good}"
        await stage.press("ctrl+r")
        await stage.sees("success", "6.5")

    show(story)


def test_a_plan_is_gone_through_step_by_step(show: Show, space: Space) -> None:
    """Where it rests is marked; what is bound there is seen; it goes on to its end."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, format_plan(PLAN))
        await stage.press("ctrl+l")
        await stage.sees("paused before step 2: step by step", "$items", "2 notes: a; b", "▶")
        assert place.draft.text[place.here or 0 :].startswith('{\n      "type": "for-each"')
        for position in ("2.do[1].1", "2.do[2].1", "3"):
            await stage.press("ctrl+l")
            await stage.sees(f"paused before step {position}")
        await stage.press("ctrl+r")
        await stage.sees("success", "2 of them")
        assert place.here is None
        [head] = stage.app.read_snapshot(lambda snapshot: snapshot.run_heads())
        assert head.status == "success"

    show(story)


def test_a_run_goes_as_far_as_the_cursor(show: Show, space: Space) -> None:
    """With that step."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, format_plan(PLAN))
        at(place, '"for-each"')
        await stage.press("ctrl+g")
        await stage.sees("paused before step 3: step 2 has ended", "$all")
        await stage.loses("$n ")

    show(story)


def test_a_run_stops_at_steps_and_conditions(show: Show, space: Space) -> None:
    """Set by a key, by a click on a number, in words; they are listed, and taken away."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, format_plan(PLAN))
        at(place, '"size"')
        await stage.press("ctrl+b")
        await stage.sees("●")
        [row] = place.editor.lines_of([place.text.index('{"type": "create-note", "value": "${n}')])
        seen = place.editor.wrapped_document.location_to_offset((row, 0)).y - round(place.editor.scroll_offset.y)
        await stage.pilot.click(place.editor, offset=(1, seen))
        await stage.until(lambda: len(place.stops) == 2)
        await stage.press("alt+w")
        await stage.sees("Break when")
        await stage.write("nonsense here")
        await stage.press("enter")
        await stage.until(lambda: any("where an operator or the end was expected" in one for one in stage.said()))
        stage.app.screen.query_one(Input).value = "$items is bound"
        await stage.press("enter")
        await stage.sees("Breaks 3")
        for why in ("2: $items is bound holds", "3: a breakpoint", "4: a breakpoint"):
            await stage.press("ctrl+r")
            await stage.sees(f"paused before step {why}")
        await stage.press("ctrl+r")
        await stage.sees("success")
        place.query_one("#side", TabbedContent).active = "stopping"
        await stage.sees("when $items is bound", "before size")
        place.query_one("#stops", LazyTable).focus()
        await stage.press("delete", "delete", "delete")
        await stage.until(lambda: not place.stops and not place.breakpoints.when)
        await stage.press("ctrl+r")
        await stage.sees("run_2 ✓ success")

    show(story)


def test_stops_move_with_the_text(show: Show, space: Space) -> None:
    """Also when it is undone, over a fix, and when that is undone."""
    text = format_plan(PLAN).replace('"out": "$items"', '"output": "$items"')

    async def story(stage: Stage) -> None:
        place = await compose(stage, text)
        at(place, '"size"')
        await stage.press("ctrl+b")
        await stage.until(lambda: len(place.stops) == 1)

        async def stop_is_there(errors: int) -> None:
            await stage.until(lambda: place.draft.text == place.text and place.draft.errors == errors, "the check")
            assert [place.text[stop:].startswith('{"type": "size"') for stop in place.stops] == [True]

        at(place, '"steps": [')
        await stage.press("enter")
        typed = '{"type": "think", "value": "x"},'
        await stage.write(typed)
        await stop_is_there(1)
        for _ in typed:
            if place.text != text:
                await stage.press("ctrl+z")
        assert place.text == text
        await stop_is_there(1)
        at(place, '"output')
        await stage.press("ctrl+f")
        await stage.until(lambda: place.text == format_plan(PLAN), "the fix")
        await stop_is_there(0)
        await stage.press("ctrl+z")
        await stage.until(lambda: place.text == text, "the text before the fix")
        await stop_is_there(1)

    show(story)


def test_a_question_is_answered_and_the_run_goes_on_to_its_next_stop(show: Show, space: Space) -> None:
    """It is asked right here."""
    ask = {"type": "ask", "value": "Go?", "schema": {"type": "boolean"}, "out": "$go"}

    async def story(stage: Stage) -> None:
        place = await compose(stage, format_plan({"steps": [ask, note("${go}", "$x"), note("${x}!", "$y")]}))
        at(place, "${x}!")
        await stage.press("ctrl+b")
        await stage.until(lambda: place.stops)
        await stage.press("ctrl+r")
        await stage.sees("run_1 asks", "Go?")
        await stage.press("enter")
        await stage.sees("paused before step 3: a breakpoint", "true")

    show(story)


def test_a_question_that_was_put_off_is_asked_again_by_the_key_that_runs(show: Show, space: Space) -> None:
    """Unless it was answered elsewhere: then the plan is run anew."""
    ask = {"type": "ask", "value": "Go?", "schema": {"type": "boolean"}, "out": "$go"}

    async def story(stage: Stage) -> None:
        await compose(stage, format_plan({"steps": [ask, note("${go}", "$x")]}))
        await stage.press("ctrl+r")
        for _ in range(2):
            await stage.sees("run_1 asks", "Go?")
            await stage.press("escape")
            await stage.loses("run_1 asks")
            await stage.sees("^r Answer")
            await stage.press("ctrl+r")
        await stage.sees("run_1 asks", "Go?")
        await stage.press("escape")
        await stage.loses("run_1 asks")
        await asyncio.to_thread(answer, space, "run_1", "1", True)
        await asyncio.to_thread(lambda: asyncio.run(resume(space, "run_1")))
        await stage.press("ctrl+r")
        await stage.sees("run_2 asks", "Go?")

    show(story)


def test_a_run_that_goes_on_is_put_to_rest(show: Show, space: Space) -> None:
    """It can be gone on with."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, format_plan({"steps": [WAIT, note("x", "$x")]}))
        await stage.press("ctrl+r")
        await stage.sees("step 1 wait")
        await stage.press("ctrl+r")
        await stage.until(lambda: any("run_1 goes on" in one for one in stage.said()))
        await stage.press("alt+x")
        await stage.until(lambda: not stage.app.runner.going)
        await stage.sees("suspended")
        await stage.press("alt+p")
        await stage.sees("run_1", "suspended", "wait", "execution in ")
        assert place.draft_run.run_id == "run_1"

    show(story)


def test_a_dry_run_leaves_nothing(show: Show, space: Space) -> None:
    """And says what would be written."""

    async def story(stage: Stage) -> None:
        await compose(stage, format_plan([note("kept", name="mine")]))
        await stage.press("ctrl+t")
        await stage.sees("nothing of it stays", "would write", "success")
        await stage.press("escape")
        assert stage.app.read_snapshot(lambda snapshot: (snapshot.run_heads(), snapshot.named("mine"))) == ([], None)

    show(story)


def test_the_plan_of_a_run_is_edited_and_forked(show: Show, space: Space) -> None:
    """From Runs; steps before the first that is changed are not run again."""
    run_sync(space, PLAN)

    async def story(stage: Stage) -> None:
        place = await edited(stage, "Count them")
        text = place.text.replace("${n} of them", "${n} in all")
        place.editor.become(text)
        await stage.press("alt+k")
        await stage.sees("Fork run_1 at step 4?", "changed from step 4 on")
        await stage.press("y")
        await stage.sees("run_2 ✓ success", "2 in all")
        rows = stage.app.read_snapshot(lambda snapshot: snapshot.steps("run_2"))
        assert [row.position for row in rows if "forked" not in row.extra] == ["4"]

    show(story)


def test_a_fork_rests_at_breakpoints_and_is_halted_as_any_run(show: Show, space: Space) -> None:
    """It is gone on with from there; a halt puts it to rest."""
    run_sync(space, PLAN)

    async def story(stage: Stage) -> None:
        place = await edited(stage, "Count them")
        place.editor.become(place.text.replace('"a"', '"c"'))
        at(place, '"size"')
        await stage.press("ctrl+b")
        await stage.sees("●")
        await stage.press("alt+k")
        await stage.sees("Fork run_1 at step 1?")
        await stage.press("y")
        await stage.sees("run_2 … paused before step 3: a breakpoint", "$all")
        await stage.press("ctrl+r")
        await stage.sees("run_2 ✓ success", "2 of them")
        place.editor.become(place.text.replace('{"type": "size"', f'{json.dumps(WAIT)}, {{"type": "size"'))
        await stage.press("ctrl+b", "alt+k")
        await stage.sees("Fork run_2 at step 3?")
        await stage.press("y")
        await stage.sees("run_3", "step 3 wait")
        await stage.press("alt+x")
        await stage.until(lambda: any("finishes the steps under way" in one for one in stage.said()))
        await stage.until(lambda: "suspended" in [head.status for head in heads(stage)])

    show(story)


def test_a_fork_behind_the_step_that_failed_is_told_beside_the_text(show: Show, space: Space) -> None:
    """It would end there too; nothing seems to go on."""
    broken = {"type": "coerce", "target": "$text", "coercion": "${text}"}
    run_sync(space, {"goal": "Fails", "steps": [note("none", "$text"), broken, note("end", "$end")]})

    async def story(stage: Stage) -> None:
        place = await edited(stage, "Fails")
        place.editor.become(place.text.replace('"end"', '"END"'))
        await stage.press("alt+k")
        await stage.sees("Fork run_1 at step 3?")
        await stage.press("y")
        await stage.sees("run_1 ⊘ step 2 of run_1 failed, and a fork at step 3")

    show(story)


def heads(stage: Stage) -> list[RunHead]:
    """Return the runs, the latest first."""
    return list(stage.app.read_snapshot(lambda snapshot: snapshot.run_heads()))


def test_a_plan_in_the_plan_place_is_edited_too(show: Show, furnished: Space) -> None:
    """A fork without a change begins at the cursor; one that is refused says why."""

    async def story(stage: Stage) -> None:
        await stage.open("run_2")
        await stage.press("o")
        await stage.sees("the plan of run_2")
        place = stage.app.place
        assert isinstance(place, Compose)
        await stage.until(lambda: place.draft.text == place.text and place.text)
        at(place, '"coerce"')
        await stage.press("alt+k")
        await stage.sees("Fork run_2 at step 2?", "It is not changed")
        await stage.press("n")
        place.editor.become(place.text.replace('"coerce"', '"coerc"'))
        await stage.press("alt+k")
        await stage.sees("Fork run_2 at step 2?")
        await stage.press("y")
        await stage.until(lambda: any("It may not run: 1 error" in one for one in stage.said()))
        await stage.sees("coerc")

    show(story, on=furnished)


def test_what_was_not_run_cannot_be_forked(show: Show, space: Space) -> None:
    """That is said."""

    async def story(stage: Stage) -> None:
        await compose(stage, format_plan(PLAN))
        await stage.press("alt+k")
        await stage.until(lambda: any("Only what was run can be forked" in one for one in stage.said()))
        await stage.press("alt+p", "alt+x")
        await stage.until(lambda: any("It was not run yet" in one for one in stage.said()))

    show(story)


def test_a_run_to_the_cursor_needs_a_step_there(show: Show, space: Space) -> None:
    """Before the first there is none."""

    async def story(stage: Stage) -> None:
        await compose(stage, format_plan(PLAN))
        await stage.press("ctrl+g")
        await stage.until(lambda: any("no step at the cursor" in one for one in stage.said()))
        assert stage.app.read_snapshot(lambda snapshot: snapshot.run_heads()) == []

    show(story)


def test_a_run_that_is_going_on_elsewhere_is_not_mixed_up(show: Show, space: Space) -> None:
    """What another run tells is not told here."""
    ask = {"type": "ask", "value": "go?", "schema": {"type": "boolean"}, "out": "$go"}
    other = str(run_sync(space, [ask, *EVERY["steps"]]).run)  # type: ignore[misc]

    async def story(stage: Stage) -> None:
        place = await compose(stage, format_plan(PLAN))
        await stage.press("ctrl+l")
        await stage.sees("paused before step 2")
        from planner.lifecycle.resume import answer

        await asyncio.to_thread(answer, space, other, "1", True)
        stage.app.follow(stage.app.runner.resume, other)
        await stage.until(lambda: any(f"{other} has ended well" in one for one in stage.said()))
        await stage.sees("paused before step 2")
        assert place.draft_run.run_id != other

    show(story)
