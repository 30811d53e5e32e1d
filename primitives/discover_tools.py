"""`discover-tools`: tools by what they do."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from infospace import Args, Collection, Infospace, Limit, NotFound, Query, ToolResult, Unsupported, primitive


class DiscoverTools(Args):
    """Arguments of `discover-tools`."""

    query: Query = Field(description="What the tool should do, in plain words.")
    limit: Limit = Field(5, description='At most this many, or "all".')
    threshold: float | None = Field(None, ge=0, le=1, description="Lowest relevance that counts.")
    servers: list[str] | None = Field(None, description="Only tools of these servers.")
    categories: list[str] | None = Field(None, description="Only tools of these categories.")
    tags: list[str] | None = Field(None, description="Only tools with any of these tags.")
    input: dict[str, Any] | None = Field(None, description="A JSON Schema of what is there to be given.")
    output: dict[str, Any] | None = Field(None, description="A JSON Schema of what is wanted back.")


@primitive(
    effect="reads",
    waits=True,
    out="required",
    failures=["There are no tools in this space."],
    examples=[{"type": "discover-tools", "query": "read a file", "limit": 3, "out": "$tools"}],
    avoid=["Looking for notes: that is `discover-notes`."],
)
async def discover_tools(args: DiscoverTools, space: Infospace) -> Collection[ToolResult]:
    """Find the tools nearest to what a query asks for, best first.

    Each hit says the tool's full name, its server, what it takes and what it gives; `$hit.metadata.tool` is what
    `call-tool` calls.
    """
    if not any(True for _ in space.space.tools):
        raise NotFound("there are no tools in this space", hint="`space.tools.add(…)` takes a provider in")
    raise Unsupported(f"tools cannot be searched in this version ({args.query!r:.60})", hint="name them in a step")
