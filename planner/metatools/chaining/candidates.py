"""The tools that may do what a request asks for, by search, and the words of a request that speak of that."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from infospace.core.tool import Tool
from infospace.space import Space
from infospace.tools.scope import Filters
from infospace.tools.search.results import ToolHit, ToolQuery
from infospace.tools.search.tokenize import tokenize
from planner.metatools.chaining.literals import GoalLiteral
from planner.metatools.chaining.score import MEANS
from planner.metatools.search_tools import find_among

CANDIDATES = 14
"""Tools that are looked at, the nearest."""
WORDS: Final = re.compile(r"[A-Za-z][\w'’-]*")
_NOT_DONE: Final = re.compile(r"\bnot\s+(?:yet\s+|been\s+)?(\w+ed)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RankedTools:
    """Tools by full name, the most relevant first; `degraded` says which leg of the search is down."""

    hits: Mapping[str, ToolHit]
    degraded: str | None = None


def rank_candidates(space: Space, tools: Sequence[Tool], question: str) -> RankedTools:
    """Return tools by relevance: to what is asked for, and to the same in the words that tools have for it."""
    degraded: str | None = None
    others = [MEANS.get(stem, (word,))[0] for word in question.split() for stem in tokenize(word)[:1] or [word]]
    result: dict[str, ToolHit] = {}
    for text in dict.fromkeys((question, " ".join(others))):
        results = find_among(space, tools, ToolQuery(text, CANDIDATES, Filters(min_score=0.0)))
        degraded = degraded or results.degraded
        for hit in results.hits:
            before = result.get(hit.tool.full_name)
            if before is None or hit.score > before.score:
                result[hit.tool.full_name] = hit
    return RankedTools(dict(sorted(result.items(), key=lambda one: (-one[1].score, one[0]))), degraded)


def without_spans(text: str, start: int, mine: Sequence[GoalLiteral]) -> str:
    """Return a part of a goal, which begins at `start`, without its literals."""
    parts, at = [], 0
    for literal in mine:
        parts.append(text[at : literal.start - start])
        at = literal.end - start
    return " ".join((*parts, text[at:]))


def undone(text: str) -> str:
    """Return a text in which what is not done is one word: `not staged yet` as `unstaged yet`."""
    return _NOT_DONE.sub(r"un\1", text)
