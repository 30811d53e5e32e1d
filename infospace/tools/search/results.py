"""What is asked of the search for tools, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from infospace.core.json_types import JSON
from infospace.core.tool import Tool
from infospace.tools.scope import EVERYTHING, NO_FILTERS, Filters, Scope
from infospace.tools.search.rules.language import Fact
from infospace.tools.search.types import ANY_TYPES, TypeFit, TypeQuery

Mode: TypeAlias = Literal["semantic", "keyword", "hybrid"]
Leg: TypeAlias = Literal["words", "meaning", "name", "remembered"]

FINEST = 12
"""Decimals of a relevance that is next to 1, where six would make equals of what is not."""


@dataclass(frozen=True, slots=True)
class ToolQuery:
    """A search for tools. `limit` None is all that are relevant."""

    request: str
    limit: int | None = 10
    filters: Filters = NO_FILTERS
    scope: Scope = EVERYTHING
    mode: Mode = "hybrid"
    types: TypeQuery = ANY_TYPES
    """What the tools take and give; it acts before the best are taken, as filters do."""
    user: Sequence[Fact] = ()
    """What rules know of whoever asks."""


@dataclass(frozen=True, slots=True)
class CallExample:
    """A tool that was called with success: for which request, empty where that is not known, and with what."""

    request: str
    tool: str
    """Its full name."""
    arguments: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What moved a tool in the ranking, and by how much of the relevance."""

    reason: Literal["connected", "trusted", "preferred", "avoided", "selected"]
    by: float
    rule: str = ""
    """The rule that says so, where one does."""


@dataclass(frozen=True, slots=True)
class WordShare:
    """A word of a request that a tool has: its BM25, what that adds to the evidence, and in which fields it stands.

    `suggestion` is the word of a tool that counts in its stead where no tool has it.
    """

    word: str
    bm25: float
    adds: float
    fields: tuple[str, ...]
    suggestion: str = ""

    def to_json(self) -> dict[str, JSON]:
        """Return it as JSON; `adds` is in the unit of all evidence."""
        suggestion: dict[str, JSON] = {"meant": self.suggestion} if self.suggestion else {}
        return {"word": self.word, **suggestion, "bm25": self.bm25, "adds": self.adds, "in": list(self.fields)}


@dataclass(frozen=True, slots=True)
class PartExplanation:
    """What there is to say for a tool by one part of a request.

    The cosine, None where the tool has no vector or was not looked for by meaning, and what it adds; the words; what it
    adds that the tool says just this of itself (`quoted`), is called so (`name`), or was called for the like (`past`).
    """

    part: str
    cosine: float | None
    meaning: float
    words: tuple[WordShare, ...] = ()
    quoted: float = 0.0
    name: float = 0.0
    past: float = 0.0

    @property
    def evidence(self) -> float:
        """All of it, from which relevance is reckoned by `scoring.strength` and `scoring.relevance`."""
        return self.meaning + sum(share.adds for share in self.words) + self.quoted + self.name + self.past

    def to_json(self) -> dict[str, JSON]:
        """Return it as JSON, without what adds nothing."""
        meaning: JSON = None if self.cosine is None else {"cosine": self.cosine, "adds": round(self.meaning, 6)}
        others = {"quoted": self.quoted, "name": self.name, "past_calls": self.past}
        return {
            "part": self.part,
            "evidence": round(self.evidence, 6),
            **({} if meaning is None else {"meaning": meaning}),
            "words": [share.to_json() for share in self.words],
            **{key: round(value, 6) for key, value in others.items() if value},
        }


@dataclass(frozen=True, slots=True)
class ToolExplanation:
    """What the relevance of a tool is made of: evidence by the parts of the request."""

    parts: tuple[PartExplanation, ...]

    def to_json(self) -> JSON:
        """Return the parts as JSON."""
        return [part.to_json() for part in self.parts]


@dataclass(frozen=True, slots=True)
class ToolHit:
    """A tool that was found.

    `score` is its relevance as `scoring.relevance` gives it, before adjustments, by which hits are ranked.
    `confidence` is the probability that it does what was asked for, by what this catalogue answers by chance.
    """

    tool: Tool
    score: float
    matched_by: tuple[Leg, ...]
    adjustments: tuple[Adjustment, ...] = ()
    confidence: float = 0.0
    types: TypeFit | None = None
    """How it fits what it is to take and to give, None where nothing was said of that."""

    @property
    def ranked(self) -> float:
        """What it is sorted by: its relevance with all adjustments."""
        return round(self.score + sum(adjustment.by for adjustment in self.adjustments), FINEST)

    def to_json(self) -> dict[str, JSON]:
        """Return why it stands where it stands, and what it needs before it can be called."""
        adjustments: dict[str, JSON] = {adjustment.reason: adjustment.by for adjustment in self.adjustments}
        ruled: dict[str, JSON] = {
            adjustment.reason: adjustment.rule for adjustment in self.adjustments if adjustment.rule
        }
        needs: dict[str, JSON] = {"needs": self.tool.needs} if self.tool.needs else {}
        return {
            "tool": self.tool.full_name,
            "score": self.score,
            "confidence": self.confidence,
            "ranked": self.ranked,
            "adjustments": adjustments,
            "matched_by": list(self.matched_by),
            **({"rules": ruled} if ruled else {}),
            **({} if self.types is None else {"types": self.types.to_json()}),
            **needs,
        }


def _unexplained(tool: Tool) -> ToolExplanation | None:
    """Explain nothing: no tool was compared."""
    del tool
    return None


@dataclass(frozen=True, slots=True)
class ToolResults:
    """Tools, best first. Where none fits, there are no hits, and `guess` is the nearest one.

    `matched` counts those that probably fit, with a `min_score` all that have it; `searched` those among which they
    were looked for. `degraded` says in a sentence which leg is down, and why. `untyped` counts those that were left
    out because nothing is known of what they give.
    """

    hits: Sequence[ToolHit]
    matched: int
    searched: int
    guess: ToolHit | None = None
    degraded: str | None = None
    untyped: int = 0
    rules: Sequence[Mapping[str, JSON]] = ()
    """What each rule of the space did with the hits, and the facts that it added, in the order in which they held."""
    explain: Callable[[Tool], ToolExplanation | None] = field(default=_unexplained, compare=False, repr=False)
    """Says what the relevance of a tool is made of, None of one that was not searched; it is made when it is asked."""

    @property
    def no_match(self) -> bool:
        """Whether no tool fits."""
        return not self.hits
