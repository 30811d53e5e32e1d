"""What the store answers about servers of tools."""

from __future__ import annotations

from collections.abc import Sequence

from infospace.core.tool import ToolKind
from infospace.store.sqlite.journal import successful_calls as worked
from infospace.store.sqlite.journal import tools
from infospace.store.sqlite.journal.tools import totals as tools_totals
from infospace.store.sqlite.read.provenance import ProvenanceQueries
from infospace.store.tool_records import KeptServer, KeptTool, SuccessfulCall, ToolUse


class Offered(ProvenanceQueries):
    """The part of a snapshot that knows servers, their tools, and how calls went."""

    __slots__ = ()

    def tools_generation(self) -> int:
        """Return how many commits changed servers, tools or sources."""
        return tools.generation(self._engine)

    def tool_sources(self) -> list[str]:
        """Return the remembered paths of `mcp.json` files."""
        return tools.sources(self._engine)

    def servers(self) -> list[KeptServer]:
        """Return the servers that are known."""
        return tools.servers(self._engine)

    def tools(self, server: str | None = None) -> list[KeptTool]:
        """Return what servers list."""
        return tools.list_tools(self._engine, server)

    def tool(self, server: str, name: str, kind: ToolKind = "tool") -> KeptTool | None:
        """Return one tool, prompt or resource."""
        return tools.find(self._engine, server, name, kind)

    def tool_by_id(self, identifier: str) -> KeptTool | None:
        """Return the tool with an id."""
        number = identifier.removeprefix("tool_")
        known = number.isascii() and number.isdecimal() and len(number) <= 18 and identifier == f"tool_{int(number)}"
        return tools.by_number(self._engine, int(number)) if known else None

    def tool_counts(self) -> dict[tuple[str, ToolKind], int]:
        """Return how much each server lists."""
        return tools.counts(self._engine)

    def tool_uses(self, server: str | None = None, name: str | None = None) -> list[ToolUse]:
        """Return how calls of tools went."""
        return tools.uses(self._engine, server, name)

    def tool_totals(self, tools: Sequence[tuple[str, str]] | None = None) -> dict[tuple[str, str], tuple[int, float]]:
        """Return how often tools were called, and the share of calls that went well."""
        return tools_totals(self._engine, tools)

    def worked_generation(self) -> int:
        """Return a number that is another one when other calls are remembered."""
        return worked.generation(self._engine)

    def worked(self, limit: int) -> list[SuccessfulCall]:
        """Return calls of tools that went well."""
        return worked.worked(self._engine, limit)

    def server_uses(self) -> list[ToolUse]:
        """Return how calls of the tools of each server went."""
        return tools.server_uses(self._engine)
