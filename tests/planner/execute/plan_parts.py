"""Parts of which written plans are put together, and tools of which they call."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from infospace import InfospaceError, Space
from infospace.tools.local import LocalTools

sys.path.insert(0, str(Path(__file__).parents[1]))
from timing import turns

SEVEN = {"type": "create-note", "value": 7, "out": "$seven"}
PAIR = {"type": "create-collection", "value": [1, 2], "out": "$pair"}
LOST = {"type": "load", "target": "$seven", "slice": "0:1", "out": "$a", "on_fail": "continue"}
"""Leaves `$a` unbound."""


def note(value: Any, out: str = "$n", **fields: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **fields}


def bound(name: str) -> dict[str, Any]:
    return {"type": "bound", "target": name}


def absent(name: str) -> dict[str, Any]:
    return {"type": "notbound", "target": name}


def joined(how: str, *of: Any) -> dict[str, Any]:
    return {"type": how, "of": list(of)}


def either(condition: Any, yes: Any = "yes", no: Any = "no") -> dict[str, Any]:
    """An `if` that binds `$r` in both branches."""
    return {"type": "if", "condition": condition, "then": [note(yes, "$r")], "else": [note(no, "$r")]}


def parallel(*branches: list[Any], **fields: Any) -> dict[str, Any]:
    return {"type": "parallel", "branches": list(branches), **fields}


def each(*do: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "for-each", "target": "$pair", "as": "$x", "do": list(do), **fields}


def tool(name: str, out: str | None = None, **arguments: Any) -> dict[str, Any]:
    step: dict[str, Any] = {"type": f"outside/{name}", "arguments": arguments}
    return step if out is None else {**step, "out": out}


def add_tools(space: Space) -> list[str]:
    """Add tools that give at once, that fail late, and that leave a mark; return what they are called with."""
    heard: list[str] = []
    server = LocalTools("outside")

    @server.tool(read_only=True)
    async def give(value: str) -> str:
        """Give a value at once."""
        heard.append(f"give {value}")
        return value

    @server.tool(read_only=True)
    async def fall_late(value: str) -> str:
        """Fail when whatever could begin meanwhile has ended."""
        await turns()
        heard.append(f"fall {value}")
        raise InfospaceError(f"{value} fell")

    @server.tool(read_only=True)
    async def is_so(value: bool) -> bool:
        """Answer what is given."""
        heard.append(f"asked {value}")
        return value

    @server.tool()
    async def mark(value: str) -> str:
        """Leave a mark."""
        heard.append(f"mark {value}")
        return value

    space.tools.add(server)
    return heard
