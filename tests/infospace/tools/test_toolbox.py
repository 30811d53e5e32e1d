"""The tools of a space by their names: who may call which for how long, and what is said of a name that none has."""

from __future__ import annotations

import asyncio
import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infospace import Conflict, Invalid, NotFound, Space
from infospace.core.tool import NoAnswer, NotCalled, Tool, ToolAnswer, ToolFailed, ToolKind
from infospace.tools.scope import EVERYTHING, Scope
from infospace.tools.toolbox import Toolbox

sys.path.insert(0, str(Path(__file__).parent))
from given_tools import GivenTools, taking
from served import synced, write


def toolbox(*tools: Tool) -> Toolbox:
    """Return a toolbox of these tools, each of its server."""
    result = Toolbox()
    for server in dict.fromkeys(tool.server for tool in tools):
        result.add(GivenTools(server, *(tool for tool in tools if tool.server == server)))
    return result


def named(*names: str, kind: ToolKind = "tool") -> list[Tool]:
    """Return tools of these full names."""
    return [Tool(name.partition("/")[0], name.partition("/")[2], kind=kind) for name in names]


def test_a_name_of_a_server_is_taken_once() -> None:
    """And is one that full names can begin with."""
    tools = toolbox(*named("a/b"))
    with pytest.raises(Conflict) as refused:
        tools.add(GivenTools("a"))
    assert (refused.value.message, refused.value.hint) == (
        "there is a server 'a' already",
        "give one of them another name",
    )
    for name in ("", "a/b"):
        with pytest.raises(Invalid) as wrong:
            tools.add(GivenTools(name))
        assert (wrong.value.message, wrong.value.hint) == (f"{name!r} cannot be a server's name", "one without `/`")


def test_tools_are_told_server_by_server_and_prompts_and_resources_apart() -> None:
    page, ask = Tool("b", "x:page", kind="resource"), Tool("b", "ask", kind="prompt")
    tools = toolbox(*named("b/two", "b/one"), page, ask, *named("a/three"))
    assert [tool.full_name for tool in tools] == ["a/three", "b/two", "b/one"]
    assert [tool.name for tool in tools.everything()] == ["three", "two", "one", "x:page", "ask"]
    assert (tools.find("b/ask"), tools.find("b/x:page"), tools.find("c/one")) == (None, None, None)
    assert (tools.find("b/ask", "prompt"), tools.find("b/x:page", "resource")) == (ask, page)
    assert (tools.find("b/one", "prompt"), tools.find("b/", "resource"), tools.find("c/x:y", "resource")) == (None,) * 3
    unlisted = tools.get("b/x:other", "resource")
    assert unlisted == Tool(
        "b", "x:other", "", {"type": "object", "additionalProperties": False}, None, True, False, False, kind="resource"
    )
    with pytest.raises(NotFound) as refused:
        tools.get("b/asks", "prompt")
    assert (refused.value.message, refused.value.hint) == ("there is no prompt 'b/asks'", "did you mean 'b/ask'?")


NINE = [f"w/{name}" for name in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")]


@pytest.mark.parametrize(
    ("names", "asked", "hint"),
    [
        (
            ["a/find", "b/lose"],
            "infospace/sort",
            'what the space itself can do is a step of its own: {"type": "sort", …}',
        ),
        (["a/find", "b/lose"], "infospace/", "there are a/find, b/lose"),
        (["a/find", "b/lose"], "a/fnd", "did you mean 'a/find'?"),
        (["a/find", "b/lose"], "wholly/find", "did you mean 'a/find'?"),
        (["a/find", "b/find"], "wholly-elsewhere/find", "there are a/find, b/find"),
        (["a/find", "b/lose"], "b/12345678", "there are b/lose, a/find"),
        (NINE, "q/12345678", f"there are {', '.join(sorted(NINE, key=NINE.index))}"),
        ([*NINE, "z/iota"], "z/12345678", f"there are z/iota, {', '.join(NINE[:7])}, …"),
        ([], "a/b", "no tools in this space"),
    ],
)
def test_of_a_name_that_no_tool_has_is_said_what_was_meant_or_what_there_is(
    names: list[str], asked: str, hint: str
) -> None:
    """Eight at most, those of that server first."""
    tools = toolbox(*named(*names))
    assert tools.hint(asked) == hint
    assert tools.hint("a/b", "prompt") == "no prompts in this space"
    with pytest.raises(NotFound) as refused:
        tools.get(asked)
    assert (refused.value.message, refused.value.hint) == (f"there is no tool {asked!r}", hint)


def test_the_tools_that_take_the_arguments_of_a_call_are_proposed() -> None:
    """Those that are named alike first, those that cannot be called now last; with the names that theirs have."""
    values = {"properties": {"city": {"type": "string"}}}
    wind = taking("b", "wind", "city_name")
    tools = toolbox(taking("a", "tide", "city"), wind, taking("a", "two", "city", "day"), Tool("a", "none"))
    assert tools.hint("qqq/xyzzy", "tool", values) == "these arguments fit a/tide or b/wind (as city_name)"
    down = replace(wind, connected=False)
    tools = toolbox(taking("c", "tide", "city"), down, taking("a", "moon", "city", connected=False))
    assert tools.hint("qqq/xyzzy", "tool", values) == (
        "these arguments fit c/tide, a/moon (its server is down) or b/wind (as city_name; its server is down)"
    )
    four = [taking("a", f"n{number}", "city") for number in range(4)]
    assert toolbox(*four).hint("qqq/xyzzy", "tool", values) == "these arguments fit a/n0, a/n1, a/n2 or a/n3"
    more = toolbox(*four, taking("a", "tide_now", "city"), taking("a", "n5", "city"))
    assert more.hint("qqq/tide_xyzzy", "tool", values) == (
        "these arguments fit a/tide_now, a/n0, a/n1, a/n2 or one of 2 more"
    )
    assert toolbox(*four).hint("qqq/xyzzy", "prompt", values) == "no prompts in this space"
    assert toolbox(*four).hint("qqq/xyzzy", "tool", {}) == "there are a/n0, a/n1, a/n2, a/n3"


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("sky/get_weather", "sky/get_weather"),
        ("sky/getWeather", "sky/get_weather"),
        ("skyy/get-weather", "sky/get_weather"),
        ("skyyy/get_weather", None),
        ("sea/get_weather", None),
        ("sea/get_tides", "sea/get_tide"),
        ("get_weather", "sky/get_weather"),
        ("getWeather", "sky/get_weather"),
        ("sky_get_weather", "sky/get_weather"),
        ("mcp__sky__get_weather", "sky/get_weather"),
        ("functions.get_weather", "sky/get_weather"),
        ("functions/get_weather", "sky/get_weather"),
        ("default_api.get_weather", "sky/get_weather"),
        ("default_api/get_weather", "sky/get_weather"),
        ("mcp", None),
        ("tools/", None),
        ("look", None),
        ("sea/look", "sea/look"),
        ("elsewhere/get_weather", None),
        ("get_mail", None),
    ],
)
def test_a_name_that_is_plainly_written_for_another_is_that_one(asked: str, meant: str | None) -> None:
    """Not where two would fit, nor for a tool of another server."""
    tools = toolbox(*named("sky/get_weather", "sky/look", "sea/get_tide", "sea/look"))
    assert tools.close_match(asked) == meant
    assert tools.close_match(asked, "prompt") is None


async def called(tools: Toolbox, name: str, arguments: dict[str, Any], seconds: float | None = None) -> ToolAnswer:
    return await tools.call(tools.get(name), arguments, seconds)


@pytest.mark.parametrize(
    ("bounds", "own", "asked", "given"),
    [
        ([], None, None, None),
        ([], 5.0, None, None),
        ([], 5.0, 7.0, 7.0),
        ([3.0], None, None, 3.0),
        ([3.0], 5.0, None, 3.0),
        ([3.0], 2.0, None, 2.0),
        ([3.0], 5.0, 1.0, 1.0),
        ([3.0], None, 4.0, 3.0),
        ([3.0, None], None, None, 3.0),
        ([3.0, 2.0], None, None, 2.0),
        ([2.0, 3.0], None, None, 2.0),
    ],
)
def test_a_call_lasts_as_long_as_the_shortest_bound(
    bounds: list[float | None], own: float | None, asked: float | None, given: float | None
) -> None:
    """Of whoever narrowed, of the step, of the entry; one that is given up by a bound says so."""
    provider = GivenTools("a", Tool("a", "b", timeout_s=own), answer=NoAnswer("late", hint="longer"))
    tools = Toolbox()
    tools.add(provider)
    for bound in bounds:
        tools = tools.scoped(EVERYTHING, bound)
    with pytest.raises(NoAnswer) as late:
        asyncio.run(called(tools, "a/b", {}, asked))
    assert provider.called == [given]
    shortest = min((bound for bound in bounds if bound is not None), default=None)
    bounded = given is not None and given == shortest
    assert (late.value.message, late.value.hint) == ("late", "no call may last longer here" if bounded else "longer")


def test_a_scope_hides_what_is_out_of_it() -> None:
    """From every look, and from a call of a tool that was found before."""
    tools = toolbox(*named("a/one", "a/two", "b/one"))
    narrow = tools.scoped(Scope(include_servers=("a",))).scoped(Scope(exclude_names=("two",)))
    assert [tool.full_name for tool in narrow] == ["a/one"]
    assert [tool.full_name for tool in narrow] == ["a/one"], "looked at again"
    assert (narrow.find("a/two"), narrow.find("b/one"), narrow.closest("b/one")) == (None, None, "a/one")
    assert narrow.types is tools.types
    with pytest.raises(NotFound) as refused:
        asyncio.run(narrow.call(tools.get("b/one"), {}))
    assert (refused.value.message, refused.value.hint) == ("there is no tool 'b/one'", "did you mean 'a/one'?")
    tools.add(GivenTools("c", *named("c/x")))
    wide = tools.scoped(Scope(exclude_servers=("a",)))
    assert [tool.full_name for tool in wide] == ["b/one", "c/x"]


def test_a_tool_is_called_as_it_is_now() -> None:
    """Not where its server is gone, nor where it is one now that may not be known."""
    secret = Tool("a", "b", tags=("secret",))
    provider = GivenTools("a", Tool("a", "b"), answer=ToolAnswer(structured=1))
    tools = Toolbox()
    tools.add(provider)
    narrow = tools.scoped(Scope(exclude_tags=("secret",)))
    tool = tools.get("a/b")
    assert asyncio.run(narrow.current(tool)) is tool
    provider.now["b"] = secret
    assert asyncio.run(tools.current(tool)) is secret
    with pytest.raises(NotCalled, match=r"^there is no tool 'a/b' any more$"):
        asyncio.run(narrow.current(tool))
    prompt = replace(tool, kind="prompt")
    assert asyncio.run(narrow.current(prompt)) is prompt
    for asking in (Toolbox().current(tool), Toolbox().call(tool, {})):
        with pytest.raises(NotCalled, match=r"^there is no server 'a' any more$"):
            asyncio.run(asking)


@pytest.mark.parametrize(
    ("members", "arguments", "message", "hint"),
    [
        ({}, {"x": 1, "y": 2}, '"y" is unknown', None),
        ({"additionalProperties": True}, {"x": "1", "y": 2, "z": 3}, "", "it says nothing of 'y', 'z'; it takes x"),
        ({"additionalProperties": True}, {"x": "1"}, "", None),
        ({"additionalProperties": True}, {}, "", "no"),
    ],
)
def test_arguments_that_do_not_fit_are_told_before_the_call(
    members: dict[str, Any], arguments: dict[str, Any], message: str, hint: str | None
) -> None:
    """With those that an open schema does not list, which are probably misspelt."""
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": False, **members}
    provider = GivenTools("a", Tool("a", "b", input_schema=schema))
    tools = Toolbox()
    tools.add(provider)
    if hint == "no":
        asyncio.run(called(tools, "a/b", arguments))
        assert provider.called == [None]
        return
    with pytest.raises(Invalid) as refused:
        asyncio.run(called(tools, "a/b", arguments))
    assert refused.value.message.startswith("the arguments of a/b do not fit its schema: ")
    assert message in refused.value.message
    assert refused.value.hint == hint
    assert provider.called == []


def test_of_many_arguments_that_are_not_listed_some_are_told() -> None:
    """Eight of them, and twelve of those that there are; all faults are told."""
    listed = {f"k{number}": {"type": "integer"} for number in range(13)}
    tools = toolbox(Tool("a", "b", input_schema={"type": "object", "properties": listed}))
    with pytest.raises(Invalid) as refused:
        asyncio.run(called(tools, "a/b", {"k0": "x", "k1": "y", **{f"z{number}": 1 for number in range(9)}}))
    assert refused.value.hint == (
        f"it says nothing of {', '.join(repr(f'z{number}') for number in range(8))}; "
        f"it takes {', '.join(f'k{number}' for number in range(12))}"
    )
    assert refused.value.message.count("; ") == 1


@pytest.mark.parametrize(
    ("answer", "well"),
    [
        (ToolAnswer(), True),
        (ToolAnswer(is_error=True), False),
        (ToolFailed("it broke"), False),
        (NoAnswer("late"), False),
        (asyncio.CancelledError(), False),
        (NotCalled("it was not there"), None),
    ],
)
def test_how_a_call_went_is_logged_and_kept(
    answer: ToolAnswer | BaseException, well: bool | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Not where nothing was called."""
    provider = GivenTools("a", Tool("a", "b"), answer=answer)
    tools = Toolbox()
    tools.add(provider)

    async def attempt() -> object:
        try:
            return await called(tools, "a/b", {})
        except (ToolFailed, asyncio.CancelledError) as error:
            return error

    with caplog.at_level(logging.INFO, "infospace.tools.toolbox"):
        assert asyncio.run(attempt()) is answer
    told = [record.getMessage() for record in caplog.records if record.name == "infospace.tools.toolbox"]
    if well is None:
        assert told == []
    else:
        (line,) = told
        assert line.startswith(f"called a/b: {'success' if well else 'failed'}, ")
        assert line.endswith(" ms")
        assert 0 <= float(line.split()[-2]) < 1000


def test_of_a_server_that_a_file_names_is_said_why_it_has_no_tools(space: Space, tmp_path: Path) -> None:
    """To whoever may know of everything."""
    entries: dict[str, Any] = {
        "off": {"command": "x", "disabled": True},
        "new": {"command": "x"},
        "wrong": {"command": 1},
        "gone": {"command": "/no/such/command"},
    }
    file = write(tmp_path, **entries)
    synced(space, mcp=file, only=["gone"])
    tools = space.tools
    failure = "the server 'gone' cannot be started: there is no command '/no/such/command' "
    failure += "(install it, or give its whole path)"
    expected = {
        "off/x": f"the server 'off' is disabled in {file!s}",
        "new/x": "the server 'new' was never listed; `infospace tools sync` lists it",
        "wrong/x": "its entry is wrong: 'command' is a text, not 1",
        "gone/x": f"{failure}; `infospace tools sync` tries again",
        "else/x": None,
    }
    assert {name: tools.unavailable_reason(name) for name in expected} == expected
    assert tools.hint("new/x") == expected["new/x"]
    assert {name: tools.scoped(Scope(exclude_tags=("x",))).unavailable_reason(name) for name in expected} == (
        dict.fromkeys(expected)
    )
    unlisted = tools.get("gone/x:y", "resource")
    assert (unlisted.integration, unlisted.trusted, unlisted.tags) == ("MCP", False, ())
    file.write_text("{")
    assert space.tools.servers is not None
    space.tools.servers.reload()
    why = tools.unavailable_reason("else/x")
    assert why is not None
    assert "ends inside an object" in why


def test_a_resource_that_is_not_listed_has_what_its_entry_says(space: Space, tmp_path: Path) -> None:
    """An interface that is called by its document has no such resource."""
    told = {"tags": ["t"], "category": "c", "trusted": True, "blocked": True, "visibility": "v", "team": "m"}
    synced(space, mcp=write(tmp_path, a={"command": "x", **told}, api={"openapi": "a.json"}), only=[])
    one = space.tools.get("a/x:y", "resource")
    assert (one.tags, one.category, one.trusted, one.blocked, one.visibility, one.team) == (
        ("t",), "c", True, True, "v", "m",
    )  # fmt: skip
    assert (one.integration, one.read_only, one.destructive) == ("MCP", True, False)
    assert space.tools.find("api/x:y", "resource") is None


def test_an_answer_is_what_is_structured_else_its_one_text_else_its_blocks() -> None:
    """Its text is that of all blocks of text, a line each."""
    blocks = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert (ToolAnswer(blocks).content, ToolAnswer(blocks).text) == (blocks, "a\nb")
    assert (ToolAnswer(blocks[:1]).content, ToolAnswer(blocks[1:2]).content) == ("a", blocks[1:2])
    assert (ToolAnswer(blocks, structured=[]).content, ToolAnswer().content, ToolAnswer().text) == ([], [], "")
