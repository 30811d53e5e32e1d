"""What is known of tools without a server that runs: from its entry, and from what it listed last."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from infospace import Space
from infospace.core.tool import Tool
from infospace.store.tool_records import ListedTool, SaveServer, SaveTools, StoredServer
from infospace.tools.mcp.servers import Servers

sys.path.insert(0, str(Path(__file__).parent))
from served import synced, write


def keep(space: Space, *tools: ListedTool, **server: Any) -> None:
    """Keep what the server `it` listed."""
    fields = {"state": "listed", "entry": b"e", "title": "It itself", "instructions": "Use it."}
    space.store.commit([SaveServer(StoredServer("it", **{**fields, **server})), SaveTools("it", tools)])


def servers_of(space: Space, **entries: Any) -> Servers:
    """Return the servers of an `mcp.json` beside the space."""
    write(Path(space.store.address).parent, **entries)
    return Servers(space.store)


def only(servers: Servers, name: str = "ls") -> Tool:
    """Return a tool of the server `it`."""
    tool = servers.providers()["it"].find(name)
    assert tool is not None
    assert tool in servers.providers()["it"].tools()
    return tool


def test_a_tool_has_what_it_lists_and_what_its_entry_says_beside_it(space: Space) -> None:
    """The entry's words come before those of its server, and a tool's own category before both."""
    keep(space, ListedTool("ls", tags=("a", "b"), examples=({"path": "x"},), category="own", title="List"))
    entry = {"command": "x", "title": "Ours", "description": "Our words.", "tags": ["b", "c"], "category": "files"}
    more = {"examples": {"ls": [{"path": "."}], "rm": [{}]}, "visibility": "team", "team": "blue", "timeout_s": 3}
    tool = only(servers_of(space, it={**entry, **more}))
    assert (tool.server, tool.name, tool.title, tool.id, tool.kind) == ("it", "ls", "List", "tool_1", "tool")
    assert (tool.tags, tool.claimed) == (("a", "b", "c"), ("a",))
    assert (tool.category, tool.server_title, tool.server_description) == ("own", "Ours", "Our words.")
    assert tool.examples == ({"path": "x"}, {"path": "."})
    assert (tool.visibility, tool.team, tool.timeout_s, tool.integration) == ("team", "blue", 3.0, "MCP")
    assert (tool.trusted, tool.blocked, tool.connected) == (False, False, True)
    with space.store.reading() as snapshot:
        assert [tool.created] == [kept.created for kept in snapshot.tools("it")]


@pytest.mark.parametrize(
    ("entry", "category", "title"),
    [
        ({"category": "files", "title": "Ours"}, "files", "Ours"),
        ({"title": "Ours"}, "Ours", "Ours"),
        ({}, "It itself", "It itself"),
    ],
)
def test_a_tool_without_a_category_has_its_entrys_else_the_title(
    space: Space, entry: dict[str, str], category: str, title: str
) -> None:
    keep(space, ListedTool("ls"))
    tool = only(servers_of(space, it={"command": "x", **entry}))
    assert (tool.category, tool.server_title, tool.server_description) == (category, title, "Use it.")


def test_a_trusted_server_claims_nothing_and_one_that_failed_is_not_connected(space: Space) -> None:
    """Its tools are known none the less."""
    keep(space, ListedTool("ls", tags=("a",)), state="failed", error="no")
    tool = only(servers_of(space, it={"command": "x", "trusted": True, "blocked": True}))
    assert (tool.tags, tool.claimed, tool.trusted, tool.blocked, tool.connected) == (("a",), (), True, True, False)


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        ({}, (False, False, True, False)),
        ({"read_only": True}, (True, False, False, True)),
        ({"read_only": False}, (False, False, True, True)),
        ({"read_only": False, "destructive": False}, (False, False, False, True)),
        ({"destructive": True}, (False, False, True, True)),
        ({"idempotent": True}, (False, True, True, True)),
    ],
    ids=str,
)
def test_a_tool_of_which_nothing_is_said_may_take_something_away(
    space: Space, hints: dict[str, bool], expected: tuple[bool, ...]
) -> None:
    """One that only reads does not; else the server's own word holds."""
    keep(space, ListedTool("ls", **hints))
    tool = only(servers_of(space, it={"command": "x"}))
    assert (tool.read_only, tool.idempotent, tool.destructive, tool.annotated) == expected


@pytest.mark.parametrize(
    ("approved", "expected"), [(True, [True, True]), (["ls"], [True, False]), ([], [False, False])], ids=str
)
def test_what_an_entry_approves_needs_no_approval(space: Space, approved: Any, expected: list[bool]) -> None:
    """All of its tools, or those that it names."""
    keep(space, ListedTool("ls"), ListedTool("rm"))
    servers = servers_of(space, it={"command": "x", "autoApprove": approved})
    assert [only(servers, name).auto_approved for name in ("ls", "rm")] == expected


def test_disabled_tools_and_servers_are_not_there(space: Space) -> None:
    """Neither by name nor in the list; a disabled server is among all servers, with how much it lists."""
    keep(space, ListedTool("ls"), ListedTool("rm"), ListedTool("greet", "prompt"), ListedTool("file:x", "resource"))
    servers = servers_of(space, it={"command": "x", "disabled_tools": ["rm"]}, off={"command": "x", "disabled": True})
    assert list(servers.providers()) == ["it"]
    provider = servers.providers()["it"]
    assert provider.find("rm") is None
    assert provider.find("nothing") is None
    assert [tool.name for tool in provider.tools()] == ["ls", "greet", "file:x"]
    assert [(one.entry.name, one.tools, one.prompts, one.resources) for one in servers.all()] == [
        ("it", 2, 1, 1),
        ("off", 0, 0, 0),
    ]


def test_what_was_read_is_read_again_only_where_something_else_is_kept(space: Space) -> None:
    """The same objects until then."""
    keep(space, ListedTool("ls", description="Old."))
    servers = servers_of(space, it={"command": "x"})
    provider = servers.providers()["it"]
    old, listed = provider.find("ls"), servers.listed()
    assert provider.find("new") is None
    assert provider.find("ls") is old
    assert servers.listed() is listed
    keep(space, ListedTool("ls", description="New."), ListedTool("new"))
    new = provider.find("ls")
    assert new is not None
    assert new.description == "New."
    assert provider.find("new") is not None
    assert [tool.name for tool in servers.listed()["it"]] == ["ls", "new"]


@pytest.mark.parametrize(
    ("kept", "due"),
    [
        ({}, False),
        ({"state": "failed"}, True),
        ({"expires": None}, True),
        ({"expires": "2001-01-01T00:00:00.000000Z"}, True),
        ({"entry": b"another"}, True),
    ],
    ids=["holds", "failed since", "never read", "expired", "of another entry"],
)
def test_a_server_is_asked_again_where_what_it_listed_does_not_hold(
    space: Space, kept: dict[str, Any], due: bool
) -> None:
    """Or where it failed since. One that cannot be started is told, and keeps its tools."""
    servers = servers_of(space, it={"command": str(Path(space.store.address).parent / "no such program")})
    entry = servers.entries["it"].digest(space.store.identity)
    keep(space, ListedTool("ls"), **{"entry": entry, "expires": "2999-01-01T00:00:00.000000Z", **kept})
    report = synced(space)
    assert report.unchanged == ([] if due else ["it"])
    assert [failed.server for failed in report.failed] == (["it"] if due else [])
    assert [tool.name for tool in servers.listed()["it"]] == ["ls"]


def test_files_that_were_written_again_are_read_again(space: Space) -> None:
    """Where that is asked for; without it, what was read stays."""
    keep(space, ListedTool("ls"))
    servers = servers_of(space, it={"command": "x"})
    stamps = servers.follow()
    provider = servers.providers()["it"]
    assert servers.follow() == stamps
    assert servers.providers()["it"] is provider
    write(Path(space.store.address).parent, it={"command": "x", "title": "Ours"}, more={"command": "y"})
    assert list(servers.providers()) == ["it"]
    assert servers.follow() != stamps
    assert list(servers.providers()) == ["it", "more"]
    assert only(servers).server_title == "Ours"
