"""Changes that servers tell of while they run: what they list then is kept, without another sync."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from infospace import Space
from infospace.store.tool_records import ListedTool, StoredServer
from infospace.tools.mcp.catalogue.listing import Listing, RefusedEntry
from infospace.tools.mcp.catalogue.save import ListingStore, saved_digests
from infospace.tools.mcp.config import Entry
from infospace.tools.mcp.connections import ConnectionState, connect
from infospace.tools.mcp.errors import ServerFailed

sys.path.insert(0, str(Path(__file__).parent))
from served import call, odd, synced, until, write


def names(space: Space) -> list[str]:
    """Return the full names of the tools."""
    return [tool.full_name for tool in space.tools]


def test_a_change_that_a_server_tells_of_is_followed(space: Space, tmp_path: Path) -> None:
    """While it runs, without another sync; in the earlier protocol, which tells it unasked."""
    synced(space, mcp=write(tmp_path, a=odd("changing")))
    assert names(space) == ["a/echo", "a/grow"]
    call(space, "a/grow")
    until(lambda: "a/later_0" in names(space))
    assert call(space, "a/later_0", text="x").content == "x"


def test_a_change_is_followed_though_its_list_is_not_told_at_once(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for again."""
    monkeypatch.setattr("infospace.tools.mcp.connection.AGAIN_S", 0.05)
    synced(space, mcp=write(tmp_path, a=odd("busy")))
    call(space, "a/grow")
    until(lambda: "a/later_0" in names(space))


def test_a_list_does_not_take_the_place_of_one_that_was_asked_for_later(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that tells of a change while it is synced is listed beside that, and what the sync has is old then."""
    synced(space, mcp=write(tmp_path, a=odd("changing")))
    assert space.tools.servers is not None
    pool = space.tools.servers.pool
    listed = pool.listing

    async def overtaken(entry: Entry, *, restart: bool = False) -> Listing:
        found = await listed(entry, restart=restart)
        await space.tools.call(space.tools.get("a/grow"), {})
        await asyncio.to_thread(until, lambda: "a/later_0" in names(space))
        return found

    monkeypatch.setattr(pool, "listing", overtaken)
    done = synced(space, restart=True)
    assert (done.listed, done.added, done.removed) == (["a"], ["a/later_0"], [])
    assert "a/later_0" in names(space)


def test_a_server_that_is_connected_anew_is_started_anew(space: Space, tmp_path: Path) -> None:
    """What it lists then is kept, not what the one before it had come to list."""
    synced(space, mcp=write(tmp_path, a=odd("changing")))
    assert space.tools.servers is not None
    call(space, "a/grow")
    until(lambda: "a/later_0" in names(space))
    told: list[ConnectionState] = []
    state = asyncio.run(connect(space.tools.servers, "a", told.append, browser=False, seconds=20))
    assert (names(space), state.status, told) == (["a/echo", "a/grow"], "not_required", [])


def test_what_a_server_says_besides_does_not_make_it_list_anew(space: Space, tmp_path: Path) -> None:
    """A line of its log, a resource that is another now: the tools are the same."""
    synced(space, mcp=write(tmp_path, a=odd("chatty")))
    assert [call(space, "a/chat").content for _ in range(5)] == ["1"] * 5


@pytest.mark.slow
def test_a_change_is_followed_in_the_later_protocol(space: Space, tmp_path: Path) -> None:
    """Which tells it to who listens."""
    growing = Path(__file__).parent / "growing_server.py"
    synced(space, mcp=write(tmp_path, a={"command": sys.executable, "args": [str(growing)]}))
    assert names(space) == ["a/grow"]
    for name in ("first", "second"):
        assert call(space, "a/grow", name=name).text == "grown"
        until(lambda name=name: f"a/{name}" in names(space))
        assert call(space, f"a/{name}").text == f"this is {name}"


@pytest.mark.slow
def test_a_server_that_cannot_be_listened_to_at_first_is_listened_to_later(
    space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what it lists meanwhile is not missed."""
    listen, refused = Client.listen, [MCPError(INTERNAL_ERROR, "busy"), SubscriptionLost("gone")]

    def busy(client: Client, **wanted: Any) -> Any:
        if refused:
            raise refused.pop()
        return listen(client, **wanted)

    monkeypatch.setattr("infospace.tools.mcp.connection.AGAIN_S", 0.05)
    monkeypatch.setattr(Client, "listen", busy)
    growing = Path(__file__).parent / "growing_server.py"
    synced(space, mcp=write(tmp_path, a={"command": sys.executable, "args": [str(growing)]}))
    for name in ("first", "second"):
        assert call(space, "a/grow", name=name).text == "grown"
        until(lambda name=name: f"a/{name}" in names(space))
    assert refused == []


def test_a_list_that_is_kept_already_is_not_written_again(space: Space) -> None:
    """Whatever other servers there are; one that is another, or that failed meanwhile, is."""
    keeping, first, other = ListingStore(space.store), Entry("a", "f", command="x"), Entry("b", "f", command="y")
    tool = ListedTool("echo", description="Says it.")

    def stored() -> dict[str, StoredServer]:
        with space.store.reading() as snapshot:
            return {server.name: server for server in snapshot.servers()}

    def listing(asked: int, title: str, *tools: ListedTool) -> Listing:
        return Listing(list(tools), title, "1", "", 60.0, asked)

    keeping.keep(other, listing(1, "other", tool))
    keeping.keep(first, listing(2, "first", tool))
    before = stored()
    keeping.follow(first, listing(3, "unseen", tool))
    assert stored() == before
    keeping.follow(first, listing(4, "more", tool, replace(tool, name="more")))
    assert stored()["a"].title == "more"
    keeping.follow(first, listing(5, "fewer", tool))
    assert (stored()["a"].title, list(saved_digests(space.store, "a"))) == ("fewer", [("tool", "echo")])
    keeping.follow(replace(first, command="z"), listing(6, "moved", tool))
    assert stored()["a"].title == "moved"
    keeping.fail(first, ServerFailed("a", "it is gone"))
    assert (stored()["a"].state, stored()["a"].error, stored()["a"].title) == ("failed", "it is gone", "moved")
    keeping.follow(first, listing(7, "back", tool))
    assert (stored()["a"].state, stored()["a"].error, stored()["a"].title) == ("listed", None, "back")
    keeping.keep(first, listing(6, "late", tool))
    assert stored()["a"].title == "back"
    assert stored()["b"] == before["b"]


@pytest.mark.parametrize(("count", "told"), [(20, 20), (21, 20)])
def test_of_refused_tools_the_first_twenty_are_told(space: Space, count: int, told: int) -> None:
    """One a line."""
    refused = [RefusedEntry("tool", f"t{number}", "it is none") for number in range(count)]
    ListingStore(space.store).keep(Entry("a", "f", command="x"), Listing([], "", "", "", 60.0, 1, refused))
    with space.store.reading() as snapshot:
        (server,) = snapshot.servers()
    assert str(server.error).split("\n") == [f"the tool 't{number}' is refused: it is none" for number in range(told)]
