"""How long a search for tools takes as tools grow more, beside FastMCP's search by BM25 over the same ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from collected import DEPTH, Judged, mean, quality
from figures import NOT_INSTALLED, Cell, Spread, Table, interleaved, lines, once, ratio, spread

from infospace import Space, open_space
from infospace.tools.finding.found import Wanted
from infospace.tools.finding.scope import Filters
from infospace.tools.tool import Tool

TURNS = 60
QUIET = 0.05
"""Seconds before each call, so that the threads of the one before are at rest."""

OPENED, FIRST = "a space opened anew, its first search", "  the same, the tools of the column before this one embedded"
NEW, KNOWN, WORDS = "a new request, embedded", "a request whose vectors are known", "words alone"
EMBEDDED, THEIRS = "the embedding of a new request, alone", "FastMCP, BM25"
TIMES = "FastMCP : a new request, embedded"


def speed(collection: Judged, folder: Path, sizes: Sequence[int]) -> None:
    """Print the times in milliseconds, and how good FastMCP's ranking is on the collection itself."""
    table: Table = {}
    for size in sorted(sizes):
        tools = grown(collection.tools, size)
        for name, cell in _measured(collection, tools, folder / f"{collection.name}, grown.db").items():
            table.setdefault(name, {})[f"{size:,} tools"] = cell
    print(f"\nmilliseconds a search, {DEPTH} best, median / 95th percentile; requests of {collection.name}")
    print("\n".join(lines(table)))
    theirs = FastMcp.of(collection.tools)
    if theirs is not None:
        even = collection.half(1)
        places = {tool.name: at for at, tool in enumerate(collection.tools)}
        found = [
            quality([places[name] for name in theirs(collection.requests[at].text)], collection.requests[at].right)
            for at in even
        ]
        judged = mean(found)
        print(f"FastMCP on the even requests: NDCG@10 {judged.ndcg:.3f}, R@10 {judged.recall_10:.3f}")


def grown(tools: Sequence[Tool], size: int) -> list[Tool]:
    """Return so many tools: the first, or all of them and then again under other names."""
    rounds = [
        replace(tool, name=f"{tool.name}_{turn}" if turn else tool.name, description=f"{tool.description} {turn or ''}")
        for turn in range(-(-size // len(tools)))
        for tool in tools
    ]
    return rounds[:size]


def _measured(collection: Judged, tools: list[Tool], path: Path) -> dict[str, Cell]:
    texts = [collection.requests[at % len(collection.requests)].text for at in range(TURNS + 1)]
    cells: dict[str, Cell] = {}
    with open_space(path) as space:
        cells[FIRST] = once(lambda: _ask(space, tools, "what is first asked for"))
    with open_space(path) as space:
        cells[OPENED] = once(lambda: _ask(space, tools, "what is first asked for"))
    with open_space(path) as space:
        stamp = f"{time.time():.0f}"
        calls: dict[str, Callable[[int], object]] = {
            NEW: lambda turn: _ask(space, tools, f"{texts[turn]} ({stamp} {turn})"),
            KNOWN: lambda _turn: _ask(space, tools, texts[0]),
            WORDS: lambda turn: space.finder.find(tools, Wanted(texts[turn], DEPTH, mode="keyword")),
            EMBEDDED: lambda turn: space.embedding.query(f"{texts[turn]} ({turn} {stamp})"),
        }
        theirs = FastMcp.of(tools)
        if theirs is not None:
            calls[THEIRS] = lambda turn: theirs(texts[turn])
        cells |= {name: spread(times) for name, times in interleaved(calls, TURNS, warm=1, pause=QUIET).items()}
    cells.setdefault(THEIRS, NOT_INSTALLED)
    cells[TIMES] = ratio(cells[THEIRS], cells[NEW]) if isinstance(cells[THEIRS], Spread) else NOT_INSTALLED
    return cells


def _ask(space: Space, tools: Sequence[Tool], request: str) -> object:
    return space.finder.find(tools, Wanted(request, DEPTH, Filters(min_score=0)))


class FastMcp:
    """FastMCP's `search_tools` over some tools, called as its own server calls it."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        from fastmcp.server.transforms.search import BM25SearchTransform
        from fastmcp.tools.function_tool import FunctionTool

        self._loop = asyncio.new_event_loop()
        self._search = BM25SearchTransform(max_results=DEPTH)
        self._tools: list[Any] = [
            FunctionTool(name=tool.name, description=tool.description, parameters=dict(tool.input_schema), fn=_nothing)
            for tool in tools
        ]

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> FastMcp | None:
        """Return the search over some tools, None where FastMCP is not installed."""
        try:
            return cls(tools)
        except ImportError:
            return None

    def __call__(self, request: str) -> list[str]:
        """Return the names of the tools that it finds."""
        found = self._loop.run_until_complete(self._search._search(self._tools, request))
        return [tool.name for tool in found]


def _nothing() -> None:
    """Stand behind a tool that nobody calls."""
