"""The doors of other systems: `serve --tools compat`, and the same in Python, typed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, assert_type

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "infospace" / "tools"))
from served import left, odd, synced, write
from serving import Planner, over_stdio, play

from infospace import Space
from infospace.core.errors import Invalid
from infospace.tools.local import LocalTools
from infospace.tools.scope import Scope
from planner import open_session
from planner.metatools.compat import discover
from planner.metatools.compat.discover import DiscoverResult, Discovery
from planner.server.access import Access

COMPAT = Access("anybody", tools=("compat",))


@pytest.fixture
def shop(space: Space) -> Space:
    """A space with a connected server of payments, and one of the same that is not."""
    write(Path(space.store.address).parent, whatsapp=odd("promises", description="Send WhatsApp templates to buyers"))
    tools = LocalTools("payments")

    @tools.tool(read_only=True)
    def make_pix_code(amount: float) -> dict[str, float]:
        """Emit a Pix QR code for a buyer in Brazil."""
        return {"amount": amount}

    @tools.tool(read_only=True)
    def list_payments() -> list[str]:
        """List the payments of a day."""
        return []

    space.tools.add(tools)
    return space


def test_blocked_tools_are_listed_where_that_is_asked_for_and_in_scope(space: Space) -> None:
    """Nobody may call them all the same; a tool out of scope is not there."""
    folder = Path(space.store.address).parent
    write(folder, one=odd("plain"), off=odd("plain", blocked=True), far=odd("plain", blocked=True, team="x"))
    synced(space)

    async def scene(planner: Planner) -> Any:
        listed = await planner.call("debug_list_tools", service_filter=["one", "off", "far"], page_size=100)
        every = await planner.call(
            "debug_list_tools", service_filter=["one", "off", "far"], include_blocked=True, page_size=100
        )
        page = await planner.call("debug_list_tools", service_filter=["off"], include_blocked=True, page_size=1, page=2)
        wrong = await planner.call("debug_list_tools", service_filter=["onne"])
        return listed, every, page, wrong

    listed, every, page, wrong = play(space, scene, Access("ann", Scope(exclude_servers=("far",)), tools=("compat",)))
    assert {tool["server"] for tool in listed["tools"]} == {"one"}
    assert {(tool["server"], tool["blocked"]) for tool in every["tools"]} == {("one", False), ("off", True)}
    assert (len(page["tools"]), page["pages"]) == (1, page["total"])
    off = [tool["tool_name"] for tool in every["tools"] if tool["server"] == "off"]
    assert (page["total"], page["tools"][0]["tool_name"]) == (len(off), sorted(off)[1])
    assert wrong["unknown"] == ["no tool here is of a server 'onne'; did you mean 'one'?"]


def test_discover_answers_in_exactly_its_shape(shop: Space) -> None:
    async def scene(planner: Planner) -> Any:
        names = [tool.name for tool in (await planner.client.list_tools()).tools]
        return names, await planner.call("discover", query="emit a Pix QR code for a buyer", limit=3)

    names, found = play(shop, scene, COMPAT)
    assert sorted(names) == [
        "debug_list_tools",
        "discover",
        "execute_tool",
        "manage_connections",
        "plan_tools",
        "select_servers",
        "select_tool",
    ]
    assert set(found) == {"matches", "search_strategy", "recommended", "related", "next_steps"}
    first = found["matches"][0]
    assert set(first) == {"tool_name", "server_id", "score", "description", "connected"}
    assert (first["tool_name"], first["server_id"], first["connected"]) == ("payments/make_pix_code", "payments", True)
    assert 0 < first["score"] <= 1
    assert found["recommended"] == "payments/make_pix_code"
    assert found["search_strategy"] == "hybrid"
    assert len(found["matches"]) <= 3
    assert len(found["related"]) == 3
    assert not {match["tool_name"] for match in found["matches"]} & set(found["related"])


def test_what_is_not_connected_is_found_and_said_how_to_connect(shop: Space) -> None:
    """By what its entry says; nothing is started for it."""
    found = Discovery(shop).discover("send a WhatsApp template")
    assert found["matches"][0]["server_id"] == "whatsapp"
    assert found["matches"][0]["connected"] is False
    assert found["recommended"] != found["matches"][0]["tool_name"]
    assert any('"action": "initiate", "server": "whatsapp"' in step for step in found["next_steps"])


def test_where_nothing_fits_that_is_said(shop: Space) -> None:
    """No match, no recommendation, and a sentence."""
    found = Discovery(shop).discover("what is the weather on Mars today")
    assert found["matches"] == []
    assert found["recommended"] is None
    assert found["next_steps"][0].startswith("no tool fits")


def test_an_answer_holds_until_the_catalogue_changes(shop: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same question searches once; another limit, another conversation and a changed catalogue search again."""
    searches: list[str] = []
    find = shop.finder.find

    def counted(*args: Any, **named: Any) -> Any:
        searches.append(args[1].request)
        return find(*args, **named)

    monkeypatch.setattr(shop.finder, "find", counted)
    conversation = Discovery(shop)
    first = conversation.discover("list payments")
    first["matches"].clear()
    assert conversation.discover("list payments")["matches"] != [], "who changes an answer changes no other"
    assert len(searches) == 1
    conversation.discover("list payments", 2)
    Discovery(shop).discover("list payments")
    assert len(searches) == 3
    synced(shop)
    found = conversation.discover("list payments")
    assert len(searches) == 4
    assert found["matches"] != []


def test_the_oldest_answers_of_a_conversation_give_way(shop: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[str] = []
    find = shop.finder.find

    def counted(*args: Any, **named: Any) -> Any:
        searches.append(args[1].request)
        return find(*args, **named)

    monkeypatch.setattr(shop.finder, "find", counted)
    monkeypatch.setattr(discover, "REMEMBERED", 2)
    conversation = Discovery(shop)
    for query in ("list payments", "emit a Pix code", " emit a Pix code ", "send a template", "list payments"):
        conversation.discover(query)
    assert searches == ["list payments", "emit a Pix code", "send a template", "list payments"]


def test_a_session_in_python_discovers_and_executes(shop: Space) -> None:
    """Typed; a call is a step of the session, checked before it is made."""
    with open_session(shop) as session:
        found = session.discover("emit a Pix QR code for a buyer in Brazil")
        assert_type(found, DiscoverResult)
        assert_type(found["matches"][0]["score"], float)
        name = found["matches"][0]["tool_name"]
        done = session.execute(name, {"amount": 5})
        assert (done.status, done.data) == ("success", {"amount": 5.0})
        assert session.execute(name, {"sum": 5}).status == "failed"
        assert session.execute("infospace/say", {"value": "hello"}).value == "hello"
        for query, limit, message in (
            ("  ", 10, "`query` is blank"),
            ("pay", 0, "is 0, not"),
            ("pay", 51, "is 51, not"),
        ):
            with pytest.raises(Invalid, match=message):
                session.discover(query, limit)


def test_a_scope_holds_for_what_is_discovered(shop: Space) -> None:
    """A tool out of scope is in nothing that is answered, and no more are than the caller may be told of at once."""

    async def scene(planner: Planner) -> Any:
        return await planner.call("discover", query="emit a Pix QR code for a buyer")

    found = play(shop, scene, Access("guest", Scope(exclude_servers=("payments",)), tools=("compat",)))
    assert "payments" not in str(found)
    every, few = (play(shop, scene, Access("guest", tools=("compat",), results=results)) for results in (3, 1))
    assert len(every["matches"]) > 1
    assert few["matches"] == every["matches"][:1]


def test_servers_are_selected_before_they_are_started_and_join_later(space: Space) -> None:
    """Never-listed ones by their entries; one that is written meanwhile counts in the next turn; nothing is started."""
    folder = Path(space.store.address).parent
    marks = [f"mark-{folder}-{name}" for name in ("brew", "files")]
    brew = odd("promises", marks[0], description="Install, update, and manage macOS packages via Homebrew")
    files = odd("promises", marks[1], description="Read, write, and search local files and directories")
    write(folder, brew=brew)

    async def scene(planner: Planner) -> Any:
        first = await planner.call("select_servers", query="install imagemagick")
        none = await planner.call("select_servers", query="read my config file")
        write(folder, brew=brew, files=files)
        later = await planner.call("select_servers", query="read my config file")
        every = await planner.call("select_servers", query="hello", fallback="all")
        given = [{"name": "x", "description": "Install packages"}, {"name": "y"}]
        own = await planner.call("select_servers", query="install imagemagick", servers=given)
        empty = await planner.call("select_servers", query="install imagemagick", servers=[])
        for fallback in ("none", "all"):
            high = await planner.call("select_servers", query="install imagemagick", threshold=99, fallback=fallback)
            assert high["servers"] == ([] if fallback == "none" else ["brew", "files"])
        wrong = await planner.wrong("select_servers", query="x", servers=["bres"])
        return first, none, later, every, own, empty, wrong

    first, none, later, every, own, empty, wrong = play(space, scene, COMPAT)
    assert (first["servers"], none["servers"]) == (["brew"], [])
    assert first["scores"]["brew"] > 0
    assert later["servers"] == ["files"]
    assert (every["servers"], every["unchanged"]) == (["brew", "files"], "no server reaches the threshold")
    assert own["servers"] == [{"name": "x", "description": "Install packages"}]
    assert empty["servers"] == []
    assert wrong == "there is no server 'bres' (did you mean 'brew'?)"
    assert [left(mark) for mark in marks] == [[], []]


def test_sets_of_tools_add_up_however_they_are_named(space: Space) -> None:
    """`--tools meta compat` is `--tools meta --tools compat`."""
    file = Path(space.store.address)
    space.close()

    async def names(*arguments: str) -> list[str]:
        async with over_stdio(file, arguments=arguments) as planner:
            return [tool.name for tool in (await planner.client.list_tools()).tools]

    once = asyncio.run(names("--tools", "meta", "compat"))
    assert {"discover", "search_tools"} <= set(once)
    assert asyncio.run(names("--tools", "meta", "--tools", "compat")) == once
