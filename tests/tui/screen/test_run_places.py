"""The places Plan, Step and Variables: what they show of a run, and what can be done there."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from chatting import Endpoint, Say
from furnishing import EVERY, REFUSED, WAIT, note
from pauses import BUSY, longest_pause
from staging import SIZES, Show, Stage
from textual.widgets import TabbedContent

from infospace import Space, open_space
from infospace.core.errors import StoreError
from planner.execute.start import run_sync
from planner.lifecycle.cancel import cancel
from tui.widgets.details.resource_data import ResourceData
from tui.widgets.lazy_table import LazyTable
from tui.widgets.slider import Slider
from tui.widgets.text_view import TextView


def test_a_plan_folds(show: Show, furnished: Space) -> None:
    """By space, by arrows, all at once."""

    async def story(stage: Stage) -> None:
        await stage.open("run_1")
        await stage.sees("item 3")
        await stage.press("down", "space")
        await stage.loses("item 3")
        await stage.press("right")
        await stage.sees("item 3")
        await stage.press("right", "down", "left", "left", "left", "left")
        await stage.loses("item 3")
        await stage.press("e")
        await stage.sees("item 3")
        await stage.press("e")
        await stage.loses("item 1")

    show(story, on=furnished)


def test_a_plan_goes_to_what_failed(show: Show, furnished: Space) -> None:
    """And says why; where nothing did, that."""

    async def story(stage: Stage) -> None:
        await stage.open("run_2")
        await stage.press("home")
        await stage.until(lambda: stage.app.chosen == "1", "the first step")
        await stage.press("n")
        await stage.until(lambda: stage.app.chosen == "2", "the step that failed")
        await stage.sees("not a whole number")
        await stage.open("run_1")
        await stage.press("n")
        await stage.until(lambda: any("Nothing failed" in one for one in stage.said()))

    show(story, on=furnished)


def test_a_fix_is_used_and_the_plan_checked_again(show: Show, space: Space) -> None:
    """Until it may run."""
    wrong = {"goal": "mend me", "steps": [{"type": "create-not", "value": "x", "out": "$x"}]}

    async def story(stage: Stage) -> None:
        stage.app.open_plan(wrong)
        await stage.go("plan")
        await stage.sees("1 error", "create-not")
        await stage.press("n", "u")
        await stage.sees("may run", "create-note → $x")

    show(story, on=space)


def test_the_plan_of_a_run_is_checked_against_the_space_of_today(show: Show, space: Space) -> None:
    """What it needs may be gone."""
    run_sync(space, [note("x", "$x", name="needed")])
    run = str(run_sync(space, [{"type": "load", "target": "needed", "out": "$y"}]).run)
    run_sync(space, [{"type": "remove", "target": "needed"}])

    async def story(stage: Stage) -> None:
        await stage.open(run)
        await stage.sees("load → $y")
        await stage.press("c")
        await stage.sees("a plan, not run", "needed")

    show(story, on=space)


def test_a_run_is_followed_as_it_goes_on_here(show: Show, space: Space) -> None:
    """The step that goes on is unfolded, and the cursor is on it."""
    ask = {"type": "ask", "value": "go?", "schema": {"type": "boolean"}, "out": "$go"}
    plan = {"goal": "go on", "steps": [ask, {"type": "parallel", "branches": [[WAIT], [note("x", "$x")]]}]}
    run = str(run_sync(space, plan).run)

    async def story(stage: Stage) -> None:
        await stage.open(run)
        await stage.sees("step 1 waits: go?", "○ 2 parallel")
        await stage.press("a")
        await stage.sees("yes")
        await stage.press("enter")
        await stage.sees("▶ 2 parallel", "▶ 1 wait")
        await stage.until(lambda: stage.app.screen.query_one(LazyTable).key == "2.branches[1].1")
        await stage.press("x")
        await stage.sees("suspended")

    show(story)


def test_a_run_of_another_process_is_seen_going_on(show: Show, space: Space, tmp_path: Any) -> None:
    """Its steps come in by themselves."""
    ask = {"type": "ask", "value": "go?", "out": "$go"}
    run = str(run_sync(space, [ask, note("gone on", "$x")]).run)

    def elsewhere() -> None:
        from planner.lifecycle.resume import answer, resume

        with open_space(tmp_path / "space.db") as other:
            answer(other, run, "1", "yes")
            asyncio.run(resume(other, run))

    async def story(stage: Stage) -> None:
        await stage.open(run)
        await stage.sees("step 1 waits", "○ 2 create-note")
        await asyncio.to_thread(elsewhere)
        await stage.sees("✓ 2 create-note → $x", "success")

    show(story)


def test_a_loop_of_five_thousand_does_not_freeze_the_tree(show: Show, space: Space) -> None:
    """Opening, unfolding and going through it hold nothing up."""
    items = {"type": "create-collection", "value": list(range(5_000)), "out": "$c"}
    each = {"type": "for-each", "target": "$c", "do": [note("${item}", "$x")], "out": "$all"}
    run = str(run_sync(space, {"budget": {"steps": 20_000}, "steps": [items, each]}).run)

    async def story(stage: Stage) -> None:
        async def doing() -> None:
            await stage.open(run)
            await stage.sees("for-each", "5,002 executions")
            await stage.press("end", "space")
            await stage.sees("items 1 to 100")
            await stage.press("end")
            await stage.sees("items 4,901 to 5,000")
            await stage.press("space", "end", "space", "end", "enter")
            await stage.sees("2.do[5000].1", "4999")

        assert await longest_pause(doing()) < 0.35 * BUSY

    show(story)


def test_a_loop_of_thousands_is_followed_while_it_runs_here(show: Show, space: Space) -> None:
    """The screen answers meanwhile."""
    ask = {"type": "ask", "value": "go?", "schema": {"type": "boolean"}, "out": "$go"}
    items = {"type": "create-collection", "value": list(range(2_000)), "out": "$c"}
    each = {"type": "for-each", "target": "$c", "do": [note("${item}", "$x")], "out": "$all"}
    run = str(run_sync(space, {"steps": [ask, items, each]}).run)

    async def story(stage: Stage) -> None:
        await stage.open(run)

        async def doing() -> None:
            await stage.press("a")
            await stage.sees("yes")
            await stage.press("enter")
            await stage.sees("success", "2,003 executions")

        assert await longest_pause(doing()) < 0.35 * BUSY

    show(story)


def test_a_hundred_megabytes_do_not_freeze_a_step(show: Show, space: Space) -> None:
    """They are shown in pieces, and what is copied is said to be a part."""
    run_sync(space, [note("small", "$x")])
    from infospace.journal.rows import CloseRun, OpenRun, StepRow
    from infospace.store.changes import MakeNote

    text = "all work and no play makes Jack a dull boy\n" * 2_400_000
    run, big = space.store.new_id("run"), space.store.new_id("Note")  # type: ignore[arg-type]
    at = "2026-03-31T00:00:00.000Z"
    document = {"goal": "big", "steps": [{"type": "load", "target": "big", "out": "$big"}]}
    row = StepRow(run, 1, "1", "load", "success", at, 1.0, out="big", resource=big, version=1, value="all work")
    opened, closed = OpenRun(run, "plan", "big", document, {}, at, "me"), CloseRun(run, "success", at, big)
    space.store.commit([MakeNote(big, text)], [opened, row, closed])

    async def story(stage: Stage) -> None:
        async def doing() -> None:
            await stage.open(run, "1", "step")
            await stage.sees("a dull boy")

        assert await longest_pause(doing()) < 1.0 * BUSY
        pager = stage.app.screen.query_one("#data", ResourceData).query_one(TextView)
        pager.focus()
        await stage.press("G")
        await stage.sees("more of 103,200,000 characters; + shows the next ones")
        await stage.press("plus")
        await stage.sees("from character 100,001 of 103,200,000")
        await stage.press("y")
        await stage.until(lambda: any("the first 1,000,000 characters" in one for one in stage.said()))

    show(story)


def test_a_step_tells_its_calls(show: Show, furnished: Space) -> None:
    """What was asked of a tool, and its content blocks."""

    async def story(stage: Stage) -> None:
        await stage.open("run_5", "1.branches[1].1", "step")
        await stage.sees("web/fetch → $a", "Calls 1")
        await stage.press("right_square_bracket")
        await stage.until(lambda: stage.app.screen.query_one(TabbedContent).active == "calls")
        await stage.sees("block 1: text", "the page of a")
        await stage.press("right_square_bracket")
        await stage.sees("// as written", '"type": "web/fetch"')
        await stage.press("y")
        assert '"arguments"' in stage.app.clipboard
        await stage.press("n")
        await stage.sees("1.branches[1].2  create-note")
        await stage.press("b", "b")
        await stage.sees("1  parallel")

    show(story, on=furnished)


def test_a_step_tells_what_a_model_was_asked(show: Show, space: Space, endpoint: Endpoint) -> None:
    """The messages, what its answer was to fit, and what it answered."""
    endpoint.script.append(Say(json.dumps({"fault": "broken"})))
    schema = {"type": "object", "properties": {"fault": {"type": "string"}}, "required": ["fault"]}
    ask = {"type": "extract", "target": "$x", "instruction": "What is wrong?", "schema": schema, "out": "$fault"}
    result = run_sync(space, [note("It arrived broken.", "$x"), ask])
    assert result.status == "success", result.reason

    async def story(stage: Stage) -> None:
        await stage.open(str(result.run), "2", "step")
        await stage.sees("2  extract → $fault", "Calls 1")
        await stage.press("right_square_bracket")
        await stage.sees("llm made", "user says", "It arrived broken.", "What is wrong?", "the answer was to fit")
        await stage.sees('{"fault": "broken"}')

    show(story, (160, 50))


def test_a_step_that_failed_says_why_and_what_would_have_fitted(show: Show, furnished: Space) -> None:
    """First of all."""

    async def story(stage: Stage) -> None:
        await stage.open("run_2", None, "step")
        await stage.sees("2  coerce", "why", "not a whole number", "digits such as 42", "$text was Note_")

    show(story, on=furnished)


def test_a_certificate_is_read_without_knowing_its_words(show: Show, sample_space: Space) -> None:
    """What was compared, and whether anything is left out."""
    search = {"type": "discover-notes", "query": "attention", "threshold": 0.3, "limit": "all", "out": "$hits"}
    result = run_sync(sample_space, [search])
    run = str(result.run)

    async def story(stage: Stage) -> None:
        await stage.open(run, "1", "step")
        await stage.sees("what the search proved", "at or above 0.30", "Nothing that fits is left out")
        await stage.sees("score", "passage")
        stage.app.screen.query_one("#data", ResourceData).focus_inside()
        await stage.press("s", "s", "s")
        await stage.sees("score ▲")

    show(story, (160, 50), sample_space)


def test_variables_are_gone_over_in_time(show: Show, furnished: Space) -> None:
    """By keys from everywhere, by the slider, by a click."""

    async def story(stage: Stage) -> None:
        await stage.open("run_1", None, "variables")
        await stage.sees("12 of 12, after 5 create-note", "$answer")
        await stage.press("comma")
        await stage.sees("11 of 12, after 4 if", "$word")
        await stage.loses("$answer")
        slider = stage.app.screen.query_one(Slider)
        slider.focus()
        await stage.press("home")
        await stage.sees("0 of 12, at the beginning", "nothing is bound yet")
        await stage.press("right")
        await stage.sees("1 of 12", "$items")
        await stage.press("shift+right")
        await stage.sees("11 of 12")
        await stage.pilot.click(slider, offset=(0, 0))
        await stage.sees("0 of 12")

    show(story, on=furnished)


@pytest.mark.parametrize("seen_ended", [False, True])
def test_a_run_that_is_removed_while_it_is_open_is_a_sentence(show: Show, furnished: Space, seen_ended: bool) -> None:
    """Also where the screen saw before that it had ended. The screen goes on."""

    async def story(stage: Stage) -> None:
        await stage.open("run_3")
        cancel(furnished, "run_3")
        if seen_ended:
            await stage.sees("the run was cancelled")
        furnished.store.forget(["run_3"], really=True)
        await stage.until(lambda: any("there is no run_3" in one for one in stage.said()))
        await stage.sees("No run is open")
        await stage.loses("the run was cancelled")
        stage.app.open_run("run_999")
        await stage.until(lambda: any("there is no run_999" in one for one in stage.said()))
        await stage.open("run_1")
        await stage.sees("for-each")

    show(story, on=furnished)


@pytest.mark.parametrize("run", ["run_1", "run_3"], ids=["ended", "waiting"])
def test_a_run_stays_open_while_the_database_does_not_answer(
    show: Show, furnished: Space, monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    """That is said once; later what became of the run is seen."""
    fails = True
    failures = 0

    async def story(stage: Stage) -> None:
        read = stage.app.read_snapshot

        def read_if_it_answers(question: Any) -> Any:
            nonlocal failures
            if fails:
                failures += 1
                raise StoreError("the database does not answer")
            return read(question)

        nonlocal fails
        await stage.open(run)
        monkeypatch.setattr(stage.app, "read_snapshot", read_if_it_answers)
        await stage.until(lambda: failures >= 3, "three looks")
        assert [one for one in stage.said() if "does not answer" in one] == ["the database does not answer"]
        assert stage.app.subject is not None
        await stage.sees(f"{run} ")
        fails = False
        if run == "run_3":
            cancel(furnished, run)
            await stage.sees("the run was cancelled")
        furnished.store.forget([run], really=True)
        await stage.until(lambda: any(f"there is no {run}" in one for one in stage.said()))
        await stage.sees("No run is open")

    show(story, on=furnished)


@pytest.mark.parametrize("size", SIZES)
def test_text_that_would_command_a_terminal_is_shown_as_text(show: Show, space: Space, size: str) -> None:
    """So are the signs of markup."""
    evil = "a\x1b]0;owned\x07b\u202e [bold]c[/] [/nothing]"
    run = str(run_sync(space, {"goal": evil, "steps": [note(evil, "$x"), {"type": "say", "value": "${x}"}]}).run)

    async def story(stage: Stage) -> None:
        await stage.sees("a\\x1b]0;owned")
        await stage.open(run)
        await stage.sees("a\\x1b]0;owned\\x07b\\u202e [bold]c[/] [/nothing]")
        await stage.press("enter")
        await stage.sees("called with", "create-note", "\\x07b\\u202e [bold]c[/]")
        await stage.go("variables")
        await stage.sees("$x", "\\x07b\\u202e [bold]c[/]")
        stage.app.notify(evil, markup=False)
        await stage.until(lambda: any("owned\\x07b\\u202e" in one for one in stage.said()))
        assert not {"\x1b", "\u202e"} & set(stage.text)

    show(story, SIZES[size])


def test_what_was_refused_opens_with_its_problems(show: Show, space: Space) -> None:
    """A plan is checked off the event loop."""

    async def story(stage: Stage) -> None:
        stage.app.open_plan(REFUSED)
        await stage.go("plan")
        await stage.sees("1 error", "a Collection is wanted")
        await stage.press("4", "5", "3", "f", "r", "x", "a", "p")
        await stage.until(lambda: any("No run is open" in one for one in stage.said()))

    run_sync(space, EVERY)
    show(story)
