"""A running server tells its clients what another process changed, over both transports and both protocols."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from infospace import Space
from infospace.core.errors import StoreError
from planner.server.protocol import changes

sys.path.insert(0, str(Path(__file__).parent))
from serving import NOTE, Planner, over_http, over_stdio, planners, play, text_of

SECONDS = 2.0
"""From the end of the command that changes something to the notification, at most."""
PATIENT = 60.0
"""Seconds until a test gives up waiting."""
PLAN = {"goal": "greets", "steps": [{"type": "create-note", "value": "hello", "out": "$x"}]}
TOOLS, RESOURCES = "tools/list_changed", "resources/list_changed"


class Heard:
    """The notifications of change that a client got, with their times."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {TOOLS: [], RESOURCES: []}
        self._news = asyncio.Event()

    async def message(self, message: Any) -> None:
        """Take what a client of the earlier protocol is told."""
        self.note(str(getattr(message, "method", "")).removeprefix("notifications/"))

    def note(self, method: str) -> None:
        """Note a notification."""
        if method in self.times:
            self.times[method].append(time.monotonic())
            self._news.set()

    async def after(self, method: str, moment: float) -> float:
        """Wait for the notification of a method after a moment; return how many seconds after."""
        async with asyncio.timeout(PATIENT):
            while not (found := [one for one in self.times[method] if one > moment]):
                self._news.clear()
                await self._news.wait()
        return found[0] - moment


@asynccontextmanager
async def listening(client: Client, mode: str, heard: Heard) -> AsyncIterator[None]:
    """Have a client of the later protocol listen; one of the earlier needs not."""
    if mode == "legacy":
        capabilities = client.server_capabilities
        assert capabilities.tools is not None
        assert capabilities.tools.list_changed
        yield
        return
    async with client.listen(tools_list_changed=True, resources_list_changed=True) as events:

        async def take() -> None:
            async for event in events:
                heard.note({"ToolsListChanged": TOOLS, "ResourcesListChanged": RESOURCES}[type(event).__name__])

        task = asyncio.create_task(take())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])


async def another_process(space: Path, *words: str) -> tuple[float, float]:
    """Run the command in a process of its own; return when it began and ended."""
    began = time.monotonic()
    command = [sys.executable, "-m", "tui.command", "--space", str(space), *words]
    done = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = await done.communicate()
    assert done.returncode == 0, (out, err)
    return began, time.monotonic()


async def watch(space: Path, client: Client, mode: str, heard: Heard) -> None:
    """Sync tools, save a plan, and add a note beside a running server; each is told of in time, and seen."""
    folder = space.parent
    (folder / "mcp.json").write_text(
        json.dumps({"mcpServers": {"time": {"command": sys.executable, "args": ["-m", "mcp_server_time"]}}})
    )
    (folder / "plan.json").write_text(json.dumps(PLAN))
    (folder / "note.md").write_text("# Lentils\n\nThey are soaked over night.\n")

    async def find(query: str, kind: str) -> str:
        return text_of((await client.call_tool("find", {"query": query, "kind": kind})).content[0])

    changes: list[tuple[str, tuple[str, ...], Callable[[], Awaitable[bool]]]] = [
        (TOOLS, ("tools", "sync"), lambda: _holds(find("current time in a zone", "tool"), "time/get_current_time")),
        (
            TOOLS,
            ("plans", "save", "greeting", str(folder / "plan.json")),
            lambda: _holds(find("greets", "plan"), "greeting"),
        ),
        (RESOURCES, ("add", str(folder / "note.md")), lambda: _holds(_titles(client), "Lentils")),
    ]
    async with listening(client, mode, heard):
        for method, words, seen in changes:
            assert not await seen(), words
            began, ended = await another_process(space, *words)
            told = await heard.after(method, began)
            assert told <= ended - began + SECONDS, (words, told, ended - began)
            assert await seen(), words


async def _holds(text: Awaitable[str], part: str) -> bool:
    return part in await text


async def _titles(client: Client) -> str:
    return " ".join(f"{one.name} {one.title}" for one in (await client.list_resources()).resources)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_over_stdio_a_client_is_told_of_what_another_process_changed(
    searched_file: Path, tmp_path: Path, mode: str
) -> None:
    space, heard = Path(shutil.copy(searched_file, tmp_path / "space.db")), Heard()

    async def scene() -> None:
        made = over_stdio(space, arguments=("--tools", "core"), mode=mode, message_handler=heard.message)
        async with made as planner:
            await watch(space, planner.client, mode, heard)

    asyncio.run(scene())


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_over_http_a_client_is_told_of_what_another_process_changed(
    searched_file: Path, tmp_path: Path, mode: str
) -> None:
    space, heard = Path(shutil.copy(searched_file, tmp_path / "space.db")), Heard()

    async def scene() -> None:
        with over_http(space, "--tools", "core") as served:
            async with planners(served, (mode,), message_handler=heard.message) as [planner]:
                await watch(space, planner.client, mode, heard)

    asyncio.run(scene())


@pytest.mark.slow
def test_a_client_is_told_nothing_where_nothing_changed(searched_file: Path, tmp_path: Path) -> None:
    space, heard = Path(shutil.copy(searched_file, tmp_path / "space.db")), Heard()

    async def scene() -> None:
        made = over_stdio(space, arguments=("--tools", "core"), mode="legacy", message_handler=heard.message)
        async with made as planner:
            await planner.client.list_tools()
            await planner.client.call_tool("find", {"query": "sort rows"})
            await another_process(space, "notes")
            await asyncio.sleep(SECONDS)

    asyncio.run(scene())
    assert heard.times == {TOOLS: [], RESOURCES: []}


def test_a_moment_at_which_the_space_cannot_be_read_ends_no_watch(
    space: Space, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever runs the server is told once, however often it is looked at in vain, and clients hear of what came."""
    heard, read_state = Heard(), changes.Listings.read_state
    looks = iter([None, *["the disk is away"] * 3])

    def read(listings: changes.Listings) -> Any:
        why = next(looks, None)
        if why is not None:
            raise StoreError(why)
        return read_state(listings)

    monkeypatch.setattr(changes, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(changes.Listings, "read_state", read)

    async def scene(planner: Planner) -> None:
        await planner.call("run_plan", plan=[NOTE])
        await heard.after(RESOURCES, 0)

    play(space, scene, mode="legacy", message_handler=heard.message)
    warnings = [record.getMessage() for record in caplog.records if record.name == changes.__name__]
    assert warnings == ["what other processes change is not seen now: the disk is away"]
