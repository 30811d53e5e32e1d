"""The tools of a space, by their full names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from infospace.errors import Conflict, Invalid, NotFound
from infospace.jsonvalue import JSON
from infospace.paths import nearest
from infospace.tools.tool import Tool, ToolAnswer, ToolProvider


class Toolbox:
    """Tools of several providers. Two providers of one server name are a Conflict."""

    def __init__(self) -> None:
        self._providers: dict[str, ToolProvider] = {}

    def add(self, provider: ToolProvider) -> None:
        """Take a provider's tools in."""
        if provider.server in self._providers:
            raise Conflict(f"there is a server {provider.server!r} already", hint="give one of them another name")
        if not provider.server or "/" in provider.server:
            raise Invalid(f"{provider.server!r} cannot be a server's name", hint="one without `/`")
        self._providers[provider.server] = provider

    def __iter__(self) -> Iterator[Tool]:
        for server in sorted(self._providers):
            yield from self._providers[server].tools()

    def find(self, full_name: str) -> Tool | None:
        """Return the tool of a full name, `server/tool`; None when there is none."""
        server, _, name = full_name.partition("/")
        provider = self._providers.get(server)
        if provider is None:
            return None
        return next((tool for tool in provider.tools() if tool.name == name), None)

    def get(self, full_name: str) -> Tool:
        """Return the tool of a full name; NotFound says which is nearest."""
        found = self.find(full_name)
        if found is None:
            raise NotFound(f"there is no tool {full_name!r}", hint=self.hint(full_name))
        return found

    def near(self, full_name: str) -> str | None:
        """Return the full name that was probably meant: one alike, or the only one with that tool name."""
        names = [tool.full_name for tool in self]
        near = nearest(full_name, names)
        if near is not None:
            return near
        last = full_name.rpartition("/")[2]
        same = [name for name in names if name.rpartition("/")[2] == last]
        return same[0] if len(same) == 1 else None

    def hint(self, full_name: str) -> str:
        """Say which tool was probably meant, or which there are."""
        near = self.near(full_name)
        if near is not None:
            return f"did you mean {near!r}?"
        names = [tool.full_name for tool in self]
        return (
            f"there are {', '.join(names[:8])}{', …' if len(names) > 8 else ''}" if names else "no tools in this space"
        )

    def fits(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        """Raise Invalid with everything in which arguments do not fit a tool's schema."""
        from infospace.fitting import misfits

        given: JSON = dict(arguments)
        faults = misfits(given, tool.input_schema)
        if faults:
            raise Invalid(f"the arguments of {tool.full_name} do not fit its schema: {'; '.join(faults)}")

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool. Raises Invalid with everything in which the arguments do not fit, before the call."""
        self.fits(tool, arguments)
        return await self._providers[tool.server].call(tool.name, arguments)
