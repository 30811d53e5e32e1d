"""Tools that are functions of this process.

calendar = LocalTools("calendar")

@calendar.tool(read_only=True)
async def free(day: str, hours: int = 1) -> list[str]:
    \"\"\"Find free hours of a day.\"\"\"

space.tools.add(calendar)
"""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError, create_model

from infospace.core.errors import InfospaceError, NotFound
from infospace.core.json_types import JSON
from infospace.core.tool import NoAnswer, Tool, ToolAnswer, ToolFailed
from infospace.schema.infer import pydantic_readable

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class _Entry:
    tool: Tool
    function: Callable[..., Any]
    model: Any
    returns: Any


class LocalTools:
    """A provider of tools that are Python functions; schemas come from their annotations."""

    def __init__(self, server: str) -> None:
        self.server = server
        self._entries: dict[str, _Entry] = {}

    def tool(self, *, read_only: bool = False, idempotent: bool = False, destructive: bool = False) -> Callable[[F], F]:
        """Make a tool of a function, `async` or not, which then runs in a thread.

        Its name is the function's, its description the docstring. Raises TypeError without annotations.
        """

        def make(function: F) -> F:
            hints = typing.get_type_hints(function, include_extras=True)
            fields: dict[str, Any] = {}
            for parameter in inspect.signature(function).parameters.values():
                if parameter.name not in hints:
                    raise TypeError(f"tool {function.__name__!r}: the parameter {parameter.name!r} has no annotation")
                default = ... if parameter.default is inspect.Parameter.empty else parameter.default
                fields[parameter.name] = (pydantic_readable(hints[parameter.name]), default)
            model = create_model(function.__name__, __config__={"extra": "forbid"}, **fields)
            returns = TypeAdapter(pydantic_readable(hints["return"])) if "return" in hints else None
            tool = Tool(
                self.server,
                function.__name__,
                inspect.getdoc(function) or "",
                model.model_json_schema(),
                None if returns is None else returns.json_schema(),
                read_only,
                idempotent,
                destructive,
            )
            self._entries[tool.name] = _Entry(tool, function, model, returns)
            return function

        return make

    def tools(self) -> Sequence[Tool]:
        """Return the tools in the order they were made."""
        return [entry.tool for entry in self._entries.values()]

    def find(self, name: str) -> Tool | None:
        """Return the tool of a name."""
        return next((tool for tool in self.tools() if (tool.name, tool.kind) == (name, "tool")), None)

    async def current(self, tool: Tool) -> Tool:
        """Return the tool as it is: what is made here does not change."""
        return tool

    async def call(self, tool: Tool, arguments: Mapping[str, JSON], timeout_s: float | None = None) -> ToolAnswer:
        """Call the function. An InfospaceError of it is the tool's own failure; anything else is a bug of it.

        It may take as long as it wants where no time is given; a function that is not `async` is not stopped then.
        """
        try:
            async with asyncio.timeout(timeout_s) as limit:
                return await self._call(tool.name, arguments)
        except TimeoutError:
            if not limit.expired():
                raise
            raise NoAnswer(f"{tool.full_name} did not answer within {timeout_s:g} s") from None

    async def _call(self, name: str, arguments: Mapping[str, JSON]) -> ToolAnswer:
        entry = self._entries.get(name)
        if entry is None:
            raise NotFound(f"there is no tool {self.server}/{name}")
        try:
            model = entry.model.model_validate(dict(arguments))
        except ValidationError as error:
            raise ToolFailed(f"{entry.tool.full_name} does not take these arguments: {error}") from error
        values = {name: getattr(model, name) for name in type(model).model_fields}
        try:
            if inspect.iscoroutinefunction(entry.function):
                result = await entry.function(**values)
            else:
                result = await asyncio.to_thread(entry.function, **values)
        except InfospaceError as error:
            return ToolAnswer([{"type": "text", "text": str(error)}], is_error=True)
        value = result if entry.returns is None else entry.returns.dump_python(result, mode="json")
        if isinstance(value, str):
            return ToolAnswer([{"type": "text", "text": value}])
        return ToolAnswer(structured=value)
