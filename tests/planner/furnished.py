"""A small space that the plans of `tests/plans` speak of: Notes, a list, saved plans and a server of tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from infospace import Space
from infospace.core.json_types import JSON
from infospace.core.tool import Tool, ToolAnswer
from infospace.tools.local import LocalTools
from planner.execute.start import run_sync
from planner.parse.saved_plans import save_plan

NOTES: list[dict[str, Any]] = [
    {"value": "Attention mechanisms let a network weigh its inputs.", "name": "attention", "title": "Attention"},
    {"value": "Training neural networks needs much data.", "name": "training", "title": "Training", "priority": 1},
    {"value": "Gradient descent trains networks step by step.", "name": "descent", "title": "Descent", "priority": 3},
    {"value": "The office closes at six on Fridays.", "name": "office", "title": "Office hours"},
]
QUESTIONS = {"title": "Open questions", "items": ["why now?", "how much?", "who pays?"]}


def furnish(space: Space) -> None:
    """Put the Notes and the Collection into a space that the plans speak of."""
    steps: list[Any] = []
    for note in NOTES:
        metadata = {"title": note["title"], "status": "open" if "priority" in note else "done"}
        metadata |= {"priority": note["priority"]} if "priority" in note else {}
        out = "$" + note["name"]
        steps.append(
            {"type": "create-note", "value": note["value"], "metadata": metadata, "name": note["name"], "out": out}
        )
    status = {"status": "open"}
    steps.append({"type": "create-note", "value": QUESTIONS, "metadata": status, "name": "open questions"})
    steps.append(
        {"type": "create-collection", "value": ["$attention", "$training", "$descent"], "name": "reading list"}
    )
    assert run_sync(space, steps).status == "success"


class Line(BaseModel, extra="forbid"):
    """A line of a file that a search found."""

    path: str
    line: int
    text: str


class Files(LocalTools):
    """A server that has a prompt, and resources, besides its tools."""

    def tools(self) -> Sequence[Tool]:
        """Return its tools, then the prompt and a resource."""
        prompt = Tool(self.server, "digest", "Sum a subject up.", kind="prompt", read_only=True)
        resource = Tool(self.server, "file://a.md", "The first file.", kind="resource", read_only=True)
        return [*super().tools(), prompt, resource]

    async def call(self, tool: Tool, arguments: Mapping[str, JSON], timeout_s: float | None = None) -> ToolAnswer:
        """Call a tool, or give what it has."""
        if tool.kind == "prompt":
            said = {"type": "text", "text": f"Sum up: {arguments.get('subject', 'all')}"}
            return ToolAnswer([{"type": "message", "role": "user", "content": said}])
        if tool.kind == "resource":
            return ToolAnswer([{"type": "resource", "resource": {"uri": tool.name, "text": f"this is {tool.name}"}}])
        return await super().call(tool, arguments, timeout_s)


def files() -> LocalTools:
    """Return a server of four tools, of which one writes."""
    server = Files("files")

    @server.tool(read_only=True)
    def read(path: str) -> str:
        """Read a file."""
        return f"the text of {path}"

    @server.tool(read_only=True)
    def search(query: str, limit: int = 5) -> list[Line]:
        """Search the files for words."""
        return [Line(path=f"{n}.md", line=n, text=query) for n in range(1, limit + 1)]

    @server.tool(read_only=True)
    def is_ready() -> bool:
        """Say whether the files are there."""
        return True

    @server.tool(destructive=True)
    def write(path: str, text: str) -> bool:
        """Write a file."""
        return bool(path and text)

    return server


GREET = {
    "inputs": {"who": {"type": "string"}, "times": {"type": "integer", "default": 1}},
    "steps": [{"type": "create-note", "value": "hello ${who} ${times}", "out": "$greeting"}],
    "result": "$greeting",
}
COUNT = {
    "inputs": {"things": {"kind": "Collection"}},
    "steps": [{"type": "size", "target": "$things", "out": "$n"}],
    "result": "$n",
}


def furnish_whole(space: Space) -> None:
    """Put the saved plans and the tools into a space besides."""
    furnish(space)
    save_plan(space, "greet", GREET)
    save_plan(space, "count", COUNT)
    space.tools.add(files())


def mail_server() -> LocalTools:
    """Return a server with a tool that only reads, and one that changes something."""
    server = LocalTools("mail")

    @server.tool(read_only=True)
    async def inbox(page: int = 1) -> list[str]:
        """Read the inbox."""
        return [str(page)]

    @server.tool()
    async def send(to: str) -> str:
        """Send a mail."""
        return to

    return server
