"""The place Tools as it looks, at both sizes: compared with the pictures in `pictures/`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from staging import BOTH, SIZES, SMALL, Show, Stage
from textual.widgets import Input, Select, TextArea
from tooling import answered, form, opened, shows, tools

from infospace import Space
from infospace.store.tool_records import ToolUse
from planner.metatools.lookup import tool_uses
from tui.dialogs.client import ClientDialog
from tui.dialogs.question import QuestionDialog
from tui.widgets.details.form_field import FormField
from tui.widgets.key_footer import KeyFooter


async def quiet(stage: Stage) -> None:
    """Wait until what is said is gone, and nothing goes on."""
    stage.app.clear_notifications()
    await stage.until(lambda: tools(stage).tool_calls.current is None and not stage.said())


class TestPictures:
    """What is on the screen is what is in the picture."""

    @BOTH
    def test_tools(self, show: Show, housed: Space, size: str) -> None:
        """The list, and a tool whose words instruct."""

        async def story(stage: Stage) -> None:
            await opened(stage, "55 tools")
            await shows(stage, "order/echo")
            await stage.sees("Beware", "as text to be read")
            await stage.is_as(f"tools-{size}")

        show(story, SIZES[size], housed)

    @BOTH
    def test_search(self, show: Show, housed: Space, size: str) -> None:
        """Scores, what matched, why the first is the first."""

        async def story(stage: Stage) -> None:
            await opened(stage, "55 tools")
            await stage.press("slash")
            await stage.write("reserve a room")
            await stage.until(lambda: tools(stage).tools.listed.sought.query == "reserve a room", "the whole query")
            await stage.sees("probably do that")
            await stage.press("enter")
            stage.expects_nothing_new()
            await stage.sees("relevance 0.")
            await stage.is_as(f"tools-search-{size}")

        show(story, SIZES[size], housed)

    @BOTH
    def test_form(self, show: Show, housed: Space, size: str) -> None:
        """Fields of every kind, and what is wrong beside them."""

        async def story(stage: Stage) -> None:
            await opened(stage, "55 tools")
            await form(stage, "desk/book")
            place = tools(stage)
            slots = {slot.field.name: slot for slot in place.query(FormField)}
            slots["hours"].query_one(Input).value = "99"
            await stage.press("ctrl+r")
            await stage.sees("this is needed", "99 is more than 12")
            await stage.is_as(f"tools-form-{size}")

        show(story, SIZES[size], housed)

    @SMALL
    def test_question(self, show: Show, housed: Space, size: str) -> None:
        """What is asked before a call."""

        async def story(stage: Stage) -> None:
            await opened(stage, "55 tools")
            await form(stage, "desk/book")
            slots = {slot.field.name: slot for slot in tools(stage).query(FormField)}
            slots["room"].query_one(Select).value = '"green"'
            slots["guests"].query_one(TextArea).text = '["Ada", "Emmy"]'
            await stage.press("ctrl+r")
            await stage.until(lambda: isinstance(stage.app.screen, QuestionDialog))
            await stage.sees("always: every call")
            await stage.until(lambda: tools(stage).tool_calls.current is None)
            footer = tools(stage).query_one(KeyFooter)
            await stage.until(lambda: any(key.word == "Answer" for key in footer.keys) or size == "80x24")
            await stage.is_as(f"tools-question-{size}")

        show(story, SIZES[size], housed)

    @SMALL
    def test_answer(self, show: Show, housed: Space, size: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """What a call gave; its time is never the same, and so is that of all calls of the tool."""
        guestbook = ("desk", "guestbook")

        def timed(space: Space) -> dict[tuple[str, str], ToolUse]:
            return {
                key: replace(use, mean_ms=48.0) if key == guestbook else use for key, use in tool_uses(space).items()
            }

        monkeypatch.setattr("tui.tables.tools_query.tool_uses", timed)

        async def story(stage: Stage) -> None:
            await opened(stage, "55 tools")
            await form(stage, "desk/guestbook")
            await stage.write("300")
            await stage.press("enter")
            await answered(stage, "desk/guestbook")
            call = tools(stage).tool_calls.latest["tool desk/guestbook"]
            assert call.answered is not None
            metadata = {**call.answered["execution_metadata"], "execution_time_ms": 34.0}
            call.answered = {**call.answered, "execution_metadata": metadata}
            tools(stage).tool_calls.show_reply()
            await stage.sees("line 1: it was quiet", "34 ms")
            await stage.until(lambda: tools(stage).tools.listed.uses[guestbook].execution_count == 2)
            await quiet(stage)
            await stage.is_as(f"tools-answer-{size}")

        show(story, SIZES[size], housed)

    @SMALL
    def test_similar(self, show: Show, housed: Space, size: str) -> None:
        """Tools like one, and why."""

        async def story(stage: Stage) -> None:
            await opened(stage, "55 tools")
            place = await shows(stage, "desk/book")
            await stage.press("left_square_bracket")
            await stage.until(lambda: len(place.detail.similar) > 0)
            await stage.sees("of the same server")
            await stage.press("enter")
            await stage.until(lambda: place.detail.has_focus_within, "the focus")
            await stage.is_as(f"tools-similar-{size}")

        show(story, SIZES[size], housed)

    @BOTH
    def test_servers(self, show: Show, started: Space, size: str) -> None:
        """One that fails, and why."""

        async def story(stage: Stage) -> None:
            place = await opened(stage, "55 tools")
            await stage.press("v")
            await stage.sees("3 servers, 2 running, 1 failed")
            place.grid.go_to("gone")
            await stage.sees("cannot find its")
            await stage.is_as(f"tools-servers-{size}")

        show(story, SIZES[size], started)

    @SMALL
    def test_client(self, show: Show, housed: Space, size: str, tmp_path: Path) -> None:
        """Whose eyes there are."""
        file = tmp_path / "serve.json"
        scopes = {"visitor": {"include_tags": ["house"], "exclude_names": ["^book$"], "hide_underlying_tools": False}}
        tokens = [{"name": "ann", "token": "${ANN}", "scope": "visitor"}, {"name": "ops", "token": "${OPS}"}]
        file.write_text(json.dumps({"scopes": scopes, "tokens": tokens}))

        async def story(stage: Stage) -> None:
            await opened(stage, "55 tools")
            await stage.press("w")
            await stage.until(lambda: isinstance(stage.app.screen, ClientDialog))
            stage.app.screen.query_one("#config", Input).value = str(file)
            await stage.press("enter")
            await stage.sees("ann", "ops")
            stage.app.screen.query_one("#config", Input).value = "serve.json"
            await stage.sees(" serve.json")
            await stage.is_as(f"tools-client-{size}")

        show(story, SIZES[size], housed)

    @SMALL
    def test_filter(self, show: Show, housed: Space, size: str) -> None:
        """What there is to choose from."""

        async def story(stage: Stage) -> None:
            await opened(stage, "55 tools")
            await stage.press("f")
            await stage.sees("Which tools?")
            await stage.press("down", "down", "space")
            await stage.is_as(f"tools-filter-{size}")

        show(story, SIZES[size], housed)
