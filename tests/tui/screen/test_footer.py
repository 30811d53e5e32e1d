"""The keys at the bottom of each place: those that can do something now, and no other."""

from __future__ import annotations

from staging import Show, Stage
from textual.widgets import Input, TextArea

from infospace import Space
from tui.widgets.key_footer import KeyFooter


def footer(stage: Stage) -> str:
    """The last line."""
    return stage.text.splitlines()[-1]


async def offers(stage: Stage, *words: str) -> None:
    """Wait until the words stand in the last line."""
    await stage.until(lambda: all(f" {word} " in f"{footer(stage)} " for word in words), repr(words))


async def hides(stage: Stage, *words: str) -> None:
    """Wait until none of the words stands in the last line."""
    await stage.until(lambda: not any(f" {word} " in f"{footer(stage)} " for word in words), repr(words))


def test_a_run_that_ended_is_neither_answered_nor_stopped(show: Show, furnished: Space) -> None:
    """One that waits is; a key that is not offered says why."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_5 ", "2/2")
        await offers(stage, "⏎ Open", "Filter", "Mark", "Delete", "Help")
        await hides(stage, "Answer", "Resume", "Stop", "Compare")
        await stage.press("a")
        await stage.until(lambda: any("run_5 asks nothing" in one for one in stage.said()))
        await stage.press("m", "down", "down")
        await offers(stage, "a Answer", "r Resume", "x Stop", "c Compare")
        await stage.open("run_1")
        await stage.sees("for-each")
        await hides(stage, "Answer", "Resume", "Stop", "Follow")
        await offers(stage, "f Fork")
        await stage.open("run_3")
        await offers(stage, "a Answer", "x Stop")
        await stage.open("run_2", "1", "step")
        await hides(stage, "Answer", "Stop")

    show(story, on=furnished)


def test_a_plan_that_was_not_run_has_a_fix_and_nothing_to_stop(show: Show, space: Space) -> None:
    """The fix is offered where there is one."""

    async def story(stage: Stage) -> None:
        stage.app.open_plan({"steps": [{"type": "create-not", "value": "x", "out": "$x"}]})
        await stage.go("plan")
        await stage.sees("1 error", "create-not")
        await hides(stage, "Answer", "Stop", "Fork", "Follow", "Timeline", "Use fix")
        await stage.press("n")
        await offers(stage, "u Use fix")

    show(story, on=space)


def test_in_a_field_no_key_is_offered_that_would_be_typed(show: Show, stocked: Space) -> None:
    """The help is at a key that works there."""

    async def story(stage: Stage) -> None:
        await stage.go("notes")
        await stage.sees("8 kept notes")
        await offers(stage, "e Edit", "? Help")
        await hides(stage, "Undo")
        await stage.press("slash")
        await stage.until(lambda: stage.app.screen.query(Input).first().has_focus)
        await hides(stage, "Edit", "Delete", "List", "Search")
        await offers(stage, "esc Leave", "F1 Help")
        await stage.press("f1")
        await stage.sees("Help: Notes")

    show(story, on=stocked)


def test_tools_are_called_and_servers_are_not(show: Show, housed: Space) -> None:
    """`v` says where it leads; there is something to stop where something goes on."""

    async def story(stage: Stage) -> None:
        await stage.go("tools")
        await stage.sees("desk/book", "may take something away")
        await offers(stage, "v Servers", "c Call")
        await hides(stage, "Stop", "Answer")
        await stage.press("v")
        await stage.sees("3 servers")
        await offers(stage, "v Tools", "Sync")
        await hides(stage, "Call", "Filter")

    show(story, on=housed)


def test_a_wide_screen_offers_more_keys(show: Show, furnished: Space) -> None:
    """Those that only the help names elsewhere."""

    async def story(stage: Stage) -> None:
        await stage.sees("run_5 ", "2/2")
        await offers(stage, "Fork", "Edit", "Replay", "Help")

    show(story, (160, 50), furnished)


def test_compose_offers_what_the_text_and_its_run_allow(show: Show) -> None:
    """A run that rests is gone on with; without a text there is nothing to try."""
    plan = '[{"type": "create-note", "value": "x", "out": "$x"}, {"type": "size", "target": "$y"}]'

    async def story(stage: Stage) -> None:
        await stage.go("compose")
        await stage.sees("nothing is written yet")
        await offers(stage, "^r Run", "^o Open", "F1 Help")
        await hides(stage, "Try", "Step", "Fix", "Save")
        editor = stage.app.screen.query(TextArea).first()
        editor.text = plan
        await stage.sees("1 error")
        await offers(stage, "^t Try", "^l Step", "^s Save")
        editor.text = plan.replace('{"type": "size", "target": "$y"}', '{"type": "say", "value": "$x"}')
        await stage.sees("may run")
        await stage.press("ctrl+l")
        await stage.sees("paused before step 2", "^r go on", "alt+x halt", "alt+k fork")
        await offers(stage, "^r Go on")
        await stage.press("ctrl+r")
        await stage.sees("run_1 ✓ success", "^r run")
        await offers(stage, "^r Run")
        assert "alt+x halt" not in stage.text

    show(story)


def test_each_key_is_clicked_from_its_first_column_to_its_last(show: Show, stocked: Space) -> None:
    """The pointer marks it, and what it does is told as its tooltip; what stands between or behind is no key."""

    async def story(stage: Stage) -> None:
        await stage.go("notes")
        await stage.sees("8 kept notes")
        await offers(stage, "/ Search", "? Help")
        line, keys = stage.app.screen.query_one(KeyFooter), stage.app.screen.query_one(KeyFooter).keys
        column = 0
        for one in keys:
            assert footer(stage)[column : column + one.width] == f" {one.display} {one.word} "
            assert [line.key_at(at) for at in (column, column + one.width - 1)] == [one, one]
            column += one.width
        assert line.key_at(column) is None
        search = next(one for one in keys if one.word == "Search")
        begin = sum(one.width for one in keys[: keys.index(search)])
        await stage.pilot.hover(KeyFooter, offset=(begin, 0))
        assert (line.tooltip or "") == search.tooltip
        assert {span.style.bgcolor for span in line.render().spans if span.start == begin} != {
            span.style.bgcolor for span in line.render().spans if span.start == begin + search.width
        }
        await stage.pilot.click(KeyFooter, offset=(begin + search.width - 1, 0))
        await stage.until(lambda: stage.app.screen.query(Input).first().has_focus)

    show(story, on=stocked)
