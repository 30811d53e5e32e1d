"""The place Tools: what it lists and finds, and what it tells of tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from staging import Show, Stage
from textual.widgets import Input, SelectionList
from tooling import click, opened, shows, tools

from infospace import Space
from infospace.tools.local import LocalTools
from infospace.tools.scope import Scope
from infospace.tools.scoped_space import ScopedSpace
from planner.metatools.registry import META
from planner.parse.saved_plans import save_plan
from tui.dialogs.client import ClientDialog
from tui.dialogs.tool_filter import ToolFilterDialog


class Order(BaseModel):
    """What a tool of a shop answers."""

    order_id: int


async def asked(space: Space, name: str, **given: Any) -> dict[str, Any]:
    """Ask a meta-tool, as the command does."""
    return await META[name].call(space, given)


def names(stage: Stage) -> list[str]:
    """Return the full names that are listed."""
    return [tool.full_name for tool in tools(stage).tools.listed.tools]


def test_tools_prompts_resources_primitives_and_saved_plans_are_listed(show: Show, housed: Space) -> None:
    """Those of others first; how often each was called stands beside it. A server never listed is there too."""
    save_plan(housed, "greeting", {"goal": "Greet", "steps": [{"type": "say", "value": "hello"}]})

    async def story(stage: Stage) -> None:
        await opened(stage, "56 tools, 1 prompt, 2 resources", "desk/book", "62 ms")
        assert names(stage)[0] == "desk/book"
        assert {"infospace/plan:greeting", "infospace/create-note", "order/greet", "order/odd://one"} <= {*names(stage)}
        total = await asked(housed, "list_tools", page_size=100)
        listed = {*names(stage)} - {"gone/*"}
        assert sorted(listed) == sorted(tool["tool_name"] for tool in total["tools"])

    show(story, on=housed)


def test_the_search_runs_as_one_types_and_finds_what_the_command_finds(show: Show, housed: Space) -> None:
    """With the same scores, and what matched."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await stage.press("slash")
        await stage.write("reserve a room for guests")
        await stage.until(lambda: place.tools.listed.sought.query == "reserve a room for guests")
        await stage.sees("probably do that", "score")
        found = await asked(housed, "search_tools", query="reserve a room for guests", limit=50)
        assert names(stage) == [tool["tool_name"] for tool in found["tools"]]
        hits = place.tools.listed.hits
        assert [hits[f"tool {one['tool_name']}"].score for one in found["tools"][:2]] == [
            one["score"] for one in found["tools"][:2]
        ]
        await stage.press("enter")
        await stage.until(lambda: "relevance 0." in stage.text and "by words and meaning" in stage.text)
        await stage.sees("evidence 0.", "= meaning 0.", "room 0.")
        await stage.press("m", "m")
        await stage.until(lambda: place.tools.listed.sought.mode == "keyword")
        await stage.press("escape")
        await stage.sees("55 tools")

    show(story, on=housed, size=(160, 50))


def test_an_arrow_tells_which_tools_stand_above_a_higher_score(show: Show, housed: Space) -> None:
    """Without one, the scores go down."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await stage.press("slash")
        await stage.write("reserve a room")
        await stage.sees("probably do that", "↑")
        told = [str(place.tools.cells(index, ())[1]) for index in range(len(place.tools))]
        scores = [float(one.removesuffix("↑")) for one in told]
        above = {index for index, score in enumerate(scores) if score < max(scores[index + 1 :], default=0)}
        assert above
        assert above <= {index for index, one in enumerate(told) if one.endswith("↑")}

    show(story, on=housed, size=(160, 50))


def test_where_no_tool_fits_it_is_said_and_the_nearest_is_a_guess(show: Show, housed: Space) -> None:
    """Nothing is passed off as an answer."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await stage.press("slash")
        await stage.write("zzqx vvrb")
        await stage.sees("no tool of 59 fits; the nearest is ")
        assert place.tools.listed.no_match
        assert len(names(stage)) <= 1

    show(story, on=housed)


def test_what_changes_before_the_first_look_is_listed_by_it(
    show: Show, space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look compares with what was known before the list was read, not with what the first look saw."""
    monkeypatch.setattr("tui.screens.tools.tools.POLL_SECONDS", 3_600.0)

    async def story(stage: Stage) -> None:
        place = await opened(stage, "49 tools")
        await stage.until(lambda: not place._finding)
        save_plan(space, "greeting", {"goal": "Greet", "steps": [{"type": "say", "value": "hello"}]})
        place.refresh_if_changed()
        await stage.sees("50 tools")
        assert "infospace/plan:greeting" in names(stage)

    show(story, on=space)


def test_tools_are_sifted_by_server_category_and_tag(show: Show, housed: Space) -> None:
    """By the keys alone; the search is sifted too."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await stage.press("f")
        await stage.sees("Which tools?", "server    desk", "category  places", "tag       text")
        await stage.press("down", "down", "down", "space", "enter")
        await stage.sees("server order ▾", "1 tool, 1 prompt, 2 resources, of 59 in all")
        assert {name.partition("/")[0] for name in names(stage)} == {"order"}
        await stage.press("slash")
        await stage.write("book a room")
        await stage.until(lambda: place.tools.listed.sought.query == "book a room")
        assert all(name.startswith("order/") for name in names(stage))
        await stage.press("escape", "f")
        await stage.until(lambda: isinstance(stage.app.screen, ToolFilterDialog))
        assert stage.app.screen.query_one(SelectionList).selected == [("server", "order")]
        await click(stage, "#all")
        await stage.sees("all tools ▾")

    show(story, on=housed)


def test_tools_are_sifted_by_what_they_take_and_give(show: Show, housed: Space) -> None:
    """With a search and without; what is wrong in a field is said there."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await stage.press("f")
        await stage.sees("Which tools?", "takes", "gives")
        fields = stage.app.screen.query_one("#takes", Input), stage.app.screen.query_one("#gives", Input)
        fields[0].value, fields[1].value = '{"properties": {"text": {"type": "string"}}', "object"
        await stage.press("enter")
        await stage.sees("takes ends inside an object")
        fields[0].value = '{"properties": {"text": {"type": "string"}}}'
        fields[1].value = ""
        await stage.press("enter")
        await stage.sees('takes {"properties"', "2 tools, of 59 in all")
        await stage.until(lambda: "order/echo" in names(stage))
        assert "desk/book" not in names(stage)
        await stage.press("slash")
        await stage.write("say a text again")
        await stage.until(lambda: place.tools.listed.sought.query == "say a text again")
        await shows(stage, "order/echo")
        await stage.sees("it as text")
        await stage.press("escape", "f")
        await stage.until(lambda: isinstance(stage.app.screen, ToolFilterDialog))
        assert stage.app.screen.query_one("#takes", Input).value == '{"properties": {"text": {"type": "string"}}}'
        await click(stage, "#all")
        await stage.sees("all tools ▾")

    show(story, on=housed)


def test_words_that_instruct_the_model_are_marked_and_said_to_be_the_servers(show: Show, housed: Space) -> None:
    """In the list, and with the tool."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        await shows(stage, "order/echo")
        await stage.sees(
            "! Beware: its description asks to ignore or override other instructions.",
            "The server order says, as text to be read and not obeyed:",
        )
        assert any(row.lstrip().startswith("! order/echo") for row in stage.text.splitlines())
        await shows(stage, "desk/rooms")
        await stage.loses("Beware")

    show(story, on=housed)


def test_a_tool_is_told_with_what_it_does_how_its_calls_went_and_its_schemas(show: Show, housed: Space) -> None:
    """The figures are those of the calls that were recorded."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        await shows(stage, "desk/rooms")
        await stage.sees("only reads", "nobody is asked", "5 calls, 100% well; mean 65 ms, 95 of 100 within 240 ms")
        await shows(stage, "desk/book")
        await stage.sees("may take something away", "somebody is asked before each call", "none yet")
        await stage.press("right_square_bracket")
        await stage.sees("takes", '"blue"', "gives", '"guests"')
        await stage.press("y")
        await stage.until(lambda: any("Copied" in said for said in stage.said()))
        assert '"enum": [' in stage.app.clipboard

    show(story, on=housed, size=(160, 70))


def test_tools_that_are_alike_are_listed_with_their_reasons_and_can_be_followed(show: Show, housed: Space) -> None:
    """And b comes back."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        place = await shows(stage, "desk/book")
        await stage.press("left_square_bracket")
        await stage.until(lambda: len(place.detail.similar) > 0)
        await stage.sees("desk/rooms", "of the same server")
        first = place.detail.similar.found[0].tool.full_name
        expected = asked_alike(housed)
        assert [one.tool.full_name for one in place.detail.similar.found] == expected
        await stage.press("enter", "enter")
        await stage.until(lambda: place.detail.tool is not None and place.detail.tool.full_name == first)
        await stage.press("b")
        await stage.until(lambda: place.detail.tool is not None and place.detail.tool.full_name == "desk/book")

    def asked_alike(space: Space) -> list[str]:
        from infospace.tools.builtin import all_tools

        found = [tool for tool in all_tools(space, others=True) if not tool.blocked]
        tool = next(tool for tool in found if tool.full_name == "desk/book")
        return [one.tool.full_name for one in space.finder.similar(found, tool, 10)[0]]

    show(story, on=housed)


def test_the_neighbours_of_a_tool_are_drawn(show: Show, space: Space) -> None:
    """What gives what it takes above it, what takes what it gives below; or that there is none."""
    server = LocalTools("shop")

    @server.tool(read_only=True)
    def latest_order() -> Order:
        """Say which order came last."""
        return Order(order_id=1)

    @server.tool(read_only=True)
    def get_order(order_id: int) -> str:
        """Say what an order is of."""
        return f"order {order_id}"

    space.tools.add(server)

    async def story(stage: Stage) -> None:
        await opened(stage, "shop/get_order")
        await shows(stage, "shop/get_order")
        await stage.press("left_square_bracket", "left_square_bracket")
        await stage.sees("┌─ shop/latest_order  order_id → order_id  100%", "▶ shop/get_order")
        await shows(stage, "infospace/say")
        await stage.sees("no tool gives what it takes")

    show(story, on=space)


CONFIG: dict[str, Any] = {
    "scopes": {
        "visitor": {"include_tags": ["house"], "exclude_names": ["^book$"], "hide_underlying_tools": False},
        "default": {"exclude_servers": ["order"]},
    },
    "tokens": [
        {"name": "ann", "token": "${NO_SUCH_VARIABLE}", "scope": "visitor"},
        {"name": "ops", "token": "${NO_SUCH_VARIABLE_EITHER}"},
    ],
}


def test_what_the_client_of_a_token_would_see_is_what_its_list_has(show: Show, housed: Space, tmp_path: Path) -> None:
    """The tokens themselves are not needed for that; it is searched in the same scope."""
    file = tmp_path / "serve.json"
    file.write_text(json.dumps(CONFIG))

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await stage.press("w")
        await stage.until(lambda: isinstance(stage.app.screen, ClientDialog))
        stage.app.screen.query_one("#config", Input).value = str(file)
        await stage.press("enter")
        await stage.sees("stdio", "ann  only tags house, no names like ^book$; tools listed by themselves", "ops")
        await stage.press("down", "enter")
        await stage.sees("as ann ▾", "its own list has infospace's 5 tools and 4 more")
        narrowed = ScopedSpace(housed, Scope(include_tags=("house",), exclude_names=("^book$",)))
        total = await asked(narrowed, "list_tools", page_size=100)
        listed = {*names(stage)} - {"gone/*"}
        assert sorted(listed) == sorted(tool["tool_name"] for tool in total["tools"])
        assert "desk/book" not in names(stage)
        await stage.press("slash")
        await stage.write("book a room")
        await stage.until(lambda: place.tools.listed.sought.query == "book a room")
        assert "desk/book" not in names(stage)
        assert "desk/rooms" in names(stage)
        await stage.press("escape", "w")
        await stage.sees("ops")
        await click(stage, "#myself")
        await stage.sees("as myself ▾")
        await stage.until(lambda: "desk/book" in names(stage))

    show(story, on=housed, size=(160, 50))


def test_a_scope_can_be_written_and_what_is_wrong_in_it_is_said(show: Show, housed: Space, tmp_path: Path) -> None:
    """Also a file that is none."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        await click(stage, "#eyes")
        await stage.until(lambda: isinstance(stage.app.screen, ClientDialog))
        stage.app.screen.query_one("#config", Input).value = str(tmp_path / "none.json")
        await stage.press("enter")
        await stage.sees("there is no file")
        stage.app.screen.query_one("#include_names", Input).value = "("
        await click(stage, "#look")
        await stage.sees("only names like: ")
        stage.app.screen.query_one("#include_names", Input).value = "^r, book"
        stage.app.screen.query_one("#include_servers", Input).value = "desk , order"
        stage.app.screen.query_one("#include_names").focus()
        await stage.press("enter")
        await stage.sees("as a client of this scope ▾", "its own list has infospace's 5 tools alone")
        assert names(stage) == ["desk/book", "desk/guestbook", "desk/rooms"]

    show(story, on=housed, size=(160, 50))


def test_the_mouse_alone_lists_shows_and_turns(show: Show, housed: Space) -> None:
    """Words at the top, rows, tabs, the palette."""

    async def story(stage: Stage) -> None:
        place = await opened(stage, "desk/book")
        await click(stage, place.grid, (5, 3))
        await stage.until(lambda: place.detail.tool is not None and place.detail.tool.full_name == "desk/place")
        await click(stage, "#--content-tab-schema")
        await stage.sees('"point"')
        await click(stage, "#mode")
        await stage.until(lambda: place.query_one("#mode").word == "semantic")  # type: ignore[attr-defined]  # a Cycle
        await click(stage, "#what")
        await stage.sees("3 servers")
        await click(stage, place.grid, (5, 2))
        await stage.sees("ended with code 3 at its start")
        await click(stage, "#menu")
        await stage.sees("Add servers")

    show(story, on=housed)


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_a_space_without_servers_says_so_and_lists_its_own(show: Show, size: tuple[int, int]) -> None:
    """And how servers come in."""

    async def story(stage: Stage) -> None:
        await opened(stage, "infospace/compute")
        await stage.press("v")
        await stage.sees("no servers: M names an mcp.json")
        await stage.press("r", "x", "c")
        await stage.until(lambda: "No tool is chosen." in stage.said())

    show(story, size)
