"""The tools of real servers as a collection: requests in plain words, and requests that none of their tools does.

The servers are mcp-server-time, mcp-server-git and, where there is npm, server-everything, -filesystem and -memory.
What is right was written down before any of it was searched; nothing was chosen on these requests.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from collected import Judged, Request

from infospace import Space, open_space
from infospace.core.errors import InfospaceError

sys.path.append(str(Path(__file__).parents[1]))
from nodeservers import install

NAME = "real servers"
REQUESTS = Path(__file__).with_name("requests_of_servers.json")


def real_servers(folder: Path) -> Judged | str:
    """Start the servers and have them listed; return their tools, prompts and resources, or why there are none."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    try:
        servers = {**_python(), **_node(folder, home)}
        (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        with open_space(folder / "space.db") as space:
            return _judged(space, folder / "mcp.json")
    except (InfospaceError, OSError, CalledProcessError) as error:
        return f"the real servers are left out: {error}"


def _judged(space: Space, path: Path) -> Judged | str:
    from infospace.tools.mcp.catalogue.sync import sync

    failed = asyncio.run(sync(space, mcp=path)).failed
    if failed:
        return f"the real servers are left out: {failed[0].server}: {failed[0].reason}"
    tools = list(space.tools.everything())
    places = {tool.full_name: at for at, tool in enumerate(tools)}
    said = json.loads(REQUESTS.read_text(encoding="utf-8"))
    requests = [
        Request(text, dict.fromkeys((places[name] for name in names), 1)) for text, names in said["asked"].items()
    ]
    return Judged(NAME, tools, requests, vain=said["asked_in_vain"], chosen_on=False)


def _python() -> dict[str, Any]:
    return {
        "time": {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]},
        "git": {"command": sys.executable, "args": ["-m", "mcp_server_git"]},
    }


def _node(folder: Path, home: Path) -> dict[str, Any]:
    if shutil.which("npm") is None:
        raise FileNotFoundError("three of them come from npm, which is not found")
    (folder / "node").mkdir(exist_ok=True)
    node = install(folder / "node")
    return {
        "everything": {"command": str(node / "mcp-server-everything")},
        "filesystem": {"command": str(node / "mcp-server-filesystem"), "args": [str(home)]},
        "memory": {
            "command": str(node / "mcp-server-memory"),
            "env": {"MEMORY_FILE_PATH": str(folder / "memory.json")},
        },
    }
