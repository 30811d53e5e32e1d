"""Questions are answered on the screen, and the run goes on there."""

from __future__ import annotations

import asyncio

from furnishing import note
from staging import Show, Stage
from textual.widgets import Input

from infospace import Space
from infospace.journal.rows import CallRow, OpenRun
from infospace.tools.journalled_calls import digest_of
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.lifecycle.resume import resume
from tui.dialogs.question import QuestionDialog, prefilled

GIVEN = {"path": "letter.txt", "times": "2", "how": {"really": True}}


def status_of(space: Space, run: str) -> str:
    with space.store.reading() as snapshot:
        return snapshot.run(run).status


async def asked(stage: Stage, *texts: str) -> None:
    """Wait until a question stands in front, with some texts: it is told in the list behind it too."""
    await stage.until(lambda: isinstance(stage.app.screen, QuestionDialog), repr(texts))
    await stage.sees(*texts)


def test_a_question_is_answered_and_the_run_goes_on_here(show: Show, furnished: Space) -> None:
    """By a choice of the schema; what does not fit is said."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_3 ")
        await stage.press("down", "down", "a")
        await asked(stage, "Which year was it?", "another")
        await stage.press("down", "enter")
        await stage.until(lambda: any("run_3 has ended well" in one for one in stage.said()))
        await stage.sees("3/3")
        await stage.press("up", "a")
        await asked(stage, "How many were there?")
        await stage.write("many")
        await stage.press("enter")
        await stage.sees("That does not fit")
        stage.app.screen.query_one(Input).value = "7"
        await stage.press("enter")
        await stage.until(lambda: any("run_4 has ended well" in one for one in stage.said()))

    show(story, on=furnished)
    with furnished.store.reading() as snapshot:
        assert snapshot.get(str(snapshot.run("run_3").result)).content == "in 1985"
        assert snapshot.get(str(snapshot.run("run_4").result)).content == "7!"


def test_a_call_that_may_take_something_away_is_allowed_here(show: Show, space: Space) -> None:
    """What each answer allows stands beside it; what is asked shows the arguments, as whoever reads no JSON does."""
    outside, gone = LocalTools("disk"), []

    @outside.tool(destructive=True)
    def erase(path: str, times: str, how: dict[str, bool]) -> str:
        """Erase a file."""
        gone.append(path)
        return f"{path} is gone"

    space.tools.add(outside)
    step = {"type": "disk/erase", "arguments": GIVEN, "out": "$said"}
    run = str(run_sync(space, {"goal": "tidy", "steps": [step, note("${said}", "$x")]}).run)

    async def story(stage: Stage) -> None:
        await stage.sees(f"{run} ", "suspended")
        await stage.press("a")
        await stage.sees("the tool erase of the server disk", "once: this call", "no: it is not called")
        await stage.sees("path   letter.txt", 'times  "2"', "how    really: true")
        assert "{" not in stage.text
        assert gone == []
        await stage.press("enter")
        await stage.until(lambda: any(f"{run} has ended well" in one for one in stage.said()))

    show(story)
    assert gone == ["letter.txt"]


def test_a_call_in_doubt_is_told_of_here(show: Show, space: Space) -> None:
    """What it answered can be said in words."""
    outside = LocalTools("post")

    @outside.tool()
    async def send(text: str) -> str:
        """Send a text."""
        raise AssertionError(text)

    space.tools.add(outside)
    arguments = {"text": "hello"}
    plan = {
        "goal": "send",
        "steps": [{"type": "post/send", "arguments": arguments, "out": "$sent"}, note("${sent}!", "$x")],
    }
    run, at = space.store.new_id("run"), "2026-03-31T00:00:00.000Z"
    begun = CallRow(run, 1, "1", "tool", "post/send", digest_of(outside.tools()[0], arguments), "started", at)
    space.store.commit([], [OpenRun(run, "plan", "send", plan, {}, at, "gone:1:x"), begun])
    asyncio.run(resume(space, run))
    assert status_of(space, run) == "suspended"

    async def story(stage: Stage) -> None:
        await stage.sees("suspended")
        await stage.press("a")
        await stage.sees("did it have its", "Make the call again", "its result is")
        await stage.press("down", "enter")
        await stage.until(lambda: bool(stage.app.screen.query(Input)))
        await stage.write("received")
        await stage.press("enter")
        await stage.until(lambda: any(f"{run} has ended well" in one for one in stage.said()))

    show(story)
    with space.store.reading() as snapshot:
        assert snapshot.get(str(snapshot.run(run).result)).content == "received!"


def test_what_a_run_says_is_shown_and_stands_beside_its_step(show: Show, space: Space) -> None:
    """The latest of it, wherever one looks; all of it in Plan."""
    say = {"type": "for-each", "target": "$all", "as": "$one", "do": [{"type": "say", "value": "now ${one}"}]}
    many = {"type": "create-collection", "value": ["a", "b", "c", "d", "e"], "out": "$all"}
    run = str(run_sync(space, [{"type": "ask", "value": "go?", "schema": {"enum": ["yes"]}}, many, say]).run)

    async def story(stage: Stage) -> None:
        await stage.sees(f"{run} ")
        await stage.press("a")
        await asked(stage, "go?")
        await stage.press("enter")
        await stage.until(lambda: any("now e" in one for one in stage.said()))
        await stage.open(run)
        await stage.sees("now a", "now b", "now e")

    show(story, on=space)


def test_a_form_begins_with_its_defaults() -> None:
    """What a server asks has fields; whoever answers changes what stands there."""
    fields = {"name": {"type": "string"}, "seats": {"type": "integer", "default": 2}}
    schema = {"type": ["object", "string"], "properties": fields, "required": ["name"], "pattern": "^decline$"}
    assert prefilled(schema) == '{"seats": 2}'
    assert prefilled({"type": "string"}) == prefilled(None) == ""
