"""Tools that are functions of this process: their schemas, answers and failures."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest

from infospace import Conflict, InfospaceError, Invalid, NotFound
from infospace.core.tool import NoAnswer, Tool, ToolAnswer, ToolFailed
from infospace.tools.local import LocalTools
from infospace.tools.scope import Scope
from infospace.tools.toolbox import Toolbox


class Place(TypedDict):
    """A place; of a kind that pydantic alone does not read before Python 3.12."""

    name: str
    parts: list[str] | None


def toolbox() -> Toolbox:
    atlas = LocalTools("atlas")

    @atlas.tool(read_only=True)
    def find(name: str, deep: bool = False) -> Place:
        """Find a place."""
        return {"name": name, "parts": ["harbour"] if deep else None}

    @atlas.tool()
    async def forget(name: str) -> str:
        """Forget a place."""
        raise InfospaceError(f"{name} is not known")

    tools = Toolbox()
    tools.add(atlas)
    return tools


def test_schemas_come_from_the_annotations() -> None:
    """What it takes, closed; what it gives; what it does to the world."""
    tool = toolbox().get("atlas/find")
    assert tool.input_schema["required"] == ["name"]
    assert tool.input_schema["additionalProperties"] is False
    assert tool.output_schema is not None
    assert tool.output_schema["properties"]["name"] == {"title": "Name", "type": "string"}
    assert (tool.read_only, tool.destructive, tool.description) == (True, False, "Find a place.")


def test_a_call_answers_with_structured_content() -> None:
    """Arguments that do not fit are told before the call, all at once."""
    tools = toolbox()
    answer = asyncio.run(tools.call(tools.get("atlas/find"), {"name": "Oslo", "deep": True}))
    assert answer.content == {"name": "Oslo", "parts": ["harbour"]}
    with pytest.raises(Invalid, match="is missing") as raised:
        asyncio.run(tools.call(tools.get("atlas/find"), {"deep": "yes", "wide": 1}))
    assert '"yes" is not true or false' in str(raised.value)
    assert '"wide" is unknown' in str(raised.value)


def test_an_expected_failure_is_an_answer() -> None:
    """In the tool's words."""
    tools = toolbox()
    answer = asyncio.run(tools.call(tools.get("atlas/forget"), {"name": "Oslo"}))
    assert (answer.is_error, answer.text) == (True, "Oslo is not known")


def test_what_is_not_there_is_not_found_with_the_nearest() -> None:
    """By likeness, or by the only tool of that name."""
    tools = toolbox()
    for name in ("atlas/fnd", "globe/find"):
        with pytest.raises(NotFound, match="did you mean 'atlas/find'"):
            tools.get(name)
    with pytest.raises(NotFound, match="no tools in this space"):
        Toolbox().get("a/b")


def test_where_no_name_is_alike_the_tools_that_take_the_arguments_are_named() -> None:
    """Of prompts and resources none, which take no such arguments."""
    tools, values = toolbox(), {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert tools.hint("globe/xyzzy", "tool", values).startswith("these arguments fit ")
    assert "atlas/find" in tools.hint("globe/xyzzy", "tool", values)
    assert tools.hint("globe/xyzzy", "prompt", values) == "no prompts in this space"
    assert tools.hint("globe/xyzzy") == "there are atlas/find, atlas/forget"


def test_two_servers_of_one_name_are_a_conflict() -> None:
    """And a name with a slash is none."""
    tools = toolbox()
    with pytest.raises(Conflict, match="atlas"):
        tools.add(LocalTools("atlas"))
    for name in ("a/b", "/", ""):
        with pytest.raises(Invalid, match=f"'{name}' cannot be a server's name") as raised:
            tools.add(LocalTools(name))
        assert raised.value.hint == "one without `/`"


def test_a_tool_that_is_not_there_any_more_is_not_called() -> None:
    """Whoever still has it."""
    tools = LocalTools("atlas")
    with pytest.raises(NotFound, match="there is no tool atlas/gone"):
        asyncio.run(tools.call(Tool("atlas", "gone", ""), {}))


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        (ToolAnswer([{"type": "text", "text": "a"}], {"x": 1}), {"x": 1}),
        (ToolAnswer([{"type": "text", "text": "a"}]), "a"),
        (
            ToolAnswer([{"type": "text", "text": "a"}, {"type": "image", "data": "…"}]),
            [{"type": "text", "text": "a"}, {"type": "image", "data": "…"}],
        ),
        (ToolAnswer([{"type": "image", "data": "…"}]), [{"type": "image", "data": "…"}]),
    ],
)
def test_the_content_is_structured_or_a_single_text_or_the_blocks(answer: ToolAnswer, content: Any) -> None:
    """In that order."""
    assert answer.content == content


def test_who_is_narrowed_calls_no_tool_out_of_scope_that_somebody_else_found() -> None:
    """It is not called, and is told like one that is not there; what is in scope is called."""
    tools, made = Toolbox(), list[str]()
    server = LocalTools("desk")

    @server.tool()
    def send(text: str) -> str:
        """Send a text."""
        made.append(text)
        return text

    @server.tool(read_only=True)
    def read(text: str) -> str:
        """Read a text."""
        made.append(text)
        return text

    tools.add(server)
    narrowed = tools.scoped(Scope(include_names=("desk/read",)))
    with pytest.raises(NotFound, match=r"there is no tool 'desk/send'"):
        asyncio.run(narrowed.call(tools.get("desk/send"), {"text": "out"}))
    asyncio.run(narrowed.call(tools.get("desk/read"), {"text": "in"}))
    assert made == ["in"]


def test_a_tool_out_of_scope_is_not_called_though_somebody_has_it() -> None:
    """It answers as one that is not there, and nothing is done; those in scope are called."""
    called: list[str] = []
    atlas = LocalTools("atlas")

    @atlas.tool()
    def find(name: str) -> str:
        """Find a place."""
        called.append(name)
        return name

    @atlas.tool()
    def fund(name: str) -> str:
        """Pay for a place."""
        called.append(name)
        return name

    tools = Toolbox()
    tools.add(atlas)
    narrow = tools.scoped(Scope(exclude_names=("fund",)))
    with pytest.raises(NotFound) as refusal:
        asyncio.run(narrow.call(tools.get("atlas/fund"), {"name": "x"}))
    assert refusal.value.message == "there is no tool 'atlas/fund'"
    assert refusal.value.hint == narrow.hint("atlas/fund")
    assert "fund" not in str(refusal.value.hint)
    with pytest.raises(NotFound, match="there is no tool"):
        asyncio.run(narrow.call(tools.get("atlas/fund"), {"nothing": "that fits"}))
    assert called == []
    assert asyncio.run(narrow.call(tools.get("atlas/find"), {"name": "x"})).content == "x"
    asyncio.run(tools.call(tools.get("atlas/fund"), {"name": "y"}))
    assert called == ["x", "y"]


def test_a_function_has_the_time_that_it_is_given() -> None:
    """Without one as long as it wants; that it runs out of a time of its own is no sign of ours."""
    clock = LocalTools("clock")

    @clock.tool()
    async def wait(seconds: float) -> str:
        """Wait."""
        await asyncio.sleep(seconds)
        return "waited"

    @clock.tool()
    async def give_up() -> str:
        """Run out of time."""
        raise TimeoutError("its own")

    tools = {tool.name: tool for tool in clock.tools()}
    for seconds in (None, 30):
        assert asyncio.run(clock.call(tools["wait"], {"seconds": 0.01}, seconds)).content == "waited"
    with pytest.raises(NoAnswer, match=r"^clock/wait did not answer within 0\.05 s$"):
        asyncio.run(clock.call(tools["wait"], {"seconds": 20}, 0.05))
    for seconds in (None, 30):
        with pytest.raises(TimeoutError, match="its own"):
            asyncio.run(clock.call(tools["give_up"], {}, seconds))


def test_what_a_function_does_not_say_is_left_open() -> None:
    """Without a docstring, or what it gives; a text alone is a block, and what it is given has its defaults."""
    odds = LocalTools("odds")

    @odds.tool(idempotent=True)
    def bare(n: int, mark: str = "?"):  # type: ignore[no-untyped-def]
        return mark * n if n else {"n": n}

    with pytest.raises(TypeError, match="tool 'untold': the parameter 'x' has no annotation"):

        @odds.tool()
        def untold(x) -> None:  # type: ignore[no-untyped-def]
            return

    (tool,) = odds.tools()
    assert (tool.description, tool.output_schema, tool.input_schema["required"]) == ("", None, ["n"])
    assert (tool.read_only, tool.idempotent, tool.destructive) == (False, True, False)
    assert asyncio.run(odds.call(tool, {"n": 2})) == ToolAnswer([{"type": "text", "text": "??"}])
    assert asyncio.run(odds.call(tool, {"n": 0, "mark": "x"})) == ToolAnswer(structured={"n": 0})
    with pytest.raises(ToolFailed, match="odds/bare does not take these arguments"):
        asyncio.run(odds.call(tool, {"n": 1, "more": 2}))
    with pytest.raises(NotFound, match="there is no tool odds/gone"):
        asyncio.run(odds.call(Tool("odds", "gone"), {}))
    assert odds.find("bare") == tool
    assert odds.find("gone") is None
