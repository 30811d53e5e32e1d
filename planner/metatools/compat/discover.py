"""`discover`: tools by what they are for, in the shape of CodeSpar's; answered once for as long as nothing changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from pydantic import Field

from infospace.contract.arguments import Args, Query
from infospace.contract.tool_signature import Signature
from infospace.core.tool import ALL, Tool
from infospace.data.result import truncate
from infospace.space import Space
from infospace.tools.search.results import ToolHit, ToolQuery, ToolResults
from planner.metatools.arguments import MOST_FOUND
from planner.metatools.lookup import MAX_DESCRIPTION_CHARACTERS, known_tools
from planner.metatools.search_tools import find_among

REMEMBERED = 200
"""Questions of a conversation whose answers are kept."""
RELATED = 3


class DiscoverMatch(TypedDict):
    """A tool that was found. `tool_name` is what `execute` calls it by; `score` is from 0 to 1."""

    tool_name: str
    server_id: str
    score: float
    description: str
    connected: bool


class DiscoverResult(TypedDict):
    """What was found, best first; a connected match stands before an unconnected one that is little better.

    `recommended` is the tool to call, None where none fits or none is connected; `related` are tools like it that did
    not match; `next_steps` say in sentences what to do now.
    """

    matches: list[DiscoverMatch]
    search_strategy: Literal["hybrid", "keyword"]
    recommended: str | None
    related: list[str]
    next_steps: list[str]


class Discover(Args):
    """Arguments of `discover`."""

    query: Query = Field(description="What the tool should do, in plain words; not its name.")
    limit: int = Field(10, ge=1, le=MOST_FOUND, description="At most this many.")


DISCOVER = Signature(
    "discover",
    "Find the right tool by what it should do. The matches are best first; one that is connected stands before one "
    "that is little better and is not. `execute_tool` calls `recommended`; manage_connections connects.",
    Discover,
)


@dataclass(frozen=True, slots=True)
class _Answered:
    """An answer, and the tools among which it was found."""

    tools: Sequence[Tool]
    result: DiscoverResult


class Discovery:
    """What one conversation discovers. An answer holds until the catalogue is another one. Any thread may ask."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[str, int], _Answered] = OrderedDict()

    def discover(self, query: str, limit: int = 10) -> DiscoverResult:
        """Find the tools that do what is asked for. Raises Invalid for a blank query."""
        tools = [tool for tool in known_tools(self._space, servers=True) if tool.kind in ("tool", "server")]
        key = query.strip(), limit
        with self._lock:
            known = self._answers.get(key)
            if known is None or not _same(known.tools, tools):
                known = _Answered(tools, self._discover(query, limit, tools))
                self._answers[key] = known
                while len(self._answers) > REMEMBERED:
                    self._answers.popitem(last=False)
            result = known.result
        return {
            "matches": [{**match} for match in result["matches"]],
            "search_strategy": result["search_strategy"],
            "recommended": result["recommended"],
            "related": [*result["related"]],
            "next_steps": [*result["next_steps"]],
        }

    def _discover(self, query: str, limit: int, tools: Sequence[Tool]) -> DiscoverResult:
        results = find_among(self._space, tools, ToolQuery(query, limit))
        best = next((hit.tool for hit in results.hits if hit.tool.connected and hit.tool.name != ALL), None)
        return {
            "matches": [_match(hit) for hit in results.hits],
            "search_strategy": "hybrid" if results.degraded is None else "keyword",
            "recommended": None if best is None else best.full_name,
            "related": self._related(results.hits, best, tools),
            "next_steps": list(_next_steps(results, best)),
        }

    def _related(self, hits: Sequence[ToolHit], best: Tool | None, tools: Sequence[Tool]) -> list[str]:
        if best is None:
            return []
        listed = [tool for tool in tools if tool.kind == "tool"]
        matched = {hit.tool.full_name for hit in hits}
        alike, _ = self._space.finder.similar(listed, best, RELATED + len(matched))
        return [similar.tool.full_name for similar in alike if similar.tool.full_name not in matched][:RELATED]


def _same(some: Sequence[Tool], others: Sequence[Tool]) -> bool:
    return len(some) == len(others) and all(
        one is other or one == other for one, other in zip(some, others, strict=True)
    )


def _match(hit: ToolHit) -> DiscoverMatch:
    tool = hit.tool
    return {
        "tool_name": tool.full_name,
        "server_id": tool.server,
        "score": hit.score,
        "description": truncate(tool.description or tool.title, MAX_DESCRIPTION_CHARACTERS),
        "connected": tool.connected,
    }


def _next_steps(results: ToolResults, best: Tool | None) -> Sequence[str]:
    """Say what to do with what was found."""
    steps: list[str] = []
    first = results.hits[0].tool if results.hits else None
    if first is None:
        guess = f"; the nearest is {results.guess.tool.full_name}" if results.guess is not None else ""
        steps.append(f"no tool fits{guess}: say in other words what it should do")
    if best is not None:
        steps.append(f"execute {best.full_name}")
    if first is not None and not first.connected:
        steps.append(
            f'manage_connections {{"action": "initiate", "server": "{first.server}"}} connects {first.server}, '
            f"which has the best match"
        )
    if results.degraded is not None:
        steps.append(results.degraded)
    return steps
