"""What the tests of servers share: an `mcp.json` of servers of ours, and a look for processes that were left behind."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from infospace import Space
from infospace.core.tool import ToolAnswer
from infospace.tools.mcp.catalogue.sync import SyncReport, sync

ODD = Path(__file__).parent / "odd_server.py"


def odd(mode: str, mark: str = "", **entry: Any) -> dict[str, Any]:
    """Return the entry of a server of ours."""
    return {"command": sys.executable, "args": ["-I", "-S", str(ODD), mode, mark], **entry}


def write(folder: Path, name: str = "mcp.json", **servers: Mapping[str, Any]) -> Path:
    """Write an `mcp.json`; return its path."""
    path = folder / name
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path


def synced(space: Space, **arguments: Any) -> SyncReport:
    """Sync a space."""
    return asyncio.run(sync(space, **arguments))


def call(space: Space, full_name: str, timeout_s: float | None = None, **arguments: Any) -> ToolAnswer:
    """Call a tool directly."""
    return asyncio.run(space.tools.call(space.tools.get(full_name), arguments, timeout_s))


def until(holds: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something holds; fails where that takes too long."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def left(mark: str) -> list[str]:
    """Return the command lines of the processes that have a mark in it, or in the environment they began with."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
            marked = mark.encode() in line or mark.encode() in path.with_name("environ").read_bytes()
        except OSError:
            continue
        if marked:
            found.append(line.replace(b"\0", b" ").decode())
    return found
