"""A server made with the official package, whose tools take arguments of every kind: the desk of a house of rooms."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

server = MCPServer("desk", title="The desk", instructions="Ask for rooms before booking one.")

READS = ToolAnnotations(read_only_hint=True)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True)


class Booked(BaseModel):
    """What was booked."""

    room: str
    hours: int
    quiet: bool
    guests: list[str]


@server.tool(annotations=CHANGES)
def book(
    room: Annotated[Literal["blue", "green", "red"], Field(description="Which room.")],
    guests: Annotated[list[str], Field(description="Who comes, each by name.")],
    hours: Annotated[int, Field(description="For how long.", ge=1, le=12)] = 2,
    quiet: Annotated[bool, Field(description="Whether nobody is to knock.")] = False,
    remark: Annotated[str, Field(description="What else there is to say.")] = "",
) -> Booked:
    """Book a room of the house, and cancel whoever had it."""
    del remark
    return Booked(room=room, hours=hours, quiet=quiet, guests=guests)


@server.tool(annotations=READS)
def rooms() -> list[str]:
    """List the rooms of the house."""
    return ["blue", "green", "red"]


@server.tool(annotations=READS)
def guestbook(lines: Annotated[int, Field(description="How many lines of it.", ge=1)]) -> str:
    """Read what guests wrote."""
    return "\n".join(f"line {number}: it was quiet" for number in range(1, lines + 1))


@server.tool(annotations=READS)
async def wait_at_door(mark: Annotated[str, Field(description="A file; it is there once somebody waits.")]) -> str:
    """Wait until somebody opens the door."""
    await asyncio.to_thread(Path(mark).touch)
    await asyncio.sleep(600)
    return "open"


@server.tool(annotations=READS)
def place(point: Annotated[dict[str, Any], Field(description="Where it is, as x and y.")]) -> str:
    """Say where something is."""
    return f"at {point}"


if __name__ == "__main__":
    sys.stderr.write("the desk is open\n")
    sys.stderr.flush()
    server.run()
