"""Servers of tools to be looked at: real processes, listed at times that are always the same."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from furnishing import BEGINNING, Ticking
from staging import Stage
from textual.widget import Widget

from infospace import Space
from infospace.store.tool_records import RecordCall
from infospace.tools.mcp.catalogue.sync import SyncReport, sync
from tui.screens.tools.tools import Tools

HERE = Path(__file__).parent
ODD = HERE.parents[1] / "infospace" / "tools"


def desk(**entry: Any) -> dict[str, Any]:
    """Return the entry of the server whose tools take arguments of every kind."""
    return {"command": "python", "args": ["desk_server.py"], "cwd": str(HERE), **entry}


def odd(mode: str, **entry: Any) -> dict[str, Any]:
    """Return the entry of a server that misbehaves."""
    return {"command": "python", "args": ["-I", "-S", "odd_server.py", mode], "cwd": str(ODD), **entry}


HOUSE: dict[str, dict[str, Any]] = {
    "desk": desk(description="Rooms of a house, and who is in them.", tags=["house"], category="places"),
    "gone": odd("dies"),
    "order": odd("instructs", tags=["text"]),
}


def house(folder: Path, monkeypatch: pytest.MonkeyPatch, **servers: dict[str, Any]) -> Path:
    """Write an `mcp.json` beside the space; without servers, of those of the house. They run this Python."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers or HOUSE}), encoding="utf-8")
    return path


def listed(space: Space, monkeypatch: pytest.MonkeyPatch) -> SyncReport:
    """List the servers, and remember calls of some of their tools, at times that are always the same.

    Ids are given as servers answer: those of order come first.
    """
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", Ticking(BEGINNING, 0.001))
        done = asyncio.run(_listed_in_order(space))
    times = [12.0, 18.0, 25.0, 31.0, 240.0]
    calls = [
        RecordCall("desk", "rooms", f"2026-04-01T09:30:0{at}.000Z", took, well=True) for at, took in enumerate(times)
    ]
    space.store.commit([*calls, RecordCall("desk", "guestbook", "2026-04-01T09:31:00.000Z", 62.5, well=False)])
    return done


async def _listed_in_order(space: Space) -> SyncReport:
    await sync(space, only=["order"])
    return await sync(space)


def tools(stage: Stage) -> Tools:
    """Return the place."""
    found = stage.app.place
    assert isinstance(found, Tools)
    return found


async def opened(stage: Stage, *texts: str) -> Tools:
    """Go to the place, and wait until something is seen."""
    await stage.go("tools")
    await stage.until(lambda: isinstance(stage.app.place, Tools) and stage.app.place.is_current)
    await stage.sees(*texts)
    place = tools(stage)
    await stage.until(lambda: place.detail.tool is not None or not len(place.tools), "what stands first")
    return place


async def shows(stage: Stage, name: str) -> Tools:
    """Put the cursor on a tool of a full name, and wait until it is shown."""
    place = tools(stage)
    await stage.until(lambda: any(tool.full_name == name for tool in place.tools.listed.tools), name)
    kind = next(tool.kind for tool in place.tools.listed.tools if tool.full_name == name)
    await stage.until(lambda: place.grid.go_to(f"{kind} {name}"), f"{name} in the list")
    await stage.until(lambda: place.detail.tool is not None and place.detail.tool.full_name == name, name)
    return place


async def form(stage: Stage, name: str) -> None:
    """Go to the form of a tool, and wait until it can be written in."""
    place = await shows(stage, name)
    await stage.press("c")
    await stage.until(lambda: place.detail.tab == "try" and place.detail.form.tool is place.detail.tool)
    await stage.until(lambda: place.detail.form.has_focus_within, "a field")


async def click(stage: Stage, where: str | Widget, offset: tuple[int, int] = (1, 0)) -> None:
    """Click a widget, once no button is pressed any more: that takes no other click until then."""
    await stage.until(lambda: not stage.app.screen.query("Button.-active"), "buttons at rest")
    await stage.pilot.click(where, offset=offset)  # type: ignore[arg-type]  # a widget too


async def answered(stage: Stage, name: str) -> None:
    """Wait until the last call of a tool has ended, or waits."""
    place = tools(stage)

    def ended() -> bool:
        return any(
            call.tool.full_name == name and call.answered is not None for call in place.tool_calls.latest.values()
        )

    await stage.until(lambda: ended() and place.tool_calls.current is None, f"an answer of {name}")
