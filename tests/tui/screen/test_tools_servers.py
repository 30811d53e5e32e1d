"""Servers in the place Tools: how they stand, what they said; listing, restarting and ending them from there."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from staging import PATIENCE, Show, Stage
from tooling import desk, house, odd, opened, shows, tools

from infospace import Space


def left(mark: str) -> list[Path]:
    """Return the processes that have a mark in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue
        found += [path] if mark.encode() in line else []
    return found


async def servers(stage: Stage, *texts: str) -> None:
    """List the servers, and wait until something is seen."""
    await stage.press("v")
    await stage.sees(*texts)


async def at(stage: Stage, name: str) -> None:
    """Put the cursor on a server."""
    place = tools(stage)
    assert place.grid.go_to(name)
    await stage.until(lambda: place.server_detail.standing is not None and place.server_detail.standing.name == name)


def state(stage: Stage, name: str) -> str:
    """Return how a server stands, as the list has it."""
    return next((one.state for one in tools(stage).servers.servers if one.name == name), "")


def test_servers_stand_with_state_reason_log_and_latency(show: Show, started: Space) -> None:
    """What a failed one said last is kept; figures are of all calls of its tools."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        await servers(stage, "3 servers, 2 running, 1 failed", "240 ms")
        await at(stage, "gone")
        await stage.sees("✗ failed", "ended with code 3 at its start; it said 'cannot find its")
        await stage.press("right_square_bracket")
        await stage.sees("first line", "cannot find its configuration")
        await at(stage, "desk")
        await stage.sees("the desk is open")
        await stage.press("right_square_bracket")
        await stage.sees("guestbook", "0%", "rooms", "100%", "65 ms")
        await stage.press("right_square_bracket")
        await stage.sees("6 calls, 83% well", "places", "mcp.json, beside the space")

    show(story, (160, 50), started)


def test_servers_are_listed_from_here_and_their_tools_are_there(
    show: Show, space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was never listed, one that fails, one whose entry is wrong, one that is disabled."""
    house(tmp_path, monkeypatch, desk=desk(), gone=odd("dies"), wrong={"args": []}, off=desk(disabled=True))

    async def story(stage: Stage) -> None:
        await opened(stage, "server desk", "infospace/add")
        await servers(stage, "never listed", "disabled")
        assert state(stage, "wrong") == "wrong"
        await stage.press("s")
        await stage.until(lambda: state(stage, "desk") == "running", "the desk")
        await stage.until(lambda: any("1 server listed; 5 tools added" in said for said in stage.said()))
        assert any(said.startswith("gone: the server 'gone' ended with code 3") for said in stage.said())
        await stage.until(lambda: state(stage, "gone") == "failed", "the one that fails")
        await stage.press("v")
        await stage.sees("desk/book")

    show(story, on=space)


def test_a_server_that_was_never_listed_is_listed_where_it_is_found(
    show: Show, space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its key does that instead of a call, and so does the button of its form; then its tools are there."""
    house(tmp_path, monkeypatch, desk=desk(description="Rooms of a house, and who is in them."))

    async def story(stage: Stage) -> None:
        await opened(stage, "1 server unlisted", "server desk", "never listed: c lists it")
        await stage.sees("what it can do is not known yet", "c List it")
        await stage.press("right_square_bracket", "right_square_bracket")
        await stage.sees("What the server desk can do is not known yet", "List it (^r)")
        assert "at most" not in stage.text
        await stage.press("c")
        await stage.until(lambda: any("desk was never listed" in said for said in stage.said()))
        await stage.sees("desk/book")
        await stage.loses("never listed")

    show(story, on=space)


def test_another_file_of_servers_is_named_here(
    show: Show, space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is remembered; one that is not there is said, and costs nothing."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    path = house(folder, monkeypatch, desk=desk())

    async def story(stage: Stage) -> None:
        await opened(stage, "infospace/compute")
        await stage.press("s")
        await stage.until(lambda: any("There is no mcp.json: M names one" in said for said in stage.said()))
        await stage.press("M")
        await stage.sees("Which mcp.json?")
        await stage.write("/nowhere/mcp.json")
        await stage.press("enter")
        await stage.until(lambda: any("/nowhere/mcp.json" in said for said in stage.said()))
        await stage.press("M")
        await stage.sees("Which mcp.json?")
        stage.app.screen.query_one("Input").value = str(path)  # type: ignore[attr-defined]  # an Input
        await stage.press("enter")
        await stage.sees("desk/book")
        with space.store.reading() as snapshot:
            assert snapshot.tool_sources() == [str(path)]

    show(story, on=space)


def test_a_server_is_restarted_and_ended_from_here(show: Show, started: Space) -> None:
    """Alone; ending it leaves its list."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book")
        await servers(stage, "2 running")
        await at(stage, "order")
        before = standing_listed(started, "order"), standing_listed(started, "desk")
        await stage.press("r")
        await stage.until(lambda: standing_listed(started, "order") != before[0])
        await stage.until(lambda: tools(stage).server_sync.running is None)
        assert standing_listed(started, "desk") == before[1]
        await stage.until(lambda: state(stage, "order") == "running")
        await stage.press("x")
        await stage.until(lambda: state(stage, "order") == "listed")
        assert state(stage, "desk") == "running"
        await stage.press("v")
        await shows(stage, "order/echo")

    show(story, on=started)


def standing_listed(space: Space, name: str) -> str | None:
    """Return when a server was listed."""
    with space.store.reading() as snapshot:
        return next(one.listed for one in snapshot.servers() if one.name == name)


def test_listing_shows_how_far_it_is_and_can_be_broken_off(
    show: Show, space: Space, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was listed is kept; nothing else waits for it, and no process is left."""
    mark, hanging = f"mark-{tmp_path}", odd("hangs")
    hanging["args"] = [*hanging["args"], mark]
    house(tmp_path, monkeypatch, desk=desk(), slow=hanging)

    async def story(stage: Stage) -> None:
        await opened(stage, "server slow", "infospace/add")
        await stage.press("s")
        await stage.sees("1 of 2 servers listed; waiting for slow (x breaks it off)", "desk/book")
        assert left(mark)
        await stage.press("s")
        await stage.until(lambda: "Servers are being listed; x breaks it off." in stage.said())
        await stage.go("runs")
        await stage.sees("goal")
        await stage.go("tools")
        await stage.sees("1 of 2 servers listed")
        await stage.press("x")
        await stage.until(lambda: any("Listing was broken off" in said for said in stage.said()))
        await stage.loses("servers listed; waiting")
        end = time.monotonic() + PATIENCE / 2
        await stage.until(lambda: not left(mark) or time.monotonic() > end)
        assert not left(mark)
        await shows(stage, "desk/rooms")

    show(story, on=space)


def test_a_file_that_changed_is_read_again_by_listing(show: Show, started: Space, tmp_path: Path) -> None:
    """What it names no more is gone, what is new is there."""

    async def story(stage: Stage) -> None:
        await opened(stage, "desk/book", "order/echo")
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"desk": json.loads(path.read_text())["mcpServers"]["desk"]}}))
        await stage.press("s")
        await stage.loses("order/echo")
        await stage.sees("desk/book")

    show(story, on=started)
