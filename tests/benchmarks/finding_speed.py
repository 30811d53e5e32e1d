"""How long `search_tools` takes as tools grow more, beside FastMCP's search by BM25 over the same ones.

The tools are kept in a space, as those of servers that were listed, a hundred each; none of these is started.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from collected import DEPTH, Judged, mean, quality
from figures import NOT_INSTALLED, Cell, Spread, Table, interleaved, lines, once, ratio, spread

from infospace import Space, open_space
from infospace.core.tool import Tool
from infospace.store.changes import Change
from infospace.store.tool_records import AddSource, ListedTool, SaveServer, SaveTools, StoredServer
from planner.metatools.arguments import SearchTools
from planner.metatools.search_tools import search_tools

TURNS = 60
QUIET = 0.05
"""Seconds before each call, so that the threads of the one before are at rest."""

OF_A_SERVER = 100
LISTED = "2026-01-01T00:00:00.000Z"

OPENED, FIRST = "a space opened anew, its first search", "  the same, the tools of the column before this one embedded"
NEW, KNOWN, WORDS = "a new request, embedded", "a request whose vectors are known", "words alone"
EMBEDDED, THEIRS = "the embedding of a new request, alone", "FastMCP, BM25"
TIMES = "FastMCP : a new request, embedded"
SPENT = "a new request, processor time of all threads"
BESIDE = "a new request : its embedding"


def speed(collection: Judged, folder: Path, sizes: Sequence[int]) -> None:
    """Print the times in milliseconds, and how good FastMCP's ranking is on the collection itself."""
    table: Table = {}
    for size in sorted(sizes):
        tools = grown(collection.tools, size)
        for name, cell in _measured(collection, tools, folder / f"{collection.name}, grown").items():
            table.setdefault(name, {})[f"{size:,} tools"] = cell
    busy = f"{os.getloadavg()[0]:.1f} of {os.cpu_count()} cores busy"
    print(f"\nmilliseconds a `search_tools`, {DEPTH} best, median / 95th percentile; {collection.name}; {busy}")
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


def _measured(collection: Judged, tools: list[Tool], folder: Path) -> dict[str, Cell]:
    texts = [collection.requests[at % len(collection.requests)].text for at in range(TURNS + 1)]
    cells: dict[str, Cell] = {}
    path = folder / "space.db"
    _keep(folder, path, tools)
    loop = asyncio.new_event_loop()

    def ask(space: Space, request: str, mode: Any = "hybrid") -> object:
        asked = SearchTools(query=request, limit=DEPTH, search_type=mode)
        return loop.run_until_complete(search_tools(space, asked))

    with open_space(path) as space:
        cells[FIRST] = once(lambda: ask(space, "what is first asked for"))
    with open_space(path) as space:
        cells[OPENED] = once(lambda: ask(space, "what is first asked for"))
    with open_space(path) as space:
        stamp = f"{time.time():.0f}"
        spent: list[float] = []

        def new(turn: int) -> None:
            before = time.process_time()
            ask(space, f"{texts[turn]} ({stamp} {turn})")
            spent.append((time.process_time() - before) * 1000)

        calls: dict[str, Callable[[int], object]] = {
            NEW: new,
            KNOWN: lambda _turn: ask(space, texts[0]),
            WORDS: lambda turn: ask(space, texts[turn], "keyword"),
            EMBEDDED: lambda turn: space.embedding.query(f"{texts[turn]} ({turn} {stamp})"),
        }
        theirs = FastMcp.of(tools)
        if theirs is not None:
            calls[THEIRS] = lambda turn: theirs(texts[turn])
        cells |= {name: spread(times) for name, times in interleaved(calls, TURNS, warm=1, pause=QUIET).items()}
    cells[SPENT] = spread(spent[-TURNS:])
    cells[BESIDE] = ratio(cells[NEW], cells[EMBEDDED])
    cells.setdefault(THEIRS, NOT_INSTALLED)
    cells[TIMES] = ratio(cells[THEIRS], cells[NEW]) if isinstance(cells[THEIRS], Spread) else NOT_INSTALLED
    return cells


def _keep(folder: Path, path: Path, tools: Sequence[Tool]) -> None:
    """Have a space keep tools, of servers that its `mcp.json` names."""
    servers = {f"server-{at // OF_A_SERVER}": tools[at : at + OF_A_SERVER] for at in range(0, len(tools), OF_A_SERVER)}
    folder.mkdir(parents=True, exist_ok=True)
    entries = {name: {"command": "never-started"} for name in servers}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    changes: list[Change] = [AddSource(str(folder / "mcp.json"))]
    for name, some in servers.items():
        listed = [ListedTool(tool.name, "tool", tool.title, tool.description, tool.input_schema) for tool in some]
        changes += [SaveServer(StoredServer(name, "listed", b"", listed=LISTED)), SaveTools(name, listed)]
    with open_space(path) as space:
        space.store.commit(changes)


class FastMcp:
    """FastMCP's `search_tools` over some tools, called as its own server calls it."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        from fastmcp.server.transforms.search import BM25SearchTransform
        from fastmcp.tools.function_tool import FunctionTool

        # Names of the collection have blanks, which would be warned about each time.
        logging.getLogger("mcp.shared.tool_name_validation").setLevel(logging.ERROR)
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
