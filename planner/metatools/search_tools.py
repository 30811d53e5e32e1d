"""`search_tools`: tools by what they do."""

from __future__ import annotations

import asyncio
from typing import Any

from infospace.core.listener import Listener
from infospace.space import Space
from infospace.tools.search.results import ToolHit, ToolQuery, ToolResults
from planner.metatools.arguments import SearchTools
from planner.metatools.lookup import known_tools, tool_json, unmatched_json


async def search_tools(space: Space, args: SearchTools) -> dict[str, Any]:
    """Find the tools nearest to what a query asks for, best first.

    Each has its raw `score` (a relevance from 0 to 1), the `adjustments` that made it `ranked`, and what it was
    `matched_by`. Where nothing fits, `no_match` is true, and `guess` is the nearest. `unknown` says what was probably
    meant by names in the filters that no tool has.
    """
    wanted = ToolQuery(args.query, args.limit, args.filters, mode=args.search_type)
    found = await asyncio.to_thread(lambda: find_tools(space, wanted))
    return {
        "query": args.query,
        "tools": [_hit(hit, schemas=args.include_schemas) for hit in found.hits],
        "matched": found.matched,
        "searched": found.searched,
        "no_match": found.no_match,
        "guess": None if found.guess is None else _hit(found.guess, schemas=args.include_schemas),
        "degraded": found.degraded,
        **unmatched_json(space, args.filters, servers=True),
    }


def find_tools(space: Space, wanted: ToolQuery, listener: Listener | None = None) -> ToolResults:
    """Find tools among all that may be known; for threads. Raises Invalid for a blank request."""
    return space.finder.find(known_tools(space, servers=True), wanted, listener, space.tools.successes())


def _hit(hit: ToolHit, *, schemas: bool) -> dict[str, Any]:
    why = hit.to_json()
    del why["tool"]
    return {**tool_json(hit.tool, schemas=schemas), **why}
