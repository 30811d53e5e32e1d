"""Servers of tools to be looked at: real processes, listed at times that are always the same."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from furnishing import BEGINNING, Ticking
from staging import Stage

from infospace import Space
from infospace.tools.kept import Called
from infospace.tools.servers.syncing import Synced, sync
from tui.screens.tools import Tools

DESK = Path(__file__).parent / "desk_server.py"
ODD = Path(__file__).parents[2] / "infospace" / "tools" / "odd_server.py"

HOUSE: dict[str, dict[str, Any]] = {
    "desk": {
        "command": sys.executable,
        "args": [str(DESK)],
        "description": "Rooms of a house, and who is in them.",
        "tags": ["house"],
        "category": "places",
    },
    "order": {"command": sys.executable, "args": ["-I", "-S", str(ODD), "instructs"], "tags": ["text"]},
    "gone": {"command": sys.executable, "args": ["-I", "-S", str(ODD), "dies"]},
}


def house(folder: Path, **servers: dict[str, Any]) -> Path:
    """Write an `mcp.json` beside the space; without servers, of those of the house."""
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers or HOUSE}), encoding="utf-8")
    return path


def listed(space: Space, monkeypatch: pytest.MonkeyPatch) -> Synced:
    """List the servers, and remember calls of some of their tools, at times that are always the same."""
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", Ticking(BEGINNING, 0.001))
        done = asyncio.run(sync(space))
    times = [12.0, 18.0, 25.0, 31.0, 240.0]
    calls = [Called("desk", "rooms", f"2026-04-01T09:30:0{at}.000Z", took, well=True) for at, took in enumerate(times)]
    space.store.commit([*calls, Called("desk", "guestbook", "2026-04-01T09:31:00.000Z", 62.5, well=False)])
    return done


async def opened(stage: Stage, *texts: str) -> Tools:
    """Go to the place, and wait until something is seen."""
    await stage.press("6")
    await stage.until(lambda: isinstance(stage.app.place, Tools) and stage.app.place.is_current)
    await stage.sees(*texts)
    found = stage.app.place
    assert isinstance(found, Tools)
    return found


async def shows(stage: Stage, name: str) -> Tools:
    """Put the cursor on a tool of a full name, and wait until it is shown."""
    place = stage.app.place
    assert isinstance(place, Tools)
    await stage.until(lambda: any(tool.full_name == name for tool in place.tools.listed.tools), name)
    kind = next(tool.kind for tool in place.tools.listed.tools if tool.full_name == name)
    place.grid.go_to(f"{kind} {name}")
    await stage.until(lambda: place.detail.tool is not None and place.detail.tool.full_name == name, name)
    return place
