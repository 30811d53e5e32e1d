"""What a space keeps of servers and their tools: rows, and the changes that make them. Never `env` or `headers`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from infospace.core.json_types import JSON
from infospace.core.tool import ToolKind
from infospace.data.json_text import dump

ServerState: TypeAlias = Literal["listed", "failed"]


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool, prompt or resource as its server lists it; `name` is a resource's URI, or the template of URIs.

    The three hints are None where the server says nothing. `examples` are arguments.
    """

    name: str
    kind: ToolKind = "tool"
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    output_schema: Mapping[str, Any] | None = None
    read_only: bool | None = None
    idempotent: bool | None = None
    destructive: bool | None = None
    tags: tuple[str, ...] = ()
    category: str = ""
    examples: tuple[Mapping[str, Any], ...] = ()
    details: Mapping[str, JSON] = field(default_factory=dict)
    """What else there is to know: `mime_type`, `size`, `template` of a resource."""

    def written(self) -> dict[str, Any]:
        """Return it as JSON, without what is as it usually is."""
        results: dict[str, Any] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            if value not in (None, "", (), {}):
                results[name] = list(value) if isinstance(value, tuple) else value
        return results

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> ListedTool:
        """Return what was written."""
        fields: dict[str, Any] = {**value}
        for name in ("tags", "examples"):
            if name in fields:
                fields[name] = tuple(fields[name])
        return cls(**fields)

    @property
    def digest(self) -> bytes:
        """The SHA-256 of all of it: another one is a changed tool."""
        return hashlib.sha256(dump(self.written()).encode()).digest()


@dataclass(frozen=True, slots=True)
class StoredTool:
    """A listed tool with what it has in this space: its id for good (`tool_17`), and when it was first seen."""

    id: str
    server: str
    created: str
    listed: ListedTool


@dataclass(frozen=True, slots=True)
class StoredServer:
    """What is known of a server, from the last time that it was listed, or could not be.

    `entry` tells its entry in `mcp.json` from another one. `listed` and `expires` are when its list was read, and until
    when that holds; None before the first time. `error` and `stderr` are of the last failure; the `error` of one that
    is listed says which of its tools are refused.
    """

    name: str
    state: ServerState
    entry: bytes
    title: str = ""
    version: str = ""
    instructions: str = ""
    listed: str | None = None
    expires: str | None = None
    tried: str | None = None
    error: str | None = None
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """How calls of a tool went: how many, how many of them well, and their times in milliseconds."""

    server: str
    name: str
    execution_count: int
    success_rate: float
    mean_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class SuccessfulCall:
    """A call of a tool that went well: by which run, with what, and the goal that the run had."""

    run: str
    tool: str
    """Its full name."""
    arguments: Mapping[str, JSON]
    goal: str


@dataclass(frozen=True, slots=True)
class AddSource:
    """Remember the absolute path of an `mcp.json`. Idempotent."""

    path: str


@dataclass(frozen=True, slots=True)
class ForgetSource:
    """Forget the path of an `mcp.json`; nothing where it is not remembered."""

    path: str


@dataclass(frozen=True, slots=True)
class SaveServer:
    """Keep what is known of a server, in the place of what was known before."""

    server: StoredServer


@dataclass(frozen=True, slots=True)
class SaveTools:
    """Keep tools of a server. One that was kept before, or was there once, has the id that it had."""

    server: str
    tools: Sequence[ListedTool]


@dataclass(frozen=True, slots=True)
class DropTools:
    """Tools that a server has no more, as pairs of kind and name; their ids stay theirs."""

    server: str
    tools: Sequence[tuple[ToolKind, str]]


@dataclass(frozen=True, slots=True)
class DropServer:
    """A server that nobody configures any more, with its tools; their ids stay theirs."""

    server: str


@dataclass(frozen=True, slots=True)
class RecordCall:
    """A tool was really called: when, for how many milliseconds, and whether it went well."""

    server: str
    name: str
    at: str
    duration_ms: float
    well: bool


ToolChange: TypeAlias = AddSource | ForgetSource | SaveServer | SaveTools | DropTools | DropServer | RecordCall


class ToolQueries(Protocol):
    """What a snapshot of a space answers about servers: a part of `infospace.store.protocol.Snapshot`."""

    def tools_generation(self) -> int:
        """From 0 on, one more with each commit that changes servers, tools or the paths of `mcp.json` files."""

    def tool_sources(self) -> list[str]:
        """Return the remembered paths of `mcp.json` files, in the order they came."""

    def servers(self) -> list[StoredServer]:
        """Return the servers that are known, by name as code points."""

    def tools(self, server: str | None = None) -> list[StoredTool]:
        """Return the tools, prompts and resources of one server or of all, by the number in their ids.

        Numbers count from 1 as they are first seen. What a server lists no more is not among them.
        """

    def tool(self, server: str, name: str, kind: ToolKind = "tool") -> StoredTool | None:
        """Return one of them by what it is called, None where it is not."""

    def tool_by_id(self, identifier: str) -> StoredTool | None:
        """Return one of them by its id, None where it is not."""

    def tool_counts(self) -> dict[tuple[str, ToolKind], int]:
        """Return how many of each kind each server has that has any."""

    def tool_uses(self, server: str | None = None, name: str | None = None) -> list[ToolUse]:
        """Return how calls of tools went, by server and name: of one tool, of all of a server, or of all.

        `p95_ms` is the time that 95 of 100 calls did not exceed: of n in order, the one at the rank ceil(0.95 n).
        """

    def tool_totals(self, tools: Sequence[tuple[str, str]] | None = None) -> dict[tuple[str, str], tuple[int, float]]:
        """Return of tools, by server and name, how often they were called, and the share of calls that went well.

        Of some, or None for all; of those that were never called, nothing. Sooner than `tool_uses`.
        """

    def successful_calls_generation(self) -> int:
        """Return a number that is another one when `worked` answers something else."""

    def successful_calls(self, limit: int) -> list[SuccessfulCall]:
        """Return calls of tools that went well, the latest first: of each tool a few, with different short arguments.

        They are those of runs that are there.
        """

    def server_uses(self) -> list[ToolUse]:
        """Return how calls of all tools of each server went, by server; the name of each is empty."""
