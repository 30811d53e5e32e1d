"""Which tools are like one: by what is said of them, and by what they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infospace.core.tool import Tool
from infospace.tools.search.tokenize import tokenize
from infospace.tools.search.vectors import dot_products

if TYPE_CHECKING:
    from infospace.tools.search.corpus import IndexedTool

CLOSE, RELATED = 0.75, 0.5
"""Cosines from which on two tools are said to do much the same, and something related."""

NAMED = 4
"""Words that a reason names, at most, of each sort."""


@dataclass(frozen=True, slots=True)
class SimilarTool:
    """A tool that is like another. `score` is from 0 to 1, rounded to six decimals; `reason` says what they share.

    The score is the cosine of the texts of both; where one of them has no vector, the share of their words that both
    have.
    """

    tool: Tool
    score: float
    reason: str


def most_similar(known: Sequence[IndexedTool], tools: Sequence[Tool], tool: Tool, limit: int) -> list[SimilarTool]:
    """Return the tools that are most like one of them, best first, ties by name; those with nothing in common not.

    `known` is what was read of each of the tools, in their order.
    """
    at = next(at for at, one in enumerate(tools) if (one.kind, one.full_name) == (tool.kind, tool.full_name))
    own = known[at]
    scores = {other: _score(own, known[other]) for other in range(len(tools)) if other != at}
    order = sorted(scores, key=lambda other: (-scores[other], tools[other].full_name))
    return [
        SimilarTool(
            tools[other], scores[other], "; ".join(_reasons(own, known[other], tool, tools[other], scores[other]))
        )
        for other in order[:limit]
        if scores[other] > 0
    ]


def _score(own: IndexedTool, other: IndexedTool) -> float:
    if own.vector is not None and other.vector is not None and own.key == other.key:
        cosine = float(dot_products(own.vector[None], other.vector[None])[0, 0])
        return round(min(1.0, max(0.0, cosine)), 6)
    mine, theirs = _tool_words(own), _tool_words(other)
    return round(len(mine & theirs) / max(1, len(mine | theirs)), 6)


def _tool_words(indexed: IndexedTool) -> set[str]:
    return {word for text in indexed.texts for word in tokenize(text)}


def _reasons(own: IndexedTool, other: IndexedTool, mine: Tool, theirs: Tool, score: float) -> Iterator[str]:
    if own.fields[:4] == other.fields[:4]:
        yield f"the same, of the server {theirs.server}"
    elif own.vector is not None and other.vector is not None:
        yield (
            "says that it does much the same"
            if score >= CLOSE
            else "says that it does something related"
            if score >= RELATED
            else "says something remotely like it"
        )
    names = [word for word in own.counted.name if word in other.counted.name]
    if names:
        yield f"both are named {', '.join(names[:NAMED])}"
    taken = [name for name in _parameters(mine.input_schema) if name in _parameters(theirs.input_schema)]
    if taken:
        yield f"both take {', '.join(taken[:NAMED])}"
    if mine.server == theirs.server:
        yield "of the same server"
    elif mine.category and mine.category == theirs.category:
        yield f"both of the category {mine.category}"


def _parameters(schema: Mapping[str, object]) -> Sequence[str]:
    properties = schema.get("properties")
    return list(properties) if isinstance(properties, Mapping) else []
