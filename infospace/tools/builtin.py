"""What the space itself can do, described as tools of the server `infospace`: its primitives, and what others list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from infospace.core.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from infospace.contract.decorator import Primitive
    from infospace.space import Space

    Listing: TypeAlias = "Callable[[Space], Iterable[Tool]]"
    """Says what else can be done in a space as it is now, as tools of the server `infospace`."""

SERVER = "infospace"


def all_tools(space: Space, *, others: bool = False) -> list[Tool]:
    """Return all that can be done and may be known: tools of servers and of this process, and what the space can do.

    With `others` also prompts and resources.
    """
    known = space.tools.everything() if others else space.tools
    return [*known, *builtin_tools(space)]


def searched(space: Space, *, others: bool = False) -> list[Tool]:
    """Return what a search looks among: `everything`, and the servers that were never listed, by their entries."""
    return [*all_tools(space, others=others), *space.tools.never_listed()]


def builtin_tools(space: Space) -> list[Tool]:
    """Return what the space itself can do, as far as it may be known: its primitives, and what is listed besides."""
    listed = (tool for listing in space.catalogue.listings.values() for tool in listing(space))
    return [tool for tool in (*(entry.as_tool for entry in space.catalogue), *listed) if space.tools.scope.allows(tool)]


def step_type(tool: Tool) -> str:
    """Return the type of a step that calls a tool: its full name, or what stands behind the name of the space."""
    return tool.name if tool.server == SERVER else tool.full_name


def tool_of(entry: Primitive) -> Tool:
    """Return a primitive as a tool; its name is the type of its steps."""
    only_reads = entry.effect in ("pure", "reads")
    return Tool(
        SERVER,
        entry.type,
        "\n\n".join(filter(None, (entry.summary, entry.behaviour))),
        entry.schema,
        read_only=only_reads,
        idempotent=only_reads,
        destructive=False,
        category="primitives",
        server_title="the space itself",
    )
