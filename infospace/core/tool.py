"""What a tool is, and what a call of one answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from infospace.core.errors import InfospaceError
from infospace.core.json_types import JSON

ToolKind: TypeAlias = Literal["tool", "prompt", "resource", "server"]
"""`server` is one that was never listed: it is found, and what it can do is not known yet."""

ALL = "*"
"""The name of what a server has that was never listed."""

Integration: TypeAlias = Literal["MCP", "REST", "local"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a server. Schemas are JSON Schema; `output_schema` is None where the server gives none.

    The three hints are the server's own word: `read_only` changes nothing, `idempotent` may be called twice with
    one effect, `destructive` may take something away.
    """

    server: str
    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    output_schema: Mapping[str, Any] | None = None
    read_only: bool = False
    idempotent: bool = False
    destructive: bool = True
    connected: bool = True
    """Whether its server can be reached as it is known now."""
    annotated: bool = True
    """Whether its server said anything of the three hints."""
    title: str = ""
    kind: ToolKind = "tool"
    integration: Integration = "local"
    tags: tuple[str, ...] = ()
    claimed: tuple[str, ...] = ()
    """Those of its tags that are the word of a server which is not trusted: they let nobody know of it."""
    category: str = ""
    """The tool's own, else its server's, else the server's title."""
    server_title: str = ""
    server_description: str = ""
    trusted: bool = True
    """Whether the word of its server is believed."""
    blocked: bool = False
    auto_approved: bool = False
    """Whether it needs no approval."""
    visibility: str = "public"
    team: str = ""
    examples: tuple[Mapping[str, Any], ...] = ()
    """Arguments that it was, or may be, called with."""
    timeout_s: float | None = None
    """Seconds that a call of it may last, None for the usual."""
    id: str = ""
    """`tool_17`, where the space keeps it."""
    needs: str = ""
    """What has to be done before it can be called; empty where nothing has."""
    created: str = ""
    """When the space first saw it: ISO 8601, UTC."""

    @property
    def full_name(self) -> str:
        """`server/tool`, which no other tool has."""
        return f"{self.server}/{self.name}"

    @property
    def digest(self) -> bytes:
        """The SHA-256 of what an approval is given to: name, description, input schema."""
        definition = [self.full_name, self.description, dict(self.input_schema)]
        text = json.dumps(definition, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a call answered: content blocks as the Model Context Protocol has them, and the structured content.

    `structured` is None where there is none; `is_error` says that the tool failed, in its own words. `cached` says
    that an earlier run was answered so, and the tool was not called.
    """

    blocks: Sequence[Mapping[str, Any]] = ()
    structured: JSON = None
    is_error: bool = False
    cached: bool = False

    @property
    def content(self) -> JSON:
        """The structured content; else the text of a single text block; else the blocks."""
        if self.structured is not None:
            return self.structured
        if len(self.blocks) == 1 and self.blocks[0].get("type") == "text":
            return str(self.blocks[0].get("text", ""))
        return [dict(block) for block in self.blocks]

    @property
    def text(self) -> str:
        """What its text blocks say."""
        return "\n".join(str(block.get("text", "")) for block in self.blocks if block.get("type") == "text")


class ToolProvider(Protocol):
    """Something that has tools: a server, or functions of this process."""

    @property
    def server(self) -> str:
        """The first part of the full names of its tools."""

    def tools(self) -> Sequence[Tool]:
        """Return its tools, as they are known now; starts nothing."""

    def find(self, name: str) -> Tool | None:
        """Return the tool of a name, None where there is none; a prompt or a resource is none."""

    async def current(self, tool: Tool) -> Tool:
        """Return a tool as it is listed now, the same one where that says what it said. Raises NotCalled."""

    async def call(self, tool: Tool, arguments: Mapping[str, JSON], timeout_s: float | None = None) -> ToolAnswer:
        """Call a tool with arguments that fit its schema, for at most so many seconds, else as long as is usual for it.

        Raises ToolFailed; may be cancelled.
        """


class ToolFailed(InfospaceError):
    """A call of a tool that came to nothing. It may have had its effect."""

    kind = "tool"


class NoAnswer(ToolFailed):
    """A call that lasted longer than it may. It may have had its effect."""


class NotAllowed(ToolFailed):
    """A tool that may not be called, or not so: nothing happened."""

    kind = "not-allowed"


class NotCalled(ToolFailed):
    """A tool that could not be reached: nothing happened."""

    kind = "not-called"
