"""Compose: a plan is written, checked, mended, completed, run in parts, and kept."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from furnishing import EVERY, note, web
from staging import SIZES, Show, Stage
from test_run_places import BUSY, longest_pause
from textual.events import Key
from textual.widgets import Input, TabbedContent

from infospace import Space
from infospace.jsontext import read_json
from planner.saved import load_plan, save_plan
from planner.start import run_sync
from tui.composing.laying_out import laid_out
from tui.memory import Memory
from tui.screens.compose import Compose
from tui.widgets.grid import Grid
from tui.widgets.offers import Offers

ITEMS = {"type": "create-collection", "value": ["a", "b"], "out": "$items"}
LOOP = {"type": "for-each", "target": "$items", "do": [note("${item}!", "$loud")], "out": "$all"}
SIZE = {"type": "size", "target": "$all", "out": "$n"}
PLAN = {"goal": "Count them", "steps": [ITEMS, LOOP, SIZE, note("${n} of them", "$end")], "result": "$end"}


async def compose(stage: Stage, text: str | None = None) -> Compose:
    """Go to the place, perhaps with a text in it, and wait until it is checked."""
    await stage.app.action_go("compose")
    await stage.until(lambda: isinstance(stage.app.place, Compose) and stage.app.place.is_mounted)
    place = stage.app.place
    assert isinstance(place, Compose)
    if text is not None:
        place.called("", text)
    await stage.until(lambda: place.draft.text == place.text, "the check")
    return place


def at(place: Compose, needle: str) -> None:
    """Put the cursor right after a text."""
    place.editor.go_to(place.text.index(needle) + len(needle))


async def offered(stage: Stage, label: str) -> None:
    """Wait until something is offered."""
    await stage.until(lambda: any(one.label == label for one in stage.app.screen.query_one(Offers)._offers), label)
    await stage.until(lambda: stage.app.screen.query_one(Offers).display)


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
            lambda: place.query_one(Offers).chosen and place.query_one(Offers).chosen.label == "create-note"
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
        await stage.sees("did you mean 'create-note'?")
        await stage.press("ctrl+f")
        await stage.sees("✓ may run")
        assert place.text == text.replace("create-not", "create-note")
        await stage.press("ctrl+z")
        await stage.sees("✗ 1 error")
        assert place.text == text
        await stage.press("ctrl+y")
        await stage.sees("✓ may run")

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
        await stage.sees("$y is not bound")

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


def test_variables_are_completed_inside_of_an_incomplete_text(show: Show, space: Space) -> None:
    """Those that fit first; what is typed filters; escape leaves the list, another one the text."""
    find = '{"type": "discover-notes", "query": "x", "out": "$hits"}'
    text = f'[{find},\n {{"type": "size", "target": "$hits", "out": "$n"}},\n '

    async def story(stage: Stage) -> None:
        place = await compose(stage, text)
        place.editor.move_cursor(place.editor.document.end)
        await stage.write('{"type": "head", "target": "$')
        await offered(stage, "$n")
        labels = [(one.label, one.fits) for one in place.query_one(Offers)._offers]
        assert labels == [("$hits", True), ("$n", False)]
        await stage.press("escape")
        assert not place.query_one(Offers).display
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


def test_an_offer_is_taken_with_the_mouse(show: Show, space: Space) -> None:
    """The text has the focus again."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, '[{"type": "siz"}]')
        at(place, '"siz')
        await stage.press("ctrl+@")
        await offered(stage, "size")
        await stage.pilot.click(place.query_one("Choices"), offset=(2, 0))
        await stage.until(lambda: place.text == '[{"type": "size"}]')
        assert place.editor.has_focus
        assert not place.query_one(Offers).display

    show(story)


def test_nothing_is_offered_where_nothing_is_known(show: Show, space: Space) -> None:
    """Asked for it, that is said; digits and question marks are text here."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        await stage.write('{"goal": "1?')
        assert place.text == '{"goal": "1?"}'
        await stage.press("ctrl+@")
        await stage.until(lambda: any("Nothing that is known" in one for one in stage.said()))
        assert isinstance(stage.app.screen, Compose)

    show(story)


def test_a_plan_is_run_and_its_answer_seen(show: Show, space: Space) -> None:
    """With what every variable was bound to; enter on one opens them."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, laid_out(PLAN))
        await stage.press("ctrl+r")
        await stage.sees("run_1", "success", "2 of them", "$items", "$end")
        place.query_one("#bound", Grid).focus()
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
        assert stage.app.asked(lambda snapshot: snapshot.run_heads()) == []

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
        await compose(stage, laid_out(plan))
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


def test_a_plan_is_gone_through_step_by_step(show: Show, space: Space) -> None:
    """Where it rests is marked; what is bound there is seen; it goes on to its end."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, laid_out(PLAN))
        await stage.press("ctrl+l")
        await stage.sees("paused before step 2: step by step", "$items", "2 notes: a; b", "▶")
        assert place.draft.text[place.here or 0 :].startswith('{\n      "type": "for-each"')
        for position in ("2.do[1].1", "2.do[2].1", "3"):
            await stage.press("ctrl+l")
            await stage.sees(f"paused before step {position}")
        await stage.press("ctrl+r")
        await stage.sees("success", "2 of them")
        assert place.here is None
        [head] = stage.app.asked(lambda snapshot: snapshot.run_heads())
        assert head.status == "success"

    show(story)


def test_a_run_goes_as_far_as_the_cursor(show: Show, space: Space) -> None:
    """With that step."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, laid_out(PLAN))
        at(place, '"for-each"')
        await stage.press("ctrl+g")
        await stage.sees("paused before step 3: step 2 has ended", "$all")
        await stage.loses("$n ")

    show(story)


def test_a_run_stops_at_steps_and_conditions(show: Show, space: Space) -> None:
    """Set by a key, by a click on a number, in words; they are listed, and taken away."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, laid_out(PLAN))
        at(place, '"size"')
        await stage.press("ctrl+b")
        await stage.sees("●")
        row = place.editor.line_of(place.text.index('{"type": "create-note", "value": "${n}'))
        seen = place.editor.wrapped_document.location_to_offset((row, 0)).y - round(place.editor.scroll_offset.y)
        await stage.pilot.click(place.editor, offset=(1, seen))
        await stage.until(lambda: len(place.stops) == 2)
        await stage.press("alt+w")
        await stage.sees("Break when")
        await stage.write("nonsense here")
        await stage.press("enter")
        await stage.until(lambda: any("says no condition" in one for one in stage.said()))
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
        place.query_one("#stops", Grid).focus()
        await stage.press("delete", "delete", "delete")
        await stage.until(lambda: not place.stops and not place.when)
        await stage.press("ctrl+r")
        await stage.sees("run_2 ✓ success")

    show(story)


def test_stops_move_with_the_text(show: Show, space: Space) -> None:
    """Also over a fix, and when it is undone."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, laid_out(PLAN))
        at(place, '"size"')
        await stage.press("ctrl+b")
        await stage.until(lambda: len(place.stops) == 1)
        at(place, '"steps": [')
        await stage.press("enter")
        await stage.write('{"type": "think", "value": "x"},')
        await stage.until(lambda: place.draft.text == place.text and place.draft.errors == 0)
        assert place.text[place.stops[0] :].startswith('{"type": "size"')

    show(story)


def test_a_question_is_answered_and_the_run_goes_on_to_its_next_stop(show: Show, space: Space) -> None:
    """It is asked right here."""
    ask = {"type": "ask", "value": "Go?", "schema": {"type": "boolean"}, "out": "$go"}

    async def story(stage: Stage) -> None:
        place = await compose(stage, laid_out({"steps": [ask, note("${go}", "$x"), note("${x}!", "$y")]}))
        at(place, "${x}!")
        await stage.press("ctrl+b")
        await stage.until(lambda: place.stops)
        await stage.press("ctrl+r")
        await stage.sees("run_1 asks", "Go?")
        await stage.press("enter")
        await stage.sees("paused before step 3: a breakpoint", "true")

    show(story)


def test_a_run_that_goes_on_is_put_to_rest(show: Show, space: Space) -> None:
    """It can be gone on with."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, laid_out({"steps": [{"type": "wait", "seconds": 50}, note("x", "$x")]}))
        await stage.press("ctrl+r")
        await stage.sees("step 1 wait")
        await stage.press("ctrl+r")
        await stage.until(lambda: any("run_1 goes on" in one for one in stage.said()))
        await stage.press("alt+x")
        await stage.until(lambda: not stage.app.runner.going)
        await stage.sees("suspended")
        await stage.press("alt+p")
        await stage.sees("run_1", "suspended", "wait")
        assert place.run_id == "run_1"

    show(story)


def test_a_dry_run_leaves_nothing(show: Show, space: Space) -> None:
    """And says what would be written."""

    async def story(stage: Stage) -> None:
        await compose(stage, laid_out([note("kept", name="mine")]))
        await stage.press("ctrl+t")
        await stage.sees("nothing of it stays", "would write", "success")
        await stage.press("escape")
        assert stage.app.asked(lambda snapshot: (snapshot.run_heads(), snapshot.named("mine"))) == ([], None)

    show(story)


def test_the_plan_of_a_run_is_edited_and_forked(show: Show, space: Space) -> None:
    """From Runs; steps before the first that is changed are not run again."""
    run_sync(space, PLAN)

    async def story(stage: Stage) -> None:
        await stage.press("1")
        await stage.sees("Count them")
        await stage.press("o")
        await stage.sees("the plan of run_1", "✓ may run")
        place = stage.app.place
        assert isinstance(place, Compose)
        text = place.text.replace("${n} of them", "${n} in all")
        place.editor.become(text)
        await stage.press("alt+k")
        await stage.sees("Fork run_1 at step 4?", "changed from step 4 on")
        await stage.press("y")
        await stage.sees("run_2 ✓ success", "2 in all")
        rows = stage.app.asked(lambda snapshot: snapshot.steps("run_2"))
        assert [row.position for row in rows if "forked" not in row.extra] == ["4"]

    show(story)


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
        await compose(stage, laid_out(PLAN))
        await stage.press("alt+k")
        await stage.until(lambda: any("Only what was run can be forked" in one for one in stage.said()))
        await stage.press("alt+p", "alt+x")
        await stage.until(lambda: any("It was not run yet" in one for one in stage.said()))

    show(story)


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
        for name, says in [("bad.json", "not UTF-8"), ("none.json", "there is no file"), (".", "is a folder")]:
            await stage.press("ctrl+o")
            await stage.sees("an empty plan")
            stage.app.screen.query_one(Input).value = str(tmp_path / name)
            await stage.press("enter")
            await stage.until(lambda says=says: any(says in one for one in stage.said()), says)
        await stage.press("ctrl+z", "ctrl+z")
        await stage.until(lambda: place.text == "[1, 2]")
        await stage.loses("plan.json")

    show(story)


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
        place = await compose(stage, laid_out(PLAN))
        at(place, '"size"')
        await stage.press("ctrl+b", "alt+w")
        await stage.sees("Break when")
        await stage.write("$n > 1")
        await stage.press("enter")
        await stage.until(lambda: place.when)

    async def second(stage: Stage) -> None:
        place = await compose(stage)
        await stage.sees("✓ may run", "Breaks 2")
        assert place.text == laid_out(PLAN)
        assert place.text[place.stops[0] :].startswith('{"type": "size"')

    show(first, memory=Memory(path))
    show(second, memory=Memory(path))


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


def test_a_key_with_alt_is_no_letter(show: Show, space: Space) -> None:
    """Terminals tell it together with its letter."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")
        stage.app.post_message(Key("alt+p", "p"))
        await stage.until(lambda: any("It was not run yet" in one for one in stage.said()))
        assert place.text == ""

    show(story)


def test_a_run_to_the_cursor_needs_a_step_there(show: Show, space: Space) -> None:
    """Before the first there is none."""

    async def story(stage: Stage) -> None:
        await compose(stage, laid_out(PLAN))
        await stage.press("ctrl+g")
        await stage.until(lambda: any("no step at the cursor" in one for one in stage.said()))
        assert stage.app.asked(lambda snapshot: snapshot.run_heads()) == []

    show(story)


def test_what_cannot_be_laid_out_stays_as_it_is(show: Show, space: Space) -> None:
    """The sentence says why."""

    async def story(stage: Stage) -> None:
        place = await compose(stage, "{nothing}")
        await stage.press("alt+l")
        await stage.until(lambda: any("cannot be laid out" in one for one in stage.said()))
        assert place.text == "{nothing}"

    show(story)


def test_a_plan_of_a_thousand_steps_holds_nothing_up(show: Show, space: Space) -> None:
    """While it is checked, mended and completed."""
    steps: list[Any] = [note(f"note {number}", f"$n{number}") for number in range(500)]
    steps += [{"type": "create-collection", "value": [f"$n{number}"], "out": f"$c{number}"} for number in range(500)]
    steps[900] = {**steps[900], "type": "create-collectio"}

    async def story(stage: Stage) -> None:
        place = await compose(stage, "")

        async def doing() -> None:
            place.called("", laid_out(steps))
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
        grid = place.query_one("#flaws", Grid)
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
        place = await compose(stage, laid_out({**plan, "steps": [*plan["steps"], {"type": "siz", "target": "$nn"}]}))  # type: ignore[misc]
        await stage.sees("✗ 2 errors")
        await stage.press("ctrl+n")
        await stage.until(lambda: not place.editor.history.redo_stack)
        stage.is_as(f"compose-problems-{size}")
        place.editor.go_to(place.text.index('"siz"') + 4)
        await stage.press("ctrl+@")
        await offered(stage, "size")
        stage.is_as(f"compose-offers-{size}")
        await stage.press("escape")
        place.called("count.json", laid_out(plan))
        await stage.sees("✓ may run")
        at(place, '"size"')
        await stage.press("ctrl+b")
        await stage.until(lambda: place.stops)
        await stage.press("ctrl+r")
        await stage.sees("greeting: text")
        stage.app.clear_notifications()
        await stage.until(lambda: not stage.said())
        stage.is_as(f"compose-inputs-{size}")
        await stage.press("ctrl+r")
        await stage.sees("paused before step 3", "$all", "▶")
        stage.is_as(f"compose-rests-{size}")

    show(story, SIZES[size])


def test_a_run_that_is_going_on_elsewhere_is_not_mixed_up(show: Show, space: Space) -> None:
    """What another run tells is not told here."""
    ask = {"type": "ask", "value": "go?", "schema": {"type": "boolean"}, "out": "$go"}
    other = str(run_sync(space, [ask, *EVERY["steps"]]).run)  # type: ignore[misc]

    async def story(stage: Stage) -> None:
        place = await compose(stage, laid_out(PLAN))
        await stage.press("ctrl+l")
        await stage.sees("paused before step 2")
        from planner.resume import answer

        await asyncio.to_thread(answer, space, other, "1", True)
        stage.app.follow(stage.app.runner.resume, other)
        await stage.until(lambda: any(f"{other} has ended well" in one for one in stage.said()))
        await stage.sees("paused before step 2")
        assert place.run_id != other

    show(story)
