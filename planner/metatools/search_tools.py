"""`search_tools`: tools by what they do."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from infospace.core.listener import Listener
from infospace.core.tool import Tool
from infospace.space import Space
from infospace.tools.scope import NO_FILTERS
from infospace.tools.search.confidence import SURE
from infospace.tools.search.results import ToolExplanation, ToolHit, ToolQuery, ToolResults
from infospace.tools.search.types import ANY_TYPES, TypeFit, TypeMatcher, has_output_schema
from planner.metatools.arguments import SearchTools
from planner.metatools.lookup import known_tools, tool_json, unmatched_json

Explain: TypeAlias = Callable[[Tool], ToolExplanation | None]


async def search_tools(space: Space, args: SearchTools) -> dict[str, Any]:
    """Find the tools nearest to what a query asks for, best first; by filters alone those that fit, by name.

    Each has its raw `score` (a relevance from 0 to 1), the `adjustments` that made it `ranked`, what it was
    `matched_by`, and the `confidence` that it does what is asked for, a probability. `matched` counts those that
    probably do; with `filters.min_score` all that have it. Where none does, `no_match` is true, and `guess` is the
    nearest. `unknown` says what was probably meant by names in the filters that no tool has. `types` says how
    well each fits `input` and `output`; `untyped` counts tools that do not say what they give. `rules` says what each
    rule of the space did.
    """
    if args.query is None:
        return _filtered(space, args)
    query = ToolQuery(args.query, args.limit, args.filters, mode=args.search_type, types=args.types)
    results = await asyncio.to_thread(lambda: find_tools(space, query))
    explain = results.explain if args.include_explanation else None
    return {
        "query": args.query,
        "tools": [_hit(hit, schemas=args.include_schemas, explain=explain) for hit in results.hits],
        "matched": results.matched,
        "searched": results.searched,
        "no_match": results.no_match,
        "guess": None if results.guess is None else _hit(results.guess, schemas=args.include_schemas, explain=explain),
        "degraded": results.degraded,
        **_untyped(results.untyped),
        **({"rules": list(results.rules)} if results.rules else {}),
        **unmatched_json(space, args.filters, servers=True),
    }


def _filtered(space: Space, args: SearchTools) -> dict[str, Any]:
    """Return the tools that filters admit, by name: nothing is asked for that they could be near to."""
    every = known_tools(space, servers=True)
    tools = sorted(known_tools(space, args.filters, servers=True), key=lambda tool: tool.full_name)
    untyped = 0 if args.output is None else sum(not has_output_schema(tool) for tool in tools)
    matcher = TypeMatcher(space.finder.types, args.types)
    fitting = [(tool, fit) for tool in tools if (fit := matcher.fit(tool)) is not None]
    return {
        "query": None,
        "tools": [
            {**tool_json(tool, schemas=args.include_schemas), "score": None, "confidence": None, "ranked": None}
            | {"adjustments": {}, "matched_by": ["filters" if args.types == ANY_TYPES else "types"]}
            | ({} if args.types == ANY_TYPES else {"types": fit.to_json()})
            for tool, fit in fitting[: args.limit]
        ],
        "matched": len(fitting),
        "searched": len(every),
        "no_match": not fitting,
        "guess": None,
        "degraded": None,
        **_untyped(untyped),
        **unmatched_json(space, args.filters, servers=True),
    }


def _untyped(count: int) -> dict[str, Any]:
    return {"untyped": count} if count else {}


def find_tools(space: Space, query: ToolQuery, listener: Listener | None = None) -> ToolResults:
    """Find tools among all that may be known; for threads. Raises Invalid for a blank request."""
    return find_among(space, known_tools(space, servers=True), query, listener)


def find_among(space: Space, tools: Sequence[Tool], query: ToolQuery, listener: Listener | None = None) -> ToolResults:
    """Find tools among some; one that is called as the request is comes first, whatever its rank.

    Raises Invalid for a blank request.
    """
    query = replace(query, user=space.user)
    results = space.finder.find(tools, query, listener, space.tools.successes())
    name = _folded(query.request)
    called = {example.tool for example in space.tools.successes()}
    alike = [tool for tool in tools if name in (_folded(tool.full_name), _folded(tool.name))]
    named = [tool for tool in alike if not tool.blocked and query.scope.allows(tool) and _admits(query, tool, called)]
    matcher = TypeMatcher(space.finder.types, query.types)
    fits = {tool.full_name: fit for tool in named if (fit := matcher.fit(tool)) is not None}
    named = [tool for tool in named if tool.full_name in fits]
    if not named:
        return results
    known = {hit.tool.full_name: hit for hit in results.hits}
    first = [known.get(tool.full_name) or _named(tool, query, fits[tool.full_name]) for tool in named]
    rest = [hit for hit in results.hits if hit.tool not in named]
    hits = [*sorted(first, key=lambda hit: (-hit.ranked, hit.tool.full_name)), *rest]
    matched = results.matched + sum(tool.full_name not in known for tool in named)
    return replace(results, hits=hits[: query.limit], matched=matched, guess=None)


def _named(tool: Tool, query: ToolQuery, fit: TypeFit) -> ToolHit:
    return ToolHit(tool, 1.0, ("name",), confidence=SURE, types=None if query.types == ANY_TYPES else fit)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text.strip()).casefold()


def _admits(query: ToolQuery, tool: Tool, called: Container[str]) -> bool:
    return query.filters == NO_FILTERS or query.filters.admits(tool, called)


def _hit(hit: ToolHit, *, schemas: bool, explain: Explain | None = None) -> dict[str, Any]:
    why = hit.to_json()
    del why["tool"]
    if explain is not None:
        explained = explain(hit.tool)
        why["explanation"] = None if explained is None else explained.to_json()
    return {**tool_json(hit.tool, schemas=schemas), **why}
