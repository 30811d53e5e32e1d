"""Calls of tools from the place Tools: a form, what does not fit, approvals, what came of it, breaking off."""

from __future__ import annotations

from pathlib import Path

import pytest
from staging import Show, Stage
from textual.widgets import Input, Select, Switch, TextArea
from tooling import answered, click, form, opened, shows, tools

from infospace import Space
from infospace.tools.approvals import list_approvals
from planner.parse.saved_plans import save_plan
from tui.dialogs.question import QuestionDialog
from tui.screens.notes.notes import Notes
from tui.screens.runs import Runs
from tui.widgets.details.form_field import FormField


def slot(stage: Stage, name: str) -> FormField:
    """Return the field of an argument."""
    return next(one for one in tools(stage).query(FormField) if one.field.name == name)


def wrong(stage: Stage, name: str) -> str:
    """Return what is said to be wrong with an argument."""
    told = slot(stage, name).query_one(".wrong")
    return str(told.render()) if told.display else ""


def latest(space: Space) -> tuple[str, str]:
    """Return the goal and the status of the latest run."""
    with space.store.reading() as snapshot:
        row = snapshot.runs(limit=1)[0]
    return row.goal, row.status


async def asked(stage: Stage, word: str) -> None:
    """Answer the question for approval with a word."""
    await stage.until(lambda: isinstance(stage.app.screen, QuestionDialog), "a question")
    await stage.sees("once: this call", "no: it is not called")
    for _ in range(["once", "run", "always", "no"].index(word)):
        await stage.press("down")
    await stage.press("enter")
    await stage.until(lambda: not isinstance(stage.app.screen, QuestionDialog))


async def booking(stage: Stage) -> None:
    """Fill in the form for a room."""
    await form(stage, "desk/book")
    slot(stage, "room").query_one(Select).value = '"green"'
    slot(stage, "guests").query_one(TextArea).text = '["Ada", "Emmy"]'


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_everything_that_does_not_fit_is_said_beside_its_field_before_the_call(
    show: Show, housed: Space, size: tuple[int, int]
) -> None:
    """At once, and nothing is called; what is written stays."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        await form(stage, "desk/book")
        await stage.sees("room*", '"blue", "green" or "red"', "Which room.", "guests*", "hours", "quiet", "remark")
        assert slot(stage, "hours").query_one(Input).value == "2"
        slot(stage, "hours").query_one(Input).value = "99"
        slot(stage, "guests").query_one(TextArea).text = '["Ada", 7'
        await stage.press("ctrl+r")
        await stage.until(lambda: wrong(stage, "room") == "this is needed")
        assert "99 is more than 12" in wrong(stage, "hours")
        assert "it seems cut off" in wrong(stage, "guests")
        assert wrong(stage, "quiet") == ""
        slot(stage, "guests").query_one(TextArea).text = '["Ada", 7]'
        slot(stage, "hours").query_one(Input).value = "many"
        await stage.press("ctrl+r")
        await stage.until(lambda: wrong(stage, "hours") == '"many" is not a whole number')
        assert "`[1]`" in wrong(stage, "guests")
        assert not tools(stage).tool_calls.latest

    show(story, size, housed)


def test_a_tool_is_called_once_it_was_allowed_and_its_answer_is_shown(show: Show, housed: Space) -> None:
    """It is a run, counted, and kept in the audit."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        await booking(stage)
        await stage.press("ctrl+r")
        await asked(stage, "once")
        await answered(stage, "desk/book")
        await stage.sees("✓ success", '"room": "green"', "(o opens it)")
        assert latest(housed) == ("call desk/book", "success")
        assert list_approvals(housed.store) == []
        with housed.store.reading() as snapshot:
            rows = snapshot.audit(5)
            assert [(row.caller, row.target, row.outcome) for row in rows][:1] == [("screen", "desk/book", "success")]
        await stage.press("escape")
        await shows(stage, "desk/rooms")
        await shows(stage, "desk/book")
        await stage.press("left_square_bracket", "left_square_bracket", "left_square_bracket")
        await stage.sees("1 call, 100% well")

    show(story, on=housed)


def test_no_means_that_nothing_is_called(show: Show, housed: Space) -> None:
    """And says so."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        await booking(stage)
        await stage.press("ctrl+r")
        await asked(stage, "no")
        await answered(stage, "desk/book")
        await stage.sees("✗ failed", "desk/book")
        with housed.store.reading() as snapshot:
            assert snapshot.tool_uses("desk", "book") == []

    show(story, on=housed)


def test_always_asks_no_more_until_that_is_taken_back(show: Show, housed: Space) -> None:
    """The second call goes through at once."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await booking(stage)
        await stage.press("ctrl+r")
        await asked(stage, "always")
        await answered(stage, "desk/book")
        await stage.sees("✓ success")
        assert [one.tool for one in list_approvals(housed.store)] == ["desk/book"]
        first = place.tool_calls.latest["tool desk/book"]
        await stage.press("c")
        await stage.until(lambda: place.detail.form.has_focus_within)
        assert slot(stage, "guests").query_one(TextArea).text == '["Ada", "Emmy"]'
        await stage.press("ctrl+r")
        await stage.until(lambda: place.tool_calls.latest["tool desk/book"] is not first)
        await answered(stage, "desk/book")
        await stage.sees("✓ success")
        await stage.press("escape", "d")
        await stage.until(lambda: "desk/book is asked about again." in stage.said())
        assert list_approvals(housed.store) == []

    show(story, on=housed)


def test_a_question_can_be_left_open_and_answered_later_here_or_elsewhere(show: Show, housed: Space) -> None:
    """The run waits; in the place Runs it can be answered too."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await booking(stage)
        await stage.press("ctrl+r")
        await stage.until(lambda: isinstance(stage.app.screen, QuestionDialog))
        await stage.press("escape")
        await stage.sees("it waits (run_1); a answers")
        await stage.press("a")
        await asked(stage, "once")
        await stage.until(
            lambda: place.tool_calls.latest["tool desk/book"].pending == () and place.tool_calls.current is None
        )
        await stage.sees("✓ success")
        await stage.press("c", "ctrl+r")
        await stage.until(lambda: isinstance(stage.app.screen, QuestionDialog))
        await stage.press("escape", "escape")
        await stage.go("runs")
        await stage.until(lambda: isinstance(stage.app.place, Runs))
        await stage.sees("run_2", "suspended")
        await stage.press("a")
        await asked(stage, "once")
        await stage.until(lambda: latest(housed)[1] == "success")
        await stage.go("tools")
        await stage.until(lambda: place.tool_calls.latest["tool desk/book"].answered["status"] == "success")  # type: ignore[index]

    show(story, on=housed)


def test_nothing_waits_for_a_call_that_goes_on_and_it_can_be_broken_off(
    show: Show, housed: Space, tmp_path: Path
) -> None:
    """Its time is shown; other tools, and other places, are there meanwhile."""
    mark = tmp_path / "somebody waits"

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await form(stage, "desk/wait_at_door")
        slot(stage, "mark").query_one(Input).value = str(mark)
        await stage.press("enter")
        await stage.until(mark.exists)
        await stage.sees("desk/wait_at_door is called, ", "(x breaks it off)")
        await stage.press("escape")
        await shows(stage, "desk/rooms")
        await stage.press("c")
        await stage.until(lambda: place.detail.form.tool is place.detail.tool)
        await stage.press("ctrl+r")
        await stage.until(lambda: any("desk/wait_at_door is called" in said for said in stage.said()))
        await stage.press("escape")
        await stage.go("runs")
        await stage.sees("run_1", "running")
        await stage.go("tools")
        await stage.press("x")
        await answered(stage, "desk/wait_at_door")
        assert latest(housed) == ("call desk/wait_at_door", "cancelled")
        await shows(stage, "desk/wait_at_door")
        await stage.loses("breaks it off")
        await stage.press("right_square_bracket")
        await stage.sees("× cancelled", "broken off")

    show(story, on=housed)


def test_a_question_does_not_come_between_while_one_is_elsewhere(show: Show, housed: Space) -> None:
    """It is said, and put as soon as one comes back."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await booking(stage)
        place.detail.form.submit()
        await stage.app.action_go("runs")
        await stage.until(lambda: any("desk/book waits for you in Tools" in said for said in stage.said()))
        assert isinstance(stage.app.screen, Runs)
        await stage.go("tools")
        await asked(stage, "no")
        await answered(stage, "desk/book")

    show(story, on=housed)


def test_what_is_long_becomes_a_note_that_can_be_opened(show: Show, housed: Space) -> None:
    """Of which the beginning is shown."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        await form(stage, "desk/guestbook")
        await stage.write("2000")
        await click(stage, "#give")
        await answered(stage, "desk/guestbook")
        await stage.sees("line 1: it was quiet", "Note_1 has all of it (o opens it)")
        await stage.press("o")
        await stage.until(lambda: isinstance(stage.app.place, Notes) and stage.app.place.around is not None)
        await stage.sees("line 2: it was quiet")

    show(story, on=housed)


def test_arguments_can_be_written_as_json_and_as_fields(show: Show, housed: Space) -> None:
    """What is written goes along; what has no field is not lost on the way back."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await form(stage, "desk/book")
        slot(stage, "room").query_one(Select).value = '"red"'
        slot(stage, "quiet").query_one(Switch).value = True
        await click(stage, "#whole")
        await stage.sees('"room": "red"', '"quiet": true', '"hours": 2', "as fields")
        area = place.query_one("#slots TextArea", TextArea)
        area.text = '{"room": "red", "guests": ["x"], "extra": 1, "quiet": true}'
        await click(stage, "#whole")
        await stage.sees("there is no field for extra")
        area.text = '{"room": "red", "guests": ["x"], "quiet": 5}'
        await stage.press("ctrl+r")
        await stage.sees("quiet: ")
        area.text = "{"
        await stage.press("ctrl+r")
        await stage.sees("it seems cut off")
        area.text = '{"room": "red", "guests": ["x"], "quiet": true}'
        await click(stage, "#whole")
        await stage.until(lambda: bool(place.query(FormField)))
        assert slot(stage, "guests").query_one(TextArea).text == '[\n  "x"\n]'
        assert slot(stage, "quiet").value is True

    show(story, (160, 50), housed)


def test_the_examples_of_a_tool_fill_its_form(show: Show, housed: Space) -> None:
    """A field of text takes several lines that are pasted."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        await form(stage, "order/echo")
        assert slot(stage, "text").query_one(Input).value == "hello"
        slot(stage, "text").query_one(Input).value = ""
        from textual.events import Paste

        slot(stage, "text").query_one(Input).post_message(Paste("one\ntwo"))
        await stage.until(lambda: bool(slot(stage, "text").query(TextArea)))
        await stage.press("ctrl+r")
        await answered(stage, "order/echo")
        await stage.sees("✓ success", "one", "two")

    show(story, on=housed)


def test_primitives_prompts_resources_and_saved_plans_are_called_too(show: Show, housed: Space) -> None:
    """Each by its own form."""
    save_plan(
        housed,
        "greeting",
        {
            "goal": "Greet",
            "inputs": {"who": {"type": "string"}},
            "steps": [{"type": "create-note", "value": "Hello ${who}.", "out": "$said"}],
            "result": "$said",
        },
    )

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        for name, argument, value, message in (
            ("infospace/create-note", "value", '"a new note"', "a new note"),
            ("infospace/plan:greeting", "who", "Ada", "Hello Ada."),
            ("order/greet", "who", "Emmy", "Greet Emmy."),
        ):
            await form(stage, name)
            field = slot(stage, argument).query("Input, TextArea").first()
            setattr(field, "text" if isinstance(field, TextArea) else "value", value)
            await stage.press("ctrl+r")
            await answered(stage, name)
            await stage.sees("✓ success", message)
            await stage.press("escape")
        await form(stage, "order/odd://one")
        await stage.sees("It takes no arguments.")
        await stage.press("ctrl+r")
        await answered(stage, "order/odd://one")
        await stage.sees("✓ success", "here is odd://one")
        await stage.press("escape")
        await form(stage, "infospace/load")
        slot(stage, "target").query_one(Input).value = "nothing_of_the_kind"
        await stage.press("ctrl+r")
        await stage.until(lambda: "nothing_of_the_kind" in stage.text.replace("\n", " "))

    show(story, (160, 50), housed)


def test_a_tool_that_fails_says_why(show: Show, housed: Space) -> None:
    """In its own words; a time that it may last is held."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await form(stage, "desk/wait_at_door")
        slot(stage, "mark").query_one(Input).value = str(Path(housed.store.derived or "").parent / "mark")
        place.query_one("#seconds", Input).value = "0.3"
        await stage.press("ctrl+r")
        await answered(stage, "desk/wait_at_door")
        await stage.sees("✗ failed", "did not answer within 300 ms")
        await stage.press("c")
        await stage.until(lambda: place.detail.form.has_focus_within)
        place.query_one("#seconds", Input).value = "100000"
        await stage.press("ctrl+r")
        await stage.sees("at most 600 s")

    show(story, on=housed)
